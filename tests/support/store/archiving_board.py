"""A board with an archive as plain Python: what is live, archived and forgotten is known here."""

from typing import Any

from engram import log_line
from engram_host.companion.entries.reader import LogCopy
from engram_host.companion.store import CompanionStore
from engram_host.companion.types import LogName
from plain_board import PlainBoard
from search_store import Search, asked, ids
from sending import digest

RECORDS: LogName = "records"


def _is_about_archive(line: bytes) -> bool:
    return any(field in line for field in (b'"op":"archive"', b'"scopes"', b'"restored":'))


class ArchivingBoard(PlainBoard):
    """A board with records; what is live, archived and forgotten, by number, is known here."""

    def __init__(self, store: CompanionStore):
        super().__init__(store)
        self.log = self.logs[RECORDS]
        self.live: dict[int, int] = {}
        self.archived: dict[int, bytes] = {}
        self.promised: set[int] = set()
        self.is_known = False
        self.returned: set[int] = set()

    def write(self, **fields: Any) -> int:
        seq = self.log.next
        self.log.lines[seq] = log_line.encode([("seq", seq), *fields.items()])
        self.log.next += 1
        return seq

    def keep(self, **more: Any) -> int:
        seq = self.log.next
        self.write(id=f"m{seq}", content=f"tea number {seq}", created=1, **more)
        self.live[seq] = seq
        return seq

    def update(self, number: int) -> None:
        was = self.live[number]
        self.live[number] = self.write(id=f"m{number}", content=f"tea again {number}", created=1, was=was)

    def promise(self, numbers: list[int]) -> int:
        """Ask for a promise; how many lines were promised."""
        seqs = [self.live[number] for number in numbers]
        epoch, crc = self.log.epoch, digest(self.log.lines[seq] for seq in seqs)

        def make():
            sender = self.sender()
            return lambda: self.store.replication.promise_lines(sender, self.name, RECORDS, epoch, seqs, crc)

        count = self._ask(make)
        assert isinstance(count, int)
        self.promised |= set(seqs) if count == len(seqs) else set()
        return count

    def archive(self, number: int) -> None:
        """Archive a record of which the present line is promised."""
        seq = self.live.pop(number)
        assert seq in self.promised
        self.archived[number] = self.log.lines[seq]
        self.write(op="archive", id=f"m{number}", at=1, was=seq)

    def forget(self, number: int) -> None:
        if number in self.live:
            self._remove("forget", number)
            return
        del self.archived[number]
        self.write(op="forget", id=f"m{number}", at=1, scopes=["all", "user:owner"])

    def leave(self, number: int) -> None:
        """Move a live record to the trash."""
        self._remove("leave", number)

    def _remove(self, op: str, number: int) -> None:
        more = {"back": True} if number in self.returned else {}
        self.write(op=op, id=f"m{number}", at=1, was=self.live.pop(number), **more)

    def restore(self, number: int) -> None:
        self.returned.add(number)
        fields = log_line.decode(self.archived.pop(number))
        del fields["seq"]
        fields.pop("restored", None)
        self.live[number] = self.write(**fields, restored=2)

    def compact_records(self) -> None:
        """As the board's own: what the companion was not told of stays."""
        have = self.store.boards.device(self.name).have[RECORDS] if self.is_known else 0
        telling = [seq for seq, line in self.log.lines.items() if b'"op":"archive"' in line or b'"scopes"' in line]
        pending = any(seq > have for seq in telling)
        self.durable_seq = max([seq for seq in telling if seq <= have], default=self.durable_seq)
        kept = set(self.live.values())
        for seq, line in self.log.lines.items():
            is_told = _is_about_archive(line) and b'"restored":' not in line
            is_told = is_told or b'"back"' in line
            if (is_told and seq > have) or (pending and line in self.archived.values()):
                kept.add(seq)
        self.log.compact(set(self.log.lines) - kept, set())

    def sync(self) -> None:
        super().sync()
        self.is_known = True

    def tell(self) -> int:
        """Say what the archive has; how many memories the companion has in it then."""
        return self.tell_range(range(min(self.archived, default=0), max(self.archived, default=-1) + 1))

    def tell_range(self, held: range) -> int:
        """As tell(), of the numbers of a range."""
        epoch = self.log.epoch

        def make():
            sender = self.sender()
            return lambda: self.store.replication.resolve_archive(sender, self.name, epoch, held, self.now)

        count = self._ask(make)
        assert isinstance(count, int)
        return count

    def engine(self) -> Search:
        """A search by words on the companion's store."""
        return Search(self.store.boards, self.store.vectors)

    def check(self) -> None:
        """The companion has what is live and what is archived, each once, and nothing that went."""
        held = {log_line.decode(line)["id"]: line for _, line in self.store.boards.archived(self.name, 0, 1000)}
        assert held == {f"m{number}": line for number, line in self.archived.items()}
        assert self.hello().archived == self.store.health.gauges()["engram_archived_records"] == len(self.archived)
        found = ids(self.engine().search(asked("tea", self.name, limit=100, log="records", meaning=False)))
        assert sorted(found) == sorted(f"m{number}" for number in {**self.live, **self.archived})
        copy = LogCopy(self.store.boards, self.store.boards.device(self.name), RECORDS, 2)
        states = {entry.id: entry.state for entry in copy.oldest_first() if entry.state != "superseded"}
        assert states == {f"m{number}": "live" for number in self.live} | {
            f"m{number}": "archived" for number in self.archived
        }


def archive(board: ArchivingBoard, *numbers: int) -> None:
    """Archive records, with a promise."""
    assert board.promise(list(numbers)) == len(numbers)
    for number in numbers:
        board.archive(number)


def board_of_six(store: CompanionStore) -> ArchivingBoard:
    """A board with six memories that the companion knows of."""
    board = ArchivingBoard(store)
    for _ in range(6):
        board.keep()
    board.sync()
    return board
