"""Memories that left because there was no room. They are out of every search, and may be taken home or brought back.

memory/trash.jsonl        the lines that they had in the log of records, with "left", the moment; newest last
memory/trash.old.jsonl    those before them: they go when the first file has half of what both may have
"""

from engram import diag, files, log_line
from engram.compat import const
from engram.memory import access
from engram.memory.records.provenance import origin_of

_FILE = const("/trash.jsonl")
_OLD = const("/trash.old.jsonl")
_BUFFER = const(512)


class Trash:
    """The files in a folder, of about `limit` bytes together; 0 keeps nothing."""

    def __init__(self, folder: str, limit: int = 65536):
        self._path = folder + _FILE
        self._old = folder + _OLD
        self._limit = limit
        self.gone = 0
        """Lines that left the trash itself since the start."""

    def add(self, records) -> None:
        """Keep lines, each a list of (key, value) pairs; they are on flash when this returns. StoreFull, StoreError."""
        if not self._limit:
            return
        part = []
        size = max(0, files.size(self._path))
        for line in (log_line.encode(pairs) for pairs in records):
            if size + len(line) > self._limit // 2:
                self._append(part)
                self._turn_over()
                part, size = [], 0
            part.append(line)
            size += len(line)
        self._append(part)

    def _append(self, lines: list) -> None:
        if not lines:
            return
        try:
            with open(self._path, "ab") as file:
                # An unfinished line, as a file system other than littlefs may leave, ends here.
                file.write(b"\n" if not self._is_ended() else b"")
                for line in lines:
                    file.write(line)
        except OSError as error:
            raise files.failure(error, self._path) from None

    def _turn_over(self) -> None:
        if files.size(self._path) <= 0:
            return
        left = sum(1 for _ in _lines(self._old))
        files.rename(self._path, self._old)
        if left:
            self.gone += left
            diag.info("memory", "%d memories left the trash for good" % left)

    def _is_ended(self) -> bool:
        if files.size(self._path) <= 0:
            return True
        with open(self._path, "rb") as file:
            file.seek(-1, 2)
            return file.read(1) == b"\n"

    def records(self):
        """Yield what is there, oldest first, as dicts; one that was brought back or stands twice may come again."""
        for path in (self._old, self._path):
            for line in _lines(path):
                yield log_line.decode(line)

    def find(self, number: int, caller):
        """The copy of a record, None if there is none that the caller may see."""
        found = None
        for record in self.records():  # to the end, which closes the files
            if not found and record["id"] == "m%d" % number and access.may_see_line(caller, record):
                found = record
        return found

    def remove_origins(self, origins, epoch: int, caller) -> int:
        """Take out the copies of records with these origins, as far as the caller may see them; how many there were.

        `epoch` is that of the records.
        """
        return self.remove(lambda record: origin_of(record, epoch) in origins and access.may_see_line(caller, record))

    def remove(self, wanted) -> int:
        """Take out the records for which wanted(record) is true; how many there were."""
        removed = 0
        for path in (self._old, self._path):
            count = sum(1 for line in _lines(path) if wanted(log_line.decode(line)))
            if count:
                files.write_parts(path, (line for line in _lines(path) if not wanted(log_line.decode(line))))
            removed += count
        return removed

    @property
    def bytes(self) -> int:
        """Bytes of both files."""
        return max(0, files.size(self._path)) + max(0, files.size(self._old))


def _lines(path: str):
    """Yield the undamaged lines of a file."""
    for line in log_line.whole_lines(path, bytearray(_BUFFER)):
        if line:
            yield line
