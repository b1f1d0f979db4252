"""Builds extensions with `torch.utils.cpp_extension`: in a setup.py, or just in time in a program.

    from opgen.cpp_extension import generated_package
    setup(**generated_package("mylib", "ops", ["kernels.cpp"]))     # the package mylib, with its module mylib._C

    from opgen.cpp_extension import load
    mylib = load("mylib", "ops", ["kernels.cpp"])                   # compiles, loads torch.ops.mylib, imports mylib

    setup(**generated_package("mylib", "ops", ["kernels.cpp"], stable_abi="2.10"))     # one wheel for every torch

Both run the generator first.  It doesn't touch unchanged files, so these aren't recompiled.
torch and setuptools are imported on demand, since opgen itself needs neither.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from opgen.releases.choice import STABLE_ABI_FLAG
from opgen.run.spine import run
from opgen.undefined_kernels import explain, undefined_in

__all__ = ["GenerationError", "generate_sources", "generated_extension", "generated_package", "load"]

_LISTS: Final = "sources.cmake"
_TORCH: Final = "torch.utils.cpp_extension"
_OUTPUT: Final = "build/generated"
_FLAGS: Final = ("-std=c++20", "-g0")
"""Flags of every compilation.  The debug information of Python's default flags makes a library ten times as large."""
_LINKED_FLAGS: Final = ("-Wl,-s",) if sys.platform == "linux" else ()
_STABLE_LINKED_FLAGS: Final = ("-Wl,--no-as-needed", "-ltorch_cpu") if sys.platform == "linux" else ()
"""The linker would drop the library whose functions torch's headers of the stable ABI call."""
_UNSTABLE_LIBRARIES: Final = ("c10", "torch", "torch_python", "c10_cuda")
_OLDEST_PYTHON: Final = "cp310"

Paths = Sequence[str | os.PathLike[str]]


class GenerationError(Exception):
    """The definitions have errors, which have been reported on stderr."""


def generate_sources(
    definitions: str | os.PathLike[str], output: str | os.PathLike[str], *, flags: Sequence[str] = ()
) -> Mapping[str, list[str]]:
    """Write the C++ of an extension below `output`, and return its files: `sources`, `cuda_sources`, `headers`, …"""
    folder = Path(output)
    lists = folder / _LISTS
    folder.mkdir(parents=True, exist_ok=True)
    where = ("--source-path", os.fspath(definitions), "--install-dir", os.fspath(folder))
    if run("gen", [*where, "--extension", "--quiet", "-o", os.fspath(lists), *flags]):
        raise GenerationError(f"can't build an extension from '{os.fspath(definitions)}'")
    found: Mapping[str, list[str]] = json.loads(lists.with_suffix(".json").read_text(encoding="utf-8"))
    return found


def _paths(files: Paths) -> list[str]:
    return [os.fspath(file) for file in files]


def generated_package(
    name: str,
    definitions: str | os.PathLike[str],
    sources: Paths,
    *,
    cuda_sources: Paths = (),
    output: str | os.PathLike[str] = _OUTPUT,
    include_dirs: Sequence[str] = (),
    flags: Sequence[str] = (),
    stable_abi: str | None = None,
    aoti_shims: bool = False,
    **settings: Any,
) -> dict[str, Any]:
    """Return the arguments of `setup()` that build and install the Python package of an extension.

    The operators and the package's module are one library, `<name>._C`.

    Args:
        name: The namespace of the operators, and the package's name.
        definitions: The folder of the definitions.
        sources: Your sources.
        cuda_sources: Your sources for builds with CUDA.
        output: The folder for generated files.
        include_dirs: Folders of your headers.
        flags: Additional flags of `opgen gen`.
        stable_abi: The oldest torch that a binary in torch's stable ABI supports, such as `2.10`. The wheel then
            supports Python 3.10 and newer. None for a binary for the installed torch and Python.
        aoti_shims: Whether models that AOTInductor compiles call the operators without Python.
        settings: As for `generated_extension`.
    """
    if aoti_shims:
        flags = (*flags, *_shim_flags(output))
        if sys.platform == "linux":
            # A model finds a loaded library by its name, wherever the package is installed.
            settings.setdefault("extra_link_args", [*_LINKED_FLAGS, f"-Wl,-soname,{name}._C.so"])
    build = _build_command(_torch_builder().BuildExtension)
    stable = () if stable_abi is None else (STABLE_ABI_FLAG, stable_abi)
    extension = _extension(
        f"{name}._C",
        definitions,
        sources,
        cuda_sources,
        output,
        include_dirs,
        (*flags, *stable),
        settings,
        with_python=True,
    )
    options = {} if stable_abi is None else {"options": {"bdist_wheel": {"py_limited_api": _OLDEST_PYTHON}}}
    return {
        **options,
        "ext_modules": [extension],
        "packages": [name],
        "package_dir": {name: (Path(output) / "python" / name).as_posix()},
        "package_data": {name: ["*.pyi", "py.typed"]},
        "cmdclass": {"build_ext": build},
    }


