"""The preview of an import says of each line what a board then does with it."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

import support
from board import NOW
from engram.memory.access import OWNER
from engram_host.companion.errors import ImportRefused, UnknownDevice
from engram_host.companion.imports import preview as preview_module
from engram_host.companion.imports.preview import preview_import
from engram_host.companion.store import CompanionStore
from engram_host.companion.types import Hello, LineBatch, LogState, Sender, SeqRange
from engram_host.transfer.report import import_command
from extent import with_more
from movers import fill, memories, mover
from peers import read_raw_lines

SENDER = Sender("b1", 2, 2)


@pytest.fixture(autouse=True)
def folder_of_boards(tmp_path: Path) -> None:
    """Where boards have their flash."""
    support.use_root(str(tmp_path))


def copy_board(store: CompanionStore, board: Any) -> None:
    """Let the companion have a copy of a board's memories."""
    epoch = board.records.entries.epoch
    lines = read_raw_lines(Path(board.folder) / "memory" / "memory_records")
    last = lines[-1][0] if lines else 0
    logs = {"records": LogState(epoch, 1, last + 1, 0), "journal": LogState(board.journal.entries.epoch, 1, 1, 0)}
    store.replication.greet(Hello("kitchen", Sender("b1", 2, 1), 60, logs), NOW)  # type: ignore[arg-type]
    if lines:
        assert store.replication.store_batches(
            [LineBatch(SENDER, SeqRange("kitchen", "records", epoch, 0, last), lines)], NOW
        ) == [last]


def done_by_board(board: Any, fields: dict[str, Any]) -> str:
    """What a board says that it did with an object."""
    reports = [each for each in board.commands.run(OWNER, import_command(fields)) if isinstance(each, dict)]
    outcome = reports[-1]
    if len(reports) > 1:
        return "refused"
    counted = [word for word, count in outcome["counts"].items() if count]
    return counted[0] if counted else "text" if outcome["files"] else "text there"


def origin(chance: random.Random) -> str:
    """One of few origins, so that some come twice."""
    return f"notes:{chance.randrange(5)}"


def changes(chance: random.Random, line: dict[str, Any]) -> list[dict[str, Any]]:
    """A line of an export as somebody may have changed it: what it has then, None for a field that is left out."""
    return [
        {},
        {"content": line["content"] + " indeed", "updated": line["created"] + 10**6},
        {"content": "something else of old", "updated": line["created"] - 5},
        {name: None for name in line if name != "origin"} | {"deleted": True},
        {"origin": None},
        {"origin": origin(chance)},
        {"content": ""},
        {"tags": ["a", "b", "c", "d"]},
        {"superseded": True},
        {"partial": True, "mood": "good"},
        {"supersedes": origin(chance)},
        dict.fromkeys(line) | {"content": f"a new fact {chance.randrange(6)}", "tags": ["new"]},
    ]


def changed(chance: random.Random, line: dict[str, Any]) -> dict[str, Any]:
    """A line of an export with one of these changes."""
    found = line | {"id": None} | chance.choice(changes(chance, line))
    return {name: value for name, value in found.items() if value is not None}


@pytest.mark.parametrize("seed", with_more((0, 59), range(1, 8)))
def test_a_preview_says_what_the_board_then_does(store: CompanionStore, seed: int):
    random.seed(seed)
    chance = random.Random(seed)
    board = fill(mover(), 25)
    copy_board(store, board)
    known = [line for line in memories(board) if "content" in line]
    lines = [changed(chance, chance.choice(known)) for _ in range(40)]
    lines.append({"file": "MEMORY.md", "text": "- lasting"})
    data = "".join(json.dumps(line) + "\n" for line in lines).encode()
    found = preview_import(store.boards, store.notes, "kitchen", "in.jsonl", data, NOW)
    assert [line.number for line in found.lines] == list(range(1, len(lines) + 1))
    for line in found.lines:
        done = done_by_board(board, line.fields) if line.fields is not None else "refused"
        assert line.outcome == done, (line, line.fields)


def test_lines_after_one_that_is_new_know_it(store: CompanionStore):
    copy_board(store, mover())
    line = b'{"content":"the kettle is new","tags":["a"]}\n'
    found = preview_import(
        store.boards, store.notes, "kitchen", "in.jsonl", line + line + b'{"content":"The kettle is new."}\n', NOW
    )
    assert [each.outcome for each in found.lines] == ["stored", "there already", "there already"]


def test_formats_of_other_programs_and_markdown_are_read(store: CompanionStore):
    copy_board(store, mover())
    page = b"# Shopping\n- buy milk\n- buy tea #drinks\n\nsome text\n"
    found = preview_import(store.boards, store.notes, "kitchen", "list.md", page, NOW)
    assert [(each.number, each.outcome, each.text) for each in found.lines] == [
        (2, "stored", "buy milk"),
        (3, "stored", "buy tea"),
    ]
    assert found.notes == ["1 line is in no list and was left out"]
    claw = b'{"id":"a","content":"green bike","tags":"x","created_at":1700000000,"mood":"good"}\n'
    found = preview_import(store.boards, store.notes, "kitchen", "memory_records.jsonl", claw, NOW)
    assert found.counts == {"stored": 1} and found.unknown == ["mood"]


def test_what_cannot_be_read_is_refused_with_the_reason(store: CompanionStore):
    copy_board(store, mover())
    found = preview_import(
        store.boards, store.notes, "kitchen", "in.jsonl", b'nonsense\n\xff\n{"content":5}\n[1]\n', NOW
    )
    assert [each.outcome for each in found.lines] == ["refused"] * 4 and all(each.why for each in found.lines)
    long = json.dumps({"content": "x" * 100, "keywords": ["y" * 9000]}).encode()
    assert (
        "8000 fit in a message"
        in preview_import(store.boards, store.notes, "kitchen", "in.jsonl", long, NOW).lines[0].why
    )


def test_an_unknown_board_and_too_many_lines_are_refused(store: CompanionStore, monkeypatch: pytest.MonkeyPatch):
    with pytest.raises(UnknownDevice):
        preview_import(store.boards, store.notes, "kitchen", "in.jsonl", b"{}", NOW)
    copy_board(store, mover())
    monkeypatch.setattr(preview_module, "MOST_LINES", 3)
    with pytest.raises(ImportRefused, match="more than 3 lines"):
        preview_import(store.boards, store.notes, "kitchen", "in.jsonl", b'{"content":"a"}\n' * 4, NOW)
