"""JSON: one form when written, no leniency when read."""

from engram.errors import ArgumentError
from engram.text import dumps, dumps_fields, loads
from samples import Digest, Numbers, surrogate_between
from support import on_micropython, raises

NUMBERS = (0, 1, -1, 7, 1073741823, 1073741824, -1073741825, 4294967295, 1700000000, 12345678901234567890)
FLOATS = (0.0, 0.5, -0.25, 1.5, 0.1, 0.7, 3.25, 100.0, 0.001, 1e-7, 123456.0, 2.5e10, -1.5e-05)
TEXTS = ("", "a", '" and \\', "/", "\n\r\t", "\b\f\x00\x1f\x7f", "é", "中文", "🙂", "\u2028", "{}[],:", "é" * 40)
VALID = (
    "0", "-0", "10", "-12", "0.5", "1e3", "1E+3", "1.5e-3", "true", "false", "null", '""', '"a"', "[]", "{}",
    " [ ] ", "\t{ }\n", "[1]", "[1, 2]", "[[]]", "[{}]", '{"a":1}', '{ "a" : 1 , "b" : [ true , null ] }',
    '{"":{"":{}}}', '"\\"\\\\\\/\\b\\f\\n\\r\\t"', '"\\u0041\\u00e9\\u4e2d"', '"\\ud83d\\ude00"',
    '"\\\\u0041"', '"\\\\"', "[1e400]", '"\\\\\\""', '["a\\\\","b"]', "[-1.5,0]", '"\x7f\u2028"', '{"a":1,"a":2}',
)  # fmt: skip
INVALID = (
    "", " ", "nul", "nulll", "tru", "True", "NaN", "Infinity", "-Infinity", "-", "+1", "01", "-01", "1.", ".5",
    "1.e3", "1e", "1e+", "1.5.3", "--1", "1-", "0x10", "1_0", "[", "]", "{", "}", "[1", "[1,", "[1,]", "[,1]",
    "[1 2]", "[1,,2]", "[1]]", "[1}", '{"a"', '{"a":', '{"a":1', '{"a":1,', '{"a":1,}', "{a:1}", "{1:2}",
    '{"a" 1}', '{"a":1 "b":2}', '{"a":1]', '{"a",1}', '"', '"a', '"\\"', '"\\', '"\\x"', '"\\u"', '"\\u00"',
    '"\\u00g0"', '"\\u+041"', '"\\u 041"', '"\\ud83d\\u00"', '"\n"', '"\x00"', '"\x1f"', "'a'", "1 2", "[] []",
    "{} x", "//", "[1]//", "\x00", "[1]\x00", "\xa01", "[\x0b1]", "\ufeff1",
)  # fmt: skip
NO_JSON = (float("nan"), float("inf"), -float("inf"), b"x", bytearray(b"x"), {1, 2}, object(), len, {1: 2}, {None: 1})


def random_value(numbers, depth: int):
    kind = numbers.below(8 if depth else 6)
    if kind < 2:
        return numbers.pick(TEXTS)
    if kind == 2:
        return numbers.pick(NUMBERS)
    if kind == 3:
        return numbers.pick(FLOATS)
    if kind < 6:
        return numbers.pick((None, True, False))
    if kind == 6:
        return [random_value(numbers, depth - 1) for _ in range(numbers.below(4))]
    return {numbers.pick(TEXTS): random_value(numbers, depth - 1) for _ in range(numbers.below(4))}


def test_values_are_written_in_one_form():
    pairs = (
        (None, "null"), (True, "true"), (False, "false"), (0, "0"), (-5, "-5"), (4294967295, "4294967295"),
        ("", '""'), ([], "[]"), ((), "[]"), ({}, "{}"), ([1, [2, []]], "[1,[2,[]]]"), ((1, "a"), '[1,"a"]'),
        ({"a": [None, {"b": 1.5}]}, '{"a":[null,{"b":1.5}]}'),
    )  # fmt: skip
    for value, text in pairs:
        assert dumps(value) == text


