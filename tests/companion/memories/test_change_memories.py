"""A change of a memory is a command that waits for its board, and shows what the board made of it."""

import json
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import httpx
import pytest

from extent import matrix
from one_case import in_one_case
from peers import Companion
from sending import Sent
from waiting import wait_until


@pytest.fixture
def kitchen(board: Callable[..., Sent]) -> Sent:
    """A board with three memories, one of them Ann's."""
    made = board()
    made.keep("the tea is in the tin", tags=["tea"], scope="user:owner")
    made.keep("the tin is blue", tags=["tin"], scope="user:owner", turns=["t1"])
    made.keep("Ann drinks coffee", tags=["ann"], scope="user:ann")
    made.sync()
    return made


@pytest.fixture
def api(companion: Companion, kitchen: Sent) -> Iterator[httpx.Client]:
    with closing(httpx.Client(base_url=f"{companion.url}/v1/boards/{kitchen.device}", timeout=30)) as client:
        yield client


def asked(api: httpx.Client, entry: str, status: int = 200, **wanted: Any) -> dict[str, Any]:
    """The answer to a change that is asked for."""
    answer = api.post(f"/memories/{entry}", json=wanted)
    assert answer.status_code == status, answer.text
    return answer.json()


def offered(kitchen: Sent) -> dict[str, Any]:
    """The message that the board is given."""
    head = kitchen.offered()
    assert head.get("op") == "say", head
    return head


def answer(kitchen: Sent, head: dict[str, Any], *items: list[str]) -> None:
    """Answer a message as a board does."""
    kitchen.ask("reply", mid=head["mid"], offer=head["offer"], k=1, items=[*items, ["end", ""]])


def outcome(**counts: int) -> list[str]:
    return ["report", json.dumps({"counts": counts, "ids": [], "files": [], "unknown": [], "notes": []})]


def state(api: httpx.Client, change: dict[str, Any]) -> str:
    found = api.get(f"/changes/{change['id']}")
    assert found.status_code == 200, found.text
    return found.json()["state"]


def line_of(head: dict[str, Any]) -> dict[str, Any]:
    command, _, fields = head["text"].partition(" ")
    assert command == "/import" and head["command"], head
    return json.loads(fields)


def test_an_edit_waits_until_the_board_has_it(api: httpx.Client, kitchen: Sent):
    change = asked(api, "m1", do="edit", was=1, text="the tea is in the box", tags=["tea", "box"])
    assert (change["state"], change["kind"], change["entry"]) == ("waiting", "edit", "m1")
    head = offered(kitchen)
    assert line_of(head) == {
        "origin": f"{kitchen.epoch:08x}:m1",
        "partial": True,
        "was": 1,
        "content": "the tea is in the box",
        "scope": "user:owner",
        "updated": 1795247157,
        "tags": ["tea", "box"],
    }
    assert state(api, change) == "waiting"
    answer(kitchen, head, ["line", "0 stored, 1 changed"], outcome(stored=0, changed=1, refused=0))
    assert state(api, change) == "done"


@in_one_case(
    "items, expected",
    [
        ([outcome(stored=0, **{"changed meanwhile": 1})], "conflict"),
        ([outcome(stored=0, **{"older than here": 1})], "conflict"),
        ([outcome(**{"there already": 1})], "unchanged"),
        ([["report", '{"code": "tags", "why": "tags: too many."}']], "refused"),
        ([["problem", "companion.chat: not the owner."]], "refused"),
        ([["report", "{broken"]], "refused"),
        ([outcome(stored=0)], "refused"),
    ],
)
def test_what_the_board_makes_of_an_edit_is_shown(
    api: httpx.Client, kitchen: Sent, items: list[list[str]], expected: str
):
    change = asked(api, "m1", do="edit", was=1, text="other")
    answer(kitchen, offered(kitchen), *items)
    assert state(api, change) == expected


