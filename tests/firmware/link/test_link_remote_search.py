"""Asking the companion: when it is asked, how long it is waited for, and that the board alone decides what may be seen."""

import json

from board import ANN, ROOM, Board
from engram.agent.agent import Turn
from engram.errors import NetError
from engram.link.remote_search import RemoteSearch
from engram.llm.types import Call
from engram.memory.access import OWNER
from linked import Linked


class Asking(Linked):
    """A board whose companion is asked."""

    def __init__(self, board, when="always", within_ms=60_000):
        super().__init__(board)
        self.ask = RemoteSearch(self.exchange, self.sync, when, within_ms)
        self.board.companion, self.board.remote_search = self, self.ask

    async def find(self, query, caller=OWNER, limit=10, **more):
        found = await self.ask.found(self.board.rank(query, caller), limit)
        return found, [item.id for item in self.board.find(query, caller, limit, more=found, **more)]


def _board():
    board = Board(companion_url="http://companion")
    board.records.store("the bike is green", ["a"])
    board.records.store("Ada plays the cello on Sundays", ["a"])
    board.records.store("the boat lies in the harbour", ["a"])
    return board


async def test_the_companions_order_goes_before_the_boards():
    asking = Asking(_board())
    await asking.copy()
    asking.companion.finds = [["m3", 900], ["m1", 500]]
    _, ids = await asking.find("bike harbour cello")
    assert ids == ["m3", "m1", "m2"]


async def test_what_the_companion_cannot_know_yet_keeps_its_place():
    board = _board()
    asking = Asking(board)
    await asking.copy()
    board.records.store("the bike has a flat tyre", ["a"])
    asking.companion.finds = [["m1", 900], ["m2", 100]]
    _, ids = await asking.find("bike tyre")
    assert ids[0] == "m4"


async def test_a_strong_answer_of_the_board_is_not_asked_for():
    asking = Asking(_board(), "weak")
    await asking.copy()
    assert await asking.ask.found(asking.board.rank("the bike is green", OWNER)) is None
    assert asking.companion.searches == []


async def test_a_weak_answer_and_none_are_asked_for():
    asking = Asking(_board(), "weak")
    await asking.copy()
    await asking.ask.found(asking.board.rank("zebra violin concert opera ticket bike", OWNER))
    await asking.ask.found(asking.board.rank("zebra", OWNER))
    assert len(asking.companion.searches) == 2


async def test_never_means_never():
    asking = Asking(_board(), "never")
    await asking.copy()
    assert await asking.ask.found(asking.board.rank("zebra", OWNER)) is None


async def test_a_companion_that_is_late_is_not_waited_for():
    asking = Asking(_board(), within_ms=60)
    await asking.copy()
    asking.way.delay_ms = 600_000
    asking.companion.finds = [["m2", 900]]
    found, ids = await asking.find("bike")
    assert found.note == "the companion did not answer in time: only the board was searched."
    assert ids == ["m1"]
    assert not asking.exchange._questions


async def test_a_companion_that_is_away_is_reported():
    asking = Asking(_board())
    asking.exchange.close(NetError("gone"))
    found, ids = await asking.find("bike")
    assert "not connected" in found.note and ids == ["m1"]


async def test_the_companion_gets_the_name_of_the_caller():
    asking = Asking(_board())
    await asking.copy()
    await asking.ask.found(asking.board.rank("bike", ROOM, since=3, until=9), 5)
    head = asking.companion.searches[0]
    assert (head["principal"], head["group"], head["limit"]) == ("ann", True, 5)
    assert (head["since"], head["until"]) == (3, 9)


async def test_the_board_shows_nobody_what_they_may_not_see():
    board = Board(companion_url="http://companion")
    private = board.records.store("the safe's number is long", ["a"]).id
    turn = "t%d" % board.journal.add(OWNER, "user", "owner", "the safe is behind the picture")
    shared = board.records.store("the picture is blue", ["a"], scope="all").id
    asking = Asking(board)
    await asking.copy()
    asking.companion.finds = [[private, 900], [turn, 900], [shared, 100]]
    for caller in (ANN, ROOM):
        _, ids = await asking.find("safe", caller)
        assert ids == [shared]
    assert (await asking.find("safe"))[1] == [private, turn, shared]


async def test_what_was_forgotten_replaced_or_is_over_is_not_shown():
    board = _board()
    board.records.forget("m1")
    newer = board.records.store("the boat lies on land", ["a"], supersedes="m3").id
    over = board.records.store("the fair is in town", ["a"], expires=board.now + 5).id
    gone = board.journal.add(OWNER, "user", "owner", "never mind")
    board.journal.redact("t%d" % gone, OWNER)
    asking = Asking(board)
    await asking.copy()
    board.now += 10
    asking.companion.finds = [["m1", 900], ["m3", 800], [over, 700], ["t%d" % gone, 600], [newer, 1], ["m2", 1]]
    _, ids = await asking.find("zebra")
    assert ids == [newer, "m2"]


