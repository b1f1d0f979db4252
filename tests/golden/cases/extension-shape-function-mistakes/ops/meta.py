import torch


def twise(self):
    return torch.empty_like(self)


def known(self):
    return self


def helper(self):
    return self
