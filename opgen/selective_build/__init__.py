"""A selection (which operators, kernels and classes a build keeps) → answers to whether something is kept.

`operator` says what is kept of one operator, `selector` of everything.
"""
