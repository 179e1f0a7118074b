"""What is extracted, distilled, noted and stored in a workspace belongs to it: here by what is on flash."""

import json
import os

from board import Board
from calls import equipped, result_of
from engram.llm.types import Call
from engram.memory import access
from engram.memory.access import OWNER, Caller
from engram.text.openers import parse
from learners import add, facts, learn, learner, read, tell
from support import at_once

GARDEN = Caller("ann", "chat#1", False, "garden")
ANN = Caller("ann", "chat#1", False, "")
BOB = Caller("bob", "chat#2", False, "garden")
OUTSIDE = Caller("bob", "chat#2", False, "")
OWNER_THERE = Caller("owner", "console", False, "garden")


def scopes(board):
    """The scopes of all records on flash, the oldest first, by their content."""
    return [(record["content"], record.get("scope", "all")) for record in board.records.entries.newest()][::-1]


def note_files(board):
    """The names of the files of notes on flash."""
    return sorted(name for name in os.listdir(board.place + "/memory") if name[:2] == "20" or name[:6] == "MEMORY")


# --- facts


async def test_an_extracted_fact_is_the_workspaces():
    board = learner("ok", facts(add("t3", "The hedge is cut in March", ["hedge", "month", "work"])))
    await learn(board, "we cut the hedge in March", GARDEN)
    assert scopes(board) == [("The hedge is cut in March", "ws:garden")]
    (record,) = board.records.newest(BOB)
    assert record["tags"] == ["hedge", "month", "ws:garden"]
    assert list(board.records.newest(ANN)) == list(board.records.newest(OWNER)) == []


async def test_what_was_said_outside_is_not_read_together_with_what_was_said_in_a_workspace():
    board = learner("ok", "ok", facts(add("t3", "The safe is behind the door")), facts(add("t5", "The hedge is cut")))
    await tell(board, "my safe is behind the door", ANN)
    await tell(board, "the hedge is cut", GARDEN)
    await read(board)
    assert scopes(board) == [("The safe is behind the door", "user:ann"), ("The hedge is cut", "ws:garden")]


def test_what_is_remembered_without_a_model_is_the_workspaces():
    board = Board().serve()
    at_once(board.offline.answer(GARDEN, parse("remember that the hedge is wet"), "t1"))
    assert scopes(board) == [("the hedge is wet", "ws:garden")]


# --- what the model stores


def store(board, content, caller=GARDEN, **more):
    """What memory_store answers in a turn of the caller's."""
    return result_of(board, "memory_store", caller, content=content, tags=["note"], **more)


def test_what_the_model_stores_is_the_workspaces_unless_it_is_personal():
    board = equipped()
    store(board, "The hedge is cut in March")
    store(board, "Ann is 40", personal=True)
    store(board, "Ann likes jazz", ANN)
    store(board, "The shed is locked", OWNER_THERE)
    result_of(board, "memory_store", GARDEN, content="The boat costs 100", tags=["open-task"])  # as task.md is
    assert [scope for _, scope in scopes(board)] == ["ws:garden", "user:ann", "user:ann", "ws:garden", "user:ann"]


async def test_a_last_look_keeps_what_was_said_in_a_workspace_there_and_what_was_said_outside_private():
    def keep(content):
        return [Call("1", "memory_store", json.dumps({"content": content, "tags": ["note"]}))]

    steps = ["ok"] * 4 + [keep("The safe is behind the door"), "done", keep("The hedge is cut"), "done"]
    board = learner(*steps, session_messages=4, extract_on=False)
    for said, caller in (("apples", ANN), ("pears", GARDEN), ("plums", ANN), ("figs", ANN)):
        await tell(board, said, caller)
    await read(board)
    assert scopes(board) == [("The safe is behind the door", "user:ann"), ("The hedge is cut", "ws:garden")]
    looks = board.model.requests[4][-1], board.model.requests[6][-1]
    assert [["] apples" in look, "] pears" in look] for look in looks] == [[True, False], [False, True]]


# --- notes


def test_members_share_the_notes_of_a_workspace_and_nobody_else_finds_them():
    board = equipped()
    result_of(board, "file_edit", GARDEN, file="today", text="the hedge needs water")
    assert note_files(board) == ["2026-09-21~ws_3agarden.md"]
    for caller, is_seen in ((GARDEN, True), (BOB, True), (OWNER_THERE, True), (ANN, False), (OUTSIDE, False)):
        assert bool(board.find("hedge water", caller)) is is_seen
        assert ("hedge" in board.notes.for_caller(caller).text("2026-09-21.md")) is is_seen


async def test_what_is_distilled_of_the_notes_of_a_workspace_is_its():
    kept = {"op": "add", "from": "e1", "content": "The hedge is cut in March", "tags": ["hedge"]}
    board = learner(facts(kept))
    board.notes.for_caller(GARDEN).note("we cut the hedge in March")
    board.distillation.ask(access.notebook_of(GARDEN), False)
    await read(board)
    assert scopes(board) == [("The hedge is cut in March", "ws:garden")]
    assert board.note_retention.waiting() == {}
    assert "was taken back: The hedge is cut" in board.undo.undo(BOB)
    assert scopes(board) == []


def test_a_workspace_with_a_name_too_long_for_a_file_leaves_notes_with_who_writes_them():
    long = Caller("ann", "chat#1", False, "\u56ed" * 29)
    Board().notes.for_caller(long).note("the hedge needs water")
    assert access.notebook_of(long) == "ann"
