"""torchgen's `api.python`: the signatures of operators in Python, for generators of stubs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from opgen.api import python
from opgen.api.python import PythonSignature as PythonSignature
from opgen.api.python import structseq_fieldnames
from opgen.api.python_stubs import structseq_class
from opgen.as_torchgen.errors import asserted
from opgen.frozen_dataclass import dataclass
from opgen.model import NativeFunction

_WIDTH = 80


@dataclass(frozen=True, slots=True)
class PythonSignatureNativeFunctionPair:
    """An operator and its signature."""

    signature: PythonSignature
    function: NativeFunction


@dataclass(frozen=True, slots=True)
class PythonSignatureGroup:
    """A signature and its operators: one without out arguments and optionally one with them."""

    signature: PythonSignature
    base: NativeFunction
    outplace: NativeFunction | None

    @staticmethod
    def from_pairs(
        functional: PythonSignatureNativeFunctionPair, out: PythonSignatureNativeFunctionPair | None
    ) -> PythonSignatureGroup:
        """Return the group of a functional form and its out form."""
        if out is None:
            return PythonSignatureGroup(functional.signature, functional.function, None)
        # The functional form of a mutable operator has a different name.
        signature = replace(functional.signature.with_out_form(out.signature), name=out.signature.name)
        return PythonSignatureGroup(signature, functional.function, out.function)


@asserted()
def signature(f: NativeFunction, *, method: bool = False, pyi: bool = False) -> PythonSignature:
    """Return the signature of an operator."""
    del pyi  # stubs are generated from the same signature
    return python.signature(f, method=method)


def format_function_signature(name: str, arguments: Iterable[str] = (), return_type: str | None = None) -> str:
    """Return the signature line of a function in a stub, on several lines if it is long."""
    listed, returned = list(arguments), "" if return_type is None else f" -> {return_type}"
    one_line = f"def {name}({', '.join(listed)}){returned}: ..."
    if len(one_line) <= _WIDTH or not listed:
        return one_line
    lines = "".join(f"    {argument},\n" for argument in listed)
    return f"def {name}(\n{lines}){returned}: ..."


def returns_structseq_pyi(signature: PythonSignature) -> tuple[str, str] | None:
    """Return the name and the class of the named tuple that an operator returns; None if it returns none."""
    if not structseq_fieldnames(signature.returns):
        return None
    return signature.name, structseq_class(signature.name, signature.returns)