async def test_what_has_left_the_board_comes_with_its_text_and_is_cut():
    board = Board(companion_url="http://companion")
    for number in range(120):
        board.journal.add(OWNER, "user", "owner", "turn %d " % number + "x" * 400)
    asking = Asking(board)
    await asking.copy()
    while board.journal_store.drop_oldest():
        pass
    kept = board.journal.newest
    told = [700, 1600000000, "ann", "the cellar was dry " * 200]
    asking.companion.finds = [["t5"] + told, ["t%d" % kept] + told]
    found = await asking.ask.found(asking.board.rank("zebra", OWNER), 10)
    left, here = board.find("zebra", OWNER, 10, more=found)
    assert (left.id, left.at, left.who, len(left.text)) == ("t5", 1600000000, "ann", 1000)
    assert here.text.startswith("turn 119 ")


async def test_a_line_of_a_note_that_the_board_has_is_found_by_the_companions_meaning():
    board = _board()
    board.notes.for_caller(OWNER).note("the plumber fixed the heating")
    board.notes.for_caller(ANN).note("the plumber came to Ann")
    asking = Asking(board)
    await asking.copy()
    line = ["2026-09-21.md#1", 800, board.now, "", "14:13 the plumber fixed the heating"]
    asking.companion.finds = [line, ["m1", 300]]
    assert (await asking.find("who repaired the radiator?"))[1] == ["2026-09-21.md#1", "m1"]
    assert (await asking.find("the plumber"))[1].count("2026-09-21.md#1") == 1
    # Neither a line that is another by now, nor one that is somebody else's, nor any in a group.
    for caller in (ANN, ROOM):
        assert (await asking.find("who repaired the radiator?", caller))[1] == []
    board.notes.for_caller(OWNER).clear()
    assert (await asking.find("who repaired the radiator?"))[1] == ["m1"]
    board.notes.for_caller(OWNER).note("something else")
    assert (await asking.find("who repaired the radiator?"))[1] == ["m1"]


async def test_what_is_no_item_is_passed_over():
    asking = Asking(_board())
    await asking.copy()
    asking.companion.finds = [7, ["m1"], ["x1", 5], ["m99", 5], ["m1", "high"], ["m-1", 5], [None, 5], ["m2", 5]]
    assert (await asking.find("zebra"))[1] == ["m2"]


async def test_the_tool_takes_the_companions_answer_and_its_note():
    board = _board()
    asking = Asking(board)
    await asking.copy()
    board.with_tools()
    asking.companion.finds = [["m2", 700]]
    asking.companion.note = "the embedder is away."
    call = Call("c", "memory_search", '{"query":"instrument"}')
    answer = json.loads((await board.toolbox.answer(call, Turn(OWNER, 1))).result)
    assert [item["id"] for item in answer["found"]] == ["m2"] and answer["note"] == "the embedder is away."


# --- files in the companion's folders

TEA = ["notes/tea.md#5", 900, 1600000000, "", "The sencha comes from Uji."]


async def _asked(name, arguments, **files):
    """What a tool answers that asks a companion with files, and the messages to it."""
    board = _board()
    board.notes.for_caller(OWNER).append("MEMORY.md", "the owner drinks tea")
    asking = Asking(board, when="weak")
    await asking.copy()
    board.with_tools()
    asking.companion.finds = [TEA]
    asking.companion.files = files
    call = Call("c", name, json.dumps(arguments))
    return json.loads((await board.toolbox.answer(call, Turn(OWNER, 1))).result), asking.companion.searches


async def test_the_tool_finds_what_stands_in_the_companions_folders():
    answer, asked = await _asked("memory_search", {"query": "sencha"})
    assert [(item["id"], item["text"]) for item in answer["found"]] == [
        ("notes/tea.md#5", "The sencha comes from Uji.")
    ]
    assert asked[-1]["folders"]


async def test_the_tool_reads_on_in_a_file():
    shown = {"file": "notes/tea.md", "first": 5, "lines": ["The sencha comes from Uji."]}
    said = json.dumps(dict(shown, next_first=6))
    answer, asked = await _asked("memory_search", {"query": "notes/tea.md#5"}, **{"notes/tea.md": said})
    assert answer == dict(shown, next="notes/tea.md#6", **{"from": "the companion"})
    assert (asked[-1]["path"], asked[-1]["first"]) == ("notes/tea.md", 5)


async def test_a_note_that_only_the_companion_has_is_read_there():
    shown = {"file": "2026-01-31.md", "first": 2, "lines": ["- 11:00 the sencha is from Uji"]}
    answer, asked = await _asked("memory_search", {"query": "2026-01-31.md#2"}, **{"2026-01-31.md": json.dumps(shown)})
    assert answer["lines"] == shown["lines"] and answer["from"] == "the companion"
    assert (asked[-1]["path"], asked[-1]["first"], asked[-1]["principal"]) == ("2026-01-31.md", 2, "owner")


async def test_in_a_group_no_note_is_asked_for():
    board = _board()
    asking = Asking(board)
    await asking.copy()
    board.with_tools()
    call = Call("c", "memory_search", json.dumps({"query": "2026-01-31.md#2"}))
    answer = json.loads((await board.toolbox.answer(call, Turn(ROOM, 1))).result)
    assert "stay out of group rooms" in answer["error"]["problem"] and not asking.companion.searches
