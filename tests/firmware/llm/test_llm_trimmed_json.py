"""JSON in pieces: what is read of it is held whole, long values of other fields are left out, wherever it was cut."""

import json
import random

from engram.errors import ModelGarbled
from engram.llm.trimmed_json import TrimmedJson
from support import raises

_WORDS = ["x", " ", "你", "😀", '"', "\\", "\n", "\\u00fc", "{", "}", "]", ",", ":", '":"', "null"]


def _trimmed(data, step):
    held = TrimmedJson()
    for at in range(0, len(data), step):
        held.add(data[at : at + step])
    return held


def _long(size):
    """A text of any letters, of about so many bytes of JSON."""
    part = "".join([random.choice(_WORDS) for _ in range(97)])
    return part * (size // 150 + 1)


def _any_value(depth):
    kind = random.randrange(6 if depth < 3 else 3)
    if kind == 0:
        return _long(random.choice([0, 20, 2000]))
    if kind < 3:
        return random.choice([None, True, -1.5, 7])
    if kind < 5:
        return [_any_value(depth + 1) for _ in range(random.randrange(4))]
    return {random.choice(["a", "b", 'c"d', "e\\"]): _any_value(depth + 1) for _ in range(random.randrange(4))}


def test_a_text_of_usual_length_is_held_as_it_came():
    random.seed(5)
    for _ in range(60):
        data = json.dumps({"content": _any_value(0), "a": [_any_value(0), {"b": _any_value(1)}]}).encode()
        if len(data) < 30000:
            held = _trimmed(data, random.choice([1, 7, 1000, 99999]))
            assert held.value() == data and not held.is_cut


def test_long_values_that_nobody_reads_are_left_out_wherever_the_text_is_cut():
    random.seed(6)
    for step in (11, 512, 1000, 4096, 5000, 99999):
        delta = {"content": _long(2000), "reasoning": [{"text": _long(50000), "n": [1, 2]}], "name": "é"}
        value = {
            "id": _any_value(2),
            "choices": [{"delta": delta, "index": 0, "logprobs": {"text": [0] * 20000}}],
            "z": 1,
        }
        found = _trimmed(json.dumps(value).encode(), step)
        delta["reasoning"] = value["choices"][0]["logprobs"] = None
        assert json.loads(found.value()) == value and found.is_cut, step


def test_many_long_values_leave_room_for_what_is_read():
    value: dict = {str(at): "x" * 9000 for at in range(30)}
    value["content"] = "y" * 20000
    value["choices"] = [{"finish_reason": "stop"}]
    found = json.loads(_trimmed(json.dumps(value).encode(), 1000).value())
    assert (found["content"], found["choices"]) == (value["content"], value["choices"])
    assert 0 < len([name for name in value if found[name] == "x" * 9000]) < 5


def test_more_than_fits_of_what_is_read_is_garbled():
    for value in ({"content": "x" * 70000}, [0] * 70000, {"a%d" % at: at for at in range(9000)}):
        with raises(ModelGarbled):
            _trimmed(json.dumps(value).encode(), 1000)


def test_white_space_before_the_text_counts_against_no_bound():
    assert _trimmed(b" \r\n" * 40000 + b'{"a":1}', 1000).value() == b'{"a":1}'


def test_what_is_no_json_raises_nothing():
    random.seed(7)
    marks = [b"{", b"}", b"[", b"]", b",", b":", b'"', b"\\", b"a", b" "]
    for _ in range(30):
        data = b"".join([random.choice(marks) for _ in range(9000)])
        _trimmed(data, 100)
