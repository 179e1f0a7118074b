"""Make the data of a release, once, on its day; tests/compatibility reads it from then on.

python tests/support/compatibility/make_release.py VERSION
"""

import asyncio
import json
import lzma
import sys
import tempfile
from pathlib import Path

sys.path.extend(
    str(Path(__file__).resolve().parents[3] / name)
    for name in ("host", "firmware", "tools/setup", "tools/build", "tools/benchmarks", "tests/support")
)
sys.path.extend(
    str(Path(__file__).resolve().parents[1] / name)
    for name in ("companion", "compatibility", "e2e", "firmware", "servers")
)

import firmware_build
from driving import Talk, talking
from engram.link import messages
from message_samples import SAMPLES
from postgres_process import PostgresProcess
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
)  # fmt: skip
from waiting import wait_until

STORY = (
    "remember that my bike is green",
    "remember that Ada is allergic to nuts",
    "Ada planted tomatoes behind the house",
    "remember that 自転車は青い",
    "/pin m1",
    '/import {"content":"Ada sails on Sundays","tags":["sport","ada"],"keywords":["boat"],"importance":0.8}',
    "remember that the key hangs in the shed",
    "/forget key hangs",
    "/session new Garden",
    "what is Ada allergic to?",
    "/note the plumber fixed the tap",
    "/profile user.md add Her name is Ada.",
    "/timers add 8:00 daily water the plants",
    "/timers add when the paint shop: buy brushes",
    "/pair telegram:12345 ann",
    "/people group telegram:-100123 mention",
)
"""Lines that its owner types on a new board, after FILLING."""

FILLING = tuple(f"on day {day} shelf {day * 7 % 31} got box {day * 13}" for day in range(200))


def _pack(target: Path, data: bytes) -> None:
    target.write_bytes(lzma.compress(data, preset=9 | lzma.PRESET_EXTREME))


def _play(folder: Path, **variables: str) -> Path:
    """Play the story on a new board with a companion beside it; the flash."""
    folder.mkdir()
    home = board(folder / "board").knowing(
        HOME=str(folder), COMPANION="1", EMBEDDING_PROVIDER="none", ENGRAM_HTTP_PORT="0", **variables
    )
    with talking(home) as talk:
        talk.heard("A companion runs beside the board")
        for line in FILLING + STORY:
            talk.say(line)
            talk.say("/mode")
            talk.heard("full mode\n")
        wait_until("all is copied", lambda: _is_copied(talk))
        assert talk.end() == 0
    return folder / "board" / "flash.bin"


def companion_of(folder: Path) -> Path:
    return folder / ".engram" / "companion"


def _is_copied(talk: Talk) -> bool:
    talk.say("/stats")
    talk.say("/mode")
    told = talk.heard("full mode\n")
    return "companion connected to " in told and "lines to send" not in told


def _write(target: Path) -> None:
    firmware_build.compile_all()
    target.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as work, PostgresProcess() as server:
        first, second = Path(work) / "first", Path(work) / "second"
        _pack(target / FLASH, _play(first).read_bytes())
        _pack(target / SQLITE, (companion_of(first) / "companion.db").read_bytes())
        _play(second, ENGRAM_STORE_URL=server.url)
        _pack(target / POSTGRES, postgres_program("pg_dump", "--inserts", "--no-owner", server.url))
        seen = {
            "board": typed(board(first / "board"), LOOKS),
            "sqlite": asyncio.run(seen_by_companion(companion_of(first), "")),
            "postgres": asyncio.run(seen_by_companion(companion_of(second), server.url)),
        }
    (target / SEEN).write_text(json.dumps(seen, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    samples = [[op, bytes(messages.encode(op, "5f3a9c01", 12, 4, **fields)).decode()] for _, op, fields in SAMPLES]
    (target / MESSAGES).write_text(json.dumps(samples, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    _write(DATA / sys.argv[1])
