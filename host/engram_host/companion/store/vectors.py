"""Vectors of lines, and notes on the state of their index."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from engram_host.companion.store.database import DatabaseTable, reads, reads_once, writes
from engram_host.companion.store.queries import Rows
from engram_host.companion.store.row_types import LogRow
from engram_host.companion.store.sql.statements import OF_COPY, PRESENT, padded, placeholders
from engram_host.companion.types import LogName
from engram_host.companion.vector_types import Identity, StoredVector, Vector, VectorRows

_DIGESTS_AT_ONCE = 500

_DROPPED_AT_ONCE = 2000


class VectorTable(DatabaseTable):
    """Vectors by board, line and identity."""

    @reads_once
    def vectors(
        self, rows: Rows, device: str, identity: Identity, after: int, limit: int = 4000
    ) -> list[tuple[int, StoredVector]]:
        """Return (version, vector) of present lines since a version, oldest first."""
        sql = (
            "SELECT vectors.version, vectors.log, vectors.seq, vectors.digest, vectors.vector "
            f"FROM vectors {PRESENT.format('vectors')} AND vectors.identity = ? ORDER BY vectors.version LIMIT ?"
        )
        found = rows.run(sql, (device, after, str(identity), limit))
        return [(row[0], StoredVector(row[1], row[2], bytes(row[3]), rows.unpack(row[4]))) for row in found]

    @reads_once
    def vectors_at(
        self, rows: Rows, identity: Identity, wanted: Mapping[tuple[str, LogName, int], Sequence[int]]
    ) -> dict[tuple[str, LogName, int], VectorRows]:
        found: dict[tuple[str, LogName, int], VectorRows] = {}
        for copy, seqs in wanted.items():
            read: list[tuple[Any, ...]] = []
            for start in range(0, len(seqs), _DIGESTS_AT_ONCE):
                condition, values = rows.condition_in("seq", seqs[start : start + _DIGESTS_AT_ONCE])
                where = f"{OF_COPY} AND {condition} AND identity = ?"
                read += rows.run(
                    f"SELECT seq, digest, vector FROM vectors WHERE {where}", (*copy, *values, str(identity))
                )
            if read:
                of_seqs, digests, vectors = zip(*read, strict=True)
                found[copy] = VectorRows(np.array(of_seqs), [*map(bytes, digests)], rows.unpack_all(vectors))
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
            _put(rows, copy, str(identity), [(row.next_version(), one) for one in kept])
        rows.save_devices([row])

    @reads
    def cached(self, rows: Rows, identity: Identity, digests: Sequence[bytes]) -> dict[bytes, Vector]:
        found: dict[bytes, Vector] = {}
        wanted = list(dict.fromkeys(digests))
        for start in range(0, len(wanted), _DIGESTS_AT_ONCE):
            part = padded(wanted[start : start + _DIGESTS_AT_ONCE])
            sql = f"SELECT digest, vector FROM vectors WHERE identity = ? AND digest IN ({placeholders(part)})"
            for digest, vector in rows.run(sql, (str(identity), *part)):
                found[bytes(digest)] = rows.unpack(vector)
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


class NoteTable(DatabaseTable):
    """Named values that outlive a restart, such as the state of the index."""

    @reads
    def get(self, rows: Rows, name: str) -> str:
        found = rows.run("SELECT value FROM notes WHERE name = ?", (name,))
        return found[0][0] if found else ""

    @writes
    def put(self, rows: Rows, name: str, value: str) -> None:
        rows.run(
            "INSERT INTO notes (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            (name, value),
        )

    @writes
    def put_first(self, rows: Rows, name: str, value: str) -> str:
        rows.run("INSERT INTO notes (name, value) VALUES (?, ?) ON CONFLICT (name) DO NOTHING", (name, value))
        return rows.run("SELECT value FROM notes WHERE name = ?", (name,))[0][0]


def _versions(rows: Rows, copy: LogRow, seqs: Sequence[int]) -> dict[int, int]:
    if not seqs:
        return {}
    condition, values = rows.condition_in("seq", seqs)
    sql = f"SELECT seq, version FROM lines WHERE {OF_COPY} AND {condition} AND line IS NOT NULL"
    return dict(rows.run(sql, (*copy.key, *values)))  # pyright: ignore


def _put(rows: Rows, copy: LogRow, identity: str, vectors: Sequence[tuple[int, StoredVector]]) -> None:
    rows.run_many(
        "INSERT INTO vectors (device, log, epoch, seq, identity, digest, version, vector) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (device, log, epoch, seq, identity) DO UPDATE SET "
        "digest = excluded.digest, version = excluded.version, vector = excluded.vector",
        [(*copy.key, one.seq, identity, one.digest, version, rows.pack(one.vector)) for version, one in vectors],
    )
