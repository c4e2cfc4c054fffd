"""Kernels that are written as thread-level code from the start: matmuls on blocks of shared memory and on matrix
units."""
