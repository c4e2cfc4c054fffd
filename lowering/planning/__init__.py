"""Parts of plan-memory: distinct kernels as symbols, places in the arena, where results end up, symbols of inputs."""
