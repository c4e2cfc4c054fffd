"""Kernels to loop nests.

A lowered `kernel.func @k` takes pointers to its operands in order, then to its results in order, each dense, row-major
and 16-byte aligned, then one index for each symbol that occurs anywhere in the function, sorted by name. Pointers of
results have mode "write", those of operands "read"; templates of other levels keep the same convention.
"""
