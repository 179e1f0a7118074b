"""A program or an erase that fails once: a clear error, nothing that was acknowledged is lost, and it goes on.

The flash tells littlefs that it failed. (An exception that goes through littlefs itself, as a device in Python could raise
one, leaves littlefs in no state to go on; the chip's own driver is not tested here.)
"""

from pathlib import Path

import pytest

from cuts import Story, find_state, match
from expected import Board, Operation
from extent import extent, with_more
from flashes import Cut, Image
from playing import Played, look, play
from scripts import following

BEGINNINGS = (0.3, 0.55, 0.8)
"""Where in the story a board is taken from, by the share of the changes."""

PARTLY = ("forget", "undo")
"""Operations of several steps: what was done before the one that failed stays."""


def _operations(board: Board, number: int) -> list[Operation]:
    live = sorted(board.live)
    operations = [look(), *following(live[::2], number)]
    return operations + following(live[1::2], number + 1, len(operations))


def _follow(board: Board, operations: list[Operation], played: Played) -> int:
    """Hold what the board tells at the end against the model; how many operations were refused."""
    results = played.results()
    refused = {answer[1]: answer for answer in played.answers if answer[0] == "refused"}
    states = [board]
    for number, operation in enumerate(operations):
        if number in results:
            done = [state.after(operation, results[number], results)[-1] for state in states]
            # What was refused may have been noted for undo before: then that is what undo takes back.
            states = done + states if operation["do"] == "undo" and number - 1 in refused else done
        elif number in refused:
            assert refused[number][3] in ("StoreError", "StoreFull", "NotFound"), [operation, refused[number]]
            if operation["do"] in PARTLY:
                states += [step for state in states for step in state.after(operation, None, results)]
    for told in played.looks()[1:]:
        states = [match(states, told)]
    return len(refused)


def _fail(place: Path, image: Image, board: Board, number: int, every: int) -> int:
    """Let one change after another fail, on the same flash each time; how many operations were refused in all."""
    flash = place / "failing.bin"
    operations = _operations(board, number)
    stored = [number for number, operation in enumerate(operations) if operation["do"] == "store"]
    also = [*sorted(board.records), *stored]
    asked = [*operations, look(also), {"do": "reopen"}, look(also)]
    flash.write_bytes(image.content)
    whole = play(asked, flash=str(flash))
    assert not whole.status and not whole.refused(), whole.errors
    first, last = whole.answers[0][1], whole.at_change()[len(operations) - 1]
    refused = 0
    for change in range(first + 1 + number % every, last + 1, every):
        flash.write_bytes(image.content)
        played = play(asked, flash=str(flash), fault=("refused", change))
        assert not played.status, f"change {change}: {played.errors}"
        try:
            refused += _follow(board, operations, played)
        except (Exception, pytest.fail.Exception) as error:
            raise AssertionError(f"change {change} from {first}: {error}") from error
    return refused


def _try(story: Story, share: float, place: Path, every: int) -> None:
    cut = Cut(int(len(story.changes) * share), False)
    _, image = next(story.images([cut]))
    board = find_state(place, image, story.allowed(cut))
    assert _fail(place, image, board, 4, every)


@pytest.mark.shortened
@pytest.mark.parametrize("share", with_more([0.55], BEGINNINGS))
def test_any_change_that_fails_loses_nothing(story: Story, place: Path, share: float):
    _try(story, share, place, every=extent(1, 6400))
