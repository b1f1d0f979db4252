"""C++ and Python sources → the operators that they register with literals.

    TORCH_LIBRARY(mylib, m) { m.def("scale(Tensor x, float by) -> Tensor"); }
    TORCH_LIBRARY_IMPL(mylib, CPU, m) { m.impl("scale", &scale_cpu); }

Schemas that are computed or inferred from C++ functions are reported with their lines; use `--from-ops` for these.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from opgen.diagnostics import Diagnostics
from opgen.importing.cpp_source import read_cpp
from opgen.importing.definitions import Imported, Operator, readable_schema
from opgen.importing.python_source import read_python
from opgen.importing.registration import Registration
from opgen.input_files import read_text


def read_source(path: Path, log: Diagnostics) -> Iterator[Imported]:
    """Yield the operators that a source registers, separately for each registration."""
    try:
        text = read_text(path)
    except (OSError, UnicodeDecodeError) as problem:
        log.error("import-unreadable", f"'{path}' can't be read: {problem}")
        return
    read = read_python if path.suffix in (".py", ".pyi") else read_cpp
    for each in read(text):
        place = f"{path}:{text.count(chr(10), 0, each.offset) + 1}"
        reason = each.problem or ("" if each.is_kernel else readable_schema(each.schema) or "")
        if reason:
            log.warning("import-unread", f"{place}: {reason}", label="read it with --from-ops, or write it by hand")
        else:
            yield _imported(each)


def _imported(each: Registration) -> Imported:
    kernels = {each.key: each.kernel} if each.key else {}
    return Imported(each.namespace, (Operator(each.schema, kernels, each.tags),))
