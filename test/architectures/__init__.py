"""Hugging Face architectures with small random configs: eager against `torch.compile(backend="albumen")`."""
