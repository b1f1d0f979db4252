"""stub"""
from __future__ import annotations

from opgen.model import BaseTy, BaseType, NativeFunction

_MANUAL = frozenset(
    ("convolution", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d",
    "_coalesced", "lstm_cell", "gru_cell", "rnn_tanh_cell", "rnn_relu_cell"))


def should_trace(function: NativeFunction) -> bool:
    func = function.func
    if any(a.type == BaseType(BaseTy.Storage) for a in func.arguments.flat_all):
        return False
    return any(r.type.is_tensor_like() for r in func.returns) and func.name.name.base not in _MANUAL
