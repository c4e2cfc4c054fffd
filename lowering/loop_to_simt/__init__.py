"""From loop nests to thread-level code: which blocks, threads and vector lanes run which iterations."""
