"""What the tests of the commands share: a companion, PostgreSQL, and a board in this process that takes an import."""

from pathlib import Path

import pytest

from companion_fixtures import companion, postgres

__all__ = ["companion", "postgres"]


@pytest.fixture
def importing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """`engram import`, and the board that it asks."""
    import support
    from engram_host.cli import transfer
    from importing_board import Importing

    support.use_root(str(tmp_path))
    importing = Importing(tmp_path)
    monkeypatch.setattr(transfer, "open_board", importing.talking)
    return importing
