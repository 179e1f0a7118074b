"""Lines at random that change an index, and steps of a test of these."""

from typing import Any

from hypothesis import strategies as st

from engram_host.companion.types import LogName
from search_store import line_of, record, turn

WORDS = ["tea", "green", "bike", "paint", "garden", "car", "shop", "blue"]
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join)
SEQS = st.integers(1, 12)
SIDS = st.sampled_from(["s1", "s2"])
TIMES = st.integers(1_700_000_000, 1_700_500_000)


@st.composite
def journal_lines(draw: st.DrawFn) -> bytes:
    seq = draw(SEQS)
    kind = draw(st.sampled_from(["turn", "turn", "turn", "gone", "command", "redact", "show", "drop", "odd"]))
    at = draw(TIMES)
    if kind in ("redact", "show"):
        return line_of(seq, op=kind, turn=draw(SEQS), at=at)
    if kind == "drop":
        return line_of(seq, op="drop", sid=draw(SIDS), at=at)
    if kind == "odd":
        return line_of(seq, sid="s1", role="user", who=7, text=["no text"], at=at)
    more: dict[str, Any] = {"who": draw(st.sampled_from(["ann", "bob"])), "at": at}
    if kind == "command":
        more["command"] = True
    if kind == "gone":
        return line_of(seq, sid=draw(SIDS), role="user", gone=True, **more)
    return turn(seq, draw(TEXTS), draw(SIDS), **more)


@st.composite
def record_lines(draw: st.DrawFn) -> bytes:
    seq = draw(SEQS)
    if draw(st.integers(0, 4)) == 0:
        more = {"restores": f"m{draw(SEQS)}"} if draw(st.booleans()) else {}
        return line_of(seq, op="forget", id=f"m{draw(SEQS)}", at=1, **more)
    more: dict[str, Any] = {"tags": draw(st.lists(st.sampled_from(["home", "work"]), max_size=2))}
    if draw(st.booleans()):
        more["supersedes"] = f"m{draw(SEQS)}"
    if draw(st.booleans()):
        more["turns"] = [f"t{draw(SEQS)}"]
    if draw(st.booleans()):
        more["past"] = True
    return record(seq, draw(TEXTS), draw(st.sampled_from([seq, 1, 2])), draw(TIMES), **more)


JOURNAL: LogName = "journal"
RECORDS: LogName = "records"
STEPS = st.one_of(
    st.tuples(st.just(JOURNAL), journal_lines()),
    st.tuples(st.just(RECORDS), record_lines()),
    st.tuples(st.sampled_from([JOURNAL, RECORDS]), SEQS),
    st.just("search"),
    st.just("embed"),
)


def seq_of(line: bytes) -> int:
    return int(line[7 : line.index(b",")])
