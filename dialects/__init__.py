"""What programs mean: the dialects, their ops' facets and their evaluation. No stage, no target, no torch, no
egglog."""
