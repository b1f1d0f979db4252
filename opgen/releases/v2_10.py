"""torch 2.10, the oldest release that opgen supports."""

from __future__ import annotations

from typing import Final

from opgen.dispatch_keys import DispatchKey, is_xpu_dispatch_key
from opgen.frozen_map import FrozenMap
from opgen.releases.release import Release
from opgen.schema.types import BaseTy

# fmt: off
_COMPLEX_GRADIENTS: Final = frozenset(
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
        "diagonal_copy", "diagonal_scatter", "div", "dot", "exp", "exp2", "expand", "expand_copy", "expm1",
        "fill", "flip", "gather", "im2col", "index", "index_add", "index_copy", "index_fill", "index_put",
        "index_select", "lerp", "linalg_cholesky_ex", "linalg_cross", "linalg_eig",
        "linalg_householder_product", "linalg_inv_ex", "linalg_lstsq", "linalg_lu", "linalg_lu_factor_ex",
        "linalg_lu_solve", "linalg_matrix_exp", "linalg_pinv", "linalg_qr", "linalg_solve_triangular",
        "linalg_vector_norm", "log", "log10", "log1p", "log2", "logaddexp", "logcumsumexp", "logsumexp",
        "lu_unpack", "masked_fill", "masked_scatter", "masked_scatter_backward", "masked_select", "mean",
        "mm", "mul", "mv", "nansum", "narrow_copy", "neg", "ormqr", "permute", "permute_copy",
        "pixel_shuffle", "pixel_unshuffle", "polar", "pow", "prod", "put", "reciprocal", "reflection_pad1d",
        "reflection_pad1d_backward", "reflection_pad2d", "reflection_pad2d_backward", "reflection_pad3d",
        "reflection_pad3d_backward", "renorm", "repeat", "replication_pad1d", "replication_pad1d_backward",
        "replication_pad2d", "replication_pad2d_backward", "replication_pad3d", "replication_pad3d_backward",
        "roll", "rot90", "rsqrt", "rsub", "scatter", "scatter_add", "select", "select_backward", "sgn",
        "sigmoid", "sigmoid_backward", "sin", "sinc", "sinh", "slice", "slice_backward", "sparse_mask",
        "sparse_sampled_addmm", "sqrt", "squeeze", "squeeze_copy", "stack", "std_mean", "sub", "sum", "t",
        "t_copy", "take", "tan", "tanh", "tanh_backward", "trace", "transpose", "transpose_copy",
        "triangular_solve", "tril", "triu", "unfold", "unfold_backward", "unfold_copy", "unsqueeze",
        "unsqueeze_copy", "values", "var_mean", "vdot", "view", "view_as_complex", "view_copy", "where",
    }
)
# fmt: on

V2_10: Final = Release(
    version=(2, 10),
    missing_types=frozenset(),
    missing_keys=frozenset({DispatchKey.MKLDNN, DispatchKey.OpenGL, DispatchKey.OpenCL, DispatchKey.IDEEP}),
    unseeded_operators=frozenset({"_cudnn_init_dropout_state"}),
    without_functional_form=frozenset(
        {
            "_cummax_helper",
            "_cummin_helper",
            "_fill_mem_eff_dropout_mask_",
            "_slow_conv2d_backward.grad_input",
            "adaptive_avg_pool3d_backward.grad_input",
            "polygamma_",
            "record_stream",
            "resize_",
            "resize_as_",
        }
    ),
    tags=frozenset(
        {
            "core",
            "cudagraph_unsafe",
            "data_dependent_output",
            "dynamic_output_shape",
            "flexible_layout",
            "generated",
            "inplace_view",
            "maybe_aliasing_or_mutating",
            "needs_contiguous_strides",
            "needs_exact_strides",
            "needs_fixed_stride_order",
            "nondeterministic_bitwise",
            "nondeterministic_seeded",
            "pointwise",
            "pt2_compliant_tag",
            "reduction",
            "view_copy",
        }
    ),
    form_tags=frozenset(),
    named_dimensions=True,
    keep_dtype_of_out=frozenset(),
    complex_gradients=_COMPLEX_GRADIENTS,
    nodes_are_shared=True,
    node_hooks=False,
    avoids_copies=False,
    override_check="check_has_torch_function",
    methods_start_devices=True,
    autograd_shards=5,
    views_own_values=False,
    takes_one_view=False,
    native_aot_stubs=False,
    exported_kernels=frozenset(),
    lazy_nodes_move_text=False,
    shims_have_guards=False,
    rocm_guard="c10::hip::OptionalHIPGuardMasqueradingAsCUDA",
    rocm_guard_header="ATen/hip/impl/HIPGuardImplMasqueradingAsCUDA.h",
    class_exports=FrozenMap((key, "TORCH_XPU_API") for key in DispatchKey if is_xpu_dispatch_key(key)),
    kernel_exports=FrozenMap(),
    xpu_keys=(DispatchKey.XPU,),
    stable_types=frozenset(
        {
            *(BaseTy.Tensor, BaseTy.int, BaseTy.SymInt, BaseTy.float, BaseTy.bool, BaseTy.str),
            *(BaseTy.ScalarType, BaseTy.Layout, BaseTy.MemoryFormat, BaseTy.Device),
        }
    ),
    stable_tags=frozenset(),
)
