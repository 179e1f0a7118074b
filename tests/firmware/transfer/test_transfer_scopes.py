"""Whose memories go out and come in: nobody gets or changes another one's by way of an import or an export."""

import json
import random

from board import ANN, NOW, ROOM
from engram.compat import finish
from engram.memory.access import OWNER
from movers import MANY, WORDS, answered, fill, imported, live, memories, mover, stored, told

# --- who may see and change what


def test_an_export_never_holds_what_its_caller_may_not_see():
    board = mover()
    board.records.store("owner's secret garden", ["a"])
    board.records.store("ann's secret garden", ["a"], ANN)
    board.records.store("everybody's garden", ["a"], ROOM)
    board.records.store("ann's new garden", ["a"], ANN, supersedes="m2")
    seen = {OWNER: ("m1", "m3"), ANN: ("m2", "m3", "m4"), ROOM: ("m3",)}
    for caller, refs in seen.items():
        printed = "\n".join(answered(board, "/export", caller))
        for number, content in enumerate(("owner's s", "ann's s", "everybody's", "ann's n")):
            assert (content in printed) == ("m%d" % (number + 1) in refs), (caller, content)


def test_what_others_import_is_their_own():
    board = mover()
    imported(board, [{"content": "Ann sings", "scope": "user:owner"}], ANN)
    assert [row["scope"] for row in live(board, ANN)] == ["user:ann"] and live(board) == []


def test_others_cannot_reach_the_owners_memories_by_their_origin():
    board = stored("the owner's garden")
    origin = memories(board)[0]["origin"]
    line = {"content": "nothing", "origin": origin, "updated": NOW + 9}
    assert imported(board, [line], ANN) == ["stored m2"]
    imported(board, [dict(line, supersedes=origin, origin="1a2b3c4d:m1")], ANN)
    assert [row["content"] for row in live(board)] == ["the owner's garden"]


def test_others_cannot_take_the_place_of_what_the_owner_imports():
    lines = memories(stored("the owner's garden"))
    board = mover()
    imported(board, [dict(lines[0], content="nothing")], ANN)
    imported(board, lines)
    assert [row["content"] for row in live(board)] == ["the owner's garden"]


def test_a_group_room_imports_for_all_only():
    board = mover()
    (told,) = imported(board, [{"content": "x y", "scope": "user:ann"}], ROOM)
    assert told.startswith("scope: in a group room")
    imported(board, [{"content": "we meet at noon"}], ROOM)
    assert [row["scope"] for row in live(board)] == ["all"]


def test_an_export_is_whole_while_others_write_and_compact():
    random.seed(3)
    board = fill(mover(segment_bytes=4000), MANY)
    before = {line["id"] for line in memories(board) if "superseded" not in line}
    seen = []
    for number, line in enumerate(board.commands.run(OWNER, "/export")):
        if isinstance(line, str):
            seen.append(json.loads(line))
        if number == 5:
            board.records.update(min(before), {"content": "changed meanwhile"})
        if number == 8:
            finish(board.records.compacting())
        if number % 6 == 0:
            board.records.store("meanwhile %d %s" % (number, random.choice(WORDS)), ["new"])
            board.records.entries.tick()
    assert before <= {line["id"] for line in seen if "content" in line}
    assert told(seen[1])["content"]
