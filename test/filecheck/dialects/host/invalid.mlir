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

// -----

sym.symbol @s min 1 max 8

// CHECK: 's' is checked for min 0 max 8, the module declares min 1 max 8
host.program @main target "c" {
  %x = host.input "x" role "input" align 4 : !host.buffer<[s, 4], f32>
  host.symbol "s" of %x dim 0 max 8
}

// -----

sym.symbol @s min 0

sym.symbol @t min 0 multiple_of 4

// CHECK: 't' is checked for min 0 multiple_of 2, the module declares min 0 multiple_of 4
host.program @main target "c" {
  %x = host.input "x" role "input" align 4 : !host.buffer<[s, t], f32>
  host.symbol "s" of %x dim 0 min 2 max 2
  host.symbol "t" of %x dim 1 multiple_of 2
}

// -----

sym.symbol @s
sym.symbol @t
sym.guard s*t - 100 ">="

// CHECK: the module relies on s*t - 100 >= 0, which no host.guard checks
host.program @main target "c" {
  %x = host.input "x" role "input" align 4 : !host.buffer<[s, t], f32>
  host.symbol "s" of %x dim 0
  host.symbol "t" of %x dim 1
  host.guard s*t - 100 "=="
}

// -----

// CHECK: the guard on s - t uses 't', which no host.symbol gives
host.program @main target "c" {
  %x = host.input "x" role "input" align 4 : !host.buffer<[s], f32>
  host.symbol "s" of %x dim 0
  host.guard s - t "=="
}

// -----

host.program @main target "c" {
  %x = host.input "x" role "input" align 4 : !host.buffer<[s], f32>
  // CHECK: no range of sizes: min 4 max 3
  host.symbol "s" of %x dim 0 min 4 max 3
}

// -----

host.program @main target "c" {
  // CHECK: the relation is '==', '>=' or '!=', found '<'
  host.guard 1 "<"
}
