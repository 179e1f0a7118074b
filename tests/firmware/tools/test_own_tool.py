"""What a tool of one's own may be called, and what its schema may say."""

import json

from engram.errors import ArgumentError
from engram.memory.access import OWNER, Caller
from engram.tools.own_tool import OwnTool, schema_text
from support import raises

ANN = Caller("ann", "chat", False, "")
ANN_IN_GROUP = Caller("ann", "club", True, "")
OWNER_IN_GROUP = Caller("owner", "club", True, "")


def _run():
    return 1


def _tool(**given):
    values = {"name": "water", "description": "Water the plants.", "schema": {}, "run": _run}
    values.update(given)
    return OwnTool(**values)


def _problem(**given):
    with raises(ArgumentError) as caught:
        _tool(**given)
    return str(caught.error)


def test_a_name_that_no_model_can_call_is_refused():
    for name in ("", "Water", "2water", "wat er", "wasser!", "ü", "a" * 33, "_a", None, 3):
        assert "begin with a letter" in _problem(name=name)
    assert _tool(name="a" * 32).name == "a" * 32


def test_a_description_is_needed_and_bounded():
    for description in ("", "x" * 301, None):
        assert "1 to 300 characters" in _problem(description=description)


def test_a_time_limit_has_bounds():
    for timeout_ms in (99, 120001, 0, -1, 1.5, "1"):
        assert "from 100 to 120000" in _problem(timeout_ms=timeout_ms)


def test_what_cannot_be_called_is_refused():
    assert "must be a function" in _problem(run=3)


def test_who_may_use_it():
    callers = (OWNER, ANN, OWNER_IN_GROUP, ANN_IN_GROUP)
    expected = (
        ("owner", False, (True, False, False, False)),
        ("owner", True, (True, False, True, False)),
        ("all", False, (True, True, False, False)),
        ("all", True, (True, True, True, True)),
        (("ann",), False, (False, True, False, False)),
        (["ann", "owner"], True, (True, True, True, True)),
    )
    for who, groups, allowed in expected:
        tool = _tool(who=who, groups=groups)
        assert tuple([bool(tool.for_caller(caller)) for caller in callers]) == allowed, (who, groups)


def test_who_must_be_somebody():
    for who in ((), "ann", None, [3], 3):
        assert "a list of 1 to 16 texts" in _problem(who=who)


def test_the_short_form_becomes_a_schema():
    given = {"brightness": "0..100", "colour": "red|green", "note?": "string", "low": "-5..5", "on": "boolean"}
    assert json.loads(schema_text(given)) == {
        "type": "object",
        "properties": {
            "brightness": {"type": "integer", "minimum": 0, "maximum": 100},
            "colour": {"type": "string", "enum": ["red", "green"]},
            "note": {"type": "string"},
            "low": {"type": "integer", "minimum": -5, "maximum": 5},
            "on": {"type": "boolean"},
        },
        "required": ["brightness", "colour", "low", "on"],
        "additionalProperties": False,
    }


def test_a_whole_schema_is_taken_as_it_is_as_dict_or_text():
    schema = {
        "type": "object",
        "properties": {"days": {"type": "array", "items": {"type": "string"}, "maxItems": 7}, "at": {"type": "number"}},
        "required": ["at"],
        "additionalProperties": False,
    }
    assert json.loads(schema_text(schema)) == json.loads(schema_text(json.dumps(schema))) == schema


def test_a_rule_that_would_not_be_checked_is_refused():
    for rule in (
        {"type": "object", "properties": {}},
        {"type": "string", "pattern": "a+"},
        {"type": "array"},
        {"type": "array", "items": {"type": "thing"}},
        {"anyOf": [{"type": "string"}, {"type": "x"}]},
        {"type": "integer", "enum": [1, 2]},
        {"type": "string", "enum": "ab"},
        {"type": "integer", "minimum": "1"},
        {"type": "string", "maxLength": None},
        {"type": "array", "items": {"type": "string", "maxLength": "9"}},
        {"anyOf": 3},
        {},
        "thing",
        "1..b",
        3,
        None,
    ):
        assert "at" in _problem(schema={"at": rule})


def test_a_schema_of_no_form_is_refused():
    for schema in ([], 3, "{", "[]", None, {"At": "string"}, {"a b": "string"}, {3: "string"}):
        _problem(schema=schema)
    wrong = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["b"]}
    assert "required" in _problem(schema=wrong)
    assert "at most 1000" in _problem(schema={"argument_%d" % number: "string" for number in range(40)})
