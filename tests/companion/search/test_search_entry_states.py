"""What became of an entry is what the board's own store says, for whatever lines it wrote."""

import tempfile
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engram.clock import Clock
from engram.memory.journal.schema import TurnSchema
from engram.memory.records.schema import RecordSchema
from engram.store.log.segments import Log
from engram.store.store import Store
from engram_host.companion.search import tables
from engram_host.companion.search.engine import IndexCache
from engram_host.companion.types import LogName
from search_store import SearchStore, line_of

BOARD_STATES = {0: tables.LIVE, 1: tables.SUPERSEDED, 2: tables.GONE, 3: tables.ARCHIVED, None: tables.GONE}
Fields = dict[str, Any]


@st.composite
def record_logs(draw: st.DrawFn) -> list[Fields]:
    """Lines of which each names only records that are there, as a board writes them."""
    lines: list[Fields] = []
    ids: list[str] = []
    for seq in range(1, draw(st.integers(2, 14))):
        kinds = ["new"] if not ids else ["new", "new", "update", "forget", "leave", "archive", "restore"]
        kind = draw(st.sampled_from(kinds))
        named = draw(st.sampled_from(ids)) if ids else ""
        other = draw(st.sampled_from(ids)) if ids else ""
        if kind == "new":
            line: Fields = {"id": f"m{seq}", "content": f"tea {seq}", "created": 1}
            if named and draw(st.booleans()):
                line["supersedes"] = named
            if draw(st.integers(0, 5)) == 0:
                line["past"] = True
            ids.append(f"m{seq}")
        elif kind == "update":
            line = {"id": named, "content": f"tea {seq}", "created": 1, "was": 1}
        elif kind == "restore":
            line = {"op": "forget", "id": named, "at": 1, "restores": other}
        else:
            line = {"op": kind, "id": named, "at": 1, "with": [other]}
        lines.append(line)
    return lines


@st.composite
def journal_logs(draw: st.DrawFn) -> list[Fields]:
    """Turns of sessions that are not deleted yet, and what becomes of them."""
    lines: list[Fields] = []
    ended: set[str] = set()
    turns: list[int] = []
    for seq in range(1, draw(st.integers(2, 16))):
        sid = draw(st.sampled_from([sid for sid in ("s1", "s2", "s3", "s4") if sid not in ended] or ["s5"]))
        kind = draw(st.sampled_from(["turn", "turn", "redact", "show", "past", "drop"] if turns else ["turn"]))
        if kind == "turn":
            lines.append({"sid": sid, "role": "user", "who": "ann", "text": f"tea {seq}", "at": 10**9})
            turns.append(seq)
        elif kind == "drop" and sid != "s5":
            lines.append({"op": "drop", "sid": sid, "at": 10**9})
            ended.add(sid)
        else:
            named = {"turn": draw(st.sampled_from(turns)), "at": 10**9, "by": "m1"}
            lines.append({"op": kind if kind != "drop" else "redact", **named})
    return lines


def board_states(log: LogName, lines: list[Fields]) -> dict[int, int]:
    with tempfile.TemporaryDirectory() as folder:
        owner = RecordSchema() if log == "records" else TurnSchema(Clock())
        store = Store(Log(folder, log, cap=1 << 20), owner)
        store.open()
        for line in lines:
            store.append(list(line.items()))
        return {seq: BOARD_STATES[store.state(seq)] for seq, line in enumerate(lines, 1) if "op" not in line}


@pytest.mark.parametrize(("log", "logs"), [("records", record_logs()), ("journal", journal_logs())])
@settings(max_examples=60)
@given(data=st.data())
def test_entries_are_live_superseded_or_gone_as_on_the_board(
    log: LogName, logs: st.SearchStrategy, data: st.DataObject
):
    lines = data.draw(logs)
    expected = board_states(log, lines)
    store = SearchStore()
    for seq, line in data.draw(st.permutations(list(enumerate(lines, 1)))):
        store.put("b", log, seq, line_of(seq, **line))
    index, _ = IndexCache(store, store).get("b", None)  # pyright: ignore[reportArgumentType]
    numbers, states = index.rows.column("number"), index.rows.column("state")
    found: dict[int, set[int]] = {}
    for row in range(len(index.rows)):
        found.setdefault(int(numbers[row]), set()).add(int(states[row]))
    for number, fates in found.items():
        assert fates - {tables.EARLIER} == {expected[number]}
