"""host.program as the data that the runtime reads."""
