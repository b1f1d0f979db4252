"""The conformance tests can be pointed at another generator, to see that they themselves hold.

    python -m pytest tests/conformance/test_flags.py --generator torchgen.gen

fails only where torchgen writes outside the folders that were named.
"""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--generator", default="opgen.gen", metavar="MODULE", help="the module to compare with torchgen")


@pytest.fixture(scope="session")
def generator(request: pytest.FixtureRequest) -> str:
    """The module under test, as in `python -m MODULE`."""
    return str(request.config.getoption("--generator"))
