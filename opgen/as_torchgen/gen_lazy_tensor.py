"""torchgen's `gen_lazy_tensor`: a lazy backend's YAML → its files."""

from __future__ import annotations

import sys
from inspect import signature
from typing import Any, Final

from opgen import gen_lazy_tensor
from opgen.api.lazy import VALUE_CLASS, value_type
from opgen.as_torchgen.api.lazy import setValueT
from opgen.as_torchgen.dest.lazy_ir import GenLazyIR, GenLazyNativeFuncDefinition
from opgen.as_torchgen.errors import asserted

_SIGNATURE: Final = signature(gen_lazy_tensor.run_gen_lazy_tensor)


@asserted()
def run_gen_lazy_tensor(*inputs: Any, **style: Any) -> None:
    """Write the files of a lazy backend; raise AssertionError with all errors.

    Arguments are those of `opgen.gen_lazy_tensor.run_gen_lazy_tensor`, which are torchgen's.
    """
    bound = _SIGNATURE.bind(*inputs, **style)
    bound.arguments.setdefault("lazy_ir_generator", GenLazyIR)
    bound.arguments.setdefault("native_func_definition_generator", GenLazyNativeFuncDefinition)
    setValueT(value_type(bound.arguments.get("lazy_value_class", VALUE_CLASS)).type)
    gen_lazy_tensor.run_gen_lazy_tensor(**bound.arguments)


def main() -> None:
    """Run the generator; exit with its code if that is not 0."""
    code = gen_lazy_tensor.main()
    if code:
        sys.exit(code)


if __name__ == "__main__":
    main()
