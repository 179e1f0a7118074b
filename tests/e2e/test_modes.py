"""Switching between full and lightweight mode, over the console, loses nothing of either."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from driving import Home, body_of, say
from fake_llm import Serving

Scripted = Callable[..., Serving]

FULL, LIGHT = "/mode full", "/mode lightweight"
STORE = {"name": "memory_store", "arguments": {"content": "The bike is green", "tags": ["bike"]}}
APPEND = {"name": "file_append", "arguments": {"file": "MEMORY.md", "text": "The car is red."}}


def test_the_mode_is_kept_over_a_restart(home: Home):
    assert "lightweight mode; nothing of the other mode is lost" in say(home, LIGHT).printed
    assert "Engram" in (printed := say(home, "/mode").printed) and printed.count("lightweight mode") == 2
    assert "full mode" in say(home, FULL, "/mode").printed.splitlines()[-1]


def test_a_mode_keeps_the_other_settings(home: Home):
    home.write("config.json", '{"llm": {"retries": 1}, "timezone": "+02:00"}')
    say(home, LIGHT)
    content = (home.folder / "config.json").read_text()
    assert '"retries":1' in content and "+02:00" in content and "lightweight" in content


@pytest.mark.parametrize(
    ("config", "settings", "offset"),
    [
        ("{}", {}, "05:45"),
        ('{"mode": "full"}', {}, "05:45"),
        ('{"timezone": "+02:00"}', {}, "02:00"),
        ('{"timezone": "+02:00"}', {"timezone": "-03:30"}, "-03:30"),
    ],
)
def test_a_simulated_board_has_the_computers_time_zone_unless_one_is_set(
    home: Home, config: str, settings: dict[str, str], offset: str
):
    home.write("config.json", config)
    there = replace(home, settings={**home.settings, **settings}).knowing(TZ="Asia/Kathmandu")
    assert f"times at {offset if offset[0] == '-' else '+' + offset}\n" in say(there, "/export md").printed
    assert (home.folder / "config.json").read_text() == config


@pytest.mark.parametrize("restart", [False, True], ids=["at-once", "restarted"])
def test_both_memories_are_there_when_their_mode_is_back(home: Home, scripted: Scripted, api: str, restart: bool):
    server = scripted(
        {"when": {"offers": "memory_store", "contains": "store", "result": False}, "calls": [STORE]},
        {"when": {"offers": "file_append", "contains": "store", "result": False}, "calls": [APPEND]},
        {"reply": "Good."},
    )
    asking = home.asking(server.url, api)
    lines = [FULL, "store", LIGHT, "store", "what colour is the bike?", FULL, "what colour is the bike?", LIGHT, "and?"]
    if restart:
        for line in lines:
            say(asking, line)
    else:
        say(asking, *lines)
    light, full, light_again = (str(request.body) for request in server.requests[-3:])
    assert "The car is red." in light and "The bike is green" not in light
    assert "[m1 " in full and "The bike is green" in full and "The car is red." not in full
    assert "The car is red." in light_again


def test_each_mode_has_its_own_tools(home: Home, scripted: Scripted, api: str):
    server = scripted({"reply": "Good."})
    say(home.asking(server.url, api), "one", LIGHT, "two", FULL, "three")
    names = [tools_of(request.body) for request in server.requests]
    assert names[0] == names[2] and "memory_store" in names[0] and "file_append" not in names[0]
    assert "file_append" in names[1] and "memory_store" not in names[1]
    assert "profile_edit" in names[0] & names[1]


def tools_of(body: object) -> set[str]:
    assert isinstance(body, dict)
    return {tool.get("name") or tool["function"]["name"] for tool in body["tools"]}


def test_the_history_is_the_same_in_both_modes(home: Home, scripted: Scripted):
    server = scripted({"reply": "Good."})
    say(home.asking(server.url), "first message", LIGHT, "second message", FULL, "third message")
    last = str(body_of(server.requests[-1])["messages"])
    assert "first message" in last and "second message" in last


def test_a_message_is_no_mode(home: Home):
    printed = say(home, "/mode heavy", "/mode").printed
    assert "must be one of full, lightweight" in printed and printed.splitlines()[-1] == "full mode"
