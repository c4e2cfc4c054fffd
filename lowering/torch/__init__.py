"""The frontend: PyTorch programs in, graph-level modules out, and the two ways to run what they compile to. Only this
imports torch."""
