"""What tests of searches share."""

import pytest

from engram_host.companion.search.indexes import cache


@pytest.fixture
def keep_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let indexes of all sizes be kept in files."""
    monkeypatch.setattr(cache, "LEAST_KEPT", 1)
