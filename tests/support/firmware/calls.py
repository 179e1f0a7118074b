"""Calling a board's tools as a model does, for the tests of tools."""

import json
from collections import namedtuple

from board import Board
from engram.agent.agent import Turn
from engram.llm.types import Call
from engram.memory.access import OWNER
from engram.tools import schemas

_Described = namedtuple("_Described", "name description schema rules")


def tools_of(mode):
    """The memory's tools of a mode: name, description, schema as sent, schema as checked."""
    found = []
    for name in schemas.MODES[mode].split():
        description, schema = schemas.describe(name)
        found.append(_Described(name, description, schema.split("\n")[0], schema.split("\n")[2]))
    return found


def call_now(board, call, turn):
    """A call of a tool that waits for nothing."""
    work = board.toolbox.answer(call, turn)
    try:
        work.send(None)
    except StopIteration as end:
        return end.value
    raise AssertionError("it waits")


def equipped(**settings):
    """A board with tools, in whose journal a turn stands that calls belong to."""
    board = Board().with_tools(**settings)
    board.turn = "t" + str(board.journal.add(OWNER, "user", "owner", "hello there"))
    return board


def say(board, caller=OWNER):
    """Let a person say something: calls belong to that turn from now on."""
    board.turn = "t" + str(board.journal.add(caller, "user", caller.principal, "go on"))


def run(board, name, caller=OWNER, **arguments):
    """(result as a dict, notice) of a call."""
    done = call_now(board, Call("c", name, json.dumps(arguments)), Turn(caller, int(board.turn[1:]), "go on"))
    return json.loads(done.result), done.notice


def result_of(board, name, caller=OWNER, **arguments):
    """The result of a call as a dict."""
    return run(board, name, caller, **arguments)[0]


def problem_of(board, name, caller=OWNER, **arguments):
    """(argument, problem) of a call that is refused, which must change nothing."""
    before = board.records.entries.bytes
    result, notice = run(board, name, caller, **arguments)
    assert list(result) == ["error"] and notice == "", result
    assert board.records.entries.bytes == before
    return result["error"].get("argument"), result["error"]["problem"]


def fill(board, count, content="fact %d", tags=("all",)):
    """Store so many memories."""
    for number in range(count):
        board.records.store(content % number, list(tags))
