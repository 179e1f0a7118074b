"""Vectors of lines: their types, their identity, and the table that has them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engram_host.companion.store.database import DatabaseTable, reads, writes
from engram_host.companion.store.rows import OF_COPY, PRESENT, LogRow, Rows, chunks, in_list
from engram_host.companion.types import LogName

_DROPPED_AT_ONCE = 2000

Vector = NDArray[np.float32]
"""One dimension: a unit vector; two dimensions: one unit vector per row."""

DIGEST_BYTES = 16


@dataclass(frozen=True)
class Identity:
    """Model, dimensions and key version; vectors of two identities cannot be compared."""

    model: str
    dimensions: int
    key: int

    def __str__(self) -> str:
        return f"{self.model}/{self.dimensions}/{self.key}"


@dataclass(frozen=True)
class StoredVector:
    """The vector of a line; `digest` is that of its text (16 bytes)."""

    log: LogName
    seq: int
    digest: bytes
    vector: Vector = field(repr=False)


@dataclass(frozen=True)
class VectorRows:
    seqs: NDArray[np.int64]
    digests: Sequence[bytes]
    vectors: Vector


def text_digest(text: str) -> bytes:
    """Return DIGEST_BYTES bytes that identify a text; lone surrogates are allowed."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=DIGEST_BYTES).digest()


class VectorTable(DatabaseTable):
    @reads
    def vectors(
        self, rows: Rows, device: str, identity: Identity, after: int, limit: int = 4000
    ) -> list[tuple[int, StoredVector]]:
        """Return (version, vector) of present lines since a version, oldest first."""
        sql = (
            "SELECT vectors.version, vectors.log, vectors.seq, vectors.digest, vectors.vector "
            f"FROM vectors {PRESENT.format('vectors')} AND vectors.identity = ? ORDER BY vectors.version LIMIT ?"
        )
        found = rows.run(sql, (device, after, str(identity), limit))
        vectors = _unpack([row[4] for row in found])
        return [
            (version, StoredVector(log, seq, digest, vector))
            for (version, log, seq, digest, _), vector in zip(found, vectors, strict=True)
        ]

    @reads
    def vectors_at(
        self, rows: Rows, identity: Identity, wanted: Mapping[tuple[str, LogName, int], Sequence[int]]
    ) -> dict[tuple[str, LogName, int], VectorRows]:
        found: dict[tuple[str, LogName, int], VectorRows] = {}
        for copy, seqs in wanted.items():
            read: list[tuple[Any, ...]] = []
            for part in chunks(seqs):
                some, values = in_list(part)
                sql = f"SELECT seq, digest, vector FROM vectors WHERE {OF_COPY} AND seq {some} AND identity = ?"
                read += rows.run(sql, (*copy, *values, str(identity)))
            if read:
                of_seqs, digests, vectors = zip(*read, strict=True)
                found[copy] = VectorRows(np.array(of_seqs), digests, _unpack(vectors))
        return found

    @writes
    def put_vectors(
        self, rows: Rows, device: str, identity: Identity, vectors: Sequence[StoredVector], seen: int | None = None
    ) -> None:
        """Store vectors of lines that still exist and have not changed since version `seen`."""
        row = rows.lock([device]).get(device) if vectors else None
        if row is None:
            return
        for (_, log), copy in sorted(rows.present_copies([device]).items()):
            wanted = {one.seq: one for one in vectors if one.log == log}
            there = _versions(rows, copy, list(wanted))
            kept = [one for seq, one in sorted(wanted.items()) if seq in there and (seen is None or there[seq] <= seen)]
            rows.run_many(
                "INSERT INTO vectors (device, log, epoch, seq, identity, digest, version, vector) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (device, log, epoch, seq, identity) DO UPDATE SET "
                "digest = excluded.digest, version = excluded.version, vector = excluded.vector",
                [
                    (
                        *copy.key,
                        one.seq,
                        str(identity),
                        one.digest,
                        row.next_version(),
                        np.asarray(one.vector, "<f4").tobytes(),
                    )
                    for one in kept
                ],
            )
        rows.save_devices([row])

    @reads
    def cached(self, rows: Rows, identity: Identity, digests: Sequence[bytes]) -> dict[bytes, Vector]:
        found: dict[bytes, Vector] = {}
        for part in chunks(dict.fromkeys(digests)):
            some, values = in_list(part)
            sql = f"SELECT digest, vector FROM vectors WHERE identity = ? AND digest {some}"
            for digest, vector in rows.run(sql, (str(identity), *values)):
                found[digest] = _unpack([vector])[0]
        return found

    def drop_vectors(self, identity: Identity) -> int:
        removed = 0
        for device in self._names():
            while part := self._drop_some_vectors(device, identity):
                removed += part
        return removed

    @reads
    def _names(self, rows: Rows) -> list[str]:
        return [name for (name,) in rows.run("SELECT name FROM devices ORDER BY name")]

    @writes
    def _drop_some_vectors(self, rows: Rows, device: str, identity: Identity) -> int:
        where, values = "device = ? AND identity <> ?", (device, str(identity))
        return rows.delete_some("vectors", "device, log, epoch, seq, identity", where, values, _DROPPED_AT_ONCE, "seq")


def _versions(rows: Rows, copy: LogRow, seqs: Sequence[int]) -> dict[int, int]:
    if not seqs:
        return {}
    some, values = in_list(seqs)
    sql = f"SELECT seq, version FROM lines WHERE {OF_COPY} AND seq {some} AND line IS NOT NULL"
    return dict(rows.run(sql, (*copy.key, *values)))  # pyright: ignore


def _unpack(values: Sequence[bytes]) -> Vector:
    if not values:
        return np.zeros((0, 0), np.float32)
    return np.frombuffer(b"".join(values), "<f4").reshape(len(values), -1).astype(np.float32)
