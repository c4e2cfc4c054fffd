"""Symbolic integers: polynomials over symbols and index variables, their bounds, and the ops that declare and prove
them."""
