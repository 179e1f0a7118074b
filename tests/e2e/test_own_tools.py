"""A person's own functions and simulated pins, over the real wire, as a person chats with the board."""

from collections.abc import Callable

from driving import Home, body_of, say
from fake_llm import Serving

Scripted = Callable[..., Serving]

PINS = {
    "lamp": {"pin": 5, "mode": "out"},
    "fan": {"pin": 18, "mode": "pwm", "safe": 20},
    "door": {"pin": 14, "mode": "in"},
}
OWN = """
import asyncio

def unlock(door):
    print("the %s door is open" % door)
    return {"door": door, "state": "unlocked"}

async def hang():
    await asyncio.Event().wait()

def setup(app):
    app.tool(unlock, description="Unlock a door.", schema={"door": "front|back"}, confirm=True)
    app.tool(hang, description="Hang.", seconds=0.2)
"""


def on(message: str, name: str, **arguments: object) -> dict[str, object]:
    """A rule: the person says `message`, the model calls a tool."""
    return {"when": {"equals": message, "result": False}, "calls": [{"name": name, "arguments": arguments}]}


THEN_TELL = {"when": {"result": True}, "reply": "Result: {result}"}


def test_an_own_tool_with_confirm_runs_after_the_yes_and_only_then(home: Home, scripted: Scripted):
    server = scripted(
        on("open the front door, yes", "unlock", door="front"),
        on("yes?", "unlock", door="front"),
        on("no", "unlock", door="front"),
        on("yes", "unlock", door="front"),
        THEN_TELL,
    )
    home.write("own.py", OWN)
    asking = home.asking(server.url)
    refused = say(asking, "open the front door, yes", "yes?", "no").printed
    assert refused.count('· unlock waits for your yes: {"door":"front"}') == 3 and "door is open" not in refused
    printed = say(asking, "open the front door, yes", "yes", "yes").printed
    assert printed.count("the front door is open") == 1
    assert '· used unlock\nResult: {"result":' in printed
    assert printed.count("waits for your yes") == 2


def test_reading_for_facts_never_sees_them(home: Home, scripted: Scripted):
    server = scripted({"when": {"offers": True}, "reply": "Good."}, {"reply": "[]"})
    home.write("own.py", OWN)
    asking = home.asking(server.url).having(pins=PINS, extract__on=True, extract__pause_seconds=0)
    printed = say(asking, "my bike is green", "/pin").printed
    assert "fan: 20% (pwm, simulated, pin 18)" in printed
    assert any("tools" in body_of(request) for request in server.requests)
    for request in server.requests:
        offered = str(body_of(request).get("tools", ""))
        assert not offered or ("pin_set" in offered and "unlock" in offered)
