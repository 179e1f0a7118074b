"""Rows of photos and sounds of boards; their bytes are files, see companion/media/."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from engram_host.companion.errors import UnknownDevice, UnknownMedia
from engram_host.companion.store.database import DatabaseTable, reads, writes
from engram_host.companion.store.queries import Rows
from engram_host.companion.store.row_types import line_bytes
from engram_host.companion.store.sql.statements import OF_COPY, placeholders
from engram_host.companion.types import LOGS, LogName, MediaLimits

PREFIX = "media/"

_ID_CHARS = 16
_COLUMNS = "device, id, sha, type, size, scope, at, number, used"
_MOST_NUMBER = (1 << 63) - 1
_LINES_AT_ONCE = 500


@dataclass(frozen=True)
class StoredMedia:
    """A photo or sound; `type` is detected from its bytes, `at` is Unix seconds."""

    device: str
    id: str
    sha: str
    type: str
    size: int
    scope: str
    at: int
    number: int = 0
    used: int = 0

    @property
    def reference(self) -> str:
        return PREFIX + self.id


@dataclass(frozen=True)
class Mention:
    """A line that names media; `received` is Unix seconds for a line of a present copy."""

    log: LogName
    is_present: bool
    received: int
    line: bytes


def media_id(sha: str, scope: str) -> str:
    """Return the id for a scope: equal bytes are one photo, but never one of two people."""
    return hashlib.sha256(f"{sha}\0{scope}".encode()).hexdigest()[:_ID_CHARS]


class MediaTable(DatabaseTable):
    """Photos and sounds of boards; removals return the files that no row needs any more."""

    @writes
    def keep_media(self, rows: Rows, media: StoredMedia, limits: MediaLimits) -> tuple[StoredMedia, list[str]]:
        if not rows.lock([media.device]):
            raise UnknownDevice(media.device)
        ((number,),) = rows.run("SELECT coalesce(max(number), 0) + 1 FROM media WHERE device = ?", (media.device,))
        values = (media.device, media.id, media.sha, media.type, media.size, media.scope, media.at, number)
        rows.run(
            f"INSERT INTO media ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0) "
            "ON CONFLICT (device, id) DO UPDATE SET at = excluded.at, number = excluded.number, used = 0",
            values,
        )
        sql = "SELECT id, sha, size FROM media WHERE device = ? ORDER BY number DESC"
        total, beyond = 0, list[tuple[str, str]]()
        for count, (each, sha, size) in enumerate(rows.run(sql, (media.device,)), 1):
            total += size
            if count > limits.board_count or total > limits.board_bytes:
                beyond.append((each, sha))
        _delete(rows, media.device, [each for each, _ in beyond])
        return StoredMedia(*values), _without_row(rows, [sha for _, sha in beyond])

    @reads
    def find_media(self, rows: Rows, device: str, media: str) -> StoredMedia:
        for row in rows.run(f"SELECT {_COLUMNS} FROM media WHERE device = ? AND id = ?", (device, media)):
            return _media(row)
        raise UnknownMedia(media)

    @reads
    def list_media(self, rows: Rows, device: str, limit: int, before: int = _MOST_NUMBER) -> list[StoredMedia]:
        sql = f"SELECT {_COLUMNS} FROM media WHERE device = ? AND number < ? ORDER BY number DESC LIMIT ?"
        return [_media(row) for row in rows.run(sql, (device, before, limit))]

    @reads
    def known_media(self, rows: Rows, device: str, ids: Sequence[str]) -> dict[str, StoredMedia]:
        if not ids:
            return {}
        sql = f"SELECT {_COLUMNS} FROM media WHERE device = ? AND id IN ({placeholders(ids)})"
        return {each.id: each for each in map(_media, rows.run(sql, (device, *ids)))}

    @writes
    def forget_media(self, rows: Rows, media: Sequence[StoredMedia]) -> list[str]:
        """Delete media unless they were sent again since they were read."""
        gone: list[str] = []
        for each in media:
            sql = "DELETE FROM media WHERE device = ? AND id = ? AND number = ?"
            if rows.count(sql, (each.device, each.id, each.number)):
                gone.append(each.sha)
        rows.let_go |= bool(gone)
        return _without_row(rows, gone)

    @writes
    def note_used_media(self, rows: Rows, media: Sequence[StoredMedia], now: int) -> None:
        for each in media:
            sql = "UPDATE media SET used = ? WHERE device = ? AND id = ? AND number = ?"
            rows.run(sql, (now, each.device, each.id, each.number))

    @reads
    def boards_with_media(self, rows: Rows) -> list[str]:
        return [name for (name,) in rows.run("SELECT DISTINCT device FROM media ORDER BY device")]

    @reads
    def media_files(self, rows: Rows) -> set[str]:
        return {sha for (sha,) in rows.run("SELECT DISTINCT sha FROM media")}

    def media_mentions(self, device: str) -> Iterator[Mention]:
        """Yield the lines of a board that name media, from all epochs and from the set-aside lines."""
        for log in LOGS:
            for epoch, is_present in self._epochs(device, log):
                after = -1
                while part := self._mentions(device, log, epoch, after):
                    for seq, received, line in part:
                        after = seq
                        yield Mention(log, is_present, received, line_bytes(line))
        for log, line in self._aside(device):
            yield Mention(log, False, 0, line)

    @reads
    def _epochs(self, rows: Rows, device: str, log: LogName) -> list[tuple[int, bool]]:
        return [(copy.epoch, copy.is_present) for copy in rows.copies(device, log)]

    @reads
    def _mentions(self, rows: Rows, device: str, log: LogName, epoch: int, after: int) -> Sequence[tuple[Any, ...]]:
        where = f"{OF_COPY} AND seq > ? AND line IS NOT NULL AND {rows.contains}"
        sql = f"SELECT seq, received, line FROM lines WHERE {where} ORDER BY seq LIMIT ?"
        return rows.run(sql, (device, log, epoch, after, PREFIX.encode(), _LINES_AT_ONCE))

    @reads
    def _aside(self, rows: Rows, device: str) -> list[tuple[LogName, bytes]]:
        sql = f"SELECT log, line FROM aside WHERE device = ? AND {rows.contains}"
        return [(log, line_bytes(line)) for log, line in rows.run(sql, (device, PREFIX.encode()))]


def _delete(rows: Rows, device: str, ids: Sequence[str]) -> None:
    for each in ids:
        rows.run("DELETE FROM media WHERE device = ? AND id = ?", (device, each))
    rows.let_go |= bool(ids)


def _without_row(rows: Rows, shas: Sequence[str]) -> list[str]:
    return [sha for sha in dict.fromkeys(shas) if not rows.run("SELECT 1 FROM media WHERE sha = ? LIMIT 1", (sha,))]


def _media(row: Sequence[Any]) -> StoredMedia:
    return StoredMedia(*row)
