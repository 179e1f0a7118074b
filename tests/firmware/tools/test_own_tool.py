"""What a tool of one's own may be called, who may use it, and what its schema may say."""

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
    values = {"run": _run, "name": "water", "description": "Water the plants."}
    values.update(given)
    return OwnTool(**values)


def _problem(**given):
    with raises(ArgumentError) as caught:
        _tool(**given)
    return str(caught.error)


def test_a_name_that_no_model_can_call_is_refused():
    for name in ("Water", "2water", "wat er", "wasser!", "ü", "a" * 33, "_a", 3):
        assert "begin with a letter" in _problem(name=name)
    assert _tool(name="a" * 32).name == "a" * 32


def test_who_may_use_it():
    callers = (OWNER, ANN, OWNER_IN_GROUP, ANN_IN_GROUP)
    expected = (
        ("owner", False, (True, False, False, False)),
        ("owner", True, (True, False, True, False)),
        ("all", False, (True, True, False, False)),
        ("all", True, (True, True, True, True)),
        (("ann",), False, (False, True, False, False)),
        (["ann", "owner"], True, (True, True, True, True)),
        ("ann", False, (False, True, False, False)),
        ("an", False, (False, False, False, False)),
    )
    for who, groups, allowed in expected:
        tool = _tool(who=who, groups=groups)
        assert tuple([bool(tool.is_for(caller)) for caller in callers]) == allowed, (who, groups)


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


def test_a_schema_of_another_form_is_refused():
    for schema in ([1], 3, "{", {"At": "string"}, {"a b": "string"}, {3: "string"}):
        assert "schema: must be" in _problem(schema=schema), schema
    for short in ({"type": "string"}, "thing", "array", "1..b", 3, None):
        assert "schema: must be a dict such as" in _problem(schema={"at": short}), short
