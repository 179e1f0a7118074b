#!/usr/bin/env python3
"""Makes the fixtures of a version in tests/data anew: only for a new version, as those of an old one say what it wrote.

make_fixtures.py flash | wire | ranks | searches

`ranks` and `searches` note how today's code ranks: for a ranking that is better, as measured.
"""

import itertools
import json
import lzma
import os
import subprocess
import sys
import tempfile
from binascii import crc32
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

sys.path.extend(
    str(Path(__file__).resolve().parents[3] / name)
    for name in (
        "host",
        "firmware",
        "tools/setup",
        "tools/build",
        "tools/benchmarks",
        "tests/support",
        "tests/support/companion",
    )
)

import firmware_build
import get_micropython
import ranks
from board_fixture import DATA, EXPECTED, FLASH, SEARCHES, dump, flash, read, run, searches_of, shortened, unpack
from engram import log_line
from engram.link import messages
from peers import Companion

READ_AFTER = 3600
"""Seconds after the last thing happened that a board is read."""


def make_flash() -> None:
    """Let a board be written, and note what it says of itself."""
    firmware_build.compile_all()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        now = int(run("32", "write_board.py", "/flash", folder / "written.bin").splitlines()[-1]) + READ_AFTER
        data = (folder / "written.bin").read_bytes()
        opened, after = read("32", data, folder, now, "see", "go_on", "see")
        (rebuilt,) = read("32", data, folder, now, "unindex", "see")
    bodies: dict = {}
    states = {"opened": opened, "rebuilt": rebuilt, "after": after}
    states = {step: shortened(state, bodies) for step, state in states.items()}
    micropython = get_micropython.probe(get_micropython.HOME / "32")
    made = {"engram": "0.1.0", "micropython": micropython[0] if micropython else None, "now": now}
    DATA.mkdir(parents=True, exist_ok=True)
    FLASH.write_bytes(lzma.compress(data, preset=9 | lzma.PRESET_EXTREME))
    EXPECTED.write_text(dump({"made": made, **states, "bodies": bodies}) + "\n", encoding="utf-8")
    print(f"{FLASH}: {FLASH.stat().st_size} bytes, {EXPECTED}: {EXPECTED.stat().st_size} bytes")


def make_searches() -> None:
    """Note what searches find on the flash of the earlier version."""
    now = json.loads(EXPECTED.read_text(encoding="utf-8"))["made"]["now"]
    with tempfile.TemporaryDirectory() as name:
        opened, after = read("cpython", flash(), Path(name), now, "see", "go_on", "see")
    states = {"opened": searches_of(opened), "after": searches_of(after)}
    SEARCHES.write_text(dump(states) + "\n", encoding="utf-8")


# --- messages

WIRE = DATA.parent / "wire-0.1"
DEVICE, BOARD = "kitchen", "0f1e2d3c4b5a"
LINES = 6
_NUMBERS = itertools.count(1)


