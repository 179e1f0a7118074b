"""A board and a companion in one process, with a way between them that a test can harm."""

from engram.errors import StoreError
from engram.link import replication
from engram.link.link_state import LinkState
from engram.link.replication import Replication
from engram.link.rpc import LinkError, Rpc
from fake_companion import Companion, Way

replication._ANSWER_MS = (20, 40)


class Linked:
    """A board with a companion."""

    def __init__(self, board, companion=None, numbers=None):
        self.board = board
        self.companion = companion or Companion()
        self.way = Way(self.companion, numbers)
        self.is_busy = False
        self.looks = 0  # whether a message is answered
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
            self.exchange,
            self.logs,
            self.known,
            board.clock,
            self.look,
            self.greeted,
            archived=board.archived,
        )

    def look(self):
        self.looks += 1
        return self.is_busy

    def greeted(self, archived, asks):
        pass

    async def copy(self):
        """Copy until there is nothing more to be copied."""
        for _ in range(200):
            try:
                await self.sync._greet()
                while not self.sync._has_changed() and await self.sync._step():
                    pass
                if not self.sync._has_changed() and all(copy.is_done for copy in self.sync.copies):
                    return
            except (LinkError, StoreError):
                pass
        raise AssertionError("no end: %s" % self.companion.counts)

    def check(self):
        """The copies are the logs, of what the logs still have."""
        for name, raw in self.logs:
            copy = self.companion.copy(name)
            kept = {seq: line for seq, line in copy.lines.items() if seq >= raw.store.oldest}
            lines = lines_of(raw)
            assert sorted(kept) == sorted(lines), (name, sorted(kept), sorted(lines))
            assert kept == lines, name
            assert copy.have == raw.store.next_seq - 1


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
