"""What can go wrong with a remote model: each is told in one clear sentence, and the next message is answered."""

from collections.abc import Callable

import pytest

from driving import Home, said, say
from fake_llm import Serving

Scripted = Callable[..., Serving]

QUICK = {"llm__retries": 0, "llm__stall_seconds": 4, "llm__answer_seconds": 8}
"""A board that gives up soon, but not a service that answers on a busy machine."""
ANSWER = "One and two and three and four."


def told(printed: str) -> str:
    """The one line that tells of a problem."""
    problems = [line for line in printed.splitlines() if line.startswith(("! ", "[", "Traceback"))]
    assert len(problems) == 1 and problems[0][0] == "!", printed[-1000:]
    return problems[0]


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        ("500", "(HTTP 500: The script answers 500.)"),
        ("refuse", "the service refused the key; check llm.key"),
        ("silent", "the answer took longer than 8 s; raise llm.answer_seconds"),
        ({"kind": "cut", "after": 0}, "check that it runs"),
        ({"kind": "malformed", "after": 0}, "llm.url"),
    ],
    ids=lambda value: value if isinstance(value, str) else value["kind"],
)
def test_a_fault_is_reported_and_the_next_message_is_answered(
    home: Home, scripted: Scripted, api: str, fault: object, sentence: str
):
    server = scripted({"reply": ANSWER, "fault": fault, "times": 1}, {"reply": "Here I am."})
    printed = say(home.asking(server.url, api).having(**QUICK), "hello", "are you there?").printed
    assert sentence in told(printed)
    assert printed.splitlines()[-1] == "Here I am."
    assert [turn["text"] for turn in home.turns()] == ["hello", "are you there?", "Here I am."]


@pytest.mark.both_apis
@pytest.mark.parametrize("kind", ["cut", "stall", "malformed", "error"])
def test_an_answer_that_breaks_off_is_kept_and_marked(home: Home, scripted: Scripted, api: str, kind: str):
    server = scripted({"reply": ANSWER, "fault": {"kind": kind, "after": 11}, "times": 1}, {"reply": "Here I am."})
    printed = say(home.asking(server.url, api).having(**QUICK), "count", "go on").printed
    assert "One and two" in printed and "three" not in printed
    told(printed)
    assert home.turns()[1]["text"] == "One and two" and home.turns()[1]["cut"] is True
    assert said(server.requests[-1])[1] == "One and two … [the answer broke off here]"
    assert printed.splitlines()[-1] == "Here I am."


@pytest.mark.both_apis
def test_a_busy_service_is_tried_again_and_the_person_sees_it(home: Home, scripted: Scripted, api: str):
    server = scripted({"fault": {"kind": "429", "retry_after": 0}, "times": 1}, {"reply": "Here I am."})
    lines = say(home.asking(server.url, api), "hello").printed.splitlines()
    assert "(HTTP 429: The script answers 429.); trying again in 1 s" in lines[-2]
    assert lines[-1] == "Here I am."
    first, second = server.requests
    assert first.raw == second.raw


@pytest.mark.both_apis
def test_an_answer_of_a_megabyte_is_bounded(home: Home, scripted: Scripted, api: str):
    server = scripted({"fault": "huge", "reply": "x", "times": 1}, {"reply": "Here I am."})
    printed = say(home.asking(server.url, api).having(**QUICK), "hello", "are you there?").printed
    first, notice, last = printed.splitlines()[1:]
    assert first == len(first) * "x" and len(first) < 50_000
    assert notice == "· the answer reached its longest length and ends here."
    assert last == "Here I am."
    assert [turn["text"][:20] for turn in home.turns()] == ["hello", "x" * 20, "are you there?", "Here I am."]


@pytest.mark.both_apis
def test_the_key_is_sent_and_never_shown(home: Home, scripted: Scripted, api: str):
    server = scripted({"fault": "refuse"})
    asking = home.asking(server.url, api, key="sk-0123456789")
    printed = say(asking, "hello", "/stats", "/export", "/help").printed
    assert "sk-0123456789" in server.requests[0].head.decode()
    assert "refused the key" in told(printed.split("version")[0]) and "sk-0123456789" not in printed
    stored = [path.read_bytes() for path in home.folder.rglob("*") if path.is_file()]
    assert not [content for content in stored if b"sk-0123456789" in content]
