"""What turns say that a memory no longer says is not found at the companion either: the board's own lines say so."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import support
from board import say
from engram.memory.access import OWNER
from outdated_facts import FACTS, edit, replace, told
from peers import read_raw_lines
from search_store import SearchStore, asked, embed_all, engine_of, ids, record, turn

LOGS = (("records", "memory/memory_records"), ("journal", "journal/journal"))


@pytest.fixture(autouse=True)
def folder_of_boards(tmp_path: Path) -> None:
    """Where boards have their flash."""
    support.use_root(str(tmp_path))


def copied(board: Any) -> SearchStore:
    """A companion's copy of a board."""
    store = SearchStore()
    for log, name in LOGS:
        for seq, line in read_raw_lines(Path(board.folder) / name):
            store.put("b", log, seq, line)  # pyright: ignore[reportArgumentType]
    embed_all(store, "b")
    return store


def changed_boards() -> Iterator[tuple[Any, Any]]:
    """Boards on which a fact was replaced, in each way, with the fact."""
    for fact in FACTS:
        for change in (edit, replace):
            board, ref = told(fact)
            change(board, ref, fact[1] % fact[2][1])
            say(board, fact[3])
            yield board, fact


def test_after_a_change_the_companion_finds_what_holds_now_and_nothing_that_said_the_old():
    for board, ((_, _, (old, new), question, _)) in changed_boards():
        for meaning in (False, True):
            hits = engine_of(copied(board), meaning).search(asked(question)).hits
            assert new in hits[0].text and not [hit for hit in hits if old in hit.text], (question, hits)


def test_history_has_what_was_said_before_and_says_so():
    board, ref = told(FACTS[0])
    board.records.update(ref, {"content": "the gate code is 9876"})
    hits = engine_of(copied(board)).search(asked("gate code 1234", history=True)).hits
    states = {hit.id: hit.state for hit in hits}
    assert states["t4"] == "superseded" and states[ref] == "live"


def test_it_is_found_again_once_that_is_taken_back():
    board, ref = told(FACTS[0])
    board.records.update(ref, {"content": "the gate code is 9876"})
    board.undo.undo(OWNER)
    assert {"t4", ref} <= set(ids(engine_of(copied(board)).search(asked("gate code 1234"))))


def test_a_question_that_was_asked_before_is_no_answer():
    for meaning in (False, True):
        store = SearchStore()
        asking = [
            turn(seq, "what is my blood type?", who="owner", at=1_700_000_000 + 9999 * seq, sid=f"s{seq}")
            for seq in (1, 2)
        ]
        store.put_all("b", asking)
        embed_all(store, "b")
        alone = engine_of(store, meaning).search(asked("do you know what my blood type is?"))
        assert alone.confidence < 0.1
        store.put_all("b", [turn(5, "I like the smell of blood oranges")], [record(1, "The user has blood type B")])
        embed_all(store, "b")
        assert ids(engine_of(store, meaning).search(asked("do you know what my blood type is?")))[0] == "m1"


def test_what_stands_beside_a_question_that_was_asked_before_is_no_answer():
    store = SearchStore()
    store.put_all("b", [turn(1, "what is my blood type?", who="owner"), turn(2, "hm", prev=1, n=1)])
    assert "t2" not in ids(engine_of(store).search(asked("what is my blood type?")))


def test_a_question_that_says_something_else_is_found():
    store = SearchStore()
    store.put_all("b", [turn(1, "did you know that my sister Ann plays the violin in an orchestra?", who="owner")])
    assert engine_of(store).search(asked("violin")).confidence > 0.1
