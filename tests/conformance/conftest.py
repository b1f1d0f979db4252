"""What the tests beside torchgen share."""

from __future__ import annotations

import pytest

from tests.conformance.compare import EqualTexts
from tests.fetch import cache_folder


@pytest.fixture(scope="session")
def equals() -> EqualTexts:
    """Equal pairs of texts, kept from session to session: what was compared once needn't be again."""
    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    return EqualTexts(folder / "equal-texts")
