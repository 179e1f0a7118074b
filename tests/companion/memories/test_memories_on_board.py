"""Changes of memories as the firmware makes them: edited, changed meanwhile, forgotten, merged, and all of it undone."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from peers import BoardProcess, Companion
from skips import needs_64_bit
from waiting import wait_until

pytestmark = needs_64_bit


class Kitchen:
    """A companion, and the firmware on its link which lets it speak for the owner."""

    def __init__(self, companion: Companion, board: BoardProcess):
        self.companion = companion
        self.board = board

    def keep(self, content: str) -> str:
        """Store a memory on the board; its id, once the companion has it."""
        self.board.answered("/import " + json.dumps({"content": content, "tags": ["tea"]}))
        found = next(line["id"] for line in self.board.lines("records") if line.get("content") == content)
        self.wait_for(found, content)
        return found

    def get(self, path: str) -> Any:
        return self.companion.client.get(f"/v1/boards/kitchen{path}").json()

    def ask(self, entry: str, expected: str = "done", **wanted: Any) -> dict[str, Any]:
        """Ask for a change, and wait for what becomes of it."""
        answer = self.companion.client.post(f"/v1/boards/kitchen/memories/{entry}", json=wanted)
        assert answer.status_code == 200, answer.text
        return self.ended(answer.json(), expected)

    def undo(self, change: dict[str, Any]) -> dict[str, Any]:
        """Undo a change."""
        answer = self.companion.client.post(f"/v1/boards/kitchen/changes/{change['id']}/undo")
        assert answer.status_code == 200, answer.text
        return self.ended(answer.json(), "done")

    def ended(self, change: dict[str, Any], expected: str) -> dict[str, Any]:
        wait_until("the board has answered", lambda: self.get(f"/changes/{change['id']}")["state"] != "waiting")
        found = self.get(f"/changes/{change['id']}")
        assert found["state"] == expected, found
        return found

    def wait_for(self, entry: str, content: str | None) -> None:
        """Wait until the copy has a text, or, with None, the memory no more."""

        def is_so() -> bool:
            found = self.get(f"/memories/{entry}")
            return found.get("entry", {"line": {}})["line"].get("content") == content

        wait_until(f"the copy has {content}", is_so)


@pytest.fixture(scope="module")
def kitchen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kitchen]:
    folder = tmp_path_factory.mktemp("memories")
    settings: dict[str, object] = {"companion.chat": "owner"}
    with (
        Companion(folder / "home") as companion,
        BoardProcess(folder / "board", companion.url, "kitchen", 0, 20, **settings) as board,
    ):
        wait_until("it is known", lambda: companion.client.get("/v1/devices/kitchen").status_code == 200)
        yield Kitchen(companion, board)


def test_an_edit_is_made_and_undone(kitchen: Kitchen):
    entry = kitchen.keep("the tea is in the tin")
    change = kitchen.ask(entry, do="edit", text="the tea is in the box", tags=["tea", "box"], importance=0.8)
    kitchen.wait_for(entry, "the tea is in the box")
    line = kitchen.get(f"/memories/{entry}")["entry"]["line"]
    assert (line["tags"], line["importance"]) == (["tea", "box"], 0.8)
    kitchen.undo(change)
    kitchen.wait_for(entry, "the tea is in the tin")


def test_an_edit_of_a_version_that_the_board_has_replaced_changes_nothing(kitchen: Kitchen):
    entry = kitchen.keep("Ada sails on Sundays")
    was = kitchen.get(f"/memories/{entry}")["entry"]["line"]["seq"]
    kitchen.ask(entry, do="edit", text="Ada sails on Mondays")
    kitchen.ask(entry, "conflict", do="edit", text="Ada rows on Sundays", was=was)
    kitchen.wait_for(entry, "Ada sails on Mondays")


def test_an_edit_of_what_the_board_has_forgotten_meanwhile_stores_nothing(kitchen: Kitchen):
    entry = kitchen.keep("Bob collects stamps of ships")
    was = kitchen.get(f"/memories/{entry}")["entry"]["line"]["seq"]
    kitchen.board.answered(f"/forget {entry}")
    answer = kitchen.companion.client.post(
        f"/v1/boards/kitchen/memories/{entry}", json={"do": "edit", "text": "Bob collects coins", "was": was}
    )
    # The copy may have learned of it by now: then nothing is asked for.
    if answer.status_code == 200:
        kitchen.ended(answer.json(), "conflict")
    kitchen.wait_for(entry, None)
    assert not [line for line in kitchen.board.lines("records") if line.get("content") == "Bob collects coins"]


def test_pinning_and_forgetting_are_undone_where_they_were_the_latest_change(kitchen: Kitchen):
    entry, other = kitchen.keep("the attic key hangs by the door"), kitchen.keep("rain barrels were emptied")
    pinned = kitchen.ask(entry, do="pin")
    gone = kitchen.ask(other, do="forget", turns=True)
    refused = kitchen.companion.client.post(f"/v1/boards/kitchen/changes/{pinned['id']}/undo").json()
    assert f"the latest change is of {other}" in kitchen.ended(refused, "refused")["sentence"]
    kitchen.wait_for(other, None)
    kitchen.undo(gone)
    kitchen.wait_for(other, "rain barrels were emptied")
    kitchen.undo(pinned)
    kitchen.ask(other, do="forget")
    kitchen.wait_for(other, None)


def test_two_memories_become_one_and_two_again(kitchen: Kitchen):
    kept, gone = kitchen.keep("the dog is called Rex"), kitchen.keep("Rex was born in a stable")
    change = kitchen.ask(kept, do="merge", other=gone, text="the dog Rex was born in a stable")
    kitchen.wait_for(gone, None)
    kitchen.wait_for(kept, "the dog Rex was born in a stable")
    wait_until("both parts are answered", lambda: all(each["state"] == "done" for each in kitchen.get("/changes")[:2]))
    kitchen.undo(change)
    kitchen.wait_for(kept, "the dog is called Rex")
    kitchen.wait_for(gone, "Rex was born in a stable")


def test_a_change_that_the_board_itself_made_is_undone_from_its_history(kitchen: Kitchen):
    entry = kitchen.keep("the ladder stands in the barn")
    line = kitchen.get(f"/memories/{entry}")["entry"]["line"]
    origin = kitchen.get(f"/memories/{entry}")["origin"]
    changed = {"origin": origin, "partial": True, "content": "the ladder stands in the shed", "was": line["seq"]}
    kitchen.board.answered("/import " + json.dumps(changed | {"updated": line["created"] + 1}))
    kitchen.wait_for(entry, "the ladder stands in the shed")
    found = kitchen.get(f"/memories/{entry}")
    assert found["entry"]["line"]["was"] == line["seq"]
    kitchen.ask(entry, do="undo", was=found["entry"]["line"]["seq"])
    kitchen.wait_for(entry, "the ladder stands in the barn")