@in_one_case(
    "entry, wanted, command",
    [
        ("m1", {"do": "pin"}, "/pin m1"),
        ("m1", {"do": "unpin"}, "/pin m1 off"),
        ("m2", {"do": "forget", "turns": True}, "/forget m2"),
        ("m1", {"do": "undo"}, "/undo m1"),
    ],
)
def test_a_change_is_a_command_of_the_board(
    api: httpx.Client, kitchen: Sent, entry: str, wanted: dict[str, Any], command: str
):
    change = asked(api, entry, **wanted)
    head = offered(kitchen)
    assert (head["text"], head["principal"], head["room"]) == (command, "owner", "memories")
    answer(kitchen, head, ["line", "done"])
    found = api.get(f"/changes/{change['id']}").json()
    assert (found["state"], found["sentence"]) == ("done", "done")


def test_forgetting_without_the_turns_names_the_version_that_was_read(api: httpx.Client, kitchen: Sent):
    asked(api, "m2", do="forget")
    assert line_of(offered(kitchen)) == {
        "origin": f"{kitchen.epoch:08x}:m2",
        "deleted": True,
        "was": 2,
        "scope": "user:owner",
    }


def test_a_memory_of_a_person_is_changed_for_that_person(api: httpx.Client, kitchen: Sent):
    asked(api, "m3", do="edit", text="Ann drinks tea")
    head = offered(kitchen)
    assert (head["principal"], line_of(head)["scope"]) == ("ann", "user:ann")


def test_a_memory_of_a_workspace_is_changed_in_it(api: httpx.Client, kitchen: Sent):
    kitchen.keep("water the roses", tags=["ws:garden"], scope="ws:garden")
    kitchen.sync()
    asked(api, "m4", do="pin")
    head = offered(kitchen)
    assert (head["principal"], head["workspace"]) == ("owner", "garden")


def test_the_same_change_sent_twice_is_asked_for_once(api: httpx.Client, kitchen: Sent):
    first, second = (asked(api, "m1", do="pin", key="0123abcd") for _ in range(2))
    assert first["id"] == second["id"]
    answer(kitchen, offered(kitchen), ["line", "m1 is pinned"])
    assert kitchen.offered(0)["op"] == "quiet"


def test_undo_takes_back_the_change_that_it_names(api: httpx.Client, kitchen: Sent):
    change = asked(api, "m3", do="edit", text="Ann drinks tea")
    answer(kitchen, offered(kitchen), outcome(changed=1))
    undone = api.post(f"/changes/{change['id']}/undo").json()
    assert undone["kind"] == "undo"
    head = offered(kitchen)
    assert (head["text"], head["principal"]) == ("/undo m3", "ann")


def test_a_change_is_undone_once_and_again_only_if_the_board_refused(api: httpx.Client, kitchen: Sent):
    change = asked(api, "m1", do="edit", text="other")
    answer(kitchen, offered(kitchen), outcome(changed=1))
    first = api.post(f"/changes/{change['id']}/undo").json()
    assert api.post(f"/changes/{change['id']}/undo").json()["id"] == first["id"]
    answer(kitchen, offered(kitchen), ["problem", "/undo: the latest change is of m2, not of m1."])
    second = api.post(f"/changes/{change['id']}/undo").json()
    assert second["id"] != first["id"]
    answer(kitchen, offered(kitchen), ["line", "m1 is again: the tea"])
    assert kitchen.offered(0)["op"] == "quiet"


def undo_refused(api: httpx.Client, change: dict[str, Any]) -> str:
    refused = api.post(f"/changes/{change['id']}/undo")
    assert refused.status_code == 422, refused.text
    return refused.json()["problem"]


