"""The views of memories: filters stay in the address, changes are shown as far as they are, conflicts with both texts."""

import json
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest

from extent import extent
from one_case import in_one_case
from page_client import PageClient, Parsed
from peers import Companion
from sending import Sent
from waiting import SECONDS

VIEW_BYTES = 60 * 1024
MOST_SECONDS = 0.3


@pytest.fixture
def kitchen(board: Callable[..., Sent]) -> Sent:
    """A board with two memories that came from turns, and a third one that replaced another."""
    made = board()
    made.say("the tea is in the tin")
    made.keep("the tea is in the tin", tags=["tea"], turns=["t1"], scope="user:owner", source="auto_rule")
    made.keep("the tin is blue", tags=["tin"], scope="user:owner", pinned=True)
    made.keep("Ann lives in Rome", tags=["ann"], keywords=["Rome"], confidence=0.8, evidence=["m1", "not m2"])
    made.keep("Ann lives in Oslo", tags=["ann"], keywords=["Oslo"], supersedes="m3")
    made.sync()
    return made


@pytest.fixture
def memories(kitchen: Sent) -> str:
    """The address of the list."""
    return f"/boards/{kitchen.device}/memories"


def ids(view: Parsed, memories: str) -> list[str]:
    """The memories that a list names."""
    prefix = f"{memories}/m"
    return [each["href"].rpartition("/")[2] for each in view.all("a") if each.get("href", "").startswith(prefix)]


def change(browser: PageClient, address: str, form: str, **fields: str) -> None:
    """Send a form of a memory's view with its hidden fields."""
    seen = browser.open(address)
    hidden = {name: seen.field(name) for name in ("csrf", "key", "was")}
    answer = browser.send(f"{address}/{form}", hidden | fields)
    assert answer.status_code == 303, answer.text


def outcome(**counts: int) -> list[str]:
    return ["report", json.dumps({"counts": counts})]


@in_one_case(
    "query, expected",
    [
        ("", ["m4", "m2", "m1"]),
        ("?state=superseded", ["m3"]),
        ("?state=all&sort=created", ["m1", "m2", "m3", "m4"]),
        ("?tag=tea", ["m1"]),
        ("?words=tin", ["m2", "m1"]),
        ("?scope=all", ["m4"]),
        ("?pinned=1", ["m2"]),
        ("?since=2026-11-21&until=2026-11-21", ["m4", "m2", "m1"]),
        ("?since=2026-11-22", []),
        ("?until=2026-11-20", []),
        ("?until=1969-01-01", []),
        ("?until=0001-01-01", []),
    ],
)
def test_a_filter_is_a_part_of_the_address(browser: PageClient, memories: str, query: str, expected: list[str]):
    view = browser.open(memories + query)
    assert ids(view, memories) == expected
    assert ("No memory fits." in view.words) == (not expected)


def test_a_memory_is_shown_with_the_turn_that_it_came_from_and_its_history(
    browser: PageClient, kitchen: Sent, memories: str
):
    kitchen.write("records", id="m1", content="the tea is in the box", tags=["tea"], created=1795247157, was=1)
    kitchen.sync()
    view = browser.open(f"{memories}/m1")
    assert "t1 · owner" not in view.words  # this version names no turn
    assert "the tea is in the tinbox" in view.words and next(view.all("ins"), None) is not None
    view = browser.open(f"{memories}/m4")
    assert "Ann lives in RomeOslo" in view.words
    replaced = browser.open(f"{memories}/m3")
    assert "perhaps, 80 %: m1, not m2" in replaced.words
    assert "Another memory took its place: m4" in " ".join(replaced.words.split())
    assert not [each for each in replaced.all("form") if each["action"].endswith("/edit")]


@pytest.mark.parametrize("seconds_ago", [0, 3600])
def test_a_list_leaves_out_what_the_board_has_just_forgotten_until_the_copy_follows(
    companion: Companion, browser: PageClient, kitchen: Sent, memories: str, seconds_ago: int
):
    def is_behind() -> bool:
        found = [each for each in browser.open(memories).all("section") if each.get("id") == "list-part"]
        return len(found) == 1 and "data-behind" in found[0]

    change(browser, f"{memories}/m2", "forget")
    assert ids(browser.open(memories), memories)[:3] == ["m4", "m2", "m1"] and not is_behind()
    kitchen.answer(outcome(forgotten=1))
    with closing(sqlite3.connect(companion.home / "companion.db", timeout=SECONDS)) as database, database:
        database.execute(
            "UPDATE conversations SET changed = changed - ? WHERE device = ?", (seconds_ago, kitchen.device)
        )
    view = browser.open(memories)
    assert is_behind() == (not seconds_ago)
    # After an hour the board may have brought it back itself.
    assert ("m2" in ids(view, memories)) == bool(seconds_ago)
    assert ("2 memories" in view.words) == (not seconds_ago)


