"""From a graph or e-graph to scheduled kernels: extract, cover, schedule, and the cost model that they share."""
