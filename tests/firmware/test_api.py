"""app.memory, for code on the board."""

from board import ANN, DAY, NOW, Board
from engram.app import Memory
from engram.errors import NotFound
from engram.memory.access import OWNER
from support import raises


def _memory():
    board = Board()
    return board, Memory(board.records, board.recall, board.forgetting)


def test_what_code_stores_all_may_see():
    board, memory = _memory()
    ref = memory.store("The pump runs", ["pump"], type="device", importance=0.4)
    assert board.records.get(ref, ANN)["type"] == "device"


def test_what_code_stores_may_be_private():
    board, memory = _memory()
    ref = memory.store("The pump runs", ["pump"], scope="user:ann")
    assert board.records.get(ref, ANN)["content"] == "The pump runs"
    with raises(NotFound):
        memory.get(ref)


def test_a_search_gives_plain_dicts():
    board, memory = _memory()
    memory.store("The pump runs", ["pump"])
    board.journal.add(OWNER, "user", "owner", "is the pump on?")
    found = memory.search("pump")
    assert sorted(item["id"] for item in found) == ["m1", "t3"]
    by_id = {item["id"]: item for item in found}
    assert by_id["t3"]["who"] == "owner" and "who" not in by_id["m1"]
    assert by_id["m1"]["text"] == "The pump runs" and by_id["m1"]["at"] == NOW and by_id["m1"]["score"] > 0


def test_a_search_can_be_bounded_by_time_and_tags():
    board, memory = _memory()
    for number in range(3):
        memory.store(f"pump event {number}", ["pump", f"n{number}"])
        board.now += DAY
    assert [item["id"] for item in memory.search("pump", since=NOW + DAY, until=NOW + 2 * DAY)] == ["m2"]
    assert [item["id"] for item in memory.search("pump", tags=["n2"])] == ["m3"]


def test_code_lists_and_forgets():
    _, memory = _memory()
    refs = [memory.store(f"pump event {number}", ["pump"]) for number in range(3)]
    memory.forget(refs[1])
    assert [record["id"] for record in memory.newest(["pump"])] == [refs[2], refs[0]]
