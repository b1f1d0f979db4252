"""Names of operators without generated code in the static runtime; these lists are maintained by hand.

"matmul" in HAND_WRITTEN        its code is part of the static runtime itself
"sparse_mask" in LEFT_OUT       it has none
"""

from __future__ import annotations

from typing import Final

HAND_WRITTEN: Final = frozenset(
    [
        "abs",
        "add",
        "addmm",
        "all",
        "any",
        "argmin",
        "bmm",
        "clamp",
        "clamp_min",
        "cumsum",
        "detach",
        "div",
        "expand_as",
        "flatten",
        "fmod",
        "index_select",
        "leaky_relu",
        "linear",
        "log",
        "matmul",
        "mul",
        "narrow",
        "narrow_copy",
        "nonzero",
        "pow",
        "remainder",
        "reshape_as",
        "select",
        "sigmoid",
        "sign",
        "slice",
        "softmax",
        "split",
        "squeeze",
        "sub",
        "tanh",
        "transpose",
        "view",
        "where",
    ]
)
"""Operators whose code is part of the static runtime itself."""

_COPIED_VIEWS: Final = """
    _conj _fw_primal _indices _make_dual _neg_view _nested_get_values _nested_view_from_buffer _nested_view_from_jagged
    _test_autograd_multiple_dispatch_view _values alias ccol_indices col_indices crow_indices detach diagonal indices
    lift_fresh row_indices squeeze t unfold unsqueeze values view_as_complex view_as_real
    """
"""Views whose `_copy` form gets no code."""

_NOT_STRIDED: Final = """
    _coalesce _coalesced _indices _mkldnn_transpose _nested_from_padded _nested_from_padded_and_nested_example
    _nested_get_values _nested_tensor_from_mask _nested_tensor_size _nested_tensor_storage_offsets
    _nested_tensor_strides _nested_view_from_buffer _nested_view_from_jagged _reshape_nested_backward _sparse_addmm
    _sparse_log_softmax _sparse_log_softmax_backward_data _sparse_mask_projection _sparse_softmax
    _sparse_softmax_backward_data _sparse_sparse_matmul _to_dense _to_sparse_csc _to_sparse_csr _values ccol_indices
    coalesce col_indices copy_sparse_to_sparse crow_indices hspmm indices mkldnn_adaptive_avg_pool2d_backward
    mkldnn_linear row_indices sparse_mask sparse_sampled_addmm sspaddmm to_mkldnn to_sparse to_sparse_csc
    to_sparse_csr values
    """
"""Operators on tensors of other layouts than strided."""

_QUANTIZED: Final = """
    _make_per_channel_quantized_tensor int_repr q_per_channel_scales q_per_channel_zero_points quantize_per_channel
    quantize_per_tensor_dynamic
    """

_FOR_CUDA: Final = """
    _torch_cuda_cu_linker_symbol_op _triton_multi_head_attention batch_norm_backward_elemt cudnn_affine_grid_generator
    cudnn_affine_grid_generator_backward cudnn_grid_sampler
    """

_SPECIAL_FUNCTIONS: Final = (
    "special_airy_ai",
    *(f"special_bessel_{name}" for name in ("j0", "j1", "y0", "y1")),
    *(f"special_{scaled}modified_bessel_{name}" for scaled in ("", "scaled_") for name in ("k0", "k1")),
    *(f"special_{shifted}chebyshev_polynomial_{name}" for shifted in ("", "shifted_") for name in "tuvw"),
    *("special_modified_bessel_i0", "special_modified_bessel_i1", "special_spherical_bessel_j0"),
    *("special_hermite_polynomial_h", "special_hermite_polynomial_he"),
    *("special_laguerre_polynomial_l", "special_legendre_polynomial_p"),
)

_GRADIENTS: Final = """
    _adaptive_avg_pool2d_backward _adaptive_avg_pool3d_backward _dirichlet_grad _embedding_bag_dense_backward
    _embedding_bag_per_sample_weights_backward _fw_primal _make_dual _masked_softmax_backward
    _new_zeros_with_same_feature_meta _segment_reduce_backward _standard_gamma_grad embedding_dense_backward
    glu_backward_jvp glu_jvp hardswish_backward rrelu_with_noise_backward
    """
"""Operators that only training calls."""

_OTHERS: Final = """
    _cholesky_solve_helper _compute_linear_combination _conj_physical _copy_from _copy_from_and_resize _euclidean_dist
    _foobar _grid_sampler_2d_cpu_fallback _index_reduce _int_mm _masked_softmax _segment_reduce
    _test_autograd_multiple_dispatch_view _test_warn_in_autograd arccosh binary_cross_entropy
    binary_cross_entropy_with_logits bincount celu channel_shuffle cholesky conj_physical conv_tbc copy count_nonzero
    diag_embed diagonal_scatter dist embedding floor_divide ger grid_sampler_2d grid_sampler_3d index_reduce isinf
    isnan lift lift_fresh linalg_cholesky linalg_eigvalsh linalg_householder_product linalg_ldl_solve linalg_lu_solve
    linalg_matrix_exp linalg_svdvals linalg_vecdot lu_solve masked_scatter max median nanmedian native_norm
    pixel_shuffle pixel_unshuffle prelu put relu segment_reduce select_scatter set slice_scatter sum trace zero
    """

LEFT_OUT: Final = frozenset(
    (
        *(f"{view}_copy" for view in _COPIED_VIEWS.split()),
        *" ".join((_NOT_STRIDED, _QUANTIZED, _FOR_CUDA, _GRADIENTS, _OTHERS)).split(),
        *_SPECIAL_FUNCTIONS,
    )
)
"""Operators that the static runtime doesn't implement; the interpreter runs them."""

NOT_RESIZED: Final = frozenset(
    [
        "dot",
        "histc",
        "index_add",
        "isin.Scalar_Tensor",
        "l1_loss",
        "multi_margin_loss",
        "multilabel_margin_loss",
        "nll_loss",
        "nll_loss2d",
        "nuclear_norm",
        "prod",
        "vdot",
    ]
)
"""Operators whose output has the same size for both sets of a test's inputs, or whose test can't tell."""
