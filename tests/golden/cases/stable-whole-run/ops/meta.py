import torch


def extremes(self, dims=(0, 1), *, mode=None):
    return torch.empty_like(self), torch.empty_like(self)


def rowsum(self, dim=0):
    return self.sum(dim)


def rowsum_dims(self, dims, keep, more):
    return self.sum(dims)
