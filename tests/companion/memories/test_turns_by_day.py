"""The turns of a day are those of the copy that the caller may see, in whatever order its lines came."""

import asyncio
import random
from datetime import date, timedelta
from typing import Any

import pytest

from engram import log_line
from engram.memory import access
from engram.memory.access import Caller
from engram_host.companion.memories.sessions import TurnBrowser
from engram_host.companion.search.indexes.cache import IndexCache
from engram_host.companion.store import CompanionStore
from engram_host.companion.types import Hello, LineBatch, LogName, LogState, Sender, SeqRange
from engram_host.time_zones import day_date
from extent import with_more

NOW = 1_795_000_000
DAY = 86400
ZONE = 90
EPOCH = 7
SENDER = Sender("b1", 3, 9)
ANN = Caller("ann", "page", False, "")


def turn(chance: random.Random, seq: int) -> dict[str, Any]:
    """A line of the journal: a turn, a command, or what forgets a session."""
    fields: dict[str, Any] = {"sid": f"s{chance.randint(1, 3)}", "who": "ann", "text": f"turn {seq}"}
    fields |= {"at": NOW - chance.randint(0, 4) * DAY - chance.randint(0, DAY)}
    fields |= {"scope": chance.choice(["user:ann", "user:bob", "ws:club"])} if chance.random() < 0.7 else {}
    return fields | ({"command": True} if chance.random() < 0.3 else {})


def browser_of(store: CompanionStore, lines: list[dict[str, Any]], chance: random.Random) -> TurnBrowser:
    """The browser of a store whose board kitchen has this journal, which came in parts."""
    logs: dict[LogName, LogState] = {name: LogState(EPOCH, 1, len(lines) + 1, 0) for name in ("records", "journal")}
    store.replication.greet(Hello("kitchen", SENDER, ZONE, logs), NOW)
    indexes = IndexCache(store.boards, store.vectors)
    encoded = [(seq, log_line.encode([("seq", seq), *fields.items()])) for seq, fields in enumerate(lines, 1)]
    middle = chance.randint(1, len(lines) - 1)
    for first, last in ((0, middle), (middle, len(lines))):
        span = SeqRange("kitchen", "journal", EPOCH, first, last)
        store.replication.store_batches([LineBatch(SENDER, span, encoded[first:last])], NOW)
        indexes.get("kitchen", None)
    return TurnBrowser(store.boards, indexes)


def day_of(line: dict[str, Any]) -> date:
    return day_date((line["at"] + ZONE * 60) // DAY)


@pytest.mark.parametrize("seed", with_more([0], range(1, 4)))
def test_each_day_has_the_turns_that_a_look_at_all_lines_finds(store: CompanionStore, seed: int):
    chance = random.Random(seed)
    lines = [turn(chance, seq) for seq in range(1, 60)]
    browser = browser_of(store, lines, chance)
    seen = [line for line in lines if "command" not in line and access.may_see_line(ANN, line)]
    days = {day_of(line) for line in seen}
    newest = asyncio.run(browser.by_day("kitchen", ANN, None))
    assert newest.day == max(days)
    assert newest.days == tuple((day, sum(day_of(line) == day for line in seen)) for day in sorted(days, reverse=True))
    for day in (*days, max(days) + timedelta(days=1)):
        found = asyncio.run(browser.by_day("kitchen", ANN, day))
        assert [entry.line["text"] for entry in found.turns] == [line["text"] for line in seen if day_of(line) == day]


def test_a_board_to_which_nothing_was_said_has_no_day(store: CompanionStore):
    browser = browser_of(store, [turn(random.Random(1), 1) | {"scope": "user:bob"}] * 2, random.Random(1))
    found = asyncio.run(browser.by_day("kitchen", ANN, None))
    assert (found.days, found.turns) == ((), ())
