"""A script played once on a traced flash, every power cut that could have struck it, and what must be there after each."""

import random
from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

import expected
from expected import Answer, Board, Operation
from flashes import Change, Cut, Image, Trace, read_trace
from playing import FLASH_BYTES, Played, look, play
from scripts import following
from sharing import shared

ALL_ASKED = 10
"""At one cut in so many every number is asked for, and some beyond the highest one known; else newest() has to tell."""

SPARE = 20


class Story(Trace):
    """Operations that were played on a flash which began as `base`, and the states that they led through."""

    def __init__(self, base: bytes, changes: list[Change], start: Board, operations: list[Operation], played: Played):
        super().__init__(base, changes)
        self.start = start
        self.operations = operations
        self.results = played.results()
        self._acknowledged = [played.at_change()[number] for number in range(len(operations))]

    @cached_property
    def _states(self) -> list[list[Board]]:
        """For each operation the states on the way through it; the one before the first operation stands first."""
        found = [[self.start]]
        for number, operation in enumerate(self.operations):
            found.append(found[-1][-1].after(operation, self.results[number], self.results))
        return found

    def allowed(self, cut: Cut) -> list[Board]:
        """The states that a board may be in after a cut: all that was acknowledged, with or without what was in flight."""
        done = bisect_right(self._acknowledged, cut.changes)
        in_flight = self._states[done + 1] if done < len(self.operations) else []
        return [self._states[done][-1], *in_flight]


def format_flash(path: Path, size: int = FLASH_BYTES) -> bytes:
    """Make a flash with an empty file system; its bytes."""
    done = play([], flash=str(path), size=size, format=True)
    assert not done.status, done.errors
    return path.read_bytes()


def tell_story(folder: Path, operations: list[Operation], base: bytes, start: Board | None = None) -> Story:
    """Play operations on a flash that begins as `base`, and keep its trace in a folder; without `start` it is looked up."""
    flash = folder / "flash.bin"
    if start is None:
        flash.write_bytes(base)
        start = Board(profile=expected.looked(play([look()], flash=str(flash)).looks()[0])["profile"])
    flash.write_bytes(base)
    played = play(operations, flash=str(flash), trace=str(folder / "trace"))
    flash.unlink()
    assert not played.status, played.errors
    assert not played.refused(), [operations[played.refused()[0][1]], played.refused()[0]]
    return Story(base, read_trace(folder / "trace"), start, operations, played)


def shared_story(factory: pytest.TempPathFactory, name: str, operations: list[Operation], base: bytes) -> Story:
    """A story that is told once for all workers."""
    return shared(factory, name, lambda: tell_story(factory.mktemp(name), operations, base))


NEXT: list[Operation] = [
    {"do": "store", "content": "afterz the bridge was mended", "tags": ["home"]},
    {"do": "turn", "who": "ann", "room": "chat#1", "text": "afterwardz it went on"},
]
"""What a board does at least after a cut: both logs are written to, so that both have to be in order."""


def verify(folder: Path, image: Image, allowed: list[Board], number: int) -> Board:
    """Open a flash in a new process: it is in one of the allowed states, and goes on working; which one it was."""
    flash = folder / "cut.bin"
    flash.write_bytes(image.content)
    operations = _trial(allowed, number)
    played = play(operations, flash=str(flash))
    assert not played.status, played.errors
    found = match(allowed, played.looks()[0])
    _check_trial(found, allowed, operations, played)
    return found


def find_state(folder: Path, image: Image, allowed: list[Board]) -> Board:
    """Open a flash in a new process, where the next two operations must work; which of the allowed states it is in."""
    flash = folder / "cut.bin"
    flash.write_bytes(image.content)
    played = play([look(_also(allowed, 1)), *NEXT], flash=str(flash))
    assert not played.status, played.errors
    assert not played.refused(), played.refused()
    return match(allowed, played.looks()[0])


def find_states(story: Story, cuts: list, place: Path) -> None:
    """Open the flash of each cut; one that is in none of the allowed states is named by its cut."""
    for cut, image in story.images(cuts):
        try:
            find_state(place, image, story.allowed(cut))
        except (Exception, pytest.fail.Exception) as error:
            raise AssertionError(f"{cut}: {error}") from error


def match(allowed: list[Board], told: list[Answer]) -> Board:
    """The state that a look tells of; it fails if that is none of those allowed."""
    seen = expected.looked(told)
    found = next((board for board in allowed if board.visible() == seen), None)
    if found is None:
        pytest.fail("\n".join(_all_differences(allowed, seen)))
    return found


def _also(allowed: list[Board], number: int) -> list[str]:
    """The ids that are asked for: those that may have been superseded, and at times every one that could be there."""
    hidden = {ref for board in allowed for ref in board.records if ref not in board.live}
    if number % ALL_ASKED:
        return sorted(hidden)
    last = max((int(ref[1:]) for board in allowed for ref in board.records), default=0)
    return [f"m{ref}" for ref in range(1, last + SPARE)]


def _trial(allowed: list[Board], number: int) -> list[Operation]:
    """What a board that was cut off has to do: tell all, a few operations of every kind, find, tell all again."""
    always = sorted(set.intersection(*[board.live for board in allowed]))
    operations = [look(_also(allowed, number)), *following(always, number), {"do": "idle"}]
    words = sorted({word for board in allowed for word, _ in _words(board, hidden=True)})
    chosen = random.Random(number).sample(words, min(4, len(words)))
    operations += [{"do": "find", "query": word} for word in chosen]
    return [*operations, look([*_also(allowed, number), *always, 1])]


def _words(board: Board, hidden: bool = False) -> set[tuple[str, str]]:
    """(the word that only this text has, its id) of each record and turn that a search may show, or of all."""
    found = {(record[0].split()[0], ref) for ref, record in board.records.items() if hidden or ref in board.live}
    for session in board.sessions.values():
        found |= {(turn[3].split()[0], turn[0]) for turn in session.turns if hidden or turn[0] not in board.gone}
    return found


def _check_trial(board: Board, allowed: list[Board], operations: list[Operation], played: Played) -> None:
    assert not played.refused(), [operations[played.refused()[0][1]], played.refused()[0]]
    results = played.results()
    for at, operation in enumerate(operations):
        board = board.after(operation, results[at], results)[-1]
    seen = expected.looked(played.looks()[-1])
    assert board.visible() == seen, "\n".join(expected.differences(board.visible(), seen))
    tags = next(dict(answer[1:]) for answer in reversed(played.answers) if answer[0] == "tags")
    assert tags == board.tags()
    there = _words(board)
    once = set.union(*[_words(state, hidden=True) for state in [board, *allowed]])
    either = set.union(*[state.outdated for state in [board, *allowed]])
    for at, operation in enumerate(operations):
        if operation["do"] == "find":
            wanted = {ref for word, ref in there if word == operation["query"]} - either
            others = {ref for word, ref in once if word == operation["query"]} - wanted - either
            # Neighbours of a turn may be found with it.
            assert wanted <= set(results[at]) and others.isdisjoint(results[at]), [operation, wanted, results[at]]


def _all_differences(allowed: list[Board], seen: dict[str, Any]) -> Iterator[str]:
    for number, board in enumerate(allowed):
        yield f"state {number} of {len(allowed)}:"
        yield from expected.differences(board.visible(), seen)[:12]
