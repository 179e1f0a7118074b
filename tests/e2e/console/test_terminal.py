"""On a terminal the firmware shows a prompt, echoes, edits, and streams."""

import unicodedata
from collections.abc import Callable, Iterator

import pytest

from driving import CTRL_D, TERMINAL, Home, Talk, said, talking
from fake_llm import Serving

Scripted = Callable[..., Serving]

PROMPT = "\n> "
BACKSPACE = "\x7f"
UP, DOWN, RIGHT, LEFT = "\x1b[A", "\x1b[B", "\x1b[C", "\x1b[D"
CTRL_U = "\x15"


@pytest.fixture
def talk(home: Home) -> Iterator[Talk]:
    """An offline board on a terminal, its prompt shown."""
    with talking(home, on=TERMINAL) as talk:
        talk.heard(PROMPT)
        yield talk


def shown(output: str) -> list[str]:
    """The lines that a person sees, on a terminal that knows line ends, backspace and wide characters."""
    rows: list[list[str]] = [[]]
    column = 0
    for letter in output:
        if letter == "\r":
            column = 0
        elif letter == "\n":
            rows.append([])
        elif letter == "\b":
            column -= 1
        else:
            width = 0 if unicodedata.combining(letter) else 1 + (unicodedata.east_asian_width(letter) in "WF")
            rows[-1][column : column + width] = [letter, ""][:width]
            column += width
    return ["".join(row).rstrip() for row in rows]


def test_each_answer_is_followed_by_a_prompt(talk: Talk):
    talk.say("hello")
    assert "I am offline" in talk.heard(PROMPT)
    talk.say("/stats")
    assert "version" in talk.heard(PROMPT)
    talk.say("")
    talk.heard(PROMPT)


@pytest.mark.parametrize(
    ("typed", "taken"),
    [
        ("日本木" + BACKSPACE + BACKSPACE + "本", "日本"),
        ("one two" + CTRL_U + "three", "three"),
        ("a" + UP + "b" + DOWN + LEFT + "c" + RIGHT + "\x1b[3~" + "\x1bOH" + "\x1b[1;5C" + "d", "abcd"),
    ],
)
def test_keys_edit_the_line(home: Home, talk: Talk, typed: str, taken: str):
    talk.type(typed)
    talk.say(" end")
    line = shown(talk.heard("I am offline"))[0]
    assert home.turns()[-1]["text"] == taken + " end"
    assert line.replace(" ", "") == (taken + " end").replace(" ", "")


def test_ctrl_d_on_an_empty_line_ends_with_status_0(talk: Talk):
    talk.type(CTRL_D)
    assert talk.status() == 0
    assert shown(talk.seen.decode())[-2:] == [">", ""]


def test_each_line_of_output_starts_at_the_left(talk: Talk):
    talk.say("/help")
    output = talk.heard(PROMPT)
    assert output.count("\n") == output.count("\r\n") > 20


def test_what_is_typed_during_an_answer_is_the_next_message(home: Home, scripted: Scripted):
    server = scripted({"reply": ["One and ", {"text": "two.", "delay": 0.2}], "times": 1}, {"reply": "Yes."})
    with talking(home.asking(server.url), on=TERMINAL) as talk:
        talk.heard(PROMPT)
        talk.say("count")
        talk.heard("One and ")
        talk.say("go on 你")
        talk.heard("two.")
        assert shown(talk.heard("Yes."))[1:] == ["> go on 你", "Yes."]
        talk.heard(PROMPT)
        assert talk.end() == 0
    assert said(server.requests[-1])[-1].endswith("go on 你")
