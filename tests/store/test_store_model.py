"""Random operations: the store under MicroPython against the plain model.

Sequences that use versions and hiding have no sessions, and those with sessions have no versions: as in records and in
the journal.
"""

import random
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

from extent import HEALTH_CHECKS, extent, with_more
from plain_model import FORGOTTEN, LIVE, UNKNOWN_MEAN, Entries, Index, Line, Ranks, is_entry, labels_of, passes
from store_boards import Talking

SYLLABLES = ("ba", "ko", "du", "fi", "lo", "mu")
WORDS = [first + second for first in SYLLABLES for second in SYLLABLES]
TAGS = ("home", "work", "trip")
PEOPLE = ("ann", "bob")
SCOPES = ("all", "ann")
START = 1790000040
PHASES = [Phase.generate]

_words = st.lists(st.sampled_from(WORDS), min_size=1, max_size=8)
_pick = st.integers(0, 1000)
_labels = st.lists(st.sampled_from(["#home", "#work", "%ann", "%bob", "#none"]), max_size=2)
_scopes = st.sampled_from([(), (), ("@all",), ("@all", "@ann"), ("@nobody",)])
_moments = st.sampled_from([0, 0, START + 600, START + 3600])


class StoreMachine(RuleBasedStateMachine):
    """One store, and the plain model beside it."""

    board: Talking

    @initialize(
        turns=st.booleans(),
        segment=st.sampled_from([3000, 6000, 16384]),
        chunk=st.sampled_from([300, 700, 16384]),
        seed=_pick,
    )
    def begin(self, turns, segment, chunk, seed):
        self.turns = turns
        self.entries = Entries()
        self.index = Index()
        self.clock = START
        self.rewritten = False  # a compaction or a dropped segment makes the lines' means and labels unforeseeable
        self.ask("new", segment, chunk)
        self.put(seed, 12, 3, True)

    def ask(self, *request):
        return self.board.ask(*request)

    # --- writing

    def lines(self, seed: int, count: int, sessions: int) -> Iterator[Line]:
        chance = random.Random(seed)
        for _ in range(count):
            self.clock += chance.choice((20, 400))
            # Some words are in many lines, most in few.
            words = [
                WORDS[int(len(WORDS) * chance.random() ** 2)] for _ in range(chance.choice((0, 1, 3, 6, 12, 45, 300)))
            ]
            line: Line = {"text": " ".join(words), "at": self.clock, "scope": chance.choice(SCOPES)}
            if chance.random() < 0.3:
                line["reply"] = 1
            if self.turns:
                line |= {"session": chance.randint(1, sessions) * 7, "who": chance.choice(PEOPLE)}
            else:
                line["tags"] = sorted(chance.sample(TAGS, chance.choice((0, 1, 2))))
            yield line

    def append(self, lines: list[Line], background: bool = True) -> None:
        first = self.ask("append", lines, background)
        assert first == self.entries.append(lines)
        self.index.take_lines(self.entries.lines[-len(lines) :])

    @rule(seed=_pick, count=st.integers(1, 12), sessions=st.integers(1, 9), background=st.booleans())
    def put(self, seed, count, sessions, background):
        for line in self.lines(seed, count, sessions):
            self.append([line], background)

    @rule(seed=_pick)
    def put_many(self, seed):
        self.put(seed, 90, 40, True)

    @rule(seed=_pick, count=st.integers(2, 3))
    def put_at_once(self, seed, count):
        self.append(list(self.lines(seed, count, 3)))

    def picked(self, pick: int) -> int:
        numbers = sorted(self.entries.entry_states())
        return numbers[pick % len(numbers)] if numbers else 0

    @precondition(lambda self: not self.turns)
    @rule(pick=_pick, seed=_pick)
    def update(self, pick, seed):
        number = self.picked(pick)
        if number:
            self.append([{**line, "of": number} for line in self.lines(seed, 1, 1)])

    @precondition(lambda self: not self.turns)
    @rule(pick=_pick, seed=_pick)
    def supersede(self, pick, seed):
        number = self.picked(pick)
        if number:
            self.append([{**line, "supersedes": number} for line in self.lines(seed, 1, 1)])

    @rule(pick=_pick, count=st.integers(1, 9), background=st.booleans())
    def forget(self, pick, count, background):
        for at in range(count):
            number = self.picked(pick + 3 * at)
            if number:
                self.append([{"forget": number}], background)

    @rule(pick=_pick)
    def show(self, pick):
        number = self.picked(pick)
        ended = {line["ends"] for line in self.entries.lines if "ends" in line}
        if number and self.entries.entry_states()[number][1].get("session") not in ended:
            self.append([{"show": number}])

    @precondition(lambda self: self.turns)
    @rule(session=st.integers(1, 9))
    def end_session(self, session):
        self.append([{"ends": session * 7}])

    # --- around

    @rule()
    def reopen(self):
        self.ask("reopen")

    @rule(times=st.integers(0, 40))
    def tick(self, times):
        self.ask("tick", times)

    @rule(tidy=st.booleans())
    def compact(self, tidy):
        self.follow()
        kept = {line["seq"] for line in self.entries.lines}
        if tidy:
            # What shows an entry again stays: what hid it may stay, too.
            kept = self.entries.live_seqs() | {line["seq"] for line in self.entries.lines if "show" in line}
        self.ask("compact", sorted(kept))
        self.entries.keep(kept)
        self.rewritten = True

    @precondition(lambda self: self.turns)
    @rule()
    def drop_oldest(self):
        oldest = self.ask("drop_oldest")
        self.entries.keep({line["seq"] for line in self.entries.lines if line["seq"] >= oldest})
        self.rewritten = True

    # --- asking

    def mean_until(self, last: int) -> int:
        """16 times the mean length of the lines up to a seq."""
        lengths = [row.length // 8 for seq, row in self.index.known.items() if seq <= last]
        return max(1, sum(lengths) * 16 // len(lengths)) if len(lengths) > 20 else UNKNOWN_MEAN

    def follow(self) -> None:
        """Take what the board tells of its index, and see whether that can be."""
        status = self.ask("status")
        if not self.rewritten:
            assert status["mean"] == self.mean_until(self.entries.next_seq)
            for seqs, mean in status["events"]:
                assert mean == self.mean_until(seqs[-1])
        self.index.take_status(status)
        live = self.entries.live_seqs()
        assert not [row.seq for row in self.index.rows if row.marked and row.seq in live]

    @rule(
        words=_words,
        labels=_labels,
        scopes=_scopes,
        since=_moments,
        until=_moments,
        speaker=st.sampled_from(["", "", "%ann"]),
        weights=st.booleans(),
        asks=st.booleans(),
        limit=st.sampled_from([1, 10, 70]),
    )
    def search(self, words, labels, scopes, since, until, speaker, weights, asks, limit):
        idfs = {word: 100 + 37 * at for at, word in enumerate(dict.fromkeys(words))} if weights else None
        found = self.ask("search", words, labels, scopes, since, until, speaker, idfs, asks, limit)
        # A search first marks all that is to be marked.
        self.follow()
        ranks = Ranks(self.index, words, idfs)

        def allowed(line: Line) -> bool:
            return passes(line, labels, scopes, since, until)

        assert found == ranks.ranked(allowed, speaker, self.entries.live_seqs(), asks, limit)

    @rule(words=_words)
    def frequencies(self, words):
        self.follow()
        ranks = Ranks(self.index, words, None)
        assert self.ask("frequencies", words) == [ranks.documents, ranks.having]

    @rule(labels=_labels, scopes=_scopes)
    def newest(self, labels, scopes):
        self.follow()
        if self.index.partial:
            return
        wanted = self.entries.live_seqs()
        wanted = {line["seq"] for line in self.entries.lines if line["seq"] in wanted and passes(line, labels, scopes)}
        if not self.turns:
            assert self.ask("newest", labels, scopes) == sorted(wanted, reverse=True)
        assert self.ask("count_of", labels, scopes) == len(wanted)

    @precondition(lambda self: not self.turns)
    @rule(scopes=_scopes)
    def catalog(self, scopes):
        self.finish()
        wanted: dict[str, int] = {}
        for state, line in self.entries.entry_states().values():
            for label in labels_of(line):
                if state == LIVE and label[0] == "#" and passes(line, (), scopes):
                    wanted[label] = wanted.get(label, 0) + 1
        assert self.ask("labels", "#", scopes) == wanted

    @precondition(lambda self: self.turns)
    @rule(session=st.integers(1, 9))
    def thread(self, session):
        self.follow()
        if not self.index.partial:
            wanted = [line["seq"] for line in self.entries.lines if line.get("session") == session * 7]
            found = self.ask("thread", session * 7)
            assert [seq for seq in found if seq in wanted] == wanted[::-1]

    @rule()
    def all_lines(self):
        assert self.ask("backwards") == [line["seq"] for line in self.entries.lines][::-1]

    @rule()
    def all_entries(self):
        self.follow()
        if self.index.partial:
            return
        fates = self.entries.entry_states()
        wanted = [[state, line["seq"] if state != FORGOTTEN else None] for state, line in fates.values()]
        assert self.ask("entries", list(fates)) == wanted

    def finish(self) -> None:
        """When nothing is left to do in the background, what is not live is marked, and all is indexed."""
        self.ask("tick", 0)
        self.follow()
        assert not self.index.partial
        live = self.entries.live_seqs()
        kept = {line["seq"] for line in self.entries.lines if is_entry(line)}
        assert {row.seq for row in self.index.rows if row.seq in kept and not row.marked} == live

    def teardown(self):
        if hasattr(self, "entries") and not sys.exception():
            self.all_entries()
            self.finish()
            self.newest((), ())
            self.all_entries()
            self.search(WORDS[:4], (), (), 0, 0, "", False, False, 70)
        super().teardown()


def _compare(bits: str, folder: Path, examples: int) -> None:
    flash = [folder / "flash.bin"] if bits == "32" else []

    class Machine(StoreMachine):
        board = Talking(bits, "model_board", folder, *flash)

    rules = settings(
        max_examples=examples,
        stateful_step_count=25,
        database=None,
        suppress_health_check=HEALTH_CHECKS,
        phases=PHASES,
        report_multiple_bugs=False,
    )
    try:
        run_state_machine_as_test(Machine, settings=rules)
    finally:
        Machine.board.end()


@pytest.mark.shortened
@pytest.mark.parametrize("bits", with_more(["32"], ["64"]))
def test_random_operations_give_what_a_plain_model_gives(bits, tmp_path):
    _compare(bits, tmp_path, extent(1000, 4))
