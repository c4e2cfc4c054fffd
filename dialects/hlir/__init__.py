"""The `hlir` dialect: a small language of pure tensor ops with symbolic shapes."""
