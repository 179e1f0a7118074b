"""Rows of photos and sounds of boards; their bytes are files, see companion/media/."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from engram_host.companion.errors import UnknownDevice, UnknownMedia
from engram_host.companion.store.database import DatabaseTable, reads, writes
from engram_host.companion.store.rows import AT_ONCE, OF_COPY, Rows, columns_of, in_list, line_bytes, row_values
from engram_host.companion.types import LOGS, LogName, MediaLimits

PREFIX = "media/"

_ID_CHARS = 16
_MOST_NUMBER = (1 << 63) - 1


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


_COLUMNS = columns_of(StoredMedia)


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
    @writes
    def keep_media(self, rows: Rows, media: StoredMedia, limits: MediaLimits) -> tuple[StoredMedia, list[str]]:
        if not rows.lock([media.device]):
            raise UnknownDevice(media.device)
        ((number,),) = rows.run("SELECT coalesce(max(number), 0) + 1 FROM media WHERE device = ?", (media.device,))
        kept = replace(media, number=number, used=0)
        rows.upsert("media", "device, id", row_values(kept))
        newest = "OVER (ORDER BY number DESC)"
        sized = f"SELECT id, count(*) {newest} AS place, sum(size) {newest} AS total FROM media WHERE device = ?"
        beyond = f"SELECT id FROM ({sized}) AS sized WHERE place > ? OR total > ?"
        sql = f"DELETE FROM media WHERE device = ? AND id IN ({beyond}) RETURNING sha"
        gone = rows.run(sql, (media.device, media.device, limits.board_count, limits.board_bytes))
        return kept, _unused_files(rows, gone)

    @reads
    def find_media(self, rows: Rows, device: str, media: str) -> StoredMedia:
        for row in rows.run(f"SELECT {_COLUMNS} FROM media WHERE device = ? AND id = ?", (device, media)):
            return StoredMedia(*row)
        raise UnknownMedia(media)

    @reads
    def list_media(self, rows: Rows, device: str, limit: int, before: int = _MOST_NUMBER) -> list[StoredMedia]:
        sql = f"SELECT {_COLUMNS} FROM media WHERE device = ? AND number < ? ORDER BY number DESC LIMIT ?"
        return [StoredMedia(*row) for row in rows.run(sql, (device, before, limit))]

    @reads
    def known_media(self, rows: Rows, device: str, ids: Sequence[str]) -> dict[str, StoredMedia]:
        some, values = in_list(ids)
        found = (
            rows.run(f"SELECT {_COLUMNS} FROM media WHERE device = ? AND id {some}", (device, *values))
            if values
            else []
        )
        return {media.id: media for media in (StoredMedia(*row) for row in found)}

    @writes
    def forget_media(self, rows: Rows, media: Sequence[StoredMedia]) -> list[str]:
        sql = "DELETE FROM media WHERE device = ? AND id = ? AND number = ? RETURNING sha"
        return _unused_files(
            rows, [row for each in media for row in rows.run(sql, (each.device, each.id, each.number))]
        )

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
        return rows.run(sql, (device, log, epoch, after, PREFIX.encode(), AT_ONCE))

    @reads
    def _aside(self, rows: Rows, device: str) -> list[tuple[LogName, bytes]]:
        sql = f"SELECT log, line FROM aside WHERE device = ? AND {rows.contains}"
        return [(log, line_bytes(line)) for log, line in rows.run(sql, (device, PREFIX.encode()))]


def _unused_files(rows: Rows, gone: Sequence[tuple[Any, ...]]) -> list[str]:
    rows.let_go |= bool(gone)
    files = dict.fromkeys(sha for (sha,) in gone)
    return [sha for sha in files if not rows.run("SELECT 1 FROM media WHERE sha = ? LIMIT 1", (sha,))]
