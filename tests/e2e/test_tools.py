"""The model's tools over the real wire, on both APIs."""

import json
import re
from collections.abc import Callable

import pytest

from driving import Home, say
from fake_llm import Serving

Scripted = Callable[..., Serving]

THEN_TELL = {"when": {"result": True}, "reply": "Result: {result}"}


def call(tool: str, **arguments: object) -> dict[str, object]:
    return {"name": tool, "arguments": arguments}


def on(message: str, *calls: dict[str, object]) -> dict[str, object]:
    """A rule: the person says `message`, the model calls."""
    return {"when": {"equals": message, "result": False}, "calls": list(calls)}


def results(printed: str) -> list[dict]:
    """What the tools gave, in the order of the answers that told of it."""
    return [json.loads(found) for found in re.findall(r"^Result: (.*)$", printed, re.MULTILINE)]


GREEN = call("memory_store", content="The bike is green", tags=["bike"], keywords=["colour"], importance=0.8)
RED = call("memory_store", content="The car is red", tags=["car"], type="preference")


@pytest.mark.both_apis
def test_memories_are_stored_found_listed_changed_and_read(home: Home, scripted: Scripted, api: str):
    server = scripted(
        on("store", GREEN, RED),
        on("by tag", call("memory_search", query="", tags=["car"])),
        on("search", call("memory_search", query="red car")),
        on("list", call("memory_search", query="")),
        on("update", call("memory_update", id="m1", content="The bike is blue", keywords=[])),
        on("get", call("memory_search", query="m1")),
        on("get turn", call("memory_search", query="t3")),
        THEN_TELL,
    )
    asking = home.asking(server.url, api)
    lines = ("store", "by tag", "search", "list", "update", "get", "get turn")
    printed = say(asking, *lines).printed
    stored, tagged, searched, listed, updated, got, turns = results(printed)
    assert stored == {"outcome": "stored", "id": "m2"}
    assert [memory["id"] for memory in tagged["memories"]] == ["m2"]
    assert "m2" in [found["id"] for found in searched["found"]]
    assert (listed["total"], listed["page"], listed["pages"]) == (2, 1, 1)
    assert updated["updated"]["content"] == "The bike is blue"
    assert got["memory"]["content"] == "The bike is blue" and "keywords" not in got["memory"]
    assert turns["turns"][0]["text"] == "store"
    assert "· remembered m1: The bike is green" in printed and "· changed m1: The bike is blue" in printed