def generated_extension(
    name: str,
    definitions: str | os.PathLike[str],
    sources: Paths,
    *,
    cuda_sources: Paths = (),
    output: str | os.PathLike[str] = _OUTPUT,
    include_dirs: Sequence[str] = (),
    flags: Sequence[str] = (),
    aoti_shims: bool = False,
    **settings: Any,
) -> Any:
    """Return a library of only the operators, for `torch.ops.load_library`.

    It is a `CppExtension`, or a `CUDAExtension` if torch has CUDA and there are sources for it.
    `settings` are those of torch and setuptools: `extra_compile_args`, `define_macros`, …
    """
    flags = ("--no-python", *flags, *(_shim_flags(output) if aoti_shims else ()))
    return _extension(
        name, definitions, sources, cuda_sources, output, include_dirs, flags, settings, with_python=False
    )


def _shim_flags(output: str | os.PathLike[str]) -> tuple[str, ...]:
    return ("--aoti-install-dir", os.fspath(output))


def _torch_builder() -> Any:
    """Return `torch.utils.cpp_extension`; end the program with one line if torch or a compiler is missing."""
    has_torch = importlib.util.find_spec("torch") is not None
    _require_tool("torch", f"{sys.executable} -m pip install torch", found=has_torch)
    if sys.platform != "win32":
        compiler = (os.environ.get("CXX") or "c++").split()[0]
        install = "xcode-select --install" if sys.platform == "darwin" else "apt-get install g++"
        _require_tool(compiler, install, found=shutil.which(compiler) is not None)
    return importlib.import_module(_TORCH)


def _compiler_flags(cpp_extension: Any) -> list[str]:
    """Return flags for the C++ compiler.

    GCC's garbage collector takes a sixth of its time and frees little. Warnings in torch's headers, which
    Python's default flags enable, would hide those in the author's sources.
    """
    if sys.platform == "win32":
        return [*_FLAGS]
    compiler = (os.environ.get("CXX") or "c++").split()
    output = subprocess.run([*compiler, "--version"], capture_output=True, text=True, check=False).stdout
    is_gcc = "Free Software Foundation" in output
    headers = [f"-isystem{folder}" for folder in cpp_extension.include_paths()]
    return [*_FLAGS, *headers, *(["--param=ggc-min-heapsize=1000000", "-Wno-psabi"] if is_gcc else [])]


def _require_tool(name: str, install: str, *, found: bool) -> None:
    if not found:
        raise SystemExit(f"opgen: building an extension needs {name}, and there is none; install it with: {install}")


def _build_command(base: Any) -> Any:
    """Return a command `build_ext` that prints the number of sources; Ninja prints the progress."""

    def build_extension(self: Any, extension: Any) -> None:
        sys.stdout.write(f"opgen: compiling {len(extension.sources)} sources of {extension.name}\n")
        if not self.use_ninja:
            install = f"{sys.executable} -m pip install ninja"
            sys.stdout.write(f"opgen: without ninja, one source is compiled at a time; install it with: {install}\n")
        sys.stdout.flush()
        base.build_extension(self, extension)
        _check_kernels(Path(self.get_ext_fullpath(extension.name)), Path(extension.include_dirs[0]))

    return type("BuildExtension", (base,), {"build_extension": build_extension})


def _check_kernels(library: Path, headers: Path) -> None:
    """End the program if kernels are missing from a library, which Python's modules can be linked without."""
    explanation = explain(undefined_in(library), headers)
    if explanation:
        library.unlink()
        raise SystemExit(explanation.rstrip())


def _extension(
    name: str,
    definitions: str | os.PathLike[str],
    sources: Paths,
    cuda_sources: Paths,
    output: str | os.PathLike[str],
    include_dirs: Sequence[str],
    flags: Sequence[str],
    settings: dict[str, Any],
    *,
    with_python: bool,
) -> Any:
    cpp_extension = _torch_builder()
    generated = generate_sources(definitions, output, flags=flags)
    # Schemas with a TorchBind class must be registered after the class.
    files = [*_paths(sources), *generated["sources"]]
    if with_python:
        bindings, macros = _bindings(generated)
        files += bindings
        settings["define_macros"] = [*settings.get("define_macros", ()), *((macro, None) for macro in macros)]
    kind = cpp_extension.CppExtension
    if cuda_sources and cpp_extension.CUDA_HOME is not None:
        kind = cpp_extension.CUDAExtension
        files += [*generated.get("cuda_sources", ()), *_paths(cuda_sources)]
    settings.setdefault("extra_compile_args", {"cxx": _compiler_flags(cpp_extension), "nvcc": ["-std=c++20"]})
    settings.setdefault("extra_link_args", [*_LINKED_FLAGS])
    folders = [os.path.abspath(output), *map(os.path.abspath, include_dirs)]
    if generated["definitions"]:
        return _stable_extension(kind, name, files, generated["definitions"], include_dirs=folders, **settings)
    return kind(name, files, include_dirs=folders, **settings)


