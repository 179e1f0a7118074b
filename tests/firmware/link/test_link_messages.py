"""The messages between board and companion: what is written is read, and what is no message is a BadMessage, whatever it is."""

from binascii import crc32

from engram import log_line
from engram.errors import ArgumentError
from engram.link import messages
from engram.link.messages import FROM_BOARD, TO_BOARD, BadMessage, decode, encode
from message_samples import SAMPLES
from samples import Numbers
from support import raises

LINE = log_line.encode([("seq", 4), ("op", "compacted")])


def _sealed(body: bytes) -> bytes:
    return body + b',"crc":"' + ("%08x" % crc32(body)).encode() + b'"}\n'


def test_every_kind_of_message_has_a_sample():
    assert sorted(op for _, op, _ in SAMPLES) == sorted(list(FROM_BOARD) + list(TO_BOARD))


def test_what_was_written_is_read():
    for table, op, fields in SAMPLES:
        head, body = decode(encode(op, "b1", 3, 4, **fields), table)
        assert (head["op"], head["board"], head["link"], head["n"], len(body)) == (op, "b1", 3, 4, 0)
        for name in fields:
            assert head[name] == fields[name], (op, name)


def test_the_lines_stand_behind_a_head():
    head = encode("lines", "b1", 3, 4, log="records", epoch=8, after=3, to=9, count=2)
    _, body = decode(head + LINE + LINE, FROM_BOARD)
    assert bytes(body) == LINE + LINE
    _, body = decode(encode("got", "b1", 3, 4) + LINE, TO_BOARD)
    assert bytes(body) == LINE


def test_a_message_cut_or_changed_anywhere_is_no_message():
    for table, op, fields in SAMPLES:
        whole = encode(op, "b1", 3, 4, **fields)
        for at in range(len(whole)):
            for broken in (whole[:at], whole[:at] + bytes((whole[at] ^ 1,)) + whole[at + 1 :]):
                with raises(BadMessage):
                    decode(broken, table)


def test_values_of_any_kind_behind_a_right_crc_are_taken_or_refused_and_nothing_else():
    numbers = Numbers(6)
    values = (
        b"null", b"true", b"-1", b"0", b"1", b"2147483648", b"1e9", b"1.5", b'""', b'"x"', b"[]", b"[1,2,3,4]", b"{}",
        b'["a"]', b'[null]', b'"' + b"y" * 2100 + b'"', b"[" * 20 + b"]" * 20, b'"\\ud800"', b'"\\u0000"',
    )  # fmt: skip
    taken = 0
    for table, op, fields in SAMPLES:
        names = ["board", "link", "n"] + list(fields)
        for _ in range(60):
            pairs = [b'"op":"' + op.encode() + b'"']
            for name in names:
                if numbers.below(12):
                    pairs.append(b'"' + name.encode() + b'":' + numbers.pick(values))
            try:
                decode(_sealed(b"{" + b",".join(pairs)), table)
                taken += 1
            except BadMessage:
                pass
    assert taken < 60 * len(SAMPLES)


def test_each_field_that_is_missing_or_of_another_type_is_named():
    for table, op, fields in SAMPLES:
        for name in list(fields) + ["board", "link", "n"]:
            for value in (b"", b'"' + name.encode() + b'":{},'):
                known = {"board": "b1", "link": 3, "n": 4}
                known.update(fields)
                known.pop(name)
                whole = log_line.encode([("op", op)] + list(known.items()))
                body = b"{" + value + whole[1 : whole.rindex(b',"crc":')]
                with raises(BadMessage) as caught:
                    decode(_sealed(body), table)
                assert name in str(caught.error), (op, name)


def test_a_message_that_is_too_long_is_refused():
    with raises(BadMessage):
        decode(bytes(messages.MOST_BYTES + 1), FROM_BOARD)


def test_what_does_not_fit_is_not_written():
    for link in (-1, 1 << 30, "3", None, True):
        with raises(ArgumentError):
            encode("same", "b1", link, 4)  # pyright: ignore[reportArgumentType]  # wrong on purpose
