"""Lists of torch's operators that autograd treats specially, which their definitions don't show.

These lists are maintained by hand.
"""

from __future__ import annotations

from typing import Final

# fmt: off
NEVER_DIFFERENTIABLE: Final = frozenset(
    {
        "__and__", "__iand__", "__ilshift__", "__ior__", "__irshift__", "__ixor__", "__lshift__", "__or__",
        "__rshift__", "__xor__", "_coalesced_", "_nested_tensor_size", "_nested_tensor_storage_offsets",
        "_nested_tensor_strides", "_sobol_engine_draw", "_sobol_engine_initialize_state_", "_sobol_engine_scramble_",
        "allclose", "argmax", "argmin", "argsort", "bucketize", "empty_like", "full_like", "isin", "isinf", "isnan",
        "isneginf", "isposinf", "logical_and", "logical_not", "logical_or", "logical_xor", "new_empty",
        "new_empty_strided", "new_full", "new_ones", "new_zeros", "ones_like", "quantize_per_channel",
        "quantize_per_tensor", "rand_like", "randn_like", "record_stream", "searchsorted", "signbit", "zeros_like",
    }
)
"""Operators that take and return tensors but have no gradients; in-place forms are listed separately."""

MAY_SWAP_STORAGE: Final = frozenset(
    {
        "_cudnn_rnn_flatten_weight", "_unsafe_masked_index", "_unsafe_masked_index_put_accumulate", "set_",
    }
)
"""Operators that may replace an argument's implementation or storage."""

MAY_RETURN_OLD_STORAGE: Final = frozenset(
    {
        "_cudnn_rnn", "_cudnn_rnn_backward", "_embedding_bag", "_embedding_bag_forward_only", "_nested_tensor_size",
        "_nested_tensor_storage_offsets", "_nested_tensor_strides", "_slow_conv2d_forward", "channel_shuffle",
        "dequantize_self", "lift", "lift_fresh", "lift_fresh_copy", "lu_unpack", "q_per_channel_scales",
        "q_per_channel_zero_points", "slow_conv3d_forward",
    }
)
"""Kernels whose results may share their storage with other tensors."""

MAY_RETURN_OLD_IMPL: Final = frozenset(
    {
        "_cudnn_rnn", "_cudnn_rnn_backward", "_embedding_bag", "_embedding_bag_forward_only", "_nested_tensor_size",
        "_nested_tensor_storage_offsets", "_nested_tensor_strides", "dequantize_self", "lift", "lift_fresh",
        "lift_fresh_copy", "lu_unpack", "q_per_channel_scales", "q_per_channel_zero_points",
    }
)
"""Kernels whose results may be existing tensors."""

RESETS_GRADIENTS: Final = frozenset(
    {
        "resize_", "set_",
    }
)
"""Operators that replace `self`, so that its gradient accumulator must be reset."""
