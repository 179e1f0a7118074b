"""Several sessions in turn: each has its own history, none is ever lost or blocked."""

import re
from collections.abc import Callable
from itertools import chain

from driving import Home, said, say
from fake_llm import Serving

Scripted = Callable[..., Serving]

TOPICS = ("apples", "bridges", "clouds", "drums", "elks")


def test_five_sessions_in_turn_have_a_history_each(home: Home, scripted: Scripted, api: str):
    server = scripted({"reply": "Reply {request}."})
    asking = home.asking(server.url, api)
    begun = say(asking, *(f"/session new About {topic}" for topic in TOPICS)).printed
    expected: dict[str, list[str]] = {sid: [] for sid in re.findall(r"session (s\d+) begins", begun)}
    for question in ("Where are {}?", "Who makes {}?", "Why {}?"):
        asked = [question.format(topic) for topic in TOPICS]
        lines = [(f"/session switch {sid}", words) for sid, words in zip(expected, asked, strict=True)]
        say(asking, *chain.from_iterable(lines))
        requests = server.requests[-5:]
        for history, words, request in zip(expected.values(), asked, requests, strict=True):
            *before, last = said(request)
            assert before == history and last.endswith("\n" + words)
            history += [words, f"Reply {request.order}."]


def test_the_sessions_are_listed_with_the_present_one_marked(home: Home):
    say(home, "hello", "/session new Holidays", "to the sea", "/session switch s1")
    rows = say(home, "/session list").printed.splitlines()[-2:]
    assert [row for row in rows if row.startswith("*") and "hello" in row]
    assert [row for row in rows if row.startswith(" ") and "Holidays" in row and " 1 turn " in row]


def test_a_deleted_session_is_gone_from_history_and_search(home: Home, scripted: Scripted):
    say(home, "the password of the shed is sesame", "/session new", "/session delete s1")
    server = scripted({"reply": "Yes."})
    printed = say(
        home.asking(server.url), "/session list", "/recall sesame", "what is the password of the shed?"
    ).printed
    assert "nothing found" in printed and "s1 " not in printed
    assert "sesame" not in str(server.requests[-1].body)


def test_a_conversation_goes_on_when_its_session_was_deleted(home: Home):
    printed = say(home, "hello", "/session delete s1", "hello again", "/session").printed
    assert re.search(r"^\* s\d+ +1 turn .* hello again$", printed, re.MULTILINE)


def test_a_long_session_keeps_its_newest_turns_and_finds_the_oldest(home: Home, scripted: Scripted):
    server = scripted({"reply": "Noted."})
    asking = home.asking(server.url).having(session__messages=8)
    say(asking, "the cat is called Minka", *(f"message {number}" for number in range(30)), "what is the cat called?")
    *before, last = said(server.requests[-1])
    assert len(before) <= 8 and "message 29" in before[-2]
    assert "- [t3 " in last and "Minka" in last
