// RUN: %opt %s --verify-diagnostics --split-input-file | %filecheck %s

// CHECK: host.launch reads %t before it is written
host.program @main target "c" {
  %y = host.output "y" : !host.buffer<[4], f32>
  host.arena size 64 bound 16 align 64
  %t = host.slice at 0 : !host.buffer<[4], f32>
  host.launch @k (read %t, write %y)
}

// -----

// CHECK: writes the input %x, which is not mutated
host.program @main target "c" {
  %x = host.input "x" role "input" align 16 : !host.buffer<[4], f32>
  host.launch @k (read %x, write %x)
}

// -----

// CHECK: output 'y' is never written
host.program @main target "c" {
  %y = host.output "y" : !host.buffer<[4], f32>
}

// -----

sym.symbol @s min 1 max 8

// CHECK: the slices at 0 and 64 overlap while both are in use (step 1)
host.program @main target "c" {
  %x = host.input "x" role "input" align 16 : !host.buffer<[s, 4], f32>
  %y = host.output "y" : !host.buffer<[s, 4], f32>
  host.arena size 256 bound s*16 align 64
  %t = host.slice at 0 : !host.buffer<[s, 4], f32>
  %u = host.slice at 64 : !host.buffer<[s, 4], f32>
  host.launch @k (read %x, write %t)
  host.launch @k (read %t, write %u)
  host.launch @k (read %u, write %y)
}

// -----

// CHECK: the slice at 64 ends at 80, outside an arena of 64 bytes
host.program @main target "c" {
  %x = host.input "x" role "input" align 16 : !host.buffer<[4], f32>
  host.arena size 64 bound 16 align 64
  %t = host.slice at 64 : !host.buffer<[4], f32>
  host.copy %x to %t
}

// -----

// CHECK: step 0 (host.launch) writes a buffer that it also uses otherwise
host.program @main target "c" {
  %x = host.input "x" role "buffer" align 16 mutated 0 : !host.buffer<[4], f32>
  host.launch @k (read %x, write %x)
}

// -----

host.program @main target "c" {
  %x = host.input "x" role "input" align 16 : !host.buffer<[4, s], f32>
  // CHECK: dim 0 of !host.buffer<[4, s], f32> does not give 's'
  host.symbol "s" of %x dim 0
}

// -----

host.program @main target "c" {
  // CHECK: the role is one of input scalar parameter buffer constant, found 'weight'
  %x = host.input "x" role "weight" align 16 : !host.buffer<[4], f32>
}

// -----

host.program @main target "c" {
  %x = host.input "x" role "input" align 16 : !host.buffer<[4], f32>
  // CHECK: the mode is one of read write update scratch, found 'erase'
  host.launch @k (erase %x)
}

// -----

// CHECK: a GPU kernel has a grid and a block of three extents
host.source @k language "metal" entry "k" ["kernel void k() {}"]
