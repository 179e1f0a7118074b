"""A board's figures are those of its entries as every list of them has them, whatever its lines do to each other."""

import random
from binascii import crc32
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from engram import log_line
from engram_host.companion.entries.reader import LogCopy
from engram_host.companion.overview import journal
from engram_host.companion.overview.journal import BoardJournal
from engram_host.companion.store import CompanionStore
from engram_host.companion.types import Hello, LineBatch, LogName, LogState, Sender, SeqRange
from engram_host.time_zones import day_number
from extent import with_more
from random_records import DAY, NOW, record

SENDER = Sender("b1", 3, 9)


def any_record(chance: random.Random, seq: int) -> dict[str, Any]:
    """A line of the records, also one of another form."""
    fields = record(chance, seq)
    odd = [{"op": "compacted", "at": NOW}, {}, {"what": 1}, fields | {"tags": [1]}, fields | {"past": True}]
    return fields if chance.randint(0, 9) else chance.choice(odd)


def turn(chance: random.Random, seq: int) -> dict[str, Any]:
    """A line of the journal: a turn, or something that is done to turns and sessions."""
    at = NOW - chance.randint(0, 5 * DAY)
    fields: dict[str, Any] = {"sid": f"s{chance.randint(1, 3)}", "role": "user", "who": "ann", "text": "hi", "at": at}
    kind = chance.randint(0, 9)
    if kind == 0:
        return {"op": "redact", "turn": chance.randint(1, seq)}
    if kind == 1:
        return {"op": "show", "turn": chance.randint(1, seq)}
    if kind == 2 and chance.random() < 0.3:
        return {"op": "drop", "sid": f"s{chance.randint(1, 3)}"}
    if kind == 3:
        return fields | {"gone": True}
    if kind == 4:
        return chance.choice(
            [{"op": "unknown", "at": at}, {}, {"what": 1}, fields | {"sid": "x"}, fields | {"at": "now"}]
        )
    return fields


def encoded(seq: int, fields: dict[str, Any]) -> bytes:
    """A line; one without fields is whole by its check and yet no JSON."""
    if fields:
        return log_line.encode([("seq", seq), *fields.items()])
    body = b'{"seq":%d,"id":"m%d","content":oops' % (seq, seq)
    return body + b',"crc":"%08x"}\n' % crc32(body)


_MAKES: dict[LogName, Callable[[random.Random, int], dict[str, Any]]] = {"records": any_record, "journal": turn}


@pytest.mark.parametrize("seed", with_more(range(2), range(2, 12)))
def test_figures_are_those_of_all_entries(store: CompanionStore, monkeypatch: pytest.MonkeyPatch, seed: int):
    monkeypatch.setattr(journal.time, "time", lambda: NOW)
    chance = random.Random(seed)
    count = 60
    logs: dict[LogName, LogState] = {name: LogState(7, 1, count + 1, 0) for name in ("records", "journal")}
    store.replication.greet(Hello("kitchen", SENDER, 60, logs), NOW)
    for log, make in _MAKES.items():
        made = [make(chance, seq) for seq in range(1, count + 1)]
        lines = [(seq, encoded(seq, each)) for seq, each in enumerate(made, 1)]
        assert store.replication.store_batches(
            [LineBatch(SENDER, SeqRange("kitchen", log, 7, 0, count), lines)], NOW
        ) == [count]
    device = store.boards.device("kitchen")
    found = BoardJournal(store.boards, store.notes).figures(device, 8)

    memories = list(LogCopy(store.boards, device, "records", NOW).oldest_first())
    turns = list(LogCopy(store.boards, device, "journal", NOW).oldest_first())
    assert found.states == Counter(entry.state for entry in memories) and found.turns == len(turns)
    tags = Counter(tag for entry in memories if entry.state == "live" for tag in entry.line["tags"])
    assert dict(found.tags) == tags
    of_day = Counter((entry.line["created"] + 3600) // DAY for entry in memories)
    said = Counter((entry.line["at"] + 3600) // DAY for entry in turns)
    assert {day_number(each.day): each.memories for each in found.days if each.memories} == of_day
    assert {day_number(each.day): each.turns for each in found.days if each.turns} == said
