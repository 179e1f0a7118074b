"""The vectors of lines in the database, for each identity that made them."""

from collections.abc import Sequence

from engram_host.companion.store.queries import OF_COPY, PRESENT, Rows, placeholders
from engram_host.companion.store.row_types import LogRow
from engram_host.companion.vector_types import Identity, StoredVector, Vector


def put_vectors(rows: Rows, name: str, identity: Identity, vectors: Sequence[StoredVector], seen: int | None) -> None:
    """Keep the vectors of a device's lines; see Store.put_vectors."""
    device = rows.lock([name]).get(name)
    if device is None:
        return
    for (_, log), copy in sorted(rows.present([name]).items()):
        wanted = {one.seq: one for one in vectors if one.log == log}
        there = _versions(rows, copy, list(wanted))
        kept = [one for seq, one in sorted(wanted.items()) if seq in there and (seen is None or there[seq] <= seen)]
        _write(rows, copy, str(identity), [(device.step(), one) for one in kept])
    rows.save_devices([device])


def read_vectors(rows: Rows, device: str, identity: Identity, after: int, limit: int) -> list[tuple[int, StoredVector]]:
    """(version, vector) of the present copies, in the order of versions."""
    sql = (
        "SELECT vectors.version, vectors.log, vectors.seq, vectors.digest, vectors.vector "
        f"FROM vectors {PRESENT.format('vectors')} AND vectors.identity = ? ORDER BY vectors.version LIMIT ?"
    )
    found = rows.run(sql, (device, after, str(identity), limit))
    return [(row[0], StoredVector(row[1], row[2], bytes(row[3]), rows.unpack(row[4]))) for row in found]


def cached_vectors(rows: Rows, identity: Identity, digests: Sequence[bytes]) -> dict[bytes, Vector]:
    """Vectors by the digest of their text."""
    sql = f"SELECT digest, vector FROM vectors WHERE identity = ? AND digest IN ({placeholders(digests)})"
    found = rows.run(sql, (str(identity), *digests)) if digests else []
    return {bytes(digest): rows.unpack(vector) for digest, vector in found}


def drop_other_vectors(rows: Rows, identity: Identity) -> int:
    """Remove the vectors of all other identities; how many there were."""
    return rows.count("DELETE FROM vectors WHERE identity <> ?", (str(identity),))


def _versions(rows: Rows, copy: LogRow, seqs: Sequence[int]) -> dict[int, int]:
    """Of which of these seqs there is a line, and its version."""
    sql = f"SELECT seq, version FROM lines WHERE {OF_COPY} AND seq IN ({placeholders(seqs)}) AND line IS NOT NULL"
    return dict(rows.run(sql, (*copy.key, *seqs))) if seqs else {}  # pyright: ignore


def _write(rows: Rows, copy: LogRow, identity: str, vectors: Sequence[tuple[int, StoredVector]]) -> None:
    """Write (version, vector) of lines of a copy."""
    rows.run_many(
        "INSERT INTO vectors (device, log, epoch, seq, identity, digest, version, vector) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (device, log, epoch, seq, identity) DO UPDATE SET "
        "digest = excluded.digest, version = excluded.version, vector = excluded.vector",
        [(*copy.key, one.seq, identity, one.digest, version, rows.pack(one.vector)) for version, one in vectors],
    )
