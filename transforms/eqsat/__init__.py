"""Equality saturation: all known forms of each value, as upstream `equivalence` classes."""
