"""Files that come with a message: one that /import reads is kept for the owner, all else is refused in a sentence."""

import asyncio

from engram import files
from engram.compat import const, wait_for_ms
from engram.errors import ArgumentError, EngramError
from engram.memory import access
from engram.text.utf8 import encode

_LARGEST = const(262144)  # bytes: what a board can hold beside its memory, and bring in within minutes
FILE_MS = 60_000
"""Longest time that a file may take: meanwhile its link serves nobody else."""

_NAME_LONGEST = const(64)
_NAME = const(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")
_FORM = const(".jsonl")
_ELSE = const("received.jsonl")  # for a name that /import does not take

_OTHERS = const("files are taken from the owner only, in private.")
_KIND = const("only .jsonl files are taken; use `engram import FILE` on a computer for others.")
_SLOW = const("takes too long over this link: send it in parts.")
_SIZE = const("is longer than %d bytes, which is as much as is taken: send it in parts.")


async def receive(folder: str, message, sink) -> None:
    """Keep a file that came with a message; tells the sink how it is imported, or why it is refused."""
    try:
        await sink.line(await _kept(folder, message.caller, message.file))
    except EngramError as error:
        await sink.refuse(str(error))


async def _kept(folder: str, caller, file) -> str:
    name, size, open_file = file
    shown = name[:_NAME_LONGEST]
    if not access.is_owner(caller):
        raise ArgumentError(shown, _OTHERS)
    if not name.lower().endswith(_FORM):
        raise ArgumentError(shown, _KIND)
    if size > _LARGEST:
        raise ArgumentError(shown, _SIZE % _LARGEST)
    if len(name) > _NAME_LONGEST or name.startswith(".") or [byte for byte in encode(name) if byte not in _NAME]:
        name = _ELSE
    try:
        count = await wait_for_ms(_fetch(open_file, folder + "/" + name, shown), FILE_MS)
    except asyncio.TimeoutError:
        raise ArgumentError(shown, _SLOW) from None
    return "%s is kept (%d bytes): /import %s brings it in" % (name, count, name)


async def _fetch(open_file, path: str, shown: str) -> int:
    source = await open_file()
    try:
        return await _copy(source, path, shown)
    finally:
        await source.close()


async def _copy(source, path: str, shown: str) -> int:
    """Write what is read to a file, in place of what is there, once it is whole; the number of bytes."""
    count = 0
    is_whole = False
    draft = path + ".new"
    try:
        with open(draft, "wb") as target:
            while True:
                piece = await source.read()
                if not piece:
                    break
                count += len(piece)
                if count > _LARGEST:
                    raise ArgumentError(shown, _SIZE % _LARGEST)
                target.write(piece)
        is_whole = True
    except OSError as error:
        raise files.failure(error, path) from None
    finally:
        if not is_whole:
            files.discard(draft)
    files.rename(draft, path)
    return count
