"""A program of your own namespace → a library in torch's stable ABI, which runs with many releases of torch.

The library has schemas and kernels. What the stable ABI doesn't have, such as autograd, the Python package registers.
"""
