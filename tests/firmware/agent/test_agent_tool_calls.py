"""Calls of any kind: forgetting with a confirmation, lightweight mode, and whatever a model may send."""

import json

from board import ANN, ROOM, Board
from calls import call_now, say, tools_of
from engram.agent.agent import Turn
from engram.errors import ArgumentError
from engram.llm.types import Call
from engram.memory.access import OWNER
from engram.tools.toolbox import read_arguments
from support import raises


def _board(**settings):
    board = Board().with_tools(**settings)
    board.turn = "t" + str(board.journal.add(OWNER, "user", "owner", "hello there"))
    return board


def _send(board, name, arguments, caller=OWNER):
    """The result of a call whose arguments are any text."""
    turn = Turn(caller, int(board.turn[1:]), "go on")
    turn.confirmed = getattr(board, "confirmed", None)
    return json.loads(call_now(board, Call("c", name, arguments), turn).result)


def _run(board, name, caller=OWNER, **arguments):
    return _send(board, name, json.dumps(arguments), caller)


def _error(result):
    return result["error"].get("argument"), result["error"]["problem"]


# --- memory_forget


def test_forget_by_id_is_done_at_once():
    board = _board()
    board.records.store("The bike is green", ["bike"])
    assert _run(board, "memory_forget", id="m1") == {"forgotten": ["m1"]}
    assert board.records.count() == 0


def test_forget_takes_the_turns_along_if_wanted():
    board = _board()
    board.records.store("hello there", ["a"], turns=[board.turn])
    assert _run(board, "memory_forget", id="m1", turns=True) == {"forgotten": ["m1"], "turns": [board.turn]}
    assert not board.journal.has(board.turn, OWNER)


def _with_two():
    board = _board()
    for number in range(2):
        board.records.store(f"Ann owns bike {number}", ["bike"])
    return board


def _agree(board, caller=OWNER):
    """Let a person say yes: the next call belongs to that turn."""
    say(board, caller)
    turn = Turn(caller, int(board.turn[1:]), "yes")
    board.toolbox.confirmations.begin_turn(turn)
    board.confirmed = turn.confirmed


def test_several_are_forgotten_once_the_person_has_agreed():
    board = _with_two()
    assert "a yes of the person" in _run(board, "memory_forget", id="m1, m2")["needs"]
    assert board.records.count() == 2
    _agree(board)
    assert sorted(_run(board, "memory_forget", id="m1, m2")["forgotten"]) == ["m1", "m2"]


def test_no_memory_is_forgotten_before_all_ids_are_checked():
    board = _with_two()
    for refs in ("m1 and m2", "m1 t1", "", [], ["m1", "bike"], ["m1"] * 9):
        assert _error(_run(board, "memory_forget", id=refs))[0] == "id", refs
    assert "needs" in _run(board, "memory_forget", id=["m1", "m2"])
    assert board.records.count() == 2


def test_a_yes_to_one_question_forgets_nothing_else():
    board = _with_two()
    _run(board, "memory_forget", id="m1, m2")
    _agree(board, ANN)
    assert "needs" in _run(board, "memory_forget", id="m1, m2")
    _agree(board)
    assert "needs" in _run(board, "memory_forget", id="m2 m1")
    assert board.records.count() == 2


# --- lightweight mode


def test_each_mode_offers_only_its_tools():
    board = _board()
    full = ["memory_store", "memory_search", "memory_update", "memory_forget", "file_edit"]
    assert [tool.name for tool in board.toolbox.listed(OWNER)] == full
    board.config.save("mode", "lightweight")
    names = [tool.name for tool in board.toolbox.listed(OWNER)]
    assert names == ["file_read", "file_edit"]
    argument, problem = _error(_run(board, "memory_store", content="x", tags=["a"]))
    assert argument == "tool" and problem == "tool: there is no tool memory_store; there are " + ", ".join(names) + "."


def test_notes_are_written_appended_edited_and_read():
    board = _board(mode="lightweight")
    for size, edit in (
        (3, {"action": "write", "text": "one"}),
        (10, {"action": "append", "text": "two 猫"}),
        (12, {"action": "replace", "old": "one", "text": "three"}),
    ):
        assert _run(board, "file_edit", OWNER, file="MEMORY.md", **edit) == {"edited": "MEMORY.md", "characters": size}
    assert _run(board, "file_read", file="MEMORY.md") == {
        "file": "MEMORY.md",
        "first": 1,
        "lines": ["three", "two 猫", ""],
    }


ON_A_NOTE = (
    ("file_read", {}),
    ("file_edit", {"action": "write", "text": "y"}),
    ("file_edit", {"text": "y"}),
    ("file_edit", {"old": "x", "text": "y"}),
)
"""Calls that read or change a note, and their other arguments."""


