"""Backends that live outside of torch: a backend YAML → the C++ class of their kernels, and its registrations."""
