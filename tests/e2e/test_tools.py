"""The model's tools over the real wire, on both APIs."""

import json
import re
from collections.abc import Callable

import pytest

from driving import Home, body_of, say
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
        on("recall", call("memory_recall", query="bike")),
        on("by tag", call("memory_recall", tags=["car"])),
        on("search", call("memory_search", query="red car")),
        on("list", call("memory_list")),
        on("tags", call("memory_list", what="tags")),
        on("update", call("memory_update", id="m1", content="The bike is blue", keywords=[])),
        on("get", call("memory_get", id="m1")),
        on("get turn", call("memory_get", id="t3", around=1)),
        THEN_TELL,
    )
    asking = home.asking(server.url, api)
    lines = ("store", "recall", "by tag", "search", "list", "tags", "update", "get", "get turn")
    printed = say(asking, *lines).printed
    stored, recalled, tagged, searched, listed, tags, updated, got, turns = results(printed)
    assert stored == {"outcome": "stored", "id": "m2"}
    assert [memory["content"] for memory in recalled["memories"]] == ["The bike is green"]
    assert [memory["id"] for memory in tagged["memories"]] == ["m2"]
    assert "m2" in [found["id"] for found in searched["found"]]
    assert (listed["total"], listed["page"], listed["pages"]) == (2, 1, 1)
    assert {"tag": "bike", "count": 1} in tags["tags"]
    assert updated["updated"]["content"] == "The bike is blue"
    assert got["memory"]["content"] == "The bike is blue" and "keywords" not in got["memory"]
    assert turns["turns"][0]["text"] == "store"
    assert "· remembered m1: The bike is green" in printed and "· changed m1: The bike is blue" in printed


@pytest.mark.both_apis
def test_a_wrong_call_is_answered_with_what_would_be_right(home: Home, scripted: Scripted, api: str):
    server = scripted(
        on("no tags", call("memory_store", content="x")),
        on("too many", call("memory_store", content="x", tags=["a", "b", "c", "d"])),
        on("unknown", call("memory_get", id="m99")),
        on("no tool", call("format_disk")),
        on("no json", {"name": "memory_store", "arguments": '{"content": "x", "tags": ['}),
        on("a path", call("memory_get", file="../secrets.json")),
        THEN_TELL,
    )
    lines = ("no tags", "too many", "unknown", "no tool", "no json", "a path")
    errors = [result["error"]["problem"] for result in results(say(home.asking(server.url, api), *lines).printed)]
    assert len(errors) == 6
    for error, naming in zip(errors, ("tags", "tags", "m99", "format_disk", "JSON", "file"), strict=True):
        assert naming in error, errors
    assert "memory_store" in errors[3]
    assert home.memories() == []


def test_several_are_forgotten_only_after_the_person_agreed(home: Home, scripted: Scripted, api: str):
    ask = call("memory_forget", query="bike")
    server = scripted(
        on("store", GREEN, RED),
        on("forget the bike", ask),
        on("forget it now", ask, call("memory_forget", ids=["m1"])),
        on("yes", call("memory_forget", ids=["m1"])),
        THEN_TELL,
    )
    asking = home.asking(server.url, api)
    printed = say(asking, "store", "forget the bike", "forget it now", "/memory list", "yes", "/memory list").printed
    _, candidates, too_soon, forgotten = results(printed)
    assert [memory["id"] for memory in candidates["candidates"]] == ["m1"]
    assert "a yes of the person" in too_soon["needs"]
    assert forgotten["forgotten"] == ["m1"]
    assert printed.count("m1 ") == 1 and printed.count("m2 ") == 2


def test_a_memory_is_forgotten_with_the_message_that_it_came_from(home: Home, scripted: Scripted, api: str):
    server = scripted(
        on("My PIN is 4711", call("memory_store", content="The PIN is 4711", tags=["pin"])),
        on("forget it", call("memory_forget", id="m1", turns=True)),
        THEN_TELL,
    )
    asking = home.asking(server.url, api)
    printed = say(asking, "My PIN is 4711", "forget it", "/recall 4711", "/compact").printed
    assert results(printed)[-1]["forgotten"] == ["m1"]
    assert "nothing found" in printed
    logs = [path.read_text() for path in home.folder.rglob("*.jsonl")]
    assert not [log for log in logs if "4711" in log]


