"""JSON as models write it: read where it has one meaning, refused where it has none or two."""

import json
import random

from engram.text.strict_json import loads_lenient
from support import raises, rounds

STORED = {"content": 'It\'s "green"', "tags": ["bike", "a"], "pinned": True, "expires": None, "importance": 0.8}
PYTHON = (
    """{'content': 'It\\'s "green"', 'tags': ['bike', 'a'], 'pinned': True, 'expires': None, 'importance': 0.8}""",
    """{'content': "It's \\"green\\"", "tags": ['bike', "a",], "pinned": True, 'expires': None, 'importance': 0.8,}""",
)
REFUSED = (
    "{",
    '{"a":1',
    '{"a":"x',
    "[1 2]",
    '{"a":1}{"b":2}',
    '{"a":1}{"a":',
    '{"a":1} or {"a":2}',
    "{'content': 'Ann's bike'}",
    "{'a': 'b', 'c'}",
    '{"a": yes}',
    '"x"',
    "[]",
    "[" * 100,
    'I think {"a":1}',
)


def read(written, kind: type = dict):
    return loads_lenient(written, kind)


def test_json_in_a_string_is_read():
    written = json.dumps(STORED)
    assert read(json.dumps(written)) == read(json.dumps(json.dumps(written))) == STORED


def test_json_in_a_fence_is_read():
    written = json.dumps(STORED)
    for fenced in ("```json\n%s\n```", "```\n%s\n```", "Here it is:\n```json\n%s\n```\nDone."):
        assert read(fenced % written) == STORED, fenced


def test_quotes_and_words_of_python_are_read():
    for written in PYTHON:
        assert read(written) == STORED, written


def test_a_line_end_in_a_text_and_a_comma_too_many_are_read():
    assert read('{"a":"x\ny\t",\n "b":[1,\n],}') == {"a": "x\ny\t", "b": [1]}


def test_what_follows_one_whole_value_is_passed_over():
    written = json.dumps(STORED)
    for rest in (
        "}",
        "\n```",
        "<|im_end|>",
        " Done.",
        "```json",
        " {}",
        written,
        "\n" + written,
    ):
        assert read(written + rest) == STORED, rest


def test_what_has_no_meaning_or_two_is_refused():
    for written in REFUSED:
        with raises(ValueError):
            read(written)
        with raises(ValueError):
            read(json.dumps(json.dumps(json.dumps(json.dumps(STORED)))))


def test_any_value_in_pythons_form_is_read():
    random.seed(5)
    letters = "a'\"\\\n\té你😀,:{}[]` "
    for _ in range(rounds(400, 40)):
        value = {}
        for _ in range(random.randrange(4)):
            text = "".join(letters[random.randrange(len(letters))] for _ in range(random.randrange(9)))
            value[text] = [text, True, None, -1.5, {"x": text}][random.randrange(5)]
        assert read(json.dumps(value) + "}") == value
        assert read(_python(value)) == value, value


def _python(value):
    """A value as Python writes it, with single quotes."""
    if isinstance(value, dict):
        return "{" + ", ".join([_python(key) + ": " + _python(each) for key, each in value.items()]) + "}"
    if isinstance(value, str):
        for mark, escaped in (("\\", "\\\\"), ("'", "\\'"), ("\n", "\\n")):
            value = value.replace(mark, escaped)
        return "'" + value + "'"
    return str(value)
