"""What runs a compiled program: artifacts, devices, memory, launches. Imports no other room."""
