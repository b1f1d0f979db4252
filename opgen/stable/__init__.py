"""A program in your own namespace → a library in torch's stable ABI, which works with many releases of torch.

The library registers schemas and kernels. The Python package registers what the stable ABI lacks, such as autograd.
"""