def test_a_change_is_not_undone_while_a_later_one_of_its_memory_stands(api: httpx.Client, kitchen: Sent):
    edit = asked(api, "m1", do="edit", text="other")
    answer(kitchen, offered(kitchen), outcome(changed=1))
    pin = asked(api, "m1", do="pin")
    answer(kitchen, offered(kitchen), ["line", "m1 is pinned"])
    assert "later change" in undo_refused(api, edit)
    for change in (pin, edit):
        assert api.post(f"/changes/{change['id']}/undo").status_code == 200
        head = offered(kitchen)
        assert head["text"] == "/undo m1"
        answer(kitchen, head, ["line", "again"])


def test_changes_that_were_not_made_are_not_undone(api: httpx.Client, kitchen: Sent):
    made = asked(api, "m1", do="edit", text="made")
    answer(kitchen, offered(kitchen), outcome(changed=1))
    for item in (outcome(**{"changed meanwhile": 1}), ["problem", "not the owner"], outcome(**{"there already": 1})):
        change = asked(api, "m1", do="edit", text="other")
        answer(kitchen, offered(kitchen), item)
        assert undo_refused(api, change)
    assert api.post(f"/changes/{made['id']}/undo").status_code == 200


# --- merge


def merged(api: httpx.Client, **more: Any) -> dict[str, Any]:
    return asked(api, "m1", do="merge", other="m2", text="the tea is in the blue tin", **more)


def changed_on_the_board(kitchen: Sent, was: int, **more: Any) -> int:
    """The board itself gives m1 another text; the seq of that version."""
    line = {"id": "m1", "content": "the tea is on the shelf", "tags": ["tea"], "created": 1795247157, "was": was}
    seq = kitchen.write("records", **line, scope="user:owner", **more)
    kitchen.sync()
    return seq


def test_the_newest_version_that_the_board_itself_made_is_undone(api: httpx.Client, kitchen: Sent):
    seq = changed_on_the_board(kitchen, 1)
    change = asked(api, "m1", do="undo", was=seq, key="0000000c")
    assert asked(api, "m1", do="undo", was=seq, key="0000000c")["id"] == change["id"]
    head = offered(kitchen)
    assert (head["text"], head["principal"]) == ("/undo m1", "owner")
    answer(kitchen, head, ["line", "m1 is again: the tea is in the tin"])
    changed_on_the_board(kitchen, seq, undoes=seq)
    assert state(api, change) == "done"


@pytest.mark.parametrize("more", [{"undoes": 4}, {"restored": True}])
def test_a_version_that_an_undo_or_the_trash_made_is_not_undone(api: httpx.Client, kitchen: Sent, more: dict[str, Any]):
    seq = changed_on_the_board(kitchen, 1, **more)
    assert "no change of the board's own" in asked(api, "m1", 422, do="undo", was=seq)["problem"]


def test_a_change_is_not_undone_after_the_board_has_changed_the_memory_itself(api: httpx.Client, kitchen: Sent):
    change = asked(api, "m1", do="edit", was=1, text="the tea is in the box")
    answer(kitchen, offered(kitchen), outcome(changed=1))
    seq = changed_on_the_board(kitchen, 1)
    assert "no change of the board's own" in asked(api, "m1", 422, do="undo", was=seq)["problem"]
    seq = changed_on_the_board(kitchen, seq)
    refused = api.post(f"/changes/{change['id']}/undo")
    assert refused.status_code == 422 and "was changed on the board after this change" in refused.json()["problem"]
    assert asked(api, "m1", do="undo", was=seq)["state"] == "waiting"


def pinned_on_the_board(kitchen: Sent, was: int) -> int:
    line = {"id": "m1", "content": "the tea is in the tin", "tags": ["tea"], "created": 1795247157, "was": was}
    seq = kitchen.write("records", **line, scope="user:owner", pinned=True)
    kitchen.sync()
    return seq


