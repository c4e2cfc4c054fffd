"""Passes that keep the level of the IR."""
