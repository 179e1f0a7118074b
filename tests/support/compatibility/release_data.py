"""The data of releases in tests/data: a flash and both databases of one conversation, and one of each message of the link.

make_release.py makes those of a release, on its day.
"""

import lzma
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx

import chip
from driving import Home, talking
from engram_host.companion.serving import start
from postgres_process import binaries

_RANKED = re.compile(r", next .*|confidence: .*\n|- \[.* weak\].*\n")

DATA = Path(__file__).resolve().parents[2] / "data"
FLASH = "flash.bin.xz"
SQLITE = "companion.db.xz"
POSTGRES = "postgres.sql.xz"
MESSAGES = "messages.json"
SEEN = "seen.json"

LOOKS = (
    "/memory list",
    "/memory tags",
    "/memory show m2",
    "/memory history m1",
    "/session list",
    "/timers",
    "/people",
    "/profile user.md",
    "/recall tomatoes",
    "/recall 自転車",
    "/memory show t10",
)
"""Commands that show a board's memory, on the board."""


def board(folder: Path) -> Home:
    """A board on an emulated flash."""
    return chip.board(folder).having(log__level="error")


def typed(home: Home, lines: Sequence[str]) -> list[list[str]]:
    """Type lines to a board whose index is whole; [line, what it printed], without what depends on the day or the ranker."""
    with talking(home) as talk:

        def printed(line: str) -> str:
            talk.say(line)
            talk.say("/mode")
            return talk.heard("full mode\n").removesuffix("full mode\n")

        while "\nindex " in printed("/stats"):
            pass
        found = [[line, _RANKED.sub("", printed(line))] for line in lines]
        assert talk.end() == 0
    return found


async def seen_by_companion(home: Path, url: str) -> dict[str, list[Any]]:
    """Return the memories and turns that a companion of this version shows of a database."""
    flags: dict[tuple[str, str], Any] = {("http", "port"): 0, ("embedding", "provider"): "none", ("store", "url"): url}
    async with start(home, flags) as running, httpx.AsyncClient(base_url=running.web.url) as client:
        (device,) = (await client.get("/v1/devices")).json()
        memories = (await client.get(f"/v1/boards/{device['name']}/memories")).json()
        journal = (await client.get(f"/v1/devices/{device['name']}/lines?log=journal")).json()
        return {
            "memories": [[entry["id"], entry["state"], entry["line"]] for entry in memories["entries"]],
            "journal": [entry["line"] for entry in journal[-20:]],
        }


def unpack(packed: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(lzma.decompress(packed.read_bytes()))


def postgres_program(name: str, *words: str, given: bytes = b"") -> bytes:
    folder = binaries()
    assert folder
    return subprocess.run([folder / name, *words], input=given, capture_output=True, check=True).stdout
