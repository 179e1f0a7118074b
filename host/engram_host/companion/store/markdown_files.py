"""Storage of Markdown files: each passage is a line of the folder's records, each file a row with their places.

Lines do not contain their position: a word inserted at the top of a file moves all passages, and none is embedded again.
"""

import json
import secrets
from collections.abc import Iterable, Sequence

from engram import log_line
from engram_host.companion.store.database import DatabaseTable, reads, writes
from engram_host.companion.store.rows import DeviceRow, LogRow, NewLine, Rows, chunks
from engram_host.companion.types import KeptFile, NewFile, StoredPassage

_MOST_EPOCH = 1 << 30

Places = list[tuple[int, int, int]]
_Said = tuple[str, str]


class FolderTable(DatabaseTable):
    @reads
    def stamps(self, rows: Rows, folder: str, after: str = "", limit: int = 1000) -> list[tuple[str, str, int, str]]:
        """Return (path, stamp, passages, problem) of a folder's files after a path, by path."""
        sql = "SELECT path, stamp, passages, problem FROM files WHERE folder = ? AND path > ? ORDER BY path LIMIT ?"
        return [(path, stamp, count, problem) for path, stamp, count, problem in rows.run(sql, (folder, after, limit))]

    @reads
    def file(self, rows: Rows, folder: str, path: str) -> KeptFile | None:
        return _read_kept_file(rows, folder, path)

    @writes
    def put_files(self, rows: Rows, folder: str, new: Sequence[NewFile], now: int) -> int:
        if not new:
            return 0
        device, copy = _folder_rows(rows, folder)
        count = sum(put_file(rows, device, copy, file, now) for file in new)
        save_folder(rows, device, copy, now)
        return count

    @writes
    def drop_files(self, rows: Rows, folder: str, paths: Sequence[str], now: int) -> None:
        if not paths:
            return
        device, copy = _folder_rows(rows, folder)
        drop_kept_files(rows, device, copy, paths, now)
        save_folder(rows, device, copy, now)

    @writes
    def drop_folder(self, rows: Rows, folder: str) -> None:
        drop_folder_rows(rows, folder)


def drop_kept_files(rows: Rows, device: DeviceRow, copy: LogRow, paths: Sequence[str], now: int) -> None:
    for path in paths:
        file = _read_kept_file(rows, device.name, path)
        if file:
            rows.remove_lines(device, copy, [seq for seq, _, _ in file.places], now)
            rows.let_go |= bool(file.places)
    rows.run_many("DELETE FROM files WHERE folder = ? AND path = ?", [(device.name, path) for path in paths])


def drop_folder_rows(rows: Rows, folder: str) -> None:
    for table, column in (
        ("files", "folder"),
        ("vectors", "device"),
        ("lines", "device"),
        ("logs", "device"),
        ("devices", "name"),
    ):
        rows.run(f"DELETE FROM {table} WHERE {column} = ?", (folder,))
    rows.let_go = True


def _read_kept_file(rows: Rows, folder: str, path: str) -> KeptFile | None:
    sql = "SELECT stamp, digest, problem, places FROM files WHERE folder = ? AND path = ?"
    for stamp, digest, problem, places in rows.run(sql, (folder, path)):
        return KeptFile(path, stamp, digest, problem, tuple(tuple(place) for place in json.loads(places)))
    return None


def _folder_rows(rows: Rows, folder: str) -> tuple[DeviceRow, LogRow]:
    device = rows.lock_or_make(folder)
    copy = rows.present_copies([folder]).get((folder, "records"))
    # A new epoch each time, so that the index of a removed folder is rebuilt.
    return device, copy or LogRow(folder, "records", secrets.randbelow(_MOST_EPOCH) + 1)


def save_folder(rows: Rows, device: DeviceRow, copy: LogRow, now: int) -> None:
    device.heard = now
    copy.have = copy.next - 1
    rows.save_devices([device])
    rows.save_logs([copy])


def put_file(rows: Rows, device: DeviceRow, copy: LogRow, file: NewFile, now: int) -> int:
    before = _read_kept_file(rows, device.name, file.path)
    old = _lines(rows, copy, [seq for seq, _, _ in before.places] if before else [])
    if before:
        # Damaged passages, which are written again if the file still has them.
        rows.remove_lines(device, copy, [seq for seq, _, _ in before.places if seq not in old], now)
    same, new = _matched(old, file.passages)
    free = sorted(old.keys() - {seq for seq, _ in same})
    places: Places = [(seq, passage.first, passage.last) for seq, passage in same]
    for seq, passage in same:
        if old[seq][1] != file.scope:
            # The text is unchanged, so its vector stays.
            at = old[seq][2]
            rows.put_lines(copy, [NewLine(seq, device.next_version(), _line(seq, file, passage, at))], now)
    replaced, free = free[: len(new)], free[len(new) :]
    seqs = [*replaced, *range(copy.next, copy.next + len(new) - len(replaced))]
    copy.next += len(new) - len(replaced)
    for seq, passage in zip(seqs, new, strict=True):
        rows.put_lines(copy, [NewLine(seq, device.next_version(), _line(seq, file, passage, file.at))], now)
        places.append((seq, passage.first, passage.last))
    rows.drop_vectors_of(copy, replaced)
    rows.remove_lines(device, copy, free, now)
    rows.let_go |= bool(replaced or free)
    places.sort(key=lambda place: place[1:])
    _save_file(rows, device.name, file, places)
    return len(new)


def _matched(
    old: dict[int, tuple[_Said, str, int]], passages: Iterable[StoredPassage]
) -> tuple[list[tuple[int, StoredPassage]], list[StoredPassage]]:
    known: dict[_Said, list[int]] = {}
    for seq, (said, _, _) in sorted(old.items(), reverse=True):
        known.setdefault(said, []).append(seq)
    same: list[tuple[int, StoredPassage]] = []
    new: list[StoredPassage] = []
    for passage in passages:
        seqs = known.get((passage.heading, passage.text))
        if seqs:
            same.append((seqs.pop(), passage))
        else:
            new.append(passage)
    return same, new


def _lines(rows: Rows, copy: LogRow, seqs: Sequence[int]) -> dict[int, tuple[_Said, str, int]]:
    found: dict[int, tuple[_Said, str, int]] = {}
    for part in chunks(seqs):
        for seq, data in rows.lines_at(copy, part):
            line = log_line.decode(data)
            found[seq] = ((line["heading"], line["content"]), line["scope"], line["created"])
    return found


def _line(seq: int, file: NewFile, passage: StoredPassage, at: int) -> bytes:
    return log_line.encode(
        [
            ("seq", seq),
            ("id", f"m{seq}"),
            ("content", passage.text),
            ("heading", passage.heading),
            ("path", file.path),
            ("scope", file.scope),
            ("created", at),
        ]
    )


def _save_file(rows: Rows, folder: str, file: NewFile, places: Places) -> None:
    known = {"stamp": file.stamp, "digest": file.digest, "problem": file.problem}
    found = {"passages": len(places), "places": json.dumps(places)}
    rows.upsert("files", "folder, path", {"folder": folder, "path": file.path, **known, **found})
