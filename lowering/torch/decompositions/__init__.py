"""ATen ops in terms of simpler ones, where torch has no decomposition or one that rounds elsewhere than eager."""
