"""PyTorch's operator database run through `torch.compile(backend="albumen")` and compared with eager."""
