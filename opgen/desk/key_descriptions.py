"""One sentence for each key of the YAML files: what editors show, and the reference lists."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from opgen.backend import backend_yaml
from opgen.frontend import derivative_entries, entries, selection, tags
from opgen.frontend.fields import Field
from opgen.mlx import definitions as mlx

DESCRIPTIONS: Final[Mapping[Field[Any], str]] = MappingProxyType(
    {
        entries.FUNC: "The operator's schema: namespace::name.overload(arguments) -> returns.",
        entries.VARIANTS: "How C++ calls the operator: as a function, as a method of Tensor, or both.",
        entries.DISPATCH: "The kernel under each dispatch key. Without it, the operator is made of other operators.",
        entries.STRUCTURED: "Marks the out form of an operator whose shape function and kernels are classes.",
        entries.STRUCTURED_DELEGATE: "The structured out form that this form calls.",
        entries.STRUCTURED_INHERITS: "The class that a structured operator derives from, such as TensorIteratorBase.",
        entries.PRECOMPUTED: "Values that the shape function computes for the kernels, in place of arguments or added.",
        entries.AUTOGEN: "Forms that are derived: the out form, and the functional form of an in-place operator.",
        entries.MANUAL_KERNEL_REGISTRATION: "True if you register the kernels yourself.",
        entries.MANUAL_CPP_BINDING: "True if you write the C++ function that users call.",
        entries.PYTHON_MODULE: "The module under torch._C that binds the operator, such as nn or linalg.",
        entries.CATEGORY_OVERRIDE: "The category of an operator whose schema does not tell it: factory or dummy.",
        entries.DEVICE_GUARD: "Whether the tensors' device becomes the current one while a CUDA or XPU kernel runs.",
        entries.DEVICE_CHECK: "Whether generated code checks that all tensors are on one device.",
        entries.CPP_NO_DEFAULT_ARGS: "Arguments whose defaults C++ must not see, because a call would be ambiguous.",
        entries.USE_CONST_REF: "True to pass and return written tensors as const at::Tensor &.",
        entries.UFUNC_INNER_LOOP: "The loop bodies of an elementwise operator, with their element types.",
        entries.TAGS: "Tags from tags.yaml that compilers and transforms read.",
        entries.RANDOM: "False for an operator that draws no random numbers although its name suggests it.",
        entries.DOC: "The docstring of the Python function.",
        tags.TAG: "The tag's name, a C++ identifier.",
        tags.DESCRIPTION: "What the tag says about an operator.",
        backend_yaml.BACKEND: "The backend's dispatch key.",
        backend_yaml.CPP_NAMESPACE: "The C++ namespace of the class that has the kernels.",
        backend_yaml.CLASS_NAME: "The C++ class whose static members are the kernels.",
        backend_yaml.EXTRA_HEADERS: "Lines at the top of the generated sources, such as includes.",
        backend_yaml.USE_OUT_AS_PRIMARY: "Whether out kernels are written, and other forms are derived from them.",
        backend_yaml.DEVICE_GUARD: "Whether the tensors' device becomes the current one while a kernel runs.",
        backend_yaml.SUPPORTED: "Operators with a kernel of the backend.",
        backend_yaml.AUTOGRAD: "Operators with a kernel under the backend's autograd key.",
        backend_yaml.SYMINT: "Operators whose kernels take symbolic integers.",
        backend_yaml.FULL_CODEGEN: "Operators of a lazy backend whose kernels and nodes are generated.",
        backend_yaml.IR_GEN: "Operators of a lazy backend whose nodes are generated; you write their kernels.",
        backend_yaml.NON_NATIVE: "Nodes of a lazy backend for operators that torch does not have.",
        backend_yaml.FUNC: "The schema of the node.",
        backend_yaml.OPKIND: "The C++ expression for what the node computes, such as at::prim::Constant.",
        backend_yaml.PROPERTIES: "Which parts of the node's class are generated, and how.",
        selection.ALL_OPERATORS: "True to keep every operator and every kernel.",
        selection.ALL_ELSE: "True to keep all kernels, classes and features.",
        selection.DEBUG_INFO: "Where the selection comes from.",
        selection.OPERATORS: "The operators to keep, each with what is kept of it.",
        selection.KERNELS: "Element types for which each kernel is compiled.",
        selection.ET_KERNELS: "Kernels that ExecuTorch models need.",
        selection.CLASSES: "Classes bound to torch to keep.",
        selection.FEATURES: "Build features to keep.",
        selection.IS_ROOT: "Whether a model calls the operator, so that its schema is kept.",
        selection.FOR_TRAINING: "Whether the operator's autograd kernels are kept.",
        selection.ALL_OVERLOADS: "Whether all overloads are kept.",
        selection.OPERATOR_DEBUG_INFO: "Where the operator comes from.",
        mlx.NAME: "The operator's name in C++, in the namespace of the library.",
        mlx.SIGNATURE: "The C++ signature: array name(arguments).",
        mlx.CPP_SIGNATURE: "With python_signature, instead of signature: the C++ types of results and arguments.",
        mlx.PYTHON_SIGNATURE: "With cpp_signature, instead of signature: names and defaults as Python writes them.",
        mlx.DISPATCH: "The kernel for each device. Without it, the operator is composite.",
        mlx.COMPOSITE: "A C++ expression that a composite operator computes. Without it, you write a function.",
        mlx.PYTHON_NAME: "The name in Python, if it is another one than in C++.",
        mlx.GRAD: "The gradient of each array argument: a C++ expression, or none.",
        mlx.DOC: "The docstring of the Python function.",
        mlx.POINTWISE: "True if each element of the result depends on the elements at the same place.",
        mlx.SHAPE: "Of an operator with kernels that isn't pointwise: the shape of each result.",
        mlx.DTYPES: "The dtypes that the kernels are for.",
        mlx.INPUT_DTYPES: "Arrays that are converted to a dtype of their own.",
        mlx.RESULT_DTYPE: "The dtype of each result: same is that of the inputs.",
        mlx.VMAP: "How a batch is computed: a word, or what arguments become when a batch axis comes first.",
    }
)
"""By the field that reads the key."""

DERIVATIVE_KEYS: Final[Mapping[str, str]] = MappingProxyType(
    {
        derivative_entries.NAME: "The operator's schema, without its namespace.",
        derivative_entries.DISPATCH: "Formulas by dispatch key: Default, and keys such as AutogradCUDA.",
        derivative_entries.OUTPUT_DIFFERENTIABILITY: "Whether each result is differentiable, or a C++ condition.",
        derivative_entries.HANDLES_COMPLEX: "True if the formulas hold for complex tensors.",
        "formula": "A C++ expression for the gradient of the arguments, or the tangent of the result, in the key.",
    }
)
"""The keys of an entry in derivatives.yaml; `formula` stands for those that name arguments or results."""
