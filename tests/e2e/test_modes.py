"""Switching between full and lightweight mode, over the console, loses nothing of either."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest

from driving import COMMAND, Home, say
from fake_llm import Serving

Scripted = Callable[..., Serving]

FULL, LIGHT = "/mode full", "/mode lightweight"
STORE = {"name": "memory_store", "arguments": {"content": "The bike is green", "tags": ["bike"]}}
APPEND = {"name": "file_edit", "arguments": {"file": "MEMORY.md", "text": "The car is red."}}


@pytest.mark.parametrize(
    ("config", "settings", "offset"),
    [('{"mode": "full"}', {}, "05:45"), ('{"timezone": "+02:00"}', {"timezone": "-03:30"}, "-03:30")],
)
def test_a_simulated_board_has_the_computers_time_zone_unless_one_is_set(
    home: Home, config: str, settings: dict[str, str], offset: str
):
    home.write("config.json", config)
    there = replace(home, settings={**home.settings, **settings}).knowing(TZ="Asia/Kathmandu")
    say(there, "/note it rains", command=COMMAND)
    (note,) = (home.folder / "memory").glob("20??-??-??.md")
    zone = timezone((-1 if offset[0] == "-" else 1) * timedelta(hours=int(offset[-5:-3]), minutes=int(offset[-2:])))
    minutes = {f"{datetime.now(zone) - timedelta(minutes=ago):%H:%M}" for ago in range(3)}
    assert note.read_text()[2:7] in minutes
    assert (home.folder / "config.json").read_text() == config


def test_both_memories_are_there_when_their_mode_is_back(home: Home, scripted: Scripted, api: str):
    server = scripted(
        {"when": {"offers": "memory_store", "contains": "store", "result": False}, "calls": [STORE]},
        {"when": {"offers": "file_read", "contains": "store", "result": False}, "calls": [APPEND]},
        {"reply": "Good."},
    )
    asking = home.asking(server.url, api)
    lines = [FULL, "store", LIGHT, "store", "what colour is the bike?", FULL, "what colour is the bike?", LIGHT, "and?"]
    for some in (lines[:3], lines[3:6], lines[6:]):
        say(asking, *some)
    light, full, light_again = (str(request.body) for request in server.requests[-3:])
    assert "The car is red." in light and "The bike is green" not in light
    assert "[m1 " in full and "The bike is green" in full and "The car is red." not in full
    assert "The car is red." in light_again