def test_a_pin_is_not_undone_after_the_board_has_changed_the_memory_itself(api: httpx.Client, kitchen: Sent):
    pin = asked(api, "m1", do="pin")
    answer(kitchen, offered(kitchen), ["line", "m1 is pinned"])
    seq = changed_on_the_board(kitchen, pinned_on_the_board(kitchen, 1), pinned=True)
    assert "was changed on the board after this change" in undo_refused(api, pin)
    assert asked(api, "m1", do="undo", was=seq)["state"] == "waiting"


def test_a_merge_forgets_the_other_memory_once_the_board_has_the_text(api: httpx.Client, kitchen: Sent):
    change = merged(api)
    head = offered(kitchen)
    assert line_of(head)["content"] == "the tea is in the blue tin" and line_of(head)["was"] == 1
    assert kitchen.ask("listen", wait=0, mid=head["mid"], turn="")["op"] == "quiet"
    answer(kitchen, head, outcome(changed=1))
    second = offered(kitchen)
    assert line_of(second) == {"origin": f"{kitchen.epoch:08x}:m2", "deleted": True, "was": 2, "scope": "user:owner"}
    answer(kitchen, second, outcome(forgotten=1))
    api.post(f"/changes/{change['id']}/undo")
    for entry in ("m2", "m1"):
        head = offered(kitchen)
        assert head["text"] == f"/undo {entry}"
        answer(kitchen, head, ["line", "again"])


def test_a_merge_whose_text_was_not_taken_forgets_nothing(api: httpx.Client, kitchen: Sent):
    change = merged(api)
    answer(kitchen, offered(kitchen), outcome(**{"changed meanwhile": 1}))
    assert state(api, change) == "conflict"
    asked(api, "m1", do="pin")
    assert offered(kitchen)["text"] == "/pin m1"


@pytest.mark.parametrize("is_restarted", [False, True])
def test_a_merge_that_is_undone_before_its_second_part_forgets_nothing(
    companion: Companion, api: httpx.Client, kitchen: Sent, is_restarted: bool
):
    for _ in range(5):
        change = merged(api)
        answer(kitchen, offered(kitchen), outcome(changed=1))
        if api.post(f"/changes/{change['id']}/undo").status_code == 200:
            break
        # The companion was quicker with the second part: the next merge meets it at another moment.
        answer(kitchen, offered(kitchen), outcome(**{"changed meanwhile": 1}))
    if is_restarted:
        companion.kill()
        companion.start()
        kitchen.sync()
    head = offered(kitchen)
    assert head["text"] == "/undo m1"
    answer(kitchen, head, ["line", "again"])
    assert kitchen.offered(3)["op"] == "quiet"


def test_a_merge_whose_other_memory_was_kept_is_undone_in_one_part(api: httpx.Client, kitchen: Sent):
    change = merged(api)
    answer(kitchen, offered(kitchen), outcome(changed=1))
    answer(kitchen, offered(kitchen), outcome(**{"changed meanwhile": 1}))
    api.post(f"/changes/{change['id']}/undo")
    assert offered(kitchen)["text"] == "/undo m1"


def test_memories_of_other_people_are_not_merged(api: httpx.Client):
    refused = asked(api, "m1", 422, do="merge", other="m3", text="the tea is in the tin, Ann drinks coffee")
    assert "for other people" in refused["problem"]


def test_a_merge_goes_on_after_the_companion_was_restarted(companion: Companion, api: httpx.Client, kitchen: Sent):
    merged(api)
    head = offered(kitchen)
    companion.kill()
    companion.start()
    with closing(httpx.Client(base_url=f"{companion.url}/v1/boards/{kitchen.device}", timeout=30)):
        kitchen.sync()
        again = offered(kitchen)
        assert again["mid"] == head["mid"]
        answer(kitchen, again, outcome(changed=1))
        assert line_of(offered(kitchen))["deleted"]


# --- what is refused


FIRST = [{"do": "edit", "text": "A"}, {"do": "forget"}, {"do": "pin"}, {"do": "merge", "other": "m2", "text": "A"}]
SECOND = [{"do": "edit", "text": "B"}, {"do": "forget"}, {"do": "merge", "other": "m2", "text": "B"}]


