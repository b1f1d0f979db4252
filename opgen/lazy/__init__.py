"""Lazy backends: operators → nodes of a graph, the kernels that create them, and their lowering."""
