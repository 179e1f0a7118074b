"""What the caller may not see is as if it were not there."""

from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from engram import log_line
from engram.memory.access import Caller, may_see
from engram_host.companion.search.request import SearchResult
from search_store import SearchStore, asked, embed_all, engine_of, ids, record, turn

WORDS = ["tea", "green", "bike", "paint", "garden", "car"]
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)
SCOPES = ["all", "user:ann", "user:bob", "ws:shed", "ws:office"]
ASKERS = st.builds(
    Caller, st.sampled_from(["ann", "bob", "eve"]), st.just("r"), st.booleans(), st.sampled_from(["", "shed"])
)


@st.composite
def lines(draw: st.DrawFn) -> list[tuple[str, bytes]]:
    """Sessions have one scope each, and what supersedes a record has the same as it; both as boards write them."""
    scopes = [draw(st.sampled_from(SCOPES)) for _ in range(5)]
    found: list[tuple[str, bytes]] = []
    for seq in range(1, draw(st.integers(2, 16))):
        session = draw(st.integers(0, 4))
        who = draw(st.sampled_from(["ann", "bob", "zoe"]))
        found.append(("journal", turn(seq, draw(TEXTS), f"s{session + 1}", who, 10**9 + seq, scope=scopes[session])))
    by_scope: dict[str, list[int]] = {}
    for seq in range(1, draw(st.integers(2, 10))):
        scope = draw(st.sampled_from(SCOPES))
        older = by_scope.setdefault(scope, [])
        more: dict[str, Any] = {
            "tags": [draw(st.sampled_from(["home", "work"]))],
            "turns": [f"t{draw(st.integers(1, 9))}"],
        }
        if older and draw(st.booleans()):
            more["supersedes"] = f"m{draw(st.sampled_from(older))}"
        older.append(seq)
        found.append(("records", record(seq, draw(TEXTS), scope=scope, **more)))
    return found


def stored(told: list[tuple[str, bytes]]) -> SearchStore:
    store = SearchStore()
    store.put_all("b", [turn(500, "", "s99", command=True)])
    for log, line in told:
        store.put_all("b", **{log: [line]})
    embed_all(store, "b")
    return store


def answer(store: SearchStore, caller: Caller, query: str, options: dict[str, Any]) -> SearchResult:
    result = engine_of(store, True).search(asked(query, caller=caller, explain=True, limit=50, **options))
    return replace(result, search_ms=0)


@settings(max_examples=50)
@given(
    lines(),
    ASKERS,
    st.lists(st.sampled_from([*WORDS, "ann", "zoe"]), min_size=1, max_size=4).map(" ".join),
    st.fixed_dictionaries(
        {},
        optional={
            "history": st.booleans(),
            "tags": st.just(["home"]),
            "speaker": st.just("bob"),
            "session": st.just("s2"),
        },
    ),
)
def test_an_answer_is_that_of_a_store_without_what_the_caller_may_not_see(
    told: list[tuple[str, bytes]], caller: Caller, query: str, options: dict[str, Any]
):
    seen = [(log, line) for log, line in told if may_see(caller, log_line.decode(line).get("scope", "all"))]
    assert answer(stored(told), caller, query, options) == answer(stored(seen), caller, query, options)


@settings(max_examples=50)
@given(lines(), ASKERS, st.booleans())
def test_nothing_is_returned_that_the_caller_may_not_see(told: list[tuple[str, bytes]], caller: Caller, history: bool):
    scopes = {(log, log_line.decode(line)["seq"]): log_line.decode(line)["scope"] for log, line in told}
    for hit in answer(stored(told), caller, " ".join(WORDS), {"history": history}).hits:
        assert may_see(caller, scopes["records" if hit.id[0] == "m" else "journal", hit.seq])


def test_an_earlier_version_is_not_shown_to_whom_the_latest_one_is_hidden_from():
    store = SearchStore()
    lines = [
        record(1, "the green safe", scope="user:ann"),
        record(2, "the green safe has the number 12", 1, scope="ws:shed"),
    ]
    store.put_all("b", records=lines)
    ann, in_shed = Caller("ann", "r", False, ""), Caller("ann", "r", False, "shed")
    assert ids(engine_of(store).search(asked("green safe", caller=ann, history=True))) == []
    assert len(engine_of(store).search(asked("green safe", caller=in_shed, history=True)).hits) == 2


def test_a_line_that_became_private_while_it_was_searched_is_not_shown():
    store = SearchStore()
    store.put_all("b", [turn(1, "green tea")])
    lines_at = store.lines_at

    def changed_meanwhile(*which: Any, archived: bool = False) -> Any:
        store.put_all("b", [turn(1, "green tea", scope="user:bob")])
        return lines_at(*which, archived=archived)

    store.lines_at = changed_meanwhile  # pyright: ignore[reportAttributeAccessIssue]
    assert engine_of(store).search(asked("green tea")).hits == ()
