"""What autograd knows of single operators of torch's, by name, that their definitions don't say.

Nothing here is computed; a change of an operator in torch is a change of a line here.
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
"""Operators with tensors to and fro that have no gradient and need none, in-place forms by themselves."""

HAS_COMPLEX_GRADIENT: Final = frozenset(
    {
        "_coalesce", "_conj", "_conj_physical", "_fft_c2c", "_fft_r2c", "_linalg_det", "_linalg_eigh",
        "_linalg_slogdet", "_linalg_solve_ex", "_linalg_svd", "_neg_view", "_reshape_alias", "_reshape_copy",
        "_sparse_addmm", "_sparse_coo_tensor_with_dims_and_tensors", "_sparse_sparse_matmul", "_to_copy",
        "_to_dense", "_unsafe_index", "_unsafe_index_put", "_unsafe_masked_index",
        "_unsafe_masked_index_put_accumulate", "_unsafe_view", "acos", "acosh", "add", "addbmm", "addcdiv",
        "addcmul", "addmm", "addmv", "addr", "alias", "alias_copy", "as_strided", "as_strided_copy",
        "as_strided_scatter", "asin", "asinh", "atan", "atanh", "baddbmm", "block_diag", "bmm", "cat",
        "channel_shuffle", "cholesky", "cholesky_inverse", "cholesky_solve", "clone", "col2im", "complex",
        "constant_pad_nd", "cos", "cosh", "cumprod", "cumsum", "diag_embed", "diagonal", "diagonal_backward",
        "diagonal_copy", "diagonal_scatter", "div", "dot", "exp", "exp2", "expand", "expand_copy", "expm1", "fill",
        "flip", "gather", "im2col", "index", "index_add", "index_copy", "index_fill", "index_put", "index_select",
        "ldexp", "lerp", "linalg_cholesky_ex", "linalg_cross", "linalg_eig", "linalg_householder_product",
        "linalg_inv_ex", "linalg_lstsq", "linalg_lu", "linalg_lu_factor_ex", "linalg_lu_solve", "linalg_matrix_exp",
        "linalg_pinv", "linalg_qr", "linalg_solve_triangular", "linalg_vector_norm", "linear", "log", "log10",
        "log1p", "log2", "logaddexp", "logcumsumexp", "logsumexp", "lu_unpack", "masked_fill", "masked_scatter",
        "masked_scatter_backward", "masked_select", "mean", "mm", "mul", "mv", "nansum", "narrow_copy", "neg",
        "ormqr", "permute", "permute_copy", "pixel_shuffle", "pixel_unshuffle", "polar", "pow", "prod", "put",
        "reciprocal", "reflection_pad1d", "reflection_pad1d_backward", "reflection_pad2d",
        "reflection_pad2d_backward", "reflection_pad3d", "reflection_pad3d_backward", "renorm", "repeat",
        "replication_pad1d", "replication_pad1d_backward", "replication_pad2d", "replication_pad2d_backward",
        "replication_pad3d", "replication_pad3d_backward", "roll", "rot90", "rsqrt", "rsub", "scatter",
        "scatter_add", "select", "select_backward", "sgn", "sigmoid", "sigmoid_backward", "sin", "sinc", "sinh",
        "slice", "slice_backward", "sparse_mask", "sparse_sampled_addmm", "sqrt", "squeeze", "squeeze_copy", "stack",
        "std_mean", "sub", "sum", "t", "t_copy", "take", "tan", "tanh", "tanh_backward", "trace", "transpose",
        "transpose_copy", "triangular_solve", "tril", "triu", "unfold", "unfold_backward", "unfold_copy",
        "unsqueeze", "unsqueeze_copy", "values", "var_mean", "vdot", "view", "view_as_complex", "view_copy", "where",
    }
)
"""Operators whose formulas hold for complex tensors as well; autograd refuses such tensors for others."""

MAY_SWAP_STORAGE: Final = frozenset(
    {
        "_cudnn_rnn_flatten_weight", "_unsafe_masked_index", "_unsafe_masked_index_put_accumulate", "set_",
    }
)
"""Operators that may give an argument another implementation or another storage."""

MAY_RETURN_OLD_STORAGE: Final = frozenset(
    {
        "_cudnn_rnn", "_cudnn_rnn_backward", "_embedding_bag", "_embedding_bag_forward_only", "_nested_tensor_size",
        "_nested_tensor_storage_offsets", "_nested_tensor_strides", "_slow_conv2d_forward", "channel_shuffle",
        "dequantize_self", "lift", "lift_fresh", "lift_fresh_copy", "lu_unpack", "q_per_channel_scales",
        "q_per_channel_zero_points", "slow_conv3d_forward",
    }
)
"""Kernels, by name, whose results may have a storage that is known elsewhere."""

MAY_RETURN_OLD_IMPL: Final = frozenset(
    {
        "_cudnn_rnn", "_cudnn_rnn_backward", "_embedding_bag", "_embedding_bag_forward_only", "_nested_tensor_size",
        "_nested_tensor_storage_offsets", "_nested_tensor_strides", "dequantize_self", "lift", "lift_fresh",
        "lift_fresh_copy", "lu_unpack", "q_per_channel_scales", "q_per_channel_zero_points",
    }
)
"""Kernels, by name, whose results may be tensors that are known elsewhere."""

RESETS_GRADIENTS: Final = frozenset(
    {
        "resize_", "set_",
    }
)
"""Operators that make another tensor of `self`, so that what gathered its gradients is of no use."""
