"""A board's notes at its companion, with the firmware and `engram serve`: found there once written, gone once cleared."""

import time
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from cli_case import fine
from peers import BoardProcess, Companion
from skips import needs_64_bit
from waiting import wait_until

pytestmark = needs_64_bit


def found(companion: Companion, query: str, **more: Any) -> list[dict[str, Any]]:
    """The lines of notes that a search by words finds."""
    asked = {"query": query, "log": "notes", "meaning": False, **more}
    answer = companion.client.post("/v1/search", json=asked)
    assert answer.status_code == 200, answer.text
    return answer.json()["hits"]


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[BoardProcess, Companion]]:
    """A board and its companion."""
    folder = tmp_path_factory.mktemp("notes")
    with ExitStack() as stack:
        companion = stack.enter_context(Companion(folder / "companion"))
        yield stack.enter_context(BoardProcess(folder / "board", companion.url, "kitchen")), companion


def test_a_note_is_found_at_the_companion_and_not_any_more_once_it_was_cleared(pair: tuple[BoardProcess, Companion]):
    board, companion = pair
    board.do("/note the plumber comes on Friday")
    wait_until("it is found", lambda: bool(found(companion, "plumber")))
    (hit,) = found(companion, "plumber")
    day = time.strftime("%Y-%m-%d", time.gmtime(hit["at"]))
    assert (hit["kind"], hit["device"], hit["id"], hit["citation"]) == ("note", "kitchen", f"{day}.md#1", f"{day}.md#1")
    assert hit["text"].endswith("the plumber comes on Friday") and str(time.gmtime(hit["at"]).tm_year) in hit["heading"]
    shown = fine("search", "plumber", "--notes", "--words", "--home", companion.home)
    assert f"{day}.md#1" in shown.out and "kitchen" in shown.out
    board.do("/clear")
    wait_until("it is found no more", lambda: not found(companion, "plumber"))
    board.do("/undo")
    wait_until("it is found again", lambda: bool(found(companion, "plumber")))
