"""REPL=1: Ctrl-C opens the MicroPython prompt, as on a board, and app.run() goes on with the chat."""

from collections.abc import Callable, Iterator

import pytest

from driving import CTRL_C, CTRL_D, TERMINAL, Home, Talk, said, talking
from fake_llm import Serving

Scripted = Callable[..., Serving]

CHAT, PYTHON = "\n> ", "\n>>> "


@pytest.fixture
def talk(home: Home) -> Iterator[Talk]:
    """A board that chats on a terminal, with a memory in it."""
    with talking(home.knowing(REPL="1"), on=TERMINAL) as talk:
        talk.heard(CHAT)
        talk.say("remember that my bike is green")
        talk.heard(CHAT)
        yield talk


def python(talk: Talk, line: str) -> str:
    """What a line at the prompt prints."""
    talk.type(line + "\r")
    return talk.heard(PYTHON).split("\n", 1)[1].removesuffix(PYTHON)


def opened(talk: Talk) -> Talk:
    """The prompt, opened."""
    talk.type(CTRL_C)
    assert "stopped; app.run() goes on" in talk.heard(PYTHON)
    return talk


def test_the_chat_finds_what_code_stored(talk: Talk):
    assert "'m2'" in python(opened(talk), 'app.memory.store("The cellar has 18 degrees", ["sensor"])')
    talk.type("app.run()\r")
    talk.heard(CHAT)
    talk.say("what do you know about the cellar?")
    assert "18 degrees" in talk.heard(CHAT)


def test_the_chat_goes_on_and_stops_again(home: Home, talk: Talk):
    for _ in range(3):
        opened(talk).type("app.run()\r")
        talk.heard(CHAT)
        talk.say("hello")
        talk.heard(CHAT)
    assert [turn["text"] for turn in home.turns()].count("hello") == 3


def test_a_line_that_was_not_ended_is_dropped(home: Home, talk: Talk):
    talk.type("I did not mean to")
    talk.heard("mean to")
    opened(talk).type("app.run()\r")
    talk.heard(CHAT)
    talk.say("hello")
    talk.heard(CHAT)
    assert home.turns()[-1]["text"] == "hello"


def test_ctrl_d_in_the_chat_opens_the_prompt_too(talk: Talk):
    talk.type(CTRL_D)
    talk.heard(PYTHON)
    talk.type(CTRL_D)
    assert talk.status() == 0


def test_an_answer_that_was_stopped_is_kept_as_far_as_it_came(home: Home, scripted: Scripted, api: str):
    server = scripted(
        {"reply": ["One and ", "two and ", {"text": "three.", "delay": 60}], "times": 1}, {"reply": "Yes."}
    )
    with talking(home.asking(server.url, api).knowing(REPL="1"), on=TERMINAL) as talk:
        talk.heard(CHAT)
        talk.say("count to three")
        talk.heard("two and")
        opened(talk).type("app.run()\r")
        talk.heard(CHAT)
        talk.say("go on")
        talk.heard("Yes.")
    assert said(server.requests[-1])[1] == "One and two and … [the answer broke off here]"


def test_code_that_does_not_end_is_interrupted(talk: Talk):
    opened(talk).type("for i in range(1000000000): i or print('busy')\r")
    talk.heard("... ")
    talk.type("\r")
    talk.heard("busy\r\n")
    talk.type(CTRL_C)
    assert "KeyboardInterrupt" in talk.heard(PYTHON)
    assert "bike" in python(talk, 'app.memory.search("bike")')
