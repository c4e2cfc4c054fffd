"""Kernels to loop nests.

A lowered `kernel.func @k` takes pointers to its operands in order, then to its results in order, each dense and
row-major, then one index for each symbol that occurs anywhere in the function, sorted by name. For a GPU they are
16-byte aligned, for a CPU as their elements are. Pointers of results have mode "write", those of operands "read";
templates of other levels keep the same convention.
"""
