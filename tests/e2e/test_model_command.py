"""/model test: a chat, a tool call and a fact are tried with the model, told in plain words, and nothing is kept."""

from collections.abc import Callable
from pathlib import Path

import pytest

from driving import CTRL_C, TERMINAL, Home, say, talking
from fake_llm import Serving
from one_case import in_one_case

Scripted = Callable[..., Serving]

CALL = {
    "when": {"contains": "bicycle", "offers": True},
    "calls": [{"name": "memory_store", "arguments": {"content": "The bicycle is green"}}],
}
FACT = {
    "when": {"offers": False},
    "reply": '[{"op":"add","from":"t0","content":"Carla lives in Lyon","tags":["family"]}]',
}
CHAT = {"reply": "The sea is blue."}


def checks(printed: str) -> list[str]:
    """The lines of the three checks and the verdict."""
    return [line for line in printed.splitlines() if line.startswith(("chat ", "tools ", "facts ", "This "))]


@in_one_case(
    "rules, told",
    [
        ((CALL, FACT, CHAT), ("works; it called memory_store", "works; it read: Carla lives in Lyon", "all that")),
        ((FACT, CHAT), ("no: it called none, and said: The sea is blue.", "works", "too small for tools")),
        ((CALL, CHAT), ("works", "no: answer", "finds no facts")),
        ((CHAT,), ("no", "no", "can only chat")),
    ],
)
def test_a_model_is_judged_and_nothing_of_it_is_kept(rules, told, tmp_path: Path, scripted: Scripted):
    home = Home(tmp_path / "home")
    printed = say(home.asking(scripted(*rules).url), "/model test", "/memory list").printed
    chat, *others = checks(printed)
    assert "works; the first word came after 0 s" in chat
    assert len(others) == 3 and all(words in line for words, line in zip(told, others, strict=True)), printed
    assert "nothing is remembered yet" in printed and home.turns() == []


@pytest.mark.both_apis
def test_a_wrong_key_or_model_and_a_service_that_is_away_are_told_in_a_sentence(
    home: Home, scripted: Scripted, api: str
):
    server = scripted({"fault": "refuse", "times": 1}, {"fault": "404", "times": 1})
    printed = say(home.asking(server.url, api), "/model test", "/model test").printed
    key, model = checks(printed)
    assert key.startswith("chat      no: the service refused the key; check llm.key")
    assert model.startswith("chat      no: there is no model m at")
    away = home.asking("http://127.0.0.1:9", api).having(llm__retries=0)
    (told,) = checks(say(away, "/model test").printed)
    assert "no: the link to 127.0.0.1 failed" in told and "localhost is the board itself" in told


def test_ctrl_c_ends_a_test_under_way(home: Home, scripted: Scripted):
    server = scripted({"fault": "silent"})
    with talking(home.asking(server.url), on=TERMINAL) as talk:
        talk.say("/model test")
        server.wait_for_requests(1)
        talk.type(CTRL_C)
        assert talk.status() == 0
    assert home.turns() == []


def test_it_is_the_model_of_the_settings_that_is_tested(home: Home, scripted: Scripted):
    old, new = scripted(CHAT), scripted(CALL, FACT, CHAT)
    printed = say(home.asking(old.url), f"/setting llm.url {new.url}/v1", "/model test").printed
    assert "This model does all" in printed and not old.requests


def test_a_model_that_counts_as_one_without_tools_is_asked_with_them_and_judged_by_it(home: Home, scripted: Scripted):
    server = scripted(CALL, FACT, CHAT)
    talk = ("remember that my car is red", "remember that my boat is blue", "/stats", "/model test", "/stats")
    printed = say(home.asking(server.url), *talk).printed
    before, after = printed.split("works; it called memory_store")
    assert "; calls no tools" in before and "; calls no tools" not in after
    assert "; calls no tools" in say(home.asking(scripted(CHAT).url), "/model test", "/stats").printed
