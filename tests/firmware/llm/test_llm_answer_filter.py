"""Thoughts in a model's text: what of it is the answer, however the text is split."""

import random

from engram.llm.reply import ReplyBuilder
from support import rounds

PLAN = "They want the colour. I must not show this plan."
GREEN = "Your bike is green."
BEGUN_WITH_A_MARK = (
    "<think>" + PLAN + "</think>\n\n" + GREEN,
    "\n <think>\n" + PLAN + "\n</think>" + GREEN,
    "</think>\n\n" + GREEN,
    "<thought>" + PLAN + " </think> " + PLAN + "</thought>" + GREEN,
    "[THINK]" + PLAN + "[/THINK]" + GREEN,
    "<think>" + PLAN + "</think>\n<think>" + PLAN + "</think>\n" + GREEN,
    "<think>" + PLAN + " <tool_call> " + PLAN + "</think>" + GREEN,
    "<think>" + PLAN + " a < b </thin </think>" + GREEN,
    "<|channel|>analysis<|message|>" + PLAN + "<|channel|>final<|message|>" + GREEN,
    "<|channel|>analysis<|message|>" + PLAN + "<|end|><|start|>assistant<|channel|>final<|message|>" + GREEN,
)
ONLY_CLOSED = (PLAN + "\n</think>\n\n" + GREEN, PLAN + "</think>" + GREEN, PLAN + "\n[/THINK]" + GREEN)
NO_THOUGHTS = (
    "",
    "Hello.",
    "a < b, <b>x</b>, [1], <",
    "<thin",
    "Write <think>x</think> around it.",
    "It begins with <think>\nand ends with\n</think>\nThat is all.",
    "The tag </think> ends it.",
    "Put `</think>` behind it, or </thinking>.",
    '[{"op":"add"}]',
    "{",
    '{ "names": ["Ann"] }',
    "```json\n[1, 2]\n```",
    "```python\nprint(1)\n```",
    "Use <tool_call> and [TOOL_CALLS] or <｜ as marks.",
    "analysis final <|channel|>",
)


def answer(pieces, expects=False):
    """(the answer, what of it was passed on as it came) of a text in pieces."""
    draft = ReplyBuilder(expects)
    draft.stop = "end"
    passed = [draft.add_text(piece) for piece in pieces]
    passed.append(draft.finish(()))
    return draft.reply().text, "".join(passed)


def splits(text):
    """Yield a text whole, in two pieces, and letter by letter."""
    yield [text]
    yield [text[at : at + 1] for at in range(len(text))]
    for at in range(1, len(text), rounds(1, 5)):
        yield [text[:at], text[at:]]


def test_a_thought_where_an_answer_begins_is_not_shown():
    for text in BEGUN_WITH_A_MARK:
        for pieces in splits(text):
            assert answer(pieces) == (GREEN, GREEN), pieces


def test_a_thought_that_a_template_opened_is_not_kept():
    for text in ONLY_CLOSED:
        for pieces in splits(text):
            assert answer(pieces)[0] == GREEN, pieces


def test_a_thought_that_a_template_opened_is_not_shown_once_it_is_expected():
    for text in ONLY_CLOSED + BEGUN_WITH_A_MARK:
        for pieces in splits(text):
            assert answer(pieces, True) == (GREEN, GREEN), pieces


def test_an_answer_without_marks_at_its_start_stays_as_it_is():
    for text in NO_THOUGHTS:
        for pieces in splits(text):
            assert answer(pieces) == answer(pieces, True) == (text, text), pieces


def test_a_closing_mark_as_a_word_takes_nothing_away():
    assert answer(["<think>" + PLAN + "</think>It ends.\n</think>\nSo."])[0] == "It ends.\n</think>\nSo."
    assert answer([PLAN + "\n</think>\nIt ends.\n</think>\nSo."])[0] == "It ends.\n</think>\nSo."


def test_a_thought_counts_against_no_bound():
    draft = ReplyBuilder()
    draft.add_text("<think>")
    for _ in range(40):
        draft.add_text("x" * 1000)
    assert draft.add_text("</think>" + GREEN) == GREEN and not draft.done


def test_any_text_in_any_pieces_is_the_same_answer():
    random.seed(7)
    words = (
        "<think>", "</think>", "<thinking>", "</thinking>", "[THINK]", "[/THINK]", "<tool_call>", "<|channel|>",
        "final<|message|>", "analysis<|message|>", "{", '"name":', "[", "`",
        "\n", ". ", "a", "é", "你好。", "😀", " ", "<", "</", "</th",
    )  # fmt: skip
    for _ in range(rounds(3000, 150)):
        text = "".join(random.choice(words) for _ in range(random.randrange(1, 14)))
        pieces, rest = [], text
        while rest:
            size = random.randrange(1, 9)
            pieces.append(rest[:size])
            rest = rest[size:]
        expects = random.randrange(2) == 1
        assert answer(pieces, expects)[0] == answer([text], expects)[0], (pieces, expects)