@pytest.mark.parametrize("first, second", matrix(FIRST, SECOND))
def test_a_memory_is_not_changed_while_another_change_of_it_waits(
    api: httpx.Client, kitchen: Sent, first: dict[str, Any], second: dict[str, Any]
):
    change = asked(api, "m1", **first)
    assert "another change" in asked(api, "m1", status=422, **second)["problem"]
    assert api.delete(f"/changes/{change['id']}").json()["state"] == "cancelled"
    asked(api, "m1", **second)
    assert line_of(offered(kitchen))["was"] == 1


def test_an_edit_that_is_sent_again_later_is_answered_though_another_change_waits(api: httpx.Client, kitchen: Sent):
    first = asked(api, "m1", do="edit", text="A", key="0123abcd")
    answer(kitchen, offered(kitchen), outcome(changed=1))
    asked(api, "m1", do="pin")
    again = asked(api, "m1", do="edit", text="A", key="0123abcd")
    assert (again["id"], again["state"]) == (first["id"], "done")


def test_forgetting_with_the_turns_is_refused_if_the_memory_was_changed_since(api: httpx.Client, kitchen: Sent):
    kitchen.write("records", id="m2", content="the tin is red", tags=["tin"], created=1795247157, was=2)
    kitchen.sync()
    assert "since you read it" in asked(api, "m2", status=422, do="forget", turns=True, was=2)["problem"]
    asked(api, "m2", do="forget", turns=True, was=4)
    assert offered(kitchen)["text"] == "/forget m2"


@in_one_case(
    "entry, wanted, status",
    [
        ("m9", {"do": "pin"}, 404),
        ("t1", {"do": "pin"}, 422),
        ("m1", {"do": "edit"}, 422),
        ("m1", {"do": "merge", "other": "m2"}, 422),
        ("m1", {"do": "nothing"}, 422),
        ("m1", {"do": "edit", "text": "x" * 8001}, 422),
        ("m1", {"do": "edit", "importance": 2}, 422),
        ("m1", {"do": "pin", "key": "no-key"}, 422),
    ],
)
def test_a_change_without_sense_is_refused(api: httpx.Client, entry: str, wanted: dict[str, Any], status: int):
    assert asked(api, entry, status=status, **wanted)["problem"]


def test_nobody_else_begins_an_id_as_changes_do(api: httpx.Client):
    refused = api.post("/chat", json={"text": "hi", "id": "memory:edit:m1:0123abcd"})
    assert refused.status_code == 422 and "changes of memories" in refused.text


def test_another_message_is_no_change(api: httpx.Client):
    assert api.post("/chat?wait=0", json={"text": "hi", "id": "api:other"}).status_code == 200
    assert api.get("/changes/api:other").status_code == 404
    assert api.delete("/changes/api:other").status_code == 404
    assert api.post("/changes/api:other/undo").status_code == 404


def test_what_the_board_says_of_its_trash_is_kept(api: httpx.Client, kitchen: Sent):
    assert api.get("/trash").json() == {"at": 0, "is_waiting": False, "told": "", "problem": "", "records": []}
    assert api.post("/trash").json()["is_waiting"]
    head = offered(kitchen)
    assert head["text"] == "/export trash"
    lines = [
        {"engram_export": 1, "epoch": "0000000b", "at": 5, "records": 2},
        {"id": "m7", "content": "old news"},
        {"id": "m8", "content": "older news"},
        {"engram_export_end": 4},
    ]
    answer(kitchen, head, *(["line", json.dumps(line)] for line in lines), ["line", "broken"])
    wait_until("the board has answered", lambda: not api.get("/trash").json()["is_waiting"])
    assert [(each["id"], each["content"]) for each in api.get("/trash").json()["records"]] == [
        ("m8", "older news"),
        ("m7", "old news"),
    ]