def test_the_profile_is_edited_and_stands_in_the_next_prompt(home: Home, scripted: Scripted, api: str):
    server = scripted(
        on("add", call("profile_edit", file="user.md", action="append", text="Likes tea.")),
        on("replace", call("profile_edit", file="user.md", action="replace", old="tea", text="coffee")),
        on("write", call("profile_edit", file="soul.md", action="write", text="# Soul\nCurious.")),
        on("too much", call("profile_edit", file="soul.md", action="write", text="x" * 3000)),
        THEN_TELL,
    )
    asking = home.asking(server.url, api)
    printed = say(asking, "add", "replace", "write", "too much", "/undo", "/profile").printed
    assert results(printed)[-1]["error"]["argument"] == "text"
    body = json.dumps(server.requests[-1].body)
    assert "Likes coffee." in body and "Curious." in body
    assert "Likes coffee." in printed and "Warm, direct and brief" in printed.split("as it was before")[1]


def test_files_are_written_read_and_edited_in_lightweight_mode(home: Home, scripted: Scripted, api: str):
    server = scripted(
        on("write", call("file_write", file="MEMORY.md", text="# Memory\nThe bike is green.\n")),
        on("append", call("file_append", file="MEMORY.md", text="The car is red.")),
        on("edit", call("file_edit", file="MEMORY.md", old="green", text="blue")),
        on("read", call("file_read", file="MEMORY.md")),
        on("read outside", call("file_read", file="../config.json")),
        on("write outside", call("file_write", file="../main.py", text="x")),
        on("another tool", GREEN),
        THEN_TELL,
    )
    asking = home.asking(server.url, api).having(mode="lightweight")
    lines = ("write", "append", "edit", "read", "read outside", "write outside", "another tool")
    *_, read, outside, written, other = results(say(asking, *lines).printed)
    assert read["lines"][:3] == ["# Memory", "The bike is blue.", "The car is red."]
    assert "MEMORY.md or a day" in outside["error"]["problem"]
    assert "can be changed only if it is one of MEMORY.md" in written["error"]["problem"]
    assert "there is no tool memory_store" in other["error"]["problem"]
    assert "The bike is blue." in json.dumps(server.requests[-1].body)


def test_a_turn_ends_that_calls_tools_for_ever(home: Home, scripted: Scripted, api: str):
    server = scripted({"calls": [call("memory_list")], "times": 11}, {"reply": "Here I am."})
    printed = say(home.asking(server.url, api), "hello", "and now?").printed
    assert "the model was stopped" in printed
    assert printed.splitlines()[-1] == "Here I am."
    assert len(server.requests) == 10 + 1 + 1


def test_a_model_that_stops_in_time_may_use_ten_rounds(home: Home, scripted: Scripted, api: str):
    server = scripted({"calls": [call("memory_list", page=1)], "times": 10}, {"reply": "Done."})
    printed = say(home.asking(server.url, api), "hello").printed
    assert printed.splitlines()[-1] == "Done." and "stopped" not in printed


@pytest.mark.both_apis
def test_words_before_a_call_and_after_it_are_one_answer(home: Home, scripted: Scripted, api: str):
    server = scripted({**on("store", GREEN), "reply": "One moment."}, {"reply": "Done."})
    lines = say(home.asking(server.url, api), "store").printed.splitlines()[1:]
    assert lines == ["One moment.", "· remembered m1: The bike is green", "Done."]
    assert home.turns()[-1]["text"] == "One moment.\nDone."


def test_tool_traffic_is_no_part_of_the_history(home: Home, scripted: Scripted, api: str):
    server = scripted(on("store", GREEN), {"reply": "Done."})
    say(home.asking(server.url, api), "store", "and now?")
    messages = body_of(server.requests[-1])["messages"]
    assert "tool" not in json.dumps([message for message in messages if message["role"] != "system"])


def test_a_duplicate_is_reported_instead_of_stored(home: Home, scripted: Scripted, api: str):
    server = scripted(on("store", GREEN), THEN_TELL)
    first, second = results(say(home.asking(server.url, api), "store", "store").printed)
    assert (first["outcome"], second) == ("stored", {"outcome": "duplicate", "duplicate_of": "m1"})
