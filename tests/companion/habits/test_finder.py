"""The board is told of a habit once; more of its days change it until a person has confirmed or forgotten it."""

import asyncio
import json
import zlib
from typing import Any, cast

import numpy as np
import pytest

from engram import log_line
from engram_host.companion.gateway.dialects import Busy
from engram_host.companion.habits.finder import MOST_CALLS, HabitFinder
from engram_host.companion.habits.sources import HabitSources
from engram_host.companion.memories.browse import MemoryBrowser
from engram_host.companion.search.engine import IndexCache
from engram_host.companion.store import CompanionStore
from engram_host.companion.store.vectors import Identity, StoredVector
from engram_host.companion.types import Hello, LineBatch, LogName, LogState, Said, Sender, SeqRange

DAY = 86400
NIGHT = 1_795_000_000 // DAY * DAY + 4 * 3600
IDENTITY = Identity("words", 64, 1)
SENDER = Sender("b1", 3, 9)
HABIT = "Goes climbing every week"


def vector(text: str) -> np.ndarray:
    """The direction of a text's first word."""
    made = np.random.default_rng(zlib.crc32(text.split()[0].encode())).normal(size=64).astype(np.float32)
    return made / np.linalg.norm(made)


class House:
    """A board, what its companion is told by a model, and what the board is told."""

    def __init__(self, store: CompanionStore):
        self.store, self.now = store, NIGHT
        self.lines: list[dict[str, Any]] = []
        self.answer: dict[str, Any] | Exception = {"habit": HABIT, "for": [1, 2, 3]}
        self.asked: list[str] = []
        self.told: list[dict[str, Any]] = []
        self.kept: dict[str, Any] = {"created": NIGHT}
        for day in range(20):
            self.happened(f"{chr(97 + day) * 4} happened", day)

    def happened(self, text: str, days_ago: int) -> str:
        return self.write(content=text, type="event", created=self.now - days_ago * DAY, scope="user:ann")

    def write(self, **fields: Any) -> str:
        self.lines.append({"id": f"m{len(self.lines) + 1}", "tags": ["note"]} | fields)
        return f"m{len(self.lines)}"

    def climbed(self, *days_ago: int) -> list[str]:
        return [self.happened(f"climbing, the {days}th", days) for days in days_ago]

    def night(self, days: int = 1) -> None:
        """Let some days pass, with what the board has written, and look for habits."""
        self.now += days * DAY
        count = len(self.lines)
        logs: dict[LogName, LogState] = {name: LogState(7, 1, count + 1, 0) for name in ("records", "journal")}
        self.store.replication.greet(Hello("kitchen", SENDER, 0, logs), self.now)
        batch = [(seq, log_line.encode([("seq", seq), *line.items()])) for seq, line in enumerate(self.lines, 1)]
        span = SeqRange("kitchen", "records", 7, 0, count)
        self.store.replication.store_batches([LineBatch(SENDER, span, batch)], self.now)
        vectors = [
            StoredVector("records", seq, bytes(16), vector(line["content"])) for seq, line in enumerate(self.lines, 1)
        ]
        self.store.vectors.put_vectors("kitchen", IDENTITY, vectors)
        browser = MemoryBrowser(self.store.boards, IndexCache(self.store.boards, self.store.vectors), lambda: self.now)
        finder = HabitFinder(
            sources=HabitSources(self.store.boards, self.store.folders, self.store.vectors, browser),
            values=self.store.values,
            identity=lambda: IDENTITY,
            ask=self.ask,
            conversations=cast(Any, self),
            supervisor=cast(Any, None),
            lease=cast(Any, None),
        )
        asyncio.run(finder.look(self.store.boards.device("kitchen"), self.now))

    async def ask(self, prompt: str) -> str:
        self.asked.append(prompt)
        if isinstance(self.answer, Exception):
            raise self.answer
        return json.dumps(self.answer)

    async def say(self, device: str, said: Said) -> None:
        command, _, values = said.text.partition(" ")
        assert (device, command, said.principal, said.is_command) == ("kitchen", "/import", "ann", True)
        self.told.append(json.loads(values))

    def keep(self, **changes: Any) -> None:
        """Let the board do what it was told."""
        self.kept |= self.told[-1] | changes
        self.write(**self.kept)


@pytest.fixture
def house(store: CompanionStore) -> House:
    return House(store)


def test_a_habit_is_told_with_its_evidence_and_asked_about_once(house: House):
    refs = house.climbed(30, 20, 10)
    house.night()
    (told,) = house.told
    assert (told["content"], told["type"], told["scope"]) == (HABIT, "pattern", "user:ann")
    assert (told["evidence"], told["confidence"]) == (refs, 0.8)
    house.night()
    assert len(house.asked) == 1


def test_lines_of_two_days_cost_nothing(house: House):
    house.climbed(30, 30, 30, 10)
    house.night()
    assert house.asked == []


def test_what_is_no_habit_is_asked_about_again_once_there_is_twice_as_much(house: House):
    house.answer = {"habit": HABIT, "for": "all of them"}
    house.climbed(30, 20, 10)
    house.night()
    house.climbed(9, 8)
    house.night()
    assert len(house.asked) == 1
    house.climbed(7)
    house.night()
    assert (len(house.asked), house.told) == (2, [])


def test_counterexamples_lower_the_confidence_until_the_habit_leaves(house: House):
    house.climbed(30, 20, 10)
    house.night()
    house.keep()
    (skipped,) = house.climbed(5)
    house.answer = {"for": [1, 2, 3], "against": [4]}
    house.night()
    changed = house.told[-1]
    assert HABIT in house.asked[-1] and changed["content"] == HABIT and "expires" not in changed
    assert (changed["confidence"], changed["evidence"][-1]) == (0.67, f"not {skipped}")
    house.keep(id="m24")
    house.climbed(4, 3)
    house.answer = {"for": [1, 2], "against": [4, 5, 6]}
    house.night()
    assert house.told[-1]["confidence"] < 0.5 and house.told[-1]["expires"] == house.now


def test_a_habit_whose_days_are_over_leaves(house: House):
    house.climbed(30, 20, 10)
    house.night()
    house.keep()
    house.night(75)
    assert house.told[-1]["expires"] == house.now and house.told[-1]["confidence"] == 0.8


@pytest.mark.parametrize("is_confirmed", [True, False], ids=["confirmed", "forgotten"])
def test_a_habit_that_a_person_has_judged_is_neither_changed_nor_found_again(house: House, is_confirmed: bool):
    house.climbed(30, 20, 10)
    house.night()
    if is_confirmed:
        house.keep(confidence=1)
    for _ in range(4):
        house.climbed(5, 4, 3)
        house.night(7)
    assert (len(house.asked), len(house.told)) == (1, 1)


def test_a_night_has_so_many_calls_and_goes_on_where_the_model_failed(house: House):
    for habit in range(MOST_CALLS + 1):
        for days in (30, 20, 10):
            house.happened(f"habit{habit} again", days)
    working, house.answer = house.answer, Busy(429, "too many calls", "rate_limit_exceeded")
    house.night()
    house.answer = working
    house.night(0)
    house.night(0)
    assert len(house.asked) == 1 + MOST_CALLS
    house.night()
    assert len(house.told) == MOST_CALLS + 1