def test_a_turn_that_is_not_copied_yet_is_not_said_to_be_forgotten(browser: PageClient, kitchen: Sent, memories: str):
    kitchen.say("a box came")
    kitchen.keep("the box is red", tags=["box"], turns=["t2"])
    kitchen.send("records", after=4)
    view = browser.open(f"{memories}/m5")
    assert "t2 · has not been copied yet" in view.words
    assert any(each.get("id") == "from-part" and "data-behind" in each for each in view.all("section"))
    kitchen.send("journal", after=1)
    view = browser.open(f"{memories}/m5")
    assert "a box came" in view.words
    assert not any("data-behind" in each for each in view.all("section"))


def test_an_edit_of_the_text_leaves_the_other_fields_as_they_are(browser: PageClient, kitchen: Sent, memories: str):
    kitchen.keep("Ann was born there", tags=["ann"], keywords=["Paris, France", "Ann"], importance=0.3)
    kitchen.sync()
    view = browser.open(f"{memories}/m5")
    fields = {name: view.field(name) for name in ("tags", "keywords", "importance")}
    change(browser, f"{memories}/m5", "edit", text="Ann was born in Paris", type="fact", **fields)
    sent = json.loads(kitchen.answer(outcome(changed=1)).partition(" ")[2])
    assert sent["content"] == "Ann was born in Paris"
    assert not {"tags", "keywords", "importance", "type"} & set(sent)


def test_undo_is_offered_for_the_latest_change_of_a_memory_alone(browser: PageClient, kitchen: Sent, memories: str):
    change(browser, f"{memories}/m1", "edit", text="the tea is in the box", tags="tea")
    kitchen.answer(outcome(changed=1))
    change(browser, f"{memories}/m1", "pin", pinned="1")
    kitchen.answer(["line", "m1 is pinned"])
    for path in (memories, f"{memories}/m1"):
        view = browser.open(path)
        undos = [each for each in view.all("form") if each["action"].endswith("/changes/undo")]
        assert len(undos) == 1 and view.field("id").startswith("memory:pin:m1:")


def test_the_history_offers_to_undo_what_the_board_itself_changed_last(
    browser: PageClient, kitchen: Sent, memories: str
):
    kitchen.write("records", id="m1", content="the tea is in the box", tags=["tea"], created=1795247157, was=1)
    kitchen.sync()
    view = browser.open(f"{memories}/m1")
    assert "The board itself made the newest change" in view.words
    fields = {name: view.field(name) for name in ("csrf", "key", "was")}
    sent = browser.send(f"{memories}/m1/undo", fields)
    assert (sent.status_code, sent.headers["location"]) == (303, f"{memories}/m1#changes")
    assert kitchen.answer(["line", "m1 is again: the tea is in the tin"]) == "/undo m1"


def test_a_conflict_is_shown_with_both_texts_and_mine_can_be_sent_again(
    browser: PageClient, kitchen: Sent, memories: str
):
    change(browser, f"{memories}/m1", "edit", text="the tea is on the shelf", tags="tea")
    kitchen.write("records", id="m1", content="the tea is in the box", tags=["tea"], created=1795247157, was=1)
    kitchen.sync()
    kitchen.answer(outcome(**{"changed meanwhile": 1}))
    view = browser.open(f"{memories}/m1")
    assert "Your change was not made" in view.words and "the tea is in the box" in view.words
    assert "the tea is on the shelf" in view.words and view.field("was") == "5"
    change(browser, f"{memories}/m1", "edit", text="the tea is on the shelf", tags="tea")
    assert json.loads(kitchen.answer(outcome(changed=1)).partition(" ")[2])["was"] == 5
    assert "Your change was not made" not in browser.open(f"{memories}/m1").words


def test_forgetting_leads_to_the_list_where_it_is_undone(browser: PageClient, kitchen: Sent, memories: str):
    change(browser, f"{memories}/m1", "forget", turns="1")
    assert kitchen.answer(["line", "forgot m1, t1: the tea"]) == "/forget m1"
    view = browser.open(memories)
    assert "forget m1 with its turns" in view.words
    fields = {"csrf": view.field("csrf"), "key": "0000000a", "id": view.field("id")}
    assert browser.send(f"/boards/{kitchen.device}/changes/undo", fields).status_code == 303
    assert kitchen.answer(["line", "m1 is remembered again"]) == "/undo m1"


def test_a_change_that_waits_is_cancelled(browser: PageClient, kitchen: Sent, memories: str):
    change(browser, f"{memories}/m2", "pin", pinned="")
    view = browser.open(f"{memories}/m2")
    fields = {"csrf": view.field("csrf"), "key": "0000000b", "id": view.field("id"), "back": "m2"}
    sent = browser.send(f"/boards/{kitchen.device}/changes/cancel", fields)
    assert sent.headers["location"] == f"{memories}/m2#changes"
    assert "cancelled" in browser.open(f"{memories}/m2").words


