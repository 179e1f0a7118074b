"""A flash of an earlier version: the present code reads all of it, ranks alike on all runtimes, and writes on."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

import board_fixture
from board_fixture import (
    EXPECTED,
    RUNTIMES,
    SEARCHES,
    State,
    differences,
    flash,
    read,
    run,
    shortened,
    unpack,
    usable,
    with_searches,
)  # fmt: skip

EXPECTATIONS: State = json.loads(EXPECTED.read_text(encoding="utf-8"))
RANKED = json.loads(SEARCHES.read_text(encoding="utf-8"))
NOW = EXPECTATIONS["made"]["now"]

LOGS = ("memory/memory_records", "journal/journal")


def assert_is(expected: State, found: State) -> None:
    """The board holds what it is expected to; else each difference is told, with the memories and turns that differ."""
    bodies: dict[str, Any] = {}
    lines = list(differences(expected, shortened(found, bodies)))
    changed = [
        f"{ref}: {EXPECTATIONS['bodies'].get(ref) or bodies.get(ref)}"
        for ref in sorted(EXPECTATIONS["bodies"].keys() ^ bodies.keys())
        if any(ref in line for line in lines)
    ]
    assert not lines, "\n".join([f"{len(lines)} differences", *lines[:30], *changed[:20]])


def runtimes(in_soak: str) -> list[Any]:
    """All runtimes; one of those on MicroPython is left to `make soak`."""
    return [
        pytest.param(
            runtime,
            marks=[
                pytest.mark.skipif(not usable(runtime), reason=f"there is no {runtime}-bit MicroPython"),
                *([pytest.mark.soak] if runtime == in_soak else []),
            ],
        )
        for runtime in RUNTIMES
    ]


# --- as it is, and written on


@pytest.mark.parametrize("runtime", runtimes("64"))
def test_a_flash_of_an_earlier_version_is_read_and_written_on(runtime: str, tmp_path: Path):
    opened, after = read(runtime, flash(), tmp_path, NOW, "see", "go_on", "see")
    assert_is(with_searches(EXPECTATIONS["opened"], RANKED["opened"]), opened)
    assert_is(with_searches(EXPECTATIONS["after"], RANKED["after"]), after)


@pytest.mark.parametrize("runtime", runtimes("32"))
def test_lost_indexes_are_rebuilt_with_the_same_ranks(runtime: str, tmp_path: Path):
    (rebuilt,) = read(runtime, flash(), tmp_path, NOW, "unindex", "see")
    assert_is(with_searches(EXPECTATIONS["opened"], RANKED["opened"]), rebuilt)


def test_the_states_differ_only_in_ranks_and_in_what_was_changed():
    """The expectations themselves: of a rebuilt index only ranks may differ."""
    opened, rebuilt = (_without_ranks(EXPECTATIONS[name]) for name in ("opened", "rebuilt"))
    assert list(differences(opened, rebuilt)) == []
    assert list(differences(opened, _without_ranks(EXPECTATIONS["after"])))


def _without_ranks(state: State) -> State:
    callers = {caller: {**seen, "searches": {}} for caller, seen in state["callers"].items()}
    return {**state, "callers": callers}


def test_a_difference_is_reported_with_what_differs():
    other = json.loads(json.dumps(EXPECTATIONS["opened"]))
    gone = other["callers"]["ann"]["memories"].pop()
    other["callers"]["bob"]["searches"]["shelf 42"][0][1] += 1
    other["callers"]["group"]["commands"]["/memory"][0] = "49 things, all is well"
    told = list(differences(EXPECTATIONS["opened"], other))
    assert len(told) == 3 and gone in told[0] and "shelf 42" in told[1] and "/commands//memory" in told[2]


# --- what stands on the flash


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpack(flash(), tmp_path_factory.mktemp("flash"))


def lines_of(files: Path, log: str) -> Iterator[bytes]:
    """The lines of all segments of a log, sealed ones first."""
    for file in sorted(files.glob(f"{log}.*jsonl")):
        yield from file.read_bytes().splitlines(keepends=True)


@pytest.mark.parametrize("path", [*LOGS, "memory/archive", "memory/intents", "memory/trash", "memory/link"])
def test_each_line_ends_with_the_crc_of_its_own_bytes(files: Path, path: str):
    lines = list(lines_of(files, path)) or (files / f"{path}.json").read_bytes().splitlines(keepends=True)
    assert lines
    for line in lines:
        body, _, check = line.rpartition(b',"crc":"')
        assert check == b'%08x"}\n' % crc32(body), line


@pytest.mark.parametrize("log", LOGS)
def test_a_segment_begins_with_a_header_and_the_seqs_rise(files: Path, log: str):
    epochs, seqs = set(), [0]
    for line in map(json.loads, lines_of(files, log)):
        if "seq" in line:
            seqs.append(line["seq"])
        else:
            assert line["format"] == 2 and line["log"] == log.rpartition("/")[2]
            epochs.add(line["epoch"])
    assert len(epochs) == 1 and seqs == sorted(set(seqs))


def test_the_flash_has_one_of_each_kind_of_line_and_of_each_file(files: Path):
    records = [json.loads(line) for line in lines_of(files, LOGS[0])]
    journal = [json.loads(line) for line in lines_of(files, LOGS[1])]
    kinds = {line.get("op", "") for line in records if "seq" in line}
    assert kinds == {
        "", "forget", "profile", "note", "learned", "distilled", "leave", "archive", "part", "compacted",
    }  # fmt: skip
    assert {line.get("op", "") for line in journal if "seq" in line} == {
        "",
        "session",
        "current",
        "drop",
        "redact",
        "show",
    }
    fields = {name for line in records if "content" in line for name in line}
    assert fields >= {
        "keywords", "type", "importance", "source", "scope", "updated", "pinned", "expires", "supersedes", "turns", "origin",
        "past", "was", "undoes", "with", "restored", "guess",
    }  # fmt: skip
    assert {name for line in journal if "text" in line for name in line} >= {
        "caption",
        "workspace",
        "cut",
        "command",
        "guess",
    }
    present = {path.name for path in files.rglob("*")}
    assert present >= {
        "archive.jsonl", "daily.json", "intents.bad", "intents.jsonl", "journal.bad", "journal.index", "learning.json",
        "link.json", "memory_records.0002.jsonl", "memory_records.bad", "memory_records.index", "trash.jsonl",
        "trash.old.jsonl", "uses.bin", "MEMORY.md", "MEMORY~ann.md", "user~_42ob.md",
    }  # fmt: skip


def test_no_secret_is_in_the_fixture(files: Path):
    told = json.loads((files / "secrets.json").read_text())
    assert told == {
        "llm": {"key": "no-key"}, "companion": {"token": "no-token"},
        "wifi": [{"ssid": "Fixture", "password": "not-a-password"}],
    }  # fmt: skip


# --- the program that wrote it


def test_the_present_code_writes_such_a_flash_and_only_ranks_depend_on_its_indexes(tmp_path: Path):
    run("cpython", "write_board.py", tmp_path)
    printed = run("cpython", "read_board.py", tmp_path, "-", NOW, "see", "unindex", "see")
    first, again = (_without_ranks(json.loads(line[2:])) for line in printed.splitlines() if line.startswith("> "))
    assert list(differences(first, again)) == []
    assert first["board"]["records"] > 100 and first["board"]["archived"] > 10


def test_the_fixtures_are_small():
    assert sum(file.stat().st_size for file in board_fixture.DATA.parent.rglob("*") if file.is_file()) < 900_000
