"""Lazy backends: operators → nodes of a graph, the kernels that make them, and how they are lowered."""
