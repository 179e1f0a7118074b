"""Random boards over a transport that drops, doubles and delays: in the end the copy is the board's log.

Each step changes the board or lets it sync; what a store must have in the end is told by the plain board alone.
"""

from contextlib import suppress
from itertools import count

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from engram_host.companion.errors import Refused, Stale
from engram_host.companion.store import CompanionStore
from engram_host.companion.store.boards.replica import SILENCE_SECONDS
from engram_host.companion.store.vectors import Identity, StoredVector
from engram_host.companion.types import LOGS, LogName, SeqRange
from extent import HEALTH_CHECKS
from plain_board import NoAnswer, PlainBoard, PlainLog

NAMES = count(1)
SHORT, LONG = 15, 500
"""Boards that are played."""

IDENTITY = Identity("test", 2, 1)
FAULTS = st.lists(
    st.sampled_from(["lost", "unanswered", "doubled", "late", "old", "fine", "fine", "fine"]), max_size=12
)
SEQS = st.sets(st.integers(1, 25), max_size=8)
LOG = st.sampled_from(LOGS)

Line = tuple[LogName, int, bytes]


class Boards(RuleBasedStateMachine):
    """One board, a store, and a reader of the store that follows its changes."""

    def __init__(self, store: CompanionStore):
        super().__init__()
        self.store = store
        self.board = PlainBoard(store, f"board-{next(NAMES)}")
        self.board.deliver = self.deliver
        self.faults: list[str] = []
        self.late: list = []
        self.flashes: list = []
        self.epochs: set[int] = set()
        self.copied: set[Line] = set()  # what was on the board when a sync was done
        self.forgotten: set[Line] = set()  # what the store need not have any more
        self.damaged: set[Line] = set()  # what the flash has lost
        self.is_unsure = False  # whether the board has done more than append since a sync was done
        self.seen: dict[tuple[LogName, int], bytes] = {}
        self.meanings: dict[tuple[LogName, int], bytes] = {}
        self.version = self.meaning = 0

    # --- the transport

    def deliver(self, call):
        fault = self.faults.pop(0) if self.faults else "fine"
        if fault == "lost":
            raise NoAnswer
        if fault == "late":
            self.late.append(call)
            raise NoAnswer
        if fault == "old" and self.late:
            self.deliver_late()
        answer = call()
        if fault == "doubled":
            # What comes twice at once is answered twice, or passed over.
            self.passed_over(call)
        if fault == "unanswered":
            self.late.append(call)
            raise NoAnswer
        return answer

    def deliver_late(self):
        self.passed_over(self.late.pop(0))

    def passed_over(self, call):
        with suppress(Refused, Stale):
            call()

    # --- what happens to boards

    @initialize(number=st.integers(0, 10))
    def begin(self, number: int):
        self.board.logs["journal"].append(number)
        self.note_epochs()

    def note_epochs(self):
        self.epochs |= {log.epoch for log in self.board.logs.values()}

    def changed(self):
        """The board has done more than append: what its flash has lost cannot be told from what was forgotten."""
        self.is_unsure = True
        self.may_go({(log, seq) for log, seq, _ in self.damaged})
        self.note_epochs()

    def may_go(self, places: set[tuple[LogName, int]]):
        """What was copied of these places need not stay; of a board that went back, also what stood there before."""
        self.forgotten |= {line for line in self.copied if line[:2] in places}

    def on_board(self) -> set[Line]:
        return {(name, seq, line) for name, log in self.board.logs.items() for seq, line in log.lines.items()}

    @rule(log=LOG, number=st.integers(1, 9))
    def append(self, log: LogName, number: int):
        self.board.logs[log].append(number)

    @rule(log=LOG, gone=SEQS, emptied=SEQS)
    def compact(self, log: LogName, gone: set[int], emptied: set[int]):
        self.may_go({(log, seq) for seq, _ in self.board.logs[log].compact(gone, emptied)})
        self.changed()

    @rule(number=st.integers(1, 6))
    def drop_oldest(self, number: int):
        self.board.logs["journal"].drop_oldest(number)

    @rule(log=LOG, seqs=SEQS)
    def damage(self, log: LogName, seqs: set[int]):
        lines = self.board.logs[log].lines
        self.damaged |= {(log, seq, lines.pop(seq)) for seq in seqs & set(lines)}
        if self.is_unsure:
            self.may_go({(log, seq) for log, seq, _ in self.damaged})

    @rule(number=st.integers(1, 6))
    def lose_oldest(self, number: int):
        """A file of the oldest records is lost: the board's log begins later then."""
        log = self.board.logs["records"]
        before = self.on_board()
        log.drop_oldest(number)
        self.damaged |= before - self.on_board()
        if self.is_unsure:
            self.may_go({(log, seq) for log, seq, _ in self.damaged})

    @rule()
    def copy_flash(self):
        self.flashes.append(self.board.flash())

    @rule(data=st.data())
    def put_flash(self, data: st.DataObject):
        if self.flashes:
            # Numbers of messages are used again: that takes longer than a message can be late.
            self.late.clear()
            self.board.put_flash(data.draw(st.sampled_from(self.flashes)))
            self.changed()

    @rule(log=LOG)
    def reset(self, log: LogName):
        self.board.logs[log] = PlainLog()
        self.changed()

    @rule(data=st.data())
    def restore(self, data: st.DataObject):
        """Put a backup on the board: the same lines in another epoch."""
        if self.flashes:
            link = self.board.link
            self.board.put_flash(data.draw(st.sampled_from(self.flashes)))
            self.board.link = link
            for log in self.board.logs.values():
                log.epoch = PlainLog().epoch
            self.changed()

    # --- what boards and readers do

    @rule(faults=FAULTS)
    def sync(self, faults: list[str]):
        self.faults = faults
        self.board.now += 10
        try:
            self.board.sync()
        except NoAnswer:
            return
        finally:
            self.faults = []
        self.is_unsure = False
        self.copied |= self.on_board()

    @rule()
    def be_silent(self):
        self.board.now += SILENCE_SECONDS
        if self.late:
            # A hello that comes so late is taken for one of an older flash: all is compared after it.
            self.changed()

    @rule(limit=st.integers(1, 7))
    def follow(self, limit: int):
        for change in self.store.boards.changes(self.board.name, self.version, limit):
            assert change.version > self.version
            self.version = change.version
            self.meanings.pop((change.log, change.seq), None)
            if change.line is None:
                self.seen.pop((change.log, change.seq), None)
            else:
                self.seen[change.log, change.seq] = change.line

    @rule(seqs=SEQS)
    def embed(self, seqs: set[int]):
        vectors = [
            StoredVector(log, seq, line[-16:], np.array([seq, 1], np.float32))
            for (log, seq), line in self.seen.items()
            if seq in seqs
        ]
        self.store.vectors.put_vectors(self.board.name, IDENTITY, vectors, self.version)

    @invariant()
    def vectors_are_of_lines_that_are_there(self):
        lines = {(log, seq): line for log, seq, line in self.present()}
        for _, one in self.store.vectors.vectors(self.board.name, IDENTITY, 0):
            assert lines[one.log, one.seq][-16:] == one.digest

    def present(self) -> list[Line]:
        changes = self.store.boards.changes(self.board.name, 0, 1 << 20)
        return [(change.log, change.seq, change.line) for change in changes if change.line is not None]

    def everywhere(self) -> set[Line]:
        """What the store has in any epoch, or aside."""
        everything: set[Line] = {
            (one.log, one.seq, one.line) for one in self.store.boards.set_aside_lines(self.board.name, 1 << 20)
        }
        for log in LOGS:
            for epoch in self.epochs:
                span = SeqRange(self.board.name, log, epoch, 0, 1 << 20)
                everything |= {(log, seq, line) for seq, line in self.store.boards.lines(span)}
        return everything

    def teardown(self):
        while self.late:
            self.deliver_late()
        self.sync([])
        self.copies_are_equal()
        self.reader_has_seen_all()
        self.nothing_is_lost()
        self.forgotten_lines_leave()

    def copies_are_equal(self):
        present = self.present()
        assert len(present) == len({(log, seq) for log, seq, _ in present})
        # What the flash lost the copy may still have: nobody has said that it was forgotten.
        extra = {line for line in present if line[1] >= self.board.logs[line[0]].oldest} - self.on_board()
        assert self.on_board() <= set(present)
        assert extra <= self.damaged
        device = self.store.boards.device(self.board.name)
        for name, log in self.board.logs.items():
            assert device.logs[name] == log.state
            assert device.have[name] == log.next - 1

    def reader_has_seen_all(self):
        while self.version < max(
            (change.version for change in self.store.boards.changes(self.board.name, self.version)), default=0
        ):
            self.follow(100)
        assert self.seen == {(log, seq): line for log, seq, line in self.present()}

    def nothing_is_lost(self):
        assert self.copied - self.forgotten <= self.everywhere()

    def forgotten_lines_leave(self):
        gone = self.on_board()
        for log in self.board.logs.values():
            log.compact(set(log.lines), set())
        self.board.sync()
        assert not gone & self.everywhere()


@pytest.mark.parametrize("examples", [SHORT, pytest.param(LONG, marks=pytest.mark.soak)])
def test_copies_follow_random_boards(store: CompanionStore, examples: int):
    run_state_machine_as_test(
        lambda: Boards(store),  # pyright: ignore[reportArgumentType]  # anything that makes one will do
        settings=settings(max_examples=examples, stateful_step_count=25, suppress_health_check=HEALTH_CHECKS),
    )
