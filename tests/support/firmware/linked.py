"""A board and a companion in one process, with a way between them that a test can harm."""

import os

from engram import files
from engram.channels.console.commands.stats import find_status
from engram.errors import NetError, StoreError
from engram.link import companion, replication
from engram.link.copies import NoteCopy, SenseCopy
from engram.link.link_state import LinkState
from engram.link.messages import NOTE_BYTES
from engram.link.replication import Replication
from engram.link.rpc import Rpc
from engram.memory.principal_files import principal_of
from engram.memory.texts.notes import MEMORY, is_note
from fake_companion import Companion, Way

SOON, LATE = (20, 40), (60_000, 60_000)
"""How many milliseconds an answer is waited for, and then once more: where some are lost, and where none is, so that no
pause of the process is taken for a loss.
"""


class Linked:
    """A board with a companion."""

    def __init__(self, board, companion=None, numbers=None):
        replication._ANSWER_MS = SOON if numbers else LATE
        self.board = board
        self.companion = companion or Companion()
        self.way = Way(self.companion, numbers)
        self.is_busy = False
        self.connect()

    def connect(self):
        """As after a start of the board."""
        board = self.board
        self.logs = (("records", board.records_store.raw()), ("journal", board.journal.entries.raw()))
        self.known = board.link_state or LinkState(board.place + "/memory", board.clock, self.logs)
        self.exchange = Rpc(self.known.board, self.way)
        self.way.take = self.exchange.receive
        self.exchange.open(self.known.begin())
        self.sync = Replication(
            self.exchange, self.logs, self.known, board.clock, self.look, self.greeted, archived=board.archived
        )
        self.notes = NoteCopy(self.sync, board.notes, board.note_retention)
        self.senses = SenseCopy(self.sync, self.find_senses)

    def find_senses(self) -> object:
        return None

    def parts(self) -> dict:
        """Return what a Companion of this board takes beside its settings and logs; its transport is the Way."""

        def make_transport(_device, take):
            self.way.take = take
            return self.way

        board = self.board
        return {
            "is_busy": self.look,
            "notes": board.notes,
            "retention": board.note_retention,
            "find_status": lambda: find_status(board),
            "make_transport": make_transport,
        }

    def look(self):
        return self.is_busy

    def greeted(self, welcome):
        self.notes.greeted(welcome["notes"])
        self.senses.greeted(welcome["senses"])

    async def copy(self):
        """Copy until there is nothing more to be copied."""
        for _ in range(200):
            try:
                await self.sync._greet()
                while not self.sync._has_changed() and await self.sync._step():
                    pass
                if not self.sync._has_changed() and all(copy.is_done for copy in self.sync.copies):
                    return
            except (NetError, StoreError):
                pass
        raise AssertionError("no end: %s" % self.companion.counts)

    async def copy_all(self, copy):
        """Tell the companion of the notes or the senses until there is nothing more to be told."""
        for _ in range(400):
            try:
                await self.sync._greet()
                while await copy.step():
                    pass
                return
            except (NetError, StoreError):
                pass
        raise AssertionError("no end: %s" % self.companion.counts)

    def epoch(self):
        return self.board.records_store.epoch

    def check_notes(self):
        """The companion's notes are the board's."""
        folder = self.board.notes.folder
        found = {}
        for file in os.listdir(folder):
            name, _ = principal_of(file)
            if name == MEMORY or is_note(name):
                found[file] = files.read(folder + "/" + file, NOTE_BYTES)
        assert self.companion.notes == found, (sorted(self.companion.notes), sorted(found))

    def check(self):
        """The copies are the logs, of what the logs still have."""
        for name, raw in self.logs:
            copy = self.companion.copy(name)
            kept = {seq: line for seq, line in copy.lines.items() if seq >= raw.store.oldest}
            lines = lines_of(raw)
            assert sorted(kept) == sorted(lines), (name, sorted(kept), sorted(lines))
            assert kept == lines, name
            assert copy.have == raw.store.next_seq - 1


class Met:
    """A board's Companion that can be greeted by one in this process."""

    def __init__(self, board, senses=None):
        self.board = board
        self.linked = linked = Linked(board)
        parts = linked.parts()
        parts["find_senses"] = lambda: senses
        self.own = companion.Companion(board.config, board.clock, linked.logs, linked.known, **parts)

    async def connect(self):
        self.own._exchange.open(self.linked.known.begin())
        self.own._status_pause.end()
        await self.own._sync._greet()

    async def be_idle(self):
        """Do all there is to do."""
        while await self.own._idle_work():
            pass


def lines_of(raw):
    found = {}
    have = 0
    while have < raw.store.next_seq - 1:
        span = raw.span(have, raw.store.next_seq - 1, 1)
        if span.count:
            found[span.to] = b"".join(bytes(piece) for piece in raw.pieces(span))
            seq = int(found[span.to][7:20].split(b",")[0])
            if seq != span.to:
                found[seq] = found.pop(span.to)
        have = span.to
    return found
