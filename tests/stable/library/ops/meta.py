# mypy: ignore-errors
import torch


def rowsum(self, dim=0, *, keepdim=False):
    return self.new_empty(_reduced(self.shape, dim, keepdim))


def extremes(self):
    return self.new_empty(()), self.new_empty(())


def total(tensors, weight=None):
    return torch.empty_like(tensors[0])


def joined(tensors):
    return torch.empty_like(next(tensor for tensor in tensors if tensor is not None))


def masked(self, mask, scale):
    return torch.empty_like(self)


def parts(self):
    return torch.empty_like(self), torch.empty_like(self)


def halves(self):
    return [torch.empty_like(self), torch.empty_like(self)]


def copied(self):
    return torch.empty_like(self)


def shift(self, by):
    return torch.empty_like(self)


def shift_Tensor(self, by):
    return torch.empty_like(self)


def _reduced(shape, dim, keepdim):
    dim %= len(shape)
    return (*shape[:dim], *([1] if keepdim else []), *shape[dim + 1 :])