def make_messages() -> None:
    """Let a board that has some lines of the flash say one of each message to a companion, and note what both say."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = unpack(flash(), folder / "files")
        with Companion(folder / "companion") as companion:
            said = [(up, companion.posted(DEVICE, up)) for up in conversation(files)]
        kept = [
            {"up": up.decode(), "down": [line.decode() for line in down.splitlines(keepends=True)]} for up, down in said
        ]
        WIRE.mkdir(parents=True, exist_ok=True)
        text = "[\n" + ",\n".join(json.dumps(one, ensure_ascii=False) for one in kept) + "\n]\n"
        (WIRE / "messages.json").write_text(text, encoding="utf-8")
    support = firmware_build.ROOT / "tests" / "support" / "firmware"
    path = f"{support}:{firmware_build.ROOT / 'firmware'}"
    frames = subprocess.run(
        [sys.executable, support / "wire_frames.py", WIRE / "messages.json"],
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    ).stdout
    (WIRE / "frames.json").write_text(dump(json.loads(frames)) + "\n", encoding="utf-8")
    for file in sorted(WIRE.iterdir()):
        print(f"{file}: {file.stat().st_size} bytes")


def conversation(files: Path) -> Iterator[bytes]:
    """The messages of a board whose logs begin with the first lines of the fixture's."""
    logs = {}
    for name, path in (("records", "memory/memory_records.0001.jsonl"), ("journal", "journal/journal.0002.jsonl")):
        lines = (files / path).read_bytes().splitlines(keepends=True)
        logs[name] = [line for line in lines if b'{"seq":' in line and b'"op":' not in line][:LINES]
    seqs = {name: [log_line.decode(line)["seq"] for line in lines] for name, lines in logs.items()}
    epoch = {"records": 11, "journal": 12}
    archived = [at for at, line in enumerate(logs["records"]) if b'"scope":"user:owner"' in line][:2]

    def say(op: str, *lines: bytes, link: int = 214089263, **fields: object) -> bytes:
        return messages.encode(op, BOARD, link, next(_NUMBERS), **fields) + b"".join(lines)

    def hello(link: int = 214089263) -> bytes:
        told = {name: [epoch[name], seqs[name][0], seqs[name][-1] + 1 + (name == "records") * 2, 0] for name in logs}
        return say("hello", version=1, zone=120, relied=0, link=link, **told)

    def span(name: str) -> dict[str, Any]:
        return {
            "log": name,
            "epoch": epoch[name],
            "after": seqs[name][0] - 1,
            "to": seqs[name][-1],
            "count": len(seqs[name]),
        }

    def digest(lines: Iterable[bytes]) -> str:
        check = 0
        for line in lines:
            check = crc32(line[-11:-3], check)
        return messages.shown(check)

    caller = {"principal": "owner", "group": False, "workspace": ""}
    yield say("lines", *logs["records"], **span("records"))
    yield hello()
    for name in logs:
        yield say("lines", *logs[name], **span(name))
    yield say("check", digest=digest(logs["records"]), **span("records"))
    yield say("check", digest="00000000", **span("journal"))
    yield say("agreed", log="records", epoch=epoch["records"], rewrites=0)
    wanted = [logs["records"][at] for at in archived]
    kept = [log_line.decode(line) for line in wanted]
    yield say("keep", log="records", epoch=epoch["records"], seqs=[one["seq"] for one in kept], digest=digest(wanted))
    last = seqs["records"][-1]
    gone = [
        log_line.encode(
            [("seq", last + 1 + at), ("op", "archive"), ("id", one["id"]), ("at", 1792259608), ("was", one["seq"])]
        )
        for at, one in enumerate(kept)
    ]
    more = {**span("records"), "after": last, "to": last + len(gone), "count": len(gone)}
    yield say("lines", *gone, **more)
    numbers = [int(one["id"][1:]) for one in kept]
    yield say("holds", epoch=epoch["records"], entries=[["user:owner", min(numbers), max(numbers)]])
    yield say("list", epoch=epoch["records"], after=0)
    yield say("get", id=kept[0]["id"], **caller)
    yield say("get", id=f"t{seqs['journal'][1]}", **caller)
    words = " ".join(kept[1]["content"].split()[:5])
    yield say("search", query=words, limit=5, tags=[], since=0, until=0, folders=False, **caller)
    yield say(
        "search", query="自行车 🚲", limit=5, tags=["tag-1"], since=1790000000, until=1800000000, folders=True, **caller
    )
    yield say("file", path="notes/tea.md", first=1, count=20, **caller)
    note = "# Tee\n- 08:15 grüner Tee um vier\n".encode()
    of_note = {"epoch": epoch["records"], "file": "2026-09-21.md", "digest": messages.shown(crc32(note))}
    listed = [[of_note["file"], len(note), of_note["digest"]], ["2026-09-22~ann.md", 0, messages.LEFT]]
    yield say("notes", epoch=epoch["records"], after="", to="", files=listed)
    yield say("note", note, **of_note)
    yield hello(link=214089264)


# --- ranks


def make_ranks() -> None:
    """Note how the board ranks the turns of all conversations that are there."""
    ranks.FOLDER.mkdir(parents=True, exist_ok=True)
    for name in ranks.NAMES:
        rows = []
        for conversation in ranks.conversations(ranks.SETS / name):
            found = [ranks.shortened(ranked) for ranked in ranks.on_this_python(ranks.load(conversation))]
            kept = {"set": ranks.digest_of(conversation), "questions": found}
            rows.append(f"{json.dumps(conversation.name)}: {json.dumps(kept)}")
            print(f"{name}/{conversation.name}: {len(found)} questions")
        (ranks.FOLDER / f"{name}.json").write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="ascii")


if __name__ == "__main__":
    {"flash": make_flash, "wire": make_messages, "ranks": make_ranks, "searches": make_searches}[sys.argv[1]]()