def _bindings(generated: Mapping[str, list[str]]) -> tuple[list[str], list[str]]:
    """Return the sources of the Python module and the macros for all sources of a library that has it.

    A unit of the library includes the bindings. In torch's stable ABI, they are a separate source.
    """
    return (generated["python_sources"], []) if generated["definitions"] else ([], ["OPGEN_WITH_BINDINGS"])


def _stable_extension(kind: Any, name: str, files: list[str], definitions: Sequence[str], **settings: Any) -> Any:
    """Return an extension in the stable ABI, linked only with torch's library for the stable ABI."""
    macros = [(macro, value) for macro, _, value in (each.partition("=") for each in definitions)]
    settings["define_macros"] = [*settings.get("define_macros", ()), *macros]
    settings["extra_link_args"] = [*settings["extra_link_args"], *_STABLE_LINKED_FLAGS]
    extension = kind(name, files, py_limited_api=True, **settings)
    extension.libraries = [library for library in extension.libraries if library not in _UNSTABLE_LIBRARIES]
    return extension


def load(
    name: str,
    definitions: str | os.PathLike[str],
    sources: Paths,
    *,
    build_directory: str | os.PathLike[str] = "build",
    include_dirs: Sequence[str] = (),
    flags: Sequence[str] = (),
    aoti_shims: bool = False,
    **settings: Any,
) -> ModuleType:
    """Compiles an extension, loads its operators (`torch.ops.<name>`) and returns its package, imported.

    `name` is the operators' namespace; `settings` are those of `torch.utils.cpp_extension.load`.
    """
    cpp_extension = _torch_builder()
    _require_tool("ninja", f"{sys.executable} -m pip install ninja", found=cpp_extension.is_ninja_available())
    folder = Path(build_directory).resolve()
    shim_flags = _shim_flags(folder / "generated") if aoti_shims else ()
    made = generate_sources(definitions, folder / "generated", flags=(*flags, *shim_flags))
    # torch's `load` sets no optimization flags, unlike setuptools and CMake.
    optimized = "/O2" if sys.platform == "win32" else "-O3"
    settings.setdefault("extra_cflags", [optimized, *_compiler_flags(cpp_extension)])
    bindings, macros = _bindings(made)
    defined = [f"-D{macro}" for macro in (*made["definitions"], *macros)]
    settings["extra_cflags"] = [*settings["extra_cflags"], *defined]
    settings.setdefault("extra_ldflags", [*_LINKED_FLAGS])
    # Ninja then prints the compiled files and the number of remaining steps.
    settings.setdefault("verbose", sys.stderr.isatty())
    folder.mkdir(parents=True, exist_ok=True)
    try:
        library = cpp_extension.load(
            name,
            [*_paths(sources), *made["sources"], *bindings],
            extra_include_paths=[os.fspath(folder / "generated"), *map(os.path.abspath, include_dirs)],
            build_directory=os.fspath(folder),
            is_python_module=False,
            **settings,
        )
    except OSError:  # the library exists, but can't be loaded
        for built in folder.glob(f"{name}*.so"):
            _check_kernels(built, folder / "generated")
        raise
    return _import_package(name, folder / "generated" / "python" / name, library)


def _import_package(name: str, folder: Path, library: str) -> ModuleType:
    """Return the package in `folder`, imported as `name`, with the library as its module `_C`."""
    place = folder / "__init__.py"
    package = sys.modules.get(name)
    if package is not None and getattr(package, "__file__", None) == os.fspath(place):
        return package
    package = _new_module(name, place, [os.fspath(folder)])
    native = _new_module(f"{name}._C", library)
    sys.modules[name], sys.modules[native.__name__] = package, native
    _execute(native)
    _execute(package)
    return package


def _new_module(name: str, place: str | os.PathLike[str], folders: list[str] | None = None) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, place, submodule_search_locations=folders)
    if spec is None:
        raise ImportError(f"'{os.fspath(place)}' is not the name of a Python module", name=name)
    return importlib.util.module_from_spec(spec)


def _execute(module: ModuleType) -> None:
    if module.__spec__ is not None and module.__spec__.loader is not None:
        module.__spec__.loader.exec_module(module)
