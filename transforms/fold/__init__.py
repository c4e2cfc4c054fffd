"""Exact simplifications of one op at a time, for canonicalize."""
