"""Repairs a log's segment: damaged bytes move to NAME.bad, whole lines stay."""

from engram import diag, files, log_line
from engram.errors import StoreError

_BAD_LARGEST = const(16384)  # bytes kept in NAME.bad: damage must not fill the flash
_BUFFER = const(512)


class Repair:
    """A repair of segments at `base`."""

    def __init__(self, base: str):
        self._base = base
        self.damaged = 0

    def is_sound(self, path: str) -> bool:
        with open(path, "rb") as file:
            return all(log_line.is_whole(line, ended) for _, line, ended in log_line.lines(file))

    def mend(self, path: str) -> None:
        before = self.damaged
        _replace(path, self._mended(path))
        if self.damaged > before:
            diag.error("store", path + ": damaged bytes were set aside in " + self._base + ".bad")

    def _mended(self, path: str):
        with open(path, "rb") as source:
            for _, line, ended in log_line.lines(source):
                if log_line.is_whole(line, ended):
                    yield line
                else:
                    yield from self.set_aside(line, ended)

    def cut(self, path: str, size: int) -> None:
        _replace(path, _beginning(path, size))

    def set_aside(self, line, ended) -> list:
        """Save damaged bytes; return the whole lines among them."""
        self.damaged += 1
        if ended is None:
            return []
        rest = bytes(line)
        start = 0
        while start >= 0 and not log_line.check(rest[start:]):
            start = rest.find(b'{"', start + 1)
        saved = []
        if start >= 0:
            saved.append(rest[start:])
            rest = rest[:start]
        if log_line.check(rest + b"\n"):
            saved.insert(0, rest + b"\n")
            rest = b""
        path = self._base + ".bad"
        if rest and max(0, files.size(path)) + len(rest) <= _BAD_LARGEST:
            with open(path, "ab") as file:
                file.write(rest if rest.endswith(b"\n") else rest + b"\n")
        return saved


def repair_file(path: str, source: str) -> int:
    """Remove damage from a small file of lines; return the number of pieces. StoreError."""
    if files.size(path) < 0:
        return 0
    repair = Repair(path[: -len(".jsonl")])
    try:
        if not repair.is_sound(path):
            repair.mend(path)
    except OSError as error:
        raise files.failure(error, path) from None
    except StoreError as error:
        # No room for that: whole lines are still read.
        diag.warning(source, str(error))
    return repair.damaged


def _replace(path: str, parts) -> None:
    try:
        files.write_parts(path, parts)
    finally:
        # MicroPython does not end a generator that is dropped: the file that it reads would stay open.
        parts.close()


def _beginning(path: str, length: int):
    with open(path, "rb") as source:
        buffer = memoryview(bytearray(_BUFFER))
        while length > 0:
            count = source.readinto(buffer[: min(length, _BUFFER)])
            if not count:
                raise StoreError("a segment became shorter while it was read; try again.")
            yield buffer[:count]
            length -= count
