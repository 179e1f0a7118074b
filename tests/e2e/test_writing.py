"""Any script, in messages, tags and files, comes back as it was given; nothing that a terminal obeys comes out."""

from collections.abc import Callable

import pytest

from driving import TERMINAL, Home, body_of, said, say, talking
from fake_llm import Serving

Scripted = Callable[..., Serving]

SCRIPTS = pytest.mark.parametrize(
    ("fact", "question", "tag"),
    [
        pytest.param("我的自行车是绿色的", "自行车是什么颜色?", "交通工具", id="Chinese"),
        pytest.param("دراجتي لونها أخضر", "ما لون دراجتي؟", "مركبات", id="Arabic"),
        pytest.param("my 🚲 bike is 💚 👩‍👩‍👧 🇨🇭", "which bike?", "🚲", id="emoji"),
    ],
)


@SCRIPTS
def test_a_tag_comes_back_after_a_restart(home: Home, scripted: Scripted, api: str, fact: str, question: str, tag: str):
    arguments = {"content": fact, "tags": [tag], "keywords": [tag]}
    server = scripted({"reply": "Good. " + fact})
    server.add(
        {"when": {"result": False}, "calls": [{"name": "memory_store", "arguments": arguments}], "times": 1}, first=True
    )
    asking = home.asking(server.url, api)
    assert "Good. " + fact in say(asking, fact).printed
    printed = say(asking, "/memory tags", "/session new", question).printed
    assert f"1  {tag}" in printed
    assert tag in str(body_of(server.requests[-1])["system" if api == "anthropic" else "messages"])
    assert f"] {fact}\n" in said(server.requests[-1])[-1]


DANGER = "\x1b]0;owned\x07\x1b[31mred\x1b[2J\x9b5n\x00\x08\x7f\u202eback"
OBEYED = ("\x1b[31m", "\x1b]", "\x1b[2J", "\x9b", "\x07", "\x00", "\x7f", "\u202e")


def check_harmless(printed: str) -> None:
    assert "red" in printed
    assert not [letters for letters in OBEYED if letters in printed]


def test_what_a_terminal_obeys_is_not_shown_on_a_terminal(home: Home, scripted: Scripted):
    server = scripted({"reply": DANGER.replace("\x08", "")})
    with talking(home.asking(server.url), on=TERMINAL) as talk:
        talk.heard("\n> ")
        talk.say("hello")
        check_harmless(talk.heard("\n> "))


def test_what_a_terminal_obeys_is_not_shown_from_memory(home: Home, scripted: Scripted):
    danger = DANGER.replace("\0", "")
    store = {"name": "memory_store", "arguments": {"content": "bike " + danger, "tags": ["tag" + danger[-20:]]}}
    note = {"name": "file_edit", "arguments": {"file": "user.md", "action": "append", "text": danger}}
    server = scripted({"when": {"result": False}, "calls": [store, note]}, {"reply": "Good: {result}"})
    check_harmless(say(home.asking(server.url), "hello red").printed)
    shown = (
        "/memory list",
        "/memory tags",
        "/memory show m1",
        "/recall bike",
        "/profile user.md",
        "/export",
        "/session",
    )
    for command in shown:
        check_harmless(say(home, command).printed)
    check_harmless(say(home, "/undo", "/undo", "list red").printed)


def test_what_a_terminal_obeys_is_not_shown_from_a_file_that_was_edited(home: Home):
    say(home)
    home.write("profile/soul.md", DANGER)
    home.write("memory/MEMORY.md", DANGER)
    check_harmless(say(home, "/profile", "/memory").printed)
