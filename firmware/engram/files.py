"""Small files with atomic writes: new content goes to a draft, which then replaces the old file. A later
write overwrites an interrupted draft.
"""

import os
from binascii import crc32
from struct import pack

from engram import diag
from engram.errors import StoreError, StoreFull
from engram.text.strict_json import loads

ENOENT = 2
EEXIST = 17
ENOSPC = 28
_DRAFT = const(".new")
_JUMP_FROM = const(3500)
_JUMP_TO = const(4096)
_CRC = const(4)  # bytes of it at the end of a packed file
_DAMAGE = (StoreError, ValueError, TypeError, AttributeError, LookupError)
_PIECE = const(512)  # bytes that are read at once: bounds the heap


def read(path: str, limit: int):
    """Return a file's bytes, None without a file; StoreError if longer than `limit`."""
    try:
        with open(path, "rb") as file:
            length = file.seek(0, 2)
            if length > limit:
                raise StoreError(path + " is longer than " + str(limit) + " bytes: shorten it or move it away.")
            file.seek(0)
            # Asking for more would take as much heap, whatever there is.
            return file.read(length)
    except OSError as error:
        if error.errno == ENOENT:
            return None
        raise failure(error, path) from None


def write(path: str, content) -> None:
    """Replace or create a file; StoreFull or StoreError leave the old content."""
    write_parts(path, (content.encode() if isinstance(content, str) else content,))


def write_parts(path: str, parts) -> None:
    """Write an iterable of bytes like write()."""
    try:
        with open(path + _DRAFT, "wb") as file:
            for part in parts:
                file.write(part)
        os.rename(path + _DRAFT, path)
    except OSError as error:
        discard(path + _DRAFT)
        for _ in parts:  # to their end: a file that they are read from is closed there
            pass
        raise failure(error, path) from None


def read_packed(path: str, limit: int) -> bytes:
    """Return the bytes that write_packed() wrote, b"" if missing or damaged."""

    def checked(data: bytes) -> bytes:
        if pack("<I", crc32(data[:-_CRC])) != data[-_CRC:]:
            raise ValueError("its crc does not fit")
        return data[:-_CRC]

    return _read(path, limit + _CRC, checked) or b""


def write_packed(path: str, data: bytes) -> None:
    """Replace the bytes of a file for read_packed()."""
    write(path, data + pack("<I", crc32(data)))


def read_json(path: str, limit: int, parse):
    """Return parse(value) of a JSON file; None without a file, or where it raises."""
    return _read(path, limit, lambda data: parse(loads(data)))


def _read(path: str, limit: int, parse):
    try:
        data = read(path, limit)
        return None if data is None else parse(data)
    except _DAMAGE as error:
        diag.warning("files", "%s is damaged and begins again (%s)" % (path, error))
        return None


def rename(path: str, new: str) -> None:
    """Rename a file in one step, replacing any file of that name; StoreError."""
    try:
        os.rename(path, new)
    except OSError as error:
        raise failure(error, path) from None


def discard(path: str) -> None:
    """Remove an unfinished draft to free its room."""
    try:
        os.remove(path)
    except OSError:
        pass


def remove(path: str) -> bool:
    try:
        os.remove(path)
    except OSError as error:
        if error.errno == ENOENT:
            return False
        raise failure(error, path) from None
    return True


def seek(file, offset: int) -> None:
    """Seek for reading; littlefs up to 2.10.0 reads stale bytes after some jumps between blocks."""
    if _JUMP_FROM <= offset - file.tell() <= _JUMP_TO:
        file.seek(0)
    file.seek(offset)


def size(path: str) -> int:
    try:
        return os.stat(path)[6]
    except OSError as error:
        if error.errno == ENOENT:
            return -1
        raise failure(error, path) from None


def names(folder: str) -> list:
    """Return the names in a folder; StoreError."""
    try:
        return os.listdir(folder)
    except OSError as error:
        raise failure(error, folder) from None


def crc_of(file, length: int) -> int:
    """Return the crc32 of the next bytes of an open file, -1 if it is shorter."""
    crc = 0
    while length:
        part = file.read(min(length, _PIECE))
        if not part:
            return -1
        crc = crc32(part, crc)
        length -= len(part)
    return crc


def make_folder(path: str) -> None:
    made = ""
    for part in path.split("/"):
        made += part
        if made:
            try:
                os.mkdir(made)
            except OSError as error:
                if error.errno != EEXIST:
                    raise failure(error, made) from None
        made += "/"


def failure(error: OSError, path: str) -> StoreError:
    if error.errno == ENOSPC:
        return StoreFull("the flash is full: forget something or export and compact, then try again (" + path + ").")
    if error.errno in (1, 13, 30):
        return StoreError(path + " cannot be written: check who owns the folder and whether it is writable.")
    return StoreError(path + " could not be read or written (error " + str(error.errno) + "); try again.")
