"""Limits by the tool, and who may have which."""

from board import ANN
from engram.errors import ArgumentError, NotFound
from engram.memory.access import OWNER, Caller
from engram.senses import tools
from engram.senses.limits import Limits
from engram.senses.view import SenseView
from sensing import Board
from support import raises

HOME = Caller("owner", "net 1", False, "")
GROUP = Caller("owner", "net 2", True, "")


class _Nothing:
    lasting = ()


def _view(shared=()):
    board = Board(table={name: {"kind": "code", "shared": True} for name in shared})
    for name in ("cellar", "bedroom temperature", "bedroom humidity", "卧室温度"):
        board.observe(name, 20)
    limits = Limits(board.folder + "/senses")
    limits.open()
    return SenseView(board.senses, _Nothing(), limits, board.machine.clock, tuple)


def _call(view, caller, **arguments):
    return tools.limit(view, caller, **arguments)


def test_the_tool_sets_lists_and_removes():
    view = _view()
    answer = _call(view, HOME, action="set", sense="Cellar", high=30, minutes=5)
    assert answer == {"id": "l1", "sense": "cellar", "high": "30.0", "minutes": 5}
    assert _call(view, OWNER, action="list") == {"limits": []}, "another room has its own"
    assert _call(view, HOME, action="remove", id="l1")["removed"]["id"] == "l1"
    assert _call(view, HOME, action="list") == {"limits": []}


def test_a_call_that_cannot_be_carried_out_says_what_would_be_right():
    view = _view()
    for arguments in (
        {"action": "set", "low": 5},
        {"action": "set", "sense": "cellar"},
        {"action": "set", "sense": "cellar", "low": 5, "high": 9},
        {"action": "remove"},
    ):
        with raises(ArgumentError):
            _call(view, HOME, **arguments)
    for arguments in ({"action": "remove", "id": "l9"}, {"action": "set", "sense": "attic", "low": 5}):
        with raises(NotFound):
            _call(view, HOME, **arguments)


def test_others_have_no_limit_of_a_sense_that_is_not_shared():
    view = _view(shared=("cellar",))
    for caller in (ANN, GROUP):
        with raises(NotFound) as caught:
            _call(view, caller, action="set", sense="bedroom temperature", low=5)
        assert "cellar" in str(caught.error) and "humidity" not in str(caught.error)
        assert _call(view, caller, action="set", sense="cellar", low=5)["sense"] == "cellar"
    assert _call(view, HOME, action="list") == {"limits": []}


def test_the_same_limit_again_is_the_one_that_there_is():
    view = _view()
    first = view.set_limit(OWNER, "cellar", low=5)
    assert view.set_limit(OWNER, "cellar", low=5) is first
    assert view.set_limit(OWNER, "cellar", low=6)["id"] == "l2"
