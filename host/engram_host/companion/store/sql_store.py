"""What the two databases have in common: each call of Store is one transaction on Rows."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar

from engram_host.companion.errors import Refused, Stale, UnknownDevice
from engram_host.companion.store import markdown_files, migrate, replication_rules
from engram_host.companion.store import tokens as token_queries
from engram_host.companion.store import vectors as vectors_table
from engram_host.companion.store.base import MOST_LISTED, MOST_NUMBER
from engram_host.companion.store.queries import Rows
from engram_host.companion.store.row_types import DeviceRow, LogRow
from engram_host.companion.types import (
    FOLDER,
    LOGS,
    ArchiveRange,
    Batch,
    Change,
    Device,
    DeviceToken,
    GatewayUse,
    Hello,
    KeptFile,
    LogName,
    LogState,
    NewFile,
    Sender,
    SetAsideLine,
    Span,
    Welcome,
)
from engram_host.companion.vector_types import Identity, StoredVector, Vector

_LINES_AT_ONCE = 500
"""Read at a time by lines(): bounds what is in RAM, and no transaction stays open between them."""

_DIGESTS_AT_ONCE = 500
"""Values in one statement: SQLite takes 32766, of which older builds took 999."""

Result = TypeVar("Result")


class SqlStore(ABC):
    """A Store on SQL; a dialect adds its connections, transactions and errors."""

    dialect = ""

    # --- what a dialect adds

    @abstractmethod
    def _write(self, work: Callable[[Rows], Result]) -> Result:
        """Do work in one transaction that is on disk at the end; StoreUnavailable, and then nothing of it has happened."""

    @abstractmethod
    def _read(self, work: Callable[[Rows], Result]) -> Result:
        """Do work that only reads, on one state of the database; StoreUnavailable."""

    def _read_once(self, work: Callable[[Rows], Result]) -> Result:
        """Do work that is one SELECT; a database may spare it the transaction. StoreUnavailable."""
        return self._read(work)

    @abstractmethod
    def _connect(self) -> None:
        """Make sure that there is a database; StoreUnavailable."""

    @abstractmethod
    def close(self) -> None:
        """Let all connections go."""

    def open(self) -> list[str]:
        """Connect, and bring the schema up to date; what was done to it, a sentence for each migration."""
        self._connect()
        steps = migrate.known(self.dialect)
        done: list[str] = []
        while sentence := self._write(lambda rows: self._step(rows, steps)):
            done.append(sentence)
        return done

    def _step(self, rows: Rows, steps: Sequence[migrate.Migration]) -> str:
        return migrate.step(rows, steps, int(time.time()))

    # --- what boards say

    def greet(self, hello: Hello, now: int) -> Welcome:
        """Begin a connection of a board; see Store."""
        return _raised(self._write(lambda rows: replication_rules.greet(rows, hello, now)))

    def take(self, batches: Sequence[Batch], now: int) -> list[int | Refused | Stale]:
        """Take lines in one transaction; see Store."""
        return self._write(lambda rows: replication_rules.take(rows, batches, now)) if batches else []

    def is_same(self, sender: Sender, span: Span, count: int, crc: str) -> bool:
        """Whether the copy of a span is like the board's; see Store."""
        return _raised(self._write(lambda rows: replication_rules.is_same(rows, sender, span, count, crc)))

    def agree(self, sender: Sender, device: str, log: LogName, epoch: int, rewrites: int) -> None:
        """Note that a copy is like the board's; see Store."""
        _raised(self._write(lambda rows: replication_rules.agree(rows, sender, device, log, epoch, rewrites)))

    def promise(self, sender: Sender, device: str, log: LogName, epoch: int, seqs: Sequence[int], crc: str) -> int:
        """Promise to keep lines; see Store."""
        return _raised(self._write(lambda rows: replication_rules.promise(rows, sender, device, log, epoch, seqs, crc)))

    def resolve(self, sender: Sender, device: str, epoch: int, held: Sequence[ArchiveRange], now: int) -> int:
        """Take what a board's archive has; see Store."""
        return _raised(self._write(lambda rows: replication_rules.resolve(rows, sender, device, epoch, held, now)))

    def listed(
        self, sender: Sender, device: str, epoch: int, after: int, limit: int = MOST_LISTED
    ) -> list[tuple[int, bytes]]:
        """The archived records of a board, for itself; see Store."""
        return _raised(self._write(lambda rows: replication_rules.listed(rows, sender, device, epoch, after, limit)))

    # --- reading

    def devices(self) -> list[Device]:
        """All boards, by name; no Markdown folders."""
        return [device for device in self.sources() if not device.name.startswith(FOLDER)]

    def device(self, name: str) -> Device:
        """One board; UnknownDevice."""
        found = self._read(lambda rows: _devices(rows, name)) if name else []
        if not found:
            raise UnknownDevice(name)
        return found[0]

    def changes(self, device: str, after: int, limit: int = 2000) -> list[Change]:
        """What has changed since a version; see Store."""
        return [Change(*row) for row in self._read_once(lambda rows: rows.changes(device, after, limit))]

    def lines(self, span: Span, archived: bool = False) -> Iterator[tuple[int, bytes]]:
        """The lines of a span, in order; see Store."""
        copy = LogRow(span.device, span.log, span.epoch)
        after = span.after
        while True:
            part = self._read(
                lambda rows, after=after: rows.held(copy, after, span.to, _LINES_AT_ONCE, archived=archived)
            )
            yield from part
            if len(part) < _LINES_AT_ONCE:
                return
            after = part[-1][0]

    def lines_at(
        self, device: str, log: LogName, epoch: int, seqs: Sequence[int], archived: bool = False
    ) -> dict[int, bytes]:
        """Some lines, by seq; see Store."""
        copy = LogRow(device, log, epoch)
        found: dict[int, bytes] = {}
        for at in range(0, len(seqs), _LINES_AT_ONCE):
            part = seqs[at : at + _LINES_AT_ONCE]
            found.update(self._read_once(lambda rows, part=part: rows.chosen(copy, part, archived)))
        return found

    def archived(self, device: str, after: int = 0, limit: int = 100) -> list[tuple[int, bytes]]:
        """The lines of archived records; see Store."""
        return self._read(lambda rows: _archived(rows, device, after, limit))

    def events(self, device: str, limit: int = 100) -> list[tuple[int, str]]:
        """What has happened to a board's copies, newest first."""
        return self._read(lambda rows: rows.events(device, limit))

    def aside(self, device: str, limit: int = 100, before: int = MOST_NUMBER) -> list[SetAsideLine]:
        """What was set aside of a board's copies, newest first; see Store."""
        return [SetAsideLine(*row) for row in self._read(lambda rows: rows.aside(device, limit, before))]

    def count_archived(self) -> int:
        """How many records are archived; see Store."""
        return self._read(lambda rows: rows.count_all_archived())

    def size(self) -> int:
        """Bytes of the database on disk, about."""
        return self._read(lambda rows: rows.size())

    # --- vectors

    def vectors(self, device: str, identity: Identity, after: int, limit: int = 4000) -> list[tuple[int, StoredVector]]:
        """The vectors that came since a version; see Store."""
        return self._read_once(lambda rows: vectors_table.read_vectors(rows, device, identity, after, limit))

    def put_vectors(
        self, device: str, identity: Identity, vectors: Sequence[StoredVector], seen: int | None = None
    ) -> None:
        """Keep vectors of lines; see Store."""
        if vectors:
            self._write(lambda rows: vectors_table.put_vectors(rows, device, identity, vectors, seen))

    def cached(self, identity: Identity, digests: Sequence[bytes]) -> dict[bytes, Vector]:
        """The vectors of texts that were embedded before, by the text's digest."""
        found: dict[bytes, Vector] = {}
        wanted = list(dict.fromkeys(digests))
        for start in range(0, len(wanted), _DIGESTS_AT_ONCE):
            part = wanted[start : start + _DIGESTS_AT_ONCE]
            found |= self._read(lambda rows, part=part: vectors_table.cached_vectors(rows, identity, part))
        return found

    def drop_vectors(self, identity: Identity) -> int:
        """Remove the vectors of all other identities than this one; how many there were."""
        return self._write(lambda rows: vectors_table.drop_other_vectors(rows, identity))

    # --- who may come, and how much they used

    def add_token(self, token: DeviceToken) -> bool:
        """Keep the token of a device that has none; whether it had none."""
        return self._write(lambda rows: token_queries.add_token(rows, token))

    def replace_token(self, token: DeviceToken) -> bool:
        """Put a token in the place of a device's old one; whether there was one."""
        return self._write(lambda rows: token_queries.replace_token(rows, token))

    def remove_token(self, device: str) -> bool:
        """Forget the token of a device; whether there was one."""
        return self._write(lambda rows: token_queries.remove_token(rows, device))

    def tokens(self) -> list[DeviceToken]:
        """The tokens of all devices, by name."""
        return self._read(token_queries.tokens)

    def device_of(self, digest: bytes) -> str:
        """The device that has the token with a SHA-256, "" if none has."""
        return self._read(lambda rows: token_queries.device_of(rows, digest))

    def gateway_used(self, day: int) -> dict[str, GatewayUse]:
        """What was used of the gateway on a day; see Store."""
        return self._read(lambda rows: token_queries.used(rows, day))

    def begin_call(self, day: int, device: str, tokens: int, limits: Mapping[str, GatewayUse]) -> str:
        """Count a call of the gateway, unless a limit is reached; see Store."""
        return self._write(lambda rows: token_queries.begin_call(rows, day, device, tokens, limits))

    def end_call(self, day: int, device: str, tokens: int) -> None:
        """Count what a call used beyond what was set aside; see Store."""
        self._write(lambda rows: token_queries.end_call(rows, day, device, tokens))

    # --- Markdown folders

    def sources(self) -> list[Device]:
        """All boards and folders, by name."""
        return self._read(lambda rows: _devices(rows, ""))

    def stamps(self, folder: str, after: str = "", limit: int = 1000) -> list[tuple[str, str, int, str]]:
        """(path, stamp, passages, problem) of files; see Store."""
        return self._read(lambda rows: markdown_files.stamps(rows, folder, after, limit))

    def file(self, folder: str, path: str) -> KeptFile | None:
        """A file of a folder, None if it is not here."""
        return self._read(lambda rows: markdown_files.kept(rows, folder, path))

    def put_files(self, folder: str, new: Sequence[NewFile], now: int) -> int:
        """Keep files as they are now; see Store."""
        return self._write(lambda rows: markdown_files.put(rows, folder, new, now)) if new else 0

    def drop_files(self, folder: str, paths: Sequence[str], now: int) -> None:
        """Let files go; see Store."""
        if paths:
            self._write(lambda rows: markdown_files.drop(rows, folder, paths, now))

    def drop_folder(self, folder: str) -> None:
        """Let a folder go with all that is in it."""
        self._write(lambda rows: markdown_files.drop_folder(rows, folder))

    # --- small things that last

    def get(self, name: str) -> str:
        """A note of the companion's own, "" if there is none."""
        return self._read(lambda rows: rows.note(name))

    def put(self, name: str, value: str) -> None:
        """Keep a note of the companion's own."""
        self._write(lambda rows: rows.put_note(name, value))


def _raised(outcome: Result | Refused | Stale) -> Result:
    """The outcome of a transaction, raised only now that it is over: what it noted stays."""
    if isinstance(outcome, (Refused, Stale)):
        raise outcome
    return outcome


def _archived(rows: Rows, name: str, after: int, limit: int) -> list[tuple[int, bytes]]:
    copy = rows.present([name]).get((name, "records"))
    return rows.archived(copy, after, limit) if copy else []


def _devices(rows: Rows, name: str) -> list[Device]:
    devices = rows.devices(name)
    copies = rows.present(row.name for row in devices)
    return [_device(row, [copies[row.name, log] for log in LOGS if (row.name, log) in copies]) for row in devices]


def _device(row: DeviceRow, copies: Sequence[LogRow]) -> Device:
    logs: dict[LogName, LogState] = {
        copy.log: LogState(copy.epoch, copy.oldest, copy.next, copy.rewrites) for copy in copies
    }
    have: dict[LogName, int] = {copy.log: copy.have for copy in copies}
    return Device(row.name, row.board, row.heard, row.zone, row.version, logs, have)
