"""Compilers of the emitted texts. `cc` makes shared objects of C text, `nvrtc` cubins and PTX of CUDA text
(`nvrtc_batch` many at a time), `shim` runs CUDA and Metal text on the CPU. Results are cached by content in an
`object_cache.ObjectCache` that the caller hands in; what a compiler refuses is a ToolchainError."""
