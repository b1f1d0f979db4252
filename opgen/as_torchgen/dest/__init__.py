"""torchgen's generators of C++ for single operators, based on opgen's emitters."""

from __future__ import annotations

from opgen.as_torchgen.dest.lazy_ir import GenLazyIR as GenLazyIR
from opgen.as_torchgen.dest.lazy_ir import GenLazyNativeFuncDefinition as GenLazyNativeFuncDefinition
from opgen.as_torchgen.dest.lazy_ir import GenLazyShapeInferenceDefinition as GenLazyShapeInferenceDefinition
from opgen.as_torchgen.dest.native_functions import (
    compute_native_function_declaration as compute_native_function_declaration,
)
from opgen.as_torchgen.dest.register_dispatch_key import RegisterDispatchKey as RegisterDispatchKey
from opgen.as_torchgen.dest.register_dispatch_key import gen_registration_headers as gen_registration_headers
from opgen.as_torchgen.dest.register_dispatch_key import gen_registration_helpers as gen_registration_helpers
from opgen.as_torchgen.dest.ufunc import compute_ufunc_cpu as compute_ufunc_cpu
from opgen.as_torchgen.dest.ufunc import compute_ufunc_cpu_kernel as compute_ufunc_cpu_kernel
from opgen.as_torchgen.dest.ufunc import compute_ufunc_cuda as compute_ufunc_cuda
