"""The data of each release stays readable: its flash, both databases, and its messages."""

import asyncio
import json
import lzma
from pathlib import Path

import pytest

from engram.link import messages
from postgres_process import binaries
from postgres_server import PostgresServer
from release_data import (
    DATA,
    FLASH,
    LOOKS,
    MESSAGES,
    POSTGRES,
    SEEN,
    SQLITE,
    board,
    postgres_program,
    seen_by_companion,
    typed,
    unpack,
)  # fmt: skip

RELEASES = sorted(path.name for path in DATA.glob("[0-9]*"))

pytestmark = pytest.mark.parametrize("release", RELEASES)


def _seen(release: str) -> dict:
    return json.loads((DATA / release / SEEN).read_text(encoding="utf-8"))


def test_a_flash_is_read_and_written_on(release: str, tmp_path: Path):
    unpack(DATA / release / FLASH, tmp_path / "flash.bin")
    home = board(tmp_path)
    assert typed(home, LOOKS) == _seen(release)["board"]
    *_, found = typed(home, ["remember that the gate squeaks", "/memory list", "/recall gate"])
    assert "the gate squeaks" in found[1]


def test_an_sqlite_database_is_read(release: str, tmp_path: Path):
    unpack(DATA / release / SQLITE, tmp_path / "companion" / "companion.db")
    assert asyncio.run(seen_by_companion(tmp_path / "companion", "")) == _seen(release)["sqlite"]


@pytest.mark.skipif(not binaries(), reason="PostgreSQL is not installed")
def test_a_postgresql_database_is_read(release: str, tmp_path: Path):
    with PostgresServer() as server:
        sql = lzma.decompress((DATA / release / POSTGRES).read_bytes())
        postgres_program("psql", "-q", "-v", "ON_ERROR_STOP=1", server.url, given=sql)
        found = asyncio.run(seen_by_companion(tmp_path / "companion", server.url))
    assert found == _seen(release)["postgres"]


def test_each_message_is_read_and_written_as_it_was(release: str):
    for op, line in json.loads((DATA / release / MESSAGES).read_text(encoding="utf-8")):
        table = messages.FROM_BOARD if op in messages.FROM_BOARD else messages.TO_BOARD
        head, body = messages.decode(line.encode(), table)
        fields = {name: value for name, value in head.items() if name not in ("op", "board", "link", "n", "crc")}
        assert not body
        assert messages.encode(op, head["board"], head["link"], head["n"], **fields) == line.encode()