def test_notes_refuse_what_is_not_theirs():
    board = _board(mode="lightweight")
    for name, arguments in ON_A_NOTE:
        for file in ("../config.json", "MEMORY.md/../x", "MEMORY.md\0", "2026-02-30.md"):
            assert _error(_run(board, name, OWNER, file=file, **arguments))[0] == "file"


def test_notes_stay_out_of_a_group_room():
    board = _board(mode="lightweight")
    board.notes.for_caller(OWNER).write("MEMORY.md", "x")
    for name, arguments in ON_A_NOTE:
        argument, problem = _error(_run(board, name, ROOM, file="MEMORY.md", **arguments))
        assert argument == "file" and "stay out of group rooms" in problem
    assert board.notes.for_caller(OWNER).text("MEMORY.md") == "x"


# --- whatever a model may send


def test_an_unknown_tool_is_refused_by_name():
    board = _board()
    argument, problem = _error(_send(board, "memory_delete\x1b" + "x" * 100, "{}"))
    assert argument == "tool" and problem.startswith("tool: there is no tool memory_delete\ufffdxxx")
    assert "memory_store, memory_search" in problem


def test_arguments_that_are_no_object_are_refused():
    board = _board()
    for arguments in ("{", "nonsense", '{"query":"x"', "[1 2]", '{"a":1}{"b":2}', "[" * 100):
        assert _error(_send(board, "memory_search", arguments)) == (
            "arguments",
            "arguments: must be one JSON object; this is not valid JSON.",
        )
    for arguments in ("[]", '"x"', "5", "null", "true"):
        assert _error(_send(board, "memory_search", arguments)) == ("arguments", "arguments: must be one JSON object.")


def test_a_value_in_another_form_with_one_meaning_is_taken():
    board = _board()
    for value, rule, wanted in (
        ("3", "integer", 3), (" 3 ", "integer", 3), ("3.0", "integer", 3), (3.0, "integer", 3),
        ("0.5", "number", 0.5), ("true", "boolean", True), ("False", "boolean", False), ("a", "array", ["a"]),
        ("a, b c", "array", ["a", "b c"]), ('["a", "b"]', "array", ["a", "b"]), ("['a']", "array", ["a"]),
        (None, "integer", None), ("null", "array", None), ("", "boolean", None),
    ):  # fmt: skip
        assert _checked(value, rule) == ({} if wanted is None else {"x": wanted}), (value, rule)
    board.records.store("x y", ["a"], keywords=["k"])
    _run(board, "memory_update", id="m1", content="y", keywords="null")
    assert "keywords" not in board.records.get("m1")


def test_a_value_with_no_meaning_or_two_is_refused():
    for value, rule in (
        ("three", "integer"), ("3.5", "integer"), (3.5, "integer"), ("1e999", "integer"), ("80%", "number"),
        ("true", "number"), ("yes", "boolean"), (1, "boolean"), (7, "string"), (["a"], "string"),
        ('["a"', "array"), ("a, b, c, d", "array"), ({"a": 1}, "array"), ([1], "array"),
    ):  # fmt: skip
        with raises(ArgumentError) as caught:
            _checked(value, rule)
        assert caught.error.argument == "x", (value, rule)
    for required in (None, "", "null"):
        with raises(ArgumentError):
            _checked(required, "integer", ["x"])


def _checked(value, kind, required=()):
    rules = {"array": {"items": {"type": "string"}, "maxItems": 3}, "number": {"minimum": 0, "maximum": 1}}
    rule = dict(rules.get(kind, {}), type=kind)
    schema = {"type": "object", "properties": {"x": rule}, "required": list(required)}
    return read_arguments(json.dumps({"x": value}), json.dumps(schema))


def _example(rule):
    """A value that a schema's rule allows."""
    rule = rule["anyOf"][0] if "anyOf" in rule else rule
    if "enum" in rule:
        return rule["enum"][0]
    if rule["type"] == "array":
        return [_example(rule["items"])]
    if rule["type"] == "boolean":
        return True
    if rule["type"] == "string":
        return "2026-09-21" if "day such" in rule.get("description", "") else "m1"
    return rule.get("minimum", 1)


def test_every_argument_that_a_schema_names_is_taken():
    for mode in ("full", "lightweight"):
        for tool in tools_of(mode):
            board = _board(mode=mode)
            board.records.store("x y", ["a"])
            board.notes.for_caller(OWNER).write("MEMORY.md", "m1")
            properties = json.loads(tool.rules)["properties"]
            given = {name: _example(properties[name]) for name in properties}
            if "file" in given:
                given["file"] = "MEMORY.md"
            assert "error" not in _run(board, tool.name, OWNER, **given), (tool.name, given)
