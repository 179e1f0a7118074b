"""Limits by the tool, and who may have which."""

from board import ANN
from engram import text
from engram.errors import ArgumentError, NotFound
from engram.memory.access import ALL, OWNER, Caller
from engram.senses.events.limit_tool import NAME, SCHEMA, LimitTool
from engram.senses.events.limits import Limits
from sensing import Board
from support import folder, raises

HOME = Caller("owner", "net 1", False, "")
GROUP = Caller("owner", "net 2", True, "")


def _tool(shared=()):
    board = Board()
    for name in ("cellar", "bedroom temperature", "bedroom humidity", "卧室温度"):
        board.observe(name, 20)
    limits = Limits(folder() + "/limits.jsonl", board.senses)
    return LimitTool(board.senses, limits, lambda sense: ALL if sense.name in shared else "user:owner")


def test_the_tool_sets_lists_and_removes():
    tool = _tool()
    assert NAME == "sense_limit" and text.loads(SCHEMA)["required"] == ["action"]  # pyright: ignore
    assert tool.run({"action": "set", "sense": "Cellar", "high": 30, "minutes": 5}, HOME) == {
        "id": "l1",
        "sense": "cellar",
        "high": "30.0",
        "minutes": 5,
    }
    assert tool.run({"action": "list"}, OWNER) == {"limits": []}, "another room has its own"
    assert tool.run({"action": "remove", "id": "l1"}, HOME)["removed"]["id"] == "l1"
    assert tool.run({"action": "list"}, HOME) == {"limits": []}


def test_a_call_that_cannot_be_carried_out_says_what_would_be_right():
    tool = _tool()
    for arguments in (
        {"action": "set", "low": 5},
        {"action": "set", "sense": "attic", "low": 5},
        {"action": "set", "sense": "cellar"},
        {"action": "set", "sense": "cellar", "low": 5, "high": 9},
        {"action": "remove"},
        {"action": "what"},
    ):
        with raises(ArgumentError):
            tool.run(arguments, HOME)
    with raises(NotFound):
        tool.run({"action": "remove", "id": "l9"}, HOME)


def test_others_have_no_limit_of_a_sense_that_is_not_shared():
    tool = _tool(shared=("cellar",))
    for caller in (ANN, GROUP):
        with raises(ArgumentError) as caught:
            tool.run({"action": "set", "sense": "bedroom temperature", "low": 5}, caller)
        assert "bedroom" not in str(caught.error) and "cellar" in str(caught.error)
        assert tool.run({"action": "set", "sense": "cellar", "low": 5}, caller)["sense"] == "cellar"
        with raises(NotFound):
            tool.set(caller, tool.find("bedroom humidity", HOME), low=3)
    assert tool.run({"action": "list"}, HOME) == {"limits": []}


def test_the_same_limit_again_is_the_one_that_there_is():
    tool = _tool()
    first = tool.set_named(OWNER, "cellar", low=5)
    assert tool.set_named(OWNER, "cellar", low=5) is first
    assert tool.set_named(OWNER, "cellar", low=6)["id"] == "l2"