def test_text_is_written_in_one_form():
    assert dumps('\\ " / é 中 🙂 \u2028 \x7f') == '"\\\\ \\" / é 中 🙂 \u2028 \x7f"'
    assert dumps("\n\r\t") == '"\\n\\r\\t"'
    assert dumps("\x00\x08\x0b\x0c\x1b\x1f") == '"\\u0000\\u0008\\u000b\\u000c\\u001b\\u001f"'


def test_floats_of_six_digits_are_written_in_one_form():
    texts = "0.0 0.5 -0.25 1.5 0.1 0.7 3.25 100.0 0.001 1e-07 123456.0 2.5e+10 -1.5e-05"
    assert " ".join([dumps(value) for value in FLOATS]) == texts


def test_pairs_keep_their_order():
    pairs = [("zebra", 1), ("apple", [2]), ("mango", {"x": None}), ("", "")]
    assert dumps_fields(pairs) == '{"zebra":1,"apple":[2],"mango":{"x":null},"":""}'
    assert dumps_fields(iter(pairs)) == dumps_fields(pairs)
    assert dumps_fields([]) == "{}"


def test_what_is_no_json_is_refused():
    for value in NO_JSON:
        for wrapped in (value, [value], {"a": (value,)}):
            with raises(ArgumentError):
                dumps(wrapped)


def test_text_that_is_not_unicode_is_refused():
    broken = surrogate_between("a", "b")
    for value in (broken, [broken], {broken: 1}):
        with raises(ArgumentError):
            dumps(value)


def nested(depth: int):
    value = []
    for _ in range(depth - 1):
        value = [value]
    return value


def test_depth_is_bounded_alike_when_written_and_read():
    assert loads(dumps(nested(16))) == nested(16)
    with raises(ArgumentError):
        dumps(nested(17))
    with raises(ValueError):
        loads("[" * 17 + "]" * 17)


def test_what_was_written_is_read_again():
    for seed in range(200):
        value = random_value(Numbers(seed), 3)
        assert loads(dumps(value)) == value


def test_each_valid_text_is_read():
    for text in VALID:
        loads(text)


def test_each_invalid_text_is_refused():
    for text in INVALID:
        with raises(ValueError):
            loads(text)
            raise AssertionError(repr(text))


def test_bytes_that_are_not_utf8_are_refused():
    for data in (b'"\xff"', b'"\xc3"', b'"\xc0\x80"', b'"\xed\xa0\x80"', b'"a\xc3"', b"\xff\xfe1\x00"):
        with raises(ValueError):
            loads(data)


def test_every_beginning_of_a_text_is_refused():
    text = dumps({"a": [1, {"b": "x\n\\"}], "c": "é中"}).encode()
    for size in range(len(text)):
        with raises(ValueError):
            loads(text[:size])


def test_an_endless_number_is_refused():
    with raises(ValueError):
        loads("1" * 1000)


def test_changed_texts_are_valid_or_not_as_for_cpython():
    if on_micropython():
        return
    import json

    def refuse(name):
        raise ValueError(name)

    for seed in range(8000):
        numbers = Numbers(seed)
        text = list(dumps(random_value(numbers, 3)) if seed % 2 else numbers.pick(VALID))
        for _ in range(1 + numbers.below(3)):
            at = numbers.below(len(text) + 1)
            text[at : at + numbers.below(2)] = numbers.pick('{}[]",:\\ue0139.-+ tnf\n\x01é') * numbers.below(2)
        text = "".join(text)
        try:
            expected = json.loads(text, parse_constant=refuse)
            assert dumps_like(loads(text)) == dumps_like(expected), text
        except ValueError:
            with raises(ValueError):
                loads(text)


def dumps_like(value) -> str:
    import json

    text = json.dumps(value, ensure_ascii=False)
    return "".join(["\ufffd" if 0xD800 <= ord(letter) < 0xE000 else letter for letter in text])


def test_what_is_written_and_read_is_the_same_on_every_runtime():
    digest = Digest()
    for seed in range(150):
        numbers = Numbers(seed)
        value = [numbers.pick(TEXTS), numbers.pick(NUMBERS), numbers.pick(FLOATS), [numbers.pick(TEXTS)] * 2]
        digest.add(dumps(loads(dumps(value))))
    assert digest.hex() == "5a586609", digest.hex()
