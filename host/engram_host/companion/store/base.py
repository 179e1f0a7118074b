"""What a store of the companion can do. All calls block (a few ms) and may come from any thread.

Promises: what take() answers is on disk, and of two calls that concern one device the later one sees all that the earlier
one did. Lines that a board has let go are kept apart, never lost, unless the board says that they were forgotten.
A forgotten line leaves copies of former epochs, and what was set aside, as well. Every call may raise StoreUnavailable.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from engram_host.companion.errors import Refused, Stale
from engram_host.companion.types import (
    ArchiveRange,
    Batch,
    Change,
    Device,
    DeviceToken,
    GatewayUse,
    Hello,
    KeptFile,
    LogName,
    NewFile,
    Sender,
    SetAsideLine,
    Span,
    Welcome,
)
from engram_host.companion.vector_types import Identity, StoredVector, Vector

SILENCE_SECONDS = 150
"""How long a board has to be silent before another one may take its name."""


MOST_LISTED = 64
"""Archived records that a board is told of at once: more do not fit in an answer."""

MOST_NUMBER = (1 << 63) - 1
"""The highest number of what was set aside."""


class Store(Protocol):
    """A database of lines and vectors."""

    def open(self) -> list[str]:
        """Connect, and bring the schema up to date; what was done to it, a sentence for each migration."""
        ...

    def close(self) -> None:
        """Let all connections go."""
        ...

    # --- what boards say

    def greet(self, hello: Hello, now: int) -> Welcome:
        """Begin a connection of a board. Refused, Stale.

        A new epoch of a log begins a new copy; the one before it is kept, out of all searches. Where the board has fewer
        lines than the copy (it went back to an older state), the copy's later lines are set aside, and `told` says so.
        """
        ...

    def take(self, batches: Sequence[Batch], now: int) -> list[int | Refused | Stale]:
        """Take lines in one transaction, in order; for each batch the seq up to which the log is whole now, or why not.

        A batch that begins beyond that seq is not taken: the answer tells where to go on. One that begins before it says
        what that part of the log is now: lines that are missing in it go, lines that differ take the place of the old
        ones. An old line is set aside if it differs from the new one, unless that one is what compaction left of it: then
        it was forgotten. A line that is missing was forgotten too if the board has compacted the log since both sides agreed;
        if not, its flash has lost it, and it is set aside. Lines below the board's `oldest` stay as they are.
        """
        ...

    def is_same(self, sender: Sender, span: Span, count: int, crc: str) -> bool:
        """Whether the copy of a span has so many lines with that digest (see engram.link.messages). Refused, Stale."""
        ...

    def agree(self, sender: Sender, device: str, log: LogName, epoch: int, rewrites: int) -> None:
        """Note that the copy of a log is like the board's after so many rewrites. Refused, Stale.

        What was forgotten after it had left the board goes now, as far as the copy tells of it.
        """
        ...

    def promise(self, sender: Sender, device: str, log: LogName, epoch: int, seqs: Sequence[int], crc: str) -> int:
        """Promise to keep lines once an `archive` line names them, whatever the board's log has then. Refused, Stale.

        `crc` is the digest over the lines with these seqs, in this order: how many were promised, 0 if it does not fit.
        """
        ...

    def resolve(self, sender: Sender, device: str, epoch: int, held: Sequence[ArchiveRange], now: int) -> int:
        """Take what a board knows that its archive has, where the database is older than the board was told of, or the board's
        log is a backup that was put back: how many memories are archived now. Refused, Stale.
        """
        ...

    def listed(
        self, sender: Sender, device: str, epoch: int, after: int, limit: int = MOST_LISTED
    ) -> list[tuple[int, bytes]]:
        """(seq, line) of archived records, for the board itself: as archived(). Refused, Stale."""
        ...

    # --- reading

    def devices(self) -> list[Device]:
        """All boards, by name; no Markdown folders."""
        ...

    def device(self, name: str) -> Device:
        """One board; UnknownDevice."""
        ...

    def changes(self, device: str, after: int, limit: int = 2000) -> list[Change]:
        """What has changed in the copies of the present epochs since a version, oldest first, at most `limit`.

        A line of which there are several versions comes once, as it is now.
        """
        ...

    def lines(self, span: Span, archived: bool = False) -> Iterator[tuple[int, bytes]]:
        """The lines of a span, in order, as the board has them; with `archived` also those that only the archive has."""
        ...

    def lines_at(
        self, device: str, log: LogName, epoch: int, seqs: Sequence[int], archived: bool = False
    ) -> dict[int, bytes]:
        """Those of some lines that there are, by seq; `archived` as in lines()."""
        ...

    def archived(self, device: str, after: int = 0, limit: int = 100) -> list[tuple[int, bytes]]:
        """(seq, line) of the latest versions of archived records with a seq after `after`, in order."""
        ...

    def events(self, device: str, limit: int = 100) -> list[tuple[int, str]]:
        """What has happened to a board's copies, newest first: [(Unix seconds, sentence), ...]."""
        ...

    def aside(self, device: str, limit: int = 100, before: int = MOST_NUMBER) -> list[SetAsideLine]:
        """The lines that were set aside of a board's copies, newest first: those with numbers below `before`."""
        ...

    def count_archived(self) -> int:
        """How many records of all boards are archived."""
        ...

    def size(self) -> int:
        """Bytes of the database on disk, about."""
        ...

    # --- vectors

    def vectors(self, device: str, identity: Identity, after: int, limit: int = 4000) -> list[tuple[int, StoredVector]]:
        """The vectors of lines of the present epochs that came since a version, oldest first, each with its version."""
        ...

    def put_vectors(
        self, device: str, identity: Identity, vectors: Sequence[StoredVector], seen: int | None = None
    ) -> None:
        """Keep vectors of lines of the present epochs; of lines that have gone meanwhile none is kept, and of those that have
        changed since the version `seen`, up to which the texts were read, none either. Each gets a version of its own.

        A vector leaves with its line, and when its line becomes another one: who reads changes() lets it go then.
        """
        ...

    def cached(self, identity: Identity, digests: Sequence[bytes]) -> dict[bytes, Vector]:
        """The vectors of texts that were embedded before, by the text's digest."""
        ...

    def drop_vectors(self, identity: Identity) -> int:
        """Remove the vectors of all other identities than this one; how many there were."""
        ...

    # --- who may come, and how much they used

    def add_token(self, token: DeviceToken) -> bool:
        """Keep the token of a device that has none; whether it had none."""
        ...

    def replace_token(self, token: DeviceToken) -> bool:
        """Put a token in the place of a device's old one; whether there was one."""
        ...

    def remove_token(self, device: str) -> bool:
        """Forget the token of a device; whether there was one."""
        ...

    def tokens(self) -> list[DeviceToken]:
        """The tokens of all devices, by name."""
        ...

    def device_of(self, digest: bytes) -> str:
        """The device that has the token with a SHA-256, "" if none has."""
        ...

    def gateway_used(self, day: int) -> dict[str, GatewayUse]:
        """What each device used of the gateway on a day (days since 1970), and under "" what all did."""
        ...

    def begin_call(self, day: int, device: str, tokens: int, limits: Mapping[str, GatewayUse]) -> str:
        """Count a call of the gateway, and the tokens that are set aside for it, unless one of the limits of `device` and
        `all` (0: none) is reached; which one is, such as "device calls", else "".
        """
        ...

    def end_call(self, day: int, device: str, tokens: int) -> None:
        """Count what a call used beyond what was set aside for it; less than 0 if it used less."""

    # --- Markdown folders: a folder is kept as a device whose records are passages, so that all that reads records finds them

    def sources(self) -> list[Device]:
        """All boards and folders, by name."""
        ...

    def stamps(self, folder: str, after: str = "", limit: int = 1000) -> list[tuple[str, str, int, str]]:
        """(path, stamp, passages, problem) of the files of a folder with paths after one, in the order of paths."""
        ...

    def file(self, folder: str, path: str) -> KeptFile | None:
        """A file of a folder, None if it is not here."""
        ...

    def put_files(self, folder: str, new: Sequence[NewFile], now: int) -> int:
        """Keep files as they are now, in one transaction; how many passages are new.

        A passage that says the same as before keeps its line and its vector, wherever in the file it stands now.
        """
        ...

    def drop_files(self, folder: str, paths: Sequence[str], now: int) -> None:
        """Let files go with all their passages and vectors."""
        ...

    def drop_folder(self, folder: str) -> None:
        """Let a folder go with all that is in it."""
        ...

    # --- small things that last

    def get(self, name: str) -> str:
        """A note of the companion's own, "" if there is none."""
        ...

    def put(self, name: str, value: str) -> None:
        """Keep a note of the companion's own."""
        ...
