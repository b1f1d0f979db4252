import torch


def _like(tensor, sizes):
    return tensor.new_empty(sizes)


def twice(self):
    return torch.empty_like(self)


def sized_by(self, n):
    return _like(self, (n,))
