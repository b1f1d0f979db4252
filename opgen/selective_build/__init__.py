"""A selection of the operators, kernels and classes that a build keeps → whether something is kept.

`operator` has the selection of one operator, `selector` the whole selection.
"""
