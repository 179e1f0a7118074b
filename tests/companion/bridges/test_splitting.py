"""An answer that grows, cut into messages: within the network's limit, nothing lost, code closed and opened again."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engram.text import cutting
from engram.text.cutting import fence_of, open_fence
from engram_host.companion.bridges.network import Features, utf8_bytes, utf16_units
from engram_host.companion.conversations.delivery import MOST_BYTES, NOTHING, AnswerText
from engram_host.companion.conversations.display import LEFT_OUT, Part, next_part, text_between
from engram_host.companion.types import Piece, PieceKind
from extent import HEALTH_CHECKS
from one_case import in_one_case

LINES = [
    "word",
    "more words here.",
    "",
    "```python",
    "```",
    "~~~",
    "x = 1",
    "字" * 30,
    "😀" * 20,
    "a" * 200,
    "- item",
    " ",
]
TEXTS = st.lists(st.sampled_from(LINES), max_size=60).map("\n".join)
FEATURES = st.builds(
    Features, st.integers(140, 400), st.sampled_from([len, utf16_units, utf8_bytes]), st.sampled_from([None, 1.0])
)


def shown(text: str, features: Features, cuts: list[int], heading: str = "") -> list[Part]:
    """The whole parts of a text that grows by some steps."""
    parts: list[Part] = []
    data = text.encode()
    start = 0
    for end in [*sorted(len(text[:cut].encode()) for cut in cuts), len(data)]:
        is_over = end == len(data)
        while part := next_part(data[:end], start, features, heading, is_over=is_over):
            assert features.count_units(heading + part.text) <= features.most_units
            assert part.text.strip() and part.upto > start
            if not part.is_whole:
                break
            parts.append(part)
            start = part.upto
    assert not data[start:].strip()
    return parts


def bare(text: str) -> str:
    """A text without what splitting may change: spaces, and the marks of code."""
    kept = [line for line in text.split("\n") if not line.lstrip().startswith(("```", "~~~"))]
    return "".join("".join(kept).split())


@settings(max_examples=300)
@given(TEXTS, FEATURES, st.lists(st.integers(0, 4000), max_size=6))
def test_all_of_an_answer_is_shown_once_however_it_grows(text: str, features: Features, cuts: list[int]):
    parts = shown(text, features, cuts)
    assert bare("\n".join(part.text for part in parts)) == bare(text)


@settings(max_examples=300)
@given(TEXTS, FEATURES, st.lists(st.integers(0, 4000), max_size=6))
def test_no_message_leaves_code_open_but_where_the_answer_does(text: str, features: Features, cuts: list[int]):
    assert all(not open_fence(part.text.encode())[0] for part in shown(text, features, cuts)[:-1])


@settings(max_examples=200)
@given(TEXTS, FEATURES)
def test_a_message_is_made_again_from_where_it_stood(text: str, features: Features):
    start = 0
    for part in shown(text, features, []):
        assert text_between(text.encode(), start, part.upto).split() == part.text.split()
        start = part.upto


def test_a_heading_takes_its_room():
    parts = shown("word " * 100, Features(140), [], "(An answer from 3 h ago.)\n")
    assert len(parts) > 4


def test_where_messages_are_not_edited_only_finished_paragraphs_are_shown():
    features = Features(400)
    assert next_part(b"One.\n\nTwo", 0, features, "", is_over=False) == Part("One.", 4, True)
    assert next_part(b"One.\n\nTwo", 4, features, "", is_over=False) is None
    assert next_part(b"One.\n\nTwo", 4, features, "", is_over=True) == Part("Two", 9, True)


def test_code_is_not_divided_at_its_empty_lines_where_it_fits():
    data = b"Look:\n\n```\na\n\nb\n"
    assert next_part(data, 0, Features(400), "", is_over=False) == Part("Look:", 5, True)
    assert next_part(data, 5, Features(400), "", is_over=False) is None
    assert next_part(data + b"```\n\nYes", 5, Features(400), "", is_over=False) == Part("```\na\n\nb\n```", 19, True)


def test_while_an_answer_streams_its_code_is_closed_for_now():
    part = next_part(b"```\na\n", 0, Features(400, edit_seconds=1.0), "", is_over=False)
    assert part == Part("```\na\n```", 6, False)


# --- pieces


def answer(*pieces: tuple[PieceKind, str], tail: str = "") -> str:
    text = AnswerText()
    for number, (kind, content) in enumerate(pieces):
        text.add(Piece(number + 1, kind, content))
    text.end(tail)
    return text.data.decode()


def test_an_answer_of_many_small_pieces_goes_through_its_text_once(monkeypatch: pytest.MonkeyPatch):
    looked_at = 0

    def counting(line: bytes) -> bytes:
        nonlocal looked_at
        looked_at += len(line)
        return fence_of(line)

    monkeypatch.setattr(cutting, "fence_of", counting)
    text = AnswerText()
    for number in range(1000):
        text.add(Piece(2 * number + 1, "text", "word word word word\n"))
        text.add(Piece(2 * number + 2, "notice", "tool"))
    assert len(text.data) > 20_000
    assert looked_at < 3 * len(text.data)


@given(st.lists(st.text(alphabet="`~ab \n", max_size=12), max_size=12))
@settings(suppress_health_check=HEALTH_CHECKS)
def test_code_is_closed_before_a_notice(parts: list[str]):
    text = AnswerText()
    text.add(Piece(1, "text", "x"))
    for number, part in enumerate(parts):
        text.add(Piece(2 * number + 2, "text", part))
        text.add(Piece(2 * number + 3, "notice", "n"))
        assert open_fence(bytes(text.data))[0] == b""


PIECES: list[tuple[list[tuple[PieceKind, str]], str]] = [
    ([("text", "\n Hel"), ("text", "lo")], "Hello"),
    ([("text", "Hi."), ("notice", "remembered"), ("problem", "oh")], "Hi.\n\n· remembered\n! oh"),
    ([("notice", "late"), ("text", "Hi.")], "· late\n\nHi."),
    ([("line", "one line"), ("line", ""), ("line", "two")], "one line\n\ntwo"),
    ([("text", "Hel"), ("again", ""), ("text", "Hello")], "Hello"),
    ([("text", "```\nx"), ("notice", "n")], "```\nx\n```\n\n· n"),
    ([("report", '{"counts": 3, "notes": []}')], "counts: 3"),
    ([("report", "{}"), ("line", "done")], "done"),
    ([("report", '{"recalled":[["m1",720]]}'), ("report", '{"working":"thinking"}')], NOTHING),
    ([], NOTHING),
]


@in_one_case("pieces, shown_as", PIECES)
def test_pieces_become_one_text(pieces: list[tuple[PieceKind, str]], shown_as: str):
    assert answer(*pieces) == shown_as


def test_a_very_long_answer_is_cut_and_says_so():
    piece: tuple[PieceKind, str] = "text", "字" * 1000
    text = answer(*[piece] * 100, tail="never")
    assert MOST_BYTES - 4 < len(text.encode()) < MOST_BYTES + 200 and text.endswith(LEFT_OUT)
