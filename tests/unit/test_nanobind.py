"""Whether nanobind matches mlx is read from their files, and the message names the release to install.

The commands of docs/mlx.md that do so are run here.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from expecttest import assert_expected_inline

from opgen.diagnostics import Diagnostics
from opgen.installed.nanobind import check_nanobind


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder before all others in which Python looks for packages."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "executable", "python3")
    return tmp_path


def _make_mlx(packages: Path, tag: str) -> None:
    (packages / "mlx").mkdir()
    (packages / "mlx" / "__init__.py").touch()
    (packages / "mlx" / "core.cpython-311-x86_64-linux-gnu.so").write_bytes(
        b"\x00ELF v9_ \x00" + tag.encode() + b"\x00"
    )


def _make_nanobind(packages: Path, internals: int) -> None:
    (packages / "nanobind" / "src").mkdir(parents=True)
    (packages / "nanobind" / "__init__.py").touch()
    header = f"#pragma once\n#ifndef NB_INTERNALS_VERSION\n#  define NB_INTERNALS_VERSION {internals}\n#endif\n"
    (packages / "nanobind" / "src" / "nb_abi.h").write_text(header, encoding="utf-8")


def _said() -> str:
    log = Diagnostics()
    check_nanobind(log)
    return log.render()


def test_a_match(packages: Path) -> None:
    _make_mlx(packages, "v20_system_libstdcpp_gxx_abi_1xxx_use_cxx11_abi_1")
    _make_nanobind(packages, 20)
    assert _said() == ""


def test_a_mismatch(packages: Path) -> None:
    _make_mlx(packages, "v20_system_libcpp_abi1")
    _make_nanobind(packages, 19)
    assert_expected_inline(
        _said(),
        """\
opgen: error: nanobind has internals 19, mlx has 20: arrays can't be passed between them [nanobind-mismatch]
  python3 -m pip install 'nanobind==2.14.0'
1 error
""",
    )


def test_internals_that_no_known_release_has(packages: Path) -> None:
    _make_mlx(packages, "v33_system_libcpp_abi1")
    _make_nanobind(packages, 20)
    assert "install a nanobind whose NB_INTERNALS_VERSION is 33" in _said()


def test_no_nanobind(packages: Path) -> None:
    _make_mlx(packages, "v19_system_libcpp_abi1")
    assert_expected_inline(
        _said(),
        """\
opgen: error: nanobind isn't installed for python3 [nanobind-missing]
  python3 -m pip install 'nanobind==2.12.0'
1 error
""",
    )


@pytest.mark.usefixtures("packages")
def test_no_mlx() -> None:
    assert_expected_inline(
        _said(),
        """\
opgen: error: mlx isn't installed for python3 [mlx-missing]
  python3 -m pip install 'mlx[cpu]'
1 error
""",
    )


def test_an_mlx_that_does_not_tell(packages: Path) -> None:
    _make_mlx(packages, "nothing")
    _make_nanobind(packages, 20)
    assert "warning: can't tell which nanobind this mlx works with [nanobind-unknown]" in _said()