def picks(view: Parsed) -> list[str]:
    """The memories that a merge offers."""
    return [each["value"] for each in view.all("input") if each.get("type") == "radio"]


def test_a_merge_offers_memories_like_the_one_and_leads_to_both_beside_each_other(
    browser: PageClient, kitchen: Sent, memories: str
):
    kitchen.keep("kettle", tags=["tea"], scope="user:owner")
    kitchen.keep("the tea is in the tin of Mira", tags=["tea"], scope="user:mira")
    kitchen.sync()
    assert f"{memories}/m1/merge" in [each.get("href") for each in browser.open(f"{memories}/m1").all("a")]
    assert picks(browser.open(f"{memories}/m1/merge")) == ["m2", "m5"]  # by its words, then by its tag
    assert picks(browser.open(f"{memories}/m1/merge?find=kettle")) == ["m5"]
    assert "No other memory" in browser.open(f"{memories}/m1/merge?find=harbour").words
    assert "the tin is blue" in browser.open(f"{memories}/m1/merge?other=m2").words


def test_two_memories_are_merged(browser: PageClient, kitchen: Sent, memories: str):
    view = browser.open(f"{memories}/m1/merge?other=m2")
    assert "the tea is in the tin\nthe tin is blue" in view.words
    hidden = {name: view.field(name) for name in ("csrf", "key", "was", "other", "other_was")}
    fields = {"text": "the tea is in the blue tin", "tags": "tea, tin"}
    assert browser.send(f"{memories}/m1/merge", hidden | fields).status_code == 303
    assert json.loads(kitchen.answer(outcome(changed=1)).partition(" ")[2])["tags"] == ["tea", "tin"]
    assert json.loads(kitchen.answer(outcome(forgotten=1)).partition(" ")[2])["deleted"] is True
    assert "merge m2 into m1" in browser.open(memories).words


def test_a_board_that_may_not_speak_for_its_owner_is_told_what_to_set(
    browser: PageClient, kitchen: Sent, memories: str
):
    change(browser, f"{memories}/m1", "pin", pinned="1")
    kitchen.answer(["problem", "companion.chat: the board does not let its companion speak for the owner."])
    assert "/setting companion.chat owner" in browser.open(f"{memories}/m1").words


def test_the_trash_is_what_the_board_says(browser: PageClient, kitchen: Sent, memories: str):
    view = browser.open(f"{memories}?state=trash")
    fields = {"csrf": view.field("csrf"), "key": view.field("key")}
    assert browser.send(f"{memories}/trash", fields).status_code == 303
    assert "waits for the board" in browser.open(f"{memories}?state=trash").words
    lines = [{"id": "m7", "content": "old news", "tags": ["news"]}, {"id": "m8", "content": "older news"}]
    assert kitchen.answer(*(["line", json.dumps(line)] for line in lines)) == "/export trash"
    words = browser.open(f"{memories}?state=trash").words
    assert words.index("older news") < words.index("old news") and "2 memories" in words


# --- with many memories


MANY = extent(10_000, 2_000)


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Companion]:
    """A companion with a board of very many memories, some of them changed, replaced or forgotten."""
    with Companion(tmp_path_factory.mktemp("many") / "home") as running:
        made = Sent(running.posted, "library")
        for number in range(MANY):
            words = f"thing {number} of shelf {number % 97} is described here in about a hundred characters, as memories are"
            fields: dict[str, Any] = {"tags": [f"tag{number % 40}", "shelf"], "scope": "user:owner"}
            made.keep(words, **fields | ({"supersedes": f"m{number - 5}"} if number % 50 == 49 else {}))
        made.sync()
        yield running


@pytest.mark.shortened
@in_one_case(
    "path",
    [
        "/boards/library/memories",
        f"/boards/library/memories?at={MANY // 25}",
        "/boards/library/memories?tag=tag7&sort=importance",
        "/boards/library/memories?words=shelf+thing&state=all&sort=created",
        f"/boards/library/memories/m{MANY - 100}",
        f"/boards/library/memories/m{MANY - 100}/merge?other=m17",
    ],
)
def test_a_view_of_very_many_memories_is_small_and_quick(many: Companion, path: str):
    with closing(PageClient(many.url)) as browser:
        browser.open(path)  # the index is made before, as it is by the companion itself some seconds after its start
        took: list[float] = []
        for _ in range(5):
            began = time.perf_counter()
            found = browser.http.get(path)
            took.append(time.perf_counter() - began)
            assert found.status_code == 200 and len(found.content) <= VIEW_BYTES
        assert min(took) < MOST_SECONDS, took


def test_the_next_page_has_the_memories_that_come_after(many: Companion):
    with closing(PageClient(many.url)) as browser:
        address = "/boards/library/memories"
        first, second = (ids(browser.open(f"{address}?sort=created&at={at}"), address) for at in (1, 2))
    assert first and second and not {*first} & {*second}
