"""Compilers of the emitted texts: the C compiler, NVRTC, and the CPU shim that runs CUDA and Metal text."""
