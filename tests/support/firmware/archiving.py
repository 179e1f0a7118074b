"""A board whose memories leave to a companion's archive."""

from board import Board
from engram.archive.transfer import ArchiveTransfer
from engram.link.remote_search import RemoteSearch
from engram.memory.access import OWNER
from linked import Linked
from samples import distinct_content


class Archiving(Linked):
    """A board with a companion and an archive; ticks stand for the upkeep, steps for the link."""

    def __init__(self, board=None, companion=None, numbers=None, **limits):
        super().__init__(board or Board(companion_url="http://companion", **limits), companion, numbers)

    def connect(self):
        super().connect()
        board = self.board
        self.archive = ArchiveTransfer(
            self.exchange, self.sync, self.known, board.archived, board.records, board.journal, 500
        )
        self.ask = RemoteSearch(self.exchange, self.sync, "always", 500, board.archived)
        board.companion, board.remote_search, board.archive = self, self.ask, self.archive

    def greeted(self, welcome):
        self.archive.greeted(welcome["archived"], welcome["asks"])

    async def work(self, rounds=60):
        """Let the board and the link do what they have to do."""
        await self.copy()
        for _ in range(rounds):
            is_busy = self.board.eviction.tick()
            if self.sync._has_changed() or not all(copy.is_done for copy in self.sync.copies):
                await self.copy()
            is_busy = await self.archive.step() or is_busy
            if not is_busy:
                break
        await self.copy()

    def kept(self):
        """The numbers of the memories that the companion holds."""
        return sorted(self.companion.copy("records").kept)

    def live(self):
        return sorted(int(record["id"][1:]) for record in self.board.records.entries.newest())

    async def recalled(self, query, caller=OWNER, limit=10):
        found = await self.ask.found(self.board.rank(query, caller), limit)
        return self.board.find(query, caller, limit, more=found)


def store_many(board, count, first=0, **more):
    return [int(board.records.store(distinct_content(at), ["t"], **more).id[1:]) for at in range(first, first + count)]


async def full_archive(count=12, most=10, **limits):
    """A board of whose memories some are archived."""
    linked = Archiving(records_most=most, **limits)
    numbers = []
    for at in range(count):
        numbers += store_many(linked.board, 1, at)
        await linked.work()
    return linked, numbers
