"""What `opgen new --mlx` creates builds with setuptools, installs and passes its tests.

The commands of docs/mlx.md that do so are run here.
"""

from __future__ import annotations

from pathlib import Path

from tests.mlx.conftest import Run


def test_a_new_project(run: Run, tmp_path: Path) -> None:
    project, installed = tmp_path / "fresh", tmp_path / "installed"
    done = run("python", "-m", "opgen", "new", "fresh", "--mlx", "--into", project)
    assert done.returncode == 0, done.stderr
    assert sorted(path.relative_to(project).as_posix() for path in project.rglob("*") if path.is_file()) == [
        *(".gitignore", "CMakeLists.txt", "README.md", "ops/mlx_ops.yaml", "ops/schemas/mlx.json", "pyproject.toml"),
        *("setup.py", "src/kernels.h", "tests/test_fresh.py"),
    ]
    done = run("python", "setup.py", "-q", "install_lib", "--install-dir", installed, folder=project)
    assert done.returncode == 0, done.stdout + done.stderr
    package = sorted(path.name for path in (installed / "fresh").iterdir() if "__pycache__" not in path.name)
    assert [name.partition(".")[0] for name in package] == ["__init__", "_ext", "_ext", "py"]
    done = run(*("python", "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"), folder=project, paths=[installed])
    assert done.returncode == 0, done.stdout
    assert "3 passed" in done.stdout
