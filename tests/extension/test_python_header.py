"""What `detail/Python.h` declares of torch's parser is laid out as torch's own headers have it."""

from __future__ import annotations

import subprocess
import sysconfig
from importlib.util import find_spec
from pathlib import Path

from opgen.commands._extension import extension_templates, generate_extension
from tests.extension.building import EXAMPLES, require_tools
from tests.extension.test_names import load

COMPARED = """
#define FMT_HEADER_ONLY
#define AT_PER_OPERATOR_HEADERS
#include <torch/csrc/Exceptions.h>
#include <torch/csrc/utils/python_arg_parser.h>
#include <torch/version.h>
#include <cstddef>

namespace declared {
%s
} // namespace declared

using Ours = declared::torch::PythonArgs;
using Theirs = torch::PythonArgs;
static_assert(sizeof(Ours) == sizeof(Theirs));
static_assert(offsetof(Ours, idx) == offsetof(Theirs, idx));
static_assert(offsetof(Ours, traceable) == offsetof(Theirs, traceable));
#if TORCH_VERSION_MINOR >= 13
static_assert(offsetof(Ours, skip_torch_function) == offsetof(Theirs, skip_torch_function));
#endif
static_assert(offsetof(Ours, args) == offsetof(Theirs, args));
static_assert(offsetof(Ours, overloaded_args) == offsetof(Theirs, overloaded_args));
static_assert(std::is_same_v<decltype(Ours::overloaded_args), decltype(Theirs::overloaded_args)>);
static_assert(sizeof(declared::torch::PythonArgParser) >= sizeof(torch::PythonArgParser));
static_assert(sizeof(declared::torch::PyWarningHandler) >= sizeof(torch::PyWarningHandler));
static_assert(offsetof(declared::TensorObject, tensor) == offsetof(THPVariable, cdata));
static_assert(std::is_same_v<decltype(THPVariable::cdata), at::Tensor>);

// Each function that the header calls is one of torch's.
PyObject* (*wrap)(at::TensorBase&&) = THPVariable_Wrap;
void (*translate)(const std::exception_ptr&) = torch::translate_exception_to_python;
at::Tensor (Theirs::*tensor)(int) = &Theirs::tensor_slow;
at::Scalar (Theirs::*scalar)(int) = &Theirs::scalar_slow;
at::Scalar (Theirs::*scalar_of)(PyObject*) = &Theirs::scalar_slow;
Theirs (torch::PythonArgParser::*parse)(PyObject*, PyObject*, PyObject*, PyObject**) =
    &torch::PythonArgParser::raw_parse;
PyObject* (*override_function)(
    at::ArrayRef<PyObject*>, PyObject*, PyObject*, const char*, PyObject*, const char*, torch::TorchFunctionName) =
    torch::handle_torch_function_no_python_arg_parser;
"""


def _declarations() -> str:
    """Return what the header declares in torch's namespace, and its object of a tensor."""
    files = generate_extension(load(EXAMPLES / "rational" / "ops"), extension_templates())
    (text,) = [file.text for file in files if file.path.endswith("detail/Python.h")]
    start, end = text.index("namespace torch {"), text.index("} // namespace torch")
    tensor = text.index("struct TensorObject {")
    return text[start:end] + "}\n" + text[tensor : text.index("};", tensor) + 2]


def test_declarations_are_torchs(tmp_path: Path) -> None:
    require_tools()
    spec = find_spec("torch")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    root = Path(spec.submodule_search_locations[0]) / "include"
    folders = [root, root / "torch" / "csrc" / "api" / "include", Path(sysconfig.get_paths()["include"])]
    source = tmp_path / "compared.cpp"
    source.write_text(COMPARED % _declarations())
    flags = ["-std=c++20", "-fsyntax-only", "-fno-access-control", "-w", *(f"-isystem{folder}" for folder in folders)]
    done = subprocess.run(["c++", *flags, source], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:3000]
