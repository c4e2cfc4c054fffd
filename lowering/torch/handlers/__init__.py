"""How each ATen overload becomes hlir: one file a kind of op."""
