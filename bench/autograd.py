"""opgen's speed beside torch's own generators of autograd and of Python bindings, on what the installed torch has.

    python -m bench.autograd [--rounds 3] [--folder DIR]

As in `bench.speed`, each round runs every command once, and ratios are of runs of the same round.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from bench.speed import Case, run, set_aside


def cases(source: Path, work: Path) -> list[Case]:
    """The commands; each writes to a folder of its own."""
    native, folder = source / "native", source.parent / "autograd"

    def arguments(out: str, *flags: str) -> tuple[str, ...]:
        paths = (native / "native_functions.yaml", native / "tags.yaml", work / out, folder)
        return (*map(str, paths), *flags)

    def emptying(name: str) -> Callable[[], None]:
        return lambda: set_aside(work / name)

    def nothing() -> None:
        return None

    both, quiet = ("--bindings", "-q"), "-q"
    return [
        Case("torch: autograd and bindings", "bench.torch_autograd", arguments("torch"), emptying("torch")),
        Case("both, --jobs 1", "opgen.gen_autograd", arguments("one", *both, "-j1"), emptying("one")),
        Case("both", "opgen.gen_autograd", arguments("all", *both), emptying("all")),
        Case("both, nothing changed", "opgen.gen_autograd", arguments("kept", *both), nothing),
        Case("autograd alone", "opgen.gen_autograd", arguments("autograd", quiet), emptying("autograd")),
        Case("bindings alone", "opgen.gen_python", arguments("bindings", quiet), emptying("bindings")),
        Case("stubs", "opgen.gen_pyi", arguments("stubs", quiet), emptying("stubs")),
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    run(cases, "python -m bench.autograd", __doc__.partition("\n")[0], arguments)


if __name__ == "__main__":
    main()
