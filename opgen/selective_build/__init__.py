"""Turns a selection (which operators, kernels and classes a build keeps) into answers to yes or no.

`operator` says what is kept of one operator, `selector` of everything.
"""
