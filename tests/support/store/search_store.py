"""A store in RAM with what a search asks of one, and lines as boards write them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import numpy as np

from engram import log_line
from engram import text as board
from engram.memory.access import OWNER, Caller
from engram_host.companion.entries import lines as entry_lines
from engram_host.companion.errors import UnknownDevice
from engram_host.companion.search.engine import SearchEngine
from engram_host.companion.search.request import SearchRequest, SearchResult
from engram_host.companion.search.view import QueryVector
from engram_host.companion.store.vectors import Identity, StoredVector, Vector, VectorRows, text_digest
from engram_host.companion.types import Change, Device, LogName, LogState
from engram_host.time_zones import BoardZone

NOW = 1_800_000_000
IDENTITY = Identity("test", 8, entry_lines.KEY_VERSION)


def line_of(seq: int, **fields: Any) -> bytes:
    """A line with its crc."""
    return log_line.encode([("seq", seq), *fields.items()])


def turn(
    seq: int, text: str, sid: str = "s1", who: str = "ann", at: int = 1_700_000_000, role: str = "user", **more: Any
) -> bytes:
    return line_of(seq, sid=sid, role=role, who=who, text=text, at=at, **more)


def record(seq: int, content: str, number: int = 0, created: int = 1_700_000_000, **more: Any) -> bytes:
    return line_of(seq, id=f"m{number or seq}", content=content, created=created, **more)


class SearchStore:
    """Boards by name; a line is put, replaced or taken out, and each of it is a change."""

    def __init__(self, zone: int = 0):
        self._zone = zone
        self._lines: dict[str, dict[tuple[LogName, int], tuple[int, bytes | None]]] = {}
        self._vectors: dict[str, list[tuple[int, StoredVector]]] = {}
        self._version = 0
        self.reads = 0
        """How often changes were asked for."""

    def put(self, device: str, log: LogName, seq: int, line: bytes | None) -> None:
        self._version += 1
        self._lines.setdefault(device, {})[log, seq] = (self._version, line)

    def put_all(self, device: str, journal: list[bytes] = [], records: list[bytes] = []) -> None:  # noqa: B006
        logs: dict[LogName, list[bytes]] = {"journal": journal, "records": records}
        for log, lines in logs.items():
            for line in lines:
                self.put(device, log, log_line.decode(line)["seq"], line)

    def embed(self, device: str, log: LogName, seq: int, vector: Vector) -> None:
        """Keep a vector for the line as it is now."""
        line = self._lines[device][log, seq][1]
        assert line is not None
        digest = text_digest(entry_lines.embedding_text(log, log_line.decode(line), self._zone))
        self._version += 1
        kept = np.asarray(vector, np.float32)
        others = [pair for pair in self._vectors.get(device, []) if (pair[1].log, pair[1].seq) != (log, seq)]
        self._vectors[device] = [*others, (self._version, StoredVector(log, seq, digest, kept))]

    def device(self, name: str) -> Device:
        if name not in self._lines:
            raise UnknownDevice(name)
        newest = max((version for version, _ in [*self._lines[name].values(), *self._vectors.get(name, ())]), default=0)
        state = LogState(1, 1, 1 << 20, 0)
        return Device(
            name,
            name,
            0,
            BoardZone(self._zone),
            newest,
            {"records": state, "journal": state},
            {"records": 0, "journal": 0},
        )

    def changes(self, device: str, after: int, limit: int = 2000) -> list[Change]:
        self.reads += 1
        changes = [
            Change(version, log, seq, line)
            for (log, seq), (version, line) in self._lines[device].items()
            if version > after and (line is not None or after)
        ]
        return sorted(changes, key=lambda change: change.version)[:limit]

    def lines_at(
        self, device: str, log: LogName, epoch: int, seqs: Sequence[int], archived: bool = False
    ) -> dict[int, bytes]:
        found = ((seq, self._lines[device].get((log, seq), (0, None))[1]) for seq in seqs)
        return {seq: line for seq, line in found if line is not None}

    def vectors(self, device: str, identity: Identity, after: int, limit: int = 4000) -> list[tuple[int, StoredVector]]:
        return [pair for pair in self._vectors.get(device, []) if pair[0] > after][:limit]

    def vectors_at(
        self, identity: Identity, wanted: Mapping[tuple[str, LogName, int], Sequence[int]]
    ) -> dict[tuple[str, LogName, int], VectorRows]:
        found: dict[tuple[str, LogName, int], VectorRows] = {}
        for copy, seqs in wanted.items():
            kept = [one for _, one in self._vectors.get(copy[0], []) if one.log == copy[1] and one.seq in seqs]
            if kept:
                vectors = np.array([one.vector for one in kept])
                found[copy] = VectorRows(np.array([one.seq for one in kept]), [one.digest for one in kept], vectors)
        return found


def vector_of(text: str) -> Vector:
    """A vector of length 1 from the words of a text: texts that share words are near each other."""
    total = np.full(IDENTITY.dimensions, 1e-3)
    for word in board.words(text):
        total += np.random.default_rng(crc32(word.encode())).standard_normal(IDENTITY.dimensions)
    return (total / np.sqrt((total * total).sum())).astype(np.float32)


def embed_all(store: SearchStore, device: str) -> None:
    """Give each line that has a text its vector."""
    for change in store.changes(device, 0, 1 << 30):
        text = entry_lines.embedding_text(change.log, log_line.decode(change.line), 0) if change.line else ""
        if text:
            store.embed(device, change.log, change.seq, vector_of(text))


@dataclass(frozen=True)
class Asked:
    """A search, with what a service adds to its request."""

    request: SearchRequest
    caller: Caller
    sources: tuple[str, ...]
    now: int


FLOOR = 0.1
"""Cosine from which on meaning finds something."""


class Search:
    """A search with indexes of its own."""

    def __init__(self, boards: Any, vectors: Any, with_meaning: bool = False):
        self._boards = boards
        self.engine = SearchEngine(boards, vectors)
        self._with_meaning = with_meaning

    def search(self, asked: Asked) -> SearchResult:
        has_vector = self._with_meaning and asked.request.meaning is not False
        vector = QueryVector(IDENTITY, vector_of(asked.request.query), FLOOR) if has_vector else None
        devices = [self._boards.device(name) for name in asked.sources]
        return self.engine.search(asked.request, asked.caller, devices, asked.now, vector)


def engine_of(store: SearchStore, with_meaning: bool = False) -> Search:
    return Search(store, store, with_meaning)


def asked(query: str, *sources: str, caller: Caller = OWNER, now: int = NOW, **options: Any) -> Asked:
    """A request of the owner's, for the device `b` if none is named."""
    who = {"principal": caller.principal, "group": caller.group, "workspace": caller.workspace}
    request = SearchRequest.model_validate({"query": query, **who, **options})
    return Asked(request, caller, sources or ("b",), now)


def ids(result: SearchResult) -> list[str]:
    return [hit.id for hit in result.hits]
