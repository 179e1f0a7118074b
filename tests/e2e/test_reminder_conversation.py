"""Timers that wait for words in a conversation: each comes once, also after a restart, with a model and without."""

from collections.abc import Callable

from driving import Home, said, say
from fake_llm import Serving

Scripted = Callable[..., Serving]

MAKE = "When the paint shop comes up, remind me to buy brushes."
COMMAND = "/timers add when paint shop: buy brushes"
REMINDER = "· reminder: buy brushes (w1)"


def test_a_reminder_comes_once_and_not_again_after_a_restart(home: Home, scripted: Scripted, api: str):
    call = {"name": "timer", "arguments": {"action": "add", "words": "paint shop", "text": "buy brushes"}}
    server = scripted(
        {"when": {"contains": "remind me", "result": False}, "calls": [call]},
        {"when": {"result": "timer"}, "reply": "I will."},
        {"reply": "I see."},
    )
    asking = home.asking(server.url, api)
    printed = say(asking, MAKE, "hello", "I pass the paint shop on Mondays", "the paint shop is large").printed
    assert "I will." in printed and "· w1: when paint shop comes up I remind you: buy brushes" in printed
    assert printed.count(REMINDER) == 1
    assert printed.index(REMINDER) > printed.index("I see.")
    hello, first, second = [said(request)[-1] for request in server.requests[-3:]]
    assert "buy brushes" in first and first.startswith("<standing-reminders>")
    assert "standing-reminders" not in hello + second
    assert REMINDER not in say(asking, "the paint shop again").printed
    assert "standing-reminders" not in said(server.requests[-1])[-1]


def test_a_reminder_comes_while_the_model_is_away(home: Home, scripted: Scripted, api: str):
    server = scripted({"fault": "500"})
    asking = home.asking(server.url, api).having(llm__retries=0)
    printed = say(asking, COMMAND, "the paint shop").printed
    assert REMINDER in printed and "! " in printed


def test_offline_a_reminder_comes_once_and_not_again_after_a_restart(home: Home):
    assert REMINDER not in say(home, COMMAND).printed
    assert say(home, "the paint shop", "the paint shop").printed.count(REMINDER) == 1
    assert REMINDER not in say(home, "the paint shop").printed
