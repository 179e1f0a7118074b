"""Whose a text file is: the owner's have their plain names, those of others hold the principal too (user~ann.md).

The principal is spelt so that no two share a file, on file systems too that take upper for lower case: a to z, 0 to 9 and
"-" stand for themselves, every other byte of its UTF-8 is "_" and two hexadecimal digits. So there are no new folders, each
of which takes 8 KB of a littlefs, and a name can be read back.
"""

import os

from engram import text
from engram.compat import const
from engram.errors import ArgumentError, StoreFull
from engram.memory.access import OWNER

_MARK = const("~")
_PLAIN = const(b"abcdefghijklmnopqrstuvwxyz0123456789-")
_NAME_BYTES = const(64)  # of a principal: a file's name may have 255 bytes, and one takes three letters


def file_name_of(name: str, principal: str) -> str:
    """The name on flash of a principal's file: "user.md" of ann is "user~ann.md"."""
    if principal == OWNER.principal:
        return name
    stem, _, ending = name.rpartition(".")
    return stem + _MARK + _spelling(principal) + "." + ending


def principal_of(file: str) -> tuple:
    """(name, principal) of a file of that name on flash; ("", "") if it is none of ours."""
    stem, _, ending = file.rpartition(".")
    name, mark, spelt = stem.partition(_MARK)
    if not mark:
        return file, OWNER.principal
    try:
        principal = _read(spelt)
        if file_name_of(name + "." + ending, principal) == file:
            return name + "." + ending, principal
    except (ArgumentError, ValueError):
        pass
    return "", ""


def _spelling(principal: str) -> str:
    data = text.encode(principal)
    if not 0 < len(data) <= _NAME_BYTES or not text.is_valid(principal):
        raise ArgumentError("who", "must be a name of 1 to %d bytes." % _NAME_BYTES)
    return "".join([chr(byte) if byte in _PLAIN else "_%02x" % byte for byte in data])


def _read(spelt: str) -> str:
    """The principal that is spelt so; ValueError if it is none."""
    data = bytearray()
    at = 0
    while at < len(spelt):
        if spelt[at] == "_":
            data.append(int(spelt[at + 1 : at + 3], 16))
            at += 3
        else:
            data.append(ord(spelt[at]))
            at += 1
    return text.decode(data)


class PrincipalFiles:
    """Those besides the owner who have text files of their own in some folders: at most `most`, since each takes flash."""

    def __init__(self, folders, most: int = 8):
        self._folders = folders
        self._most = most
        self._known = None

    def known(self) -> set:
        """The principals that have files."""
        if self._known is None:
            found = set()
            for folder in self._folders:
                for file in os.listdir(folder):
                    name, principal = principal_of(file)
                    if name[-3:] == ".md" and principal != OWNER.principal:
                        found.add(principal)
            self._known = found
        return self._known

    def has_room(self, principal: str) -> bool:
        """Whether a principal may have files."""
        if principal == OWNER.principal or self._has_place(principal):
            return True
        # Somebody's last file may have gone meanwhile.
        self._known = None
        return self._has_place(principal)

    def _has_place(self, principal: str) -> bool:
        return principal in self.known() or len(self.known()) < self._most

    def admit(self, principal: str) -> None:
        """A principal is about to write a file; StoreFull if that would be one principal too many."""
        if principal == OWNER.principal or principal in self.known():
            return
        if not self.has_room(principal):
            problem = "%d people besides the owner have files of their own, the most that may (principals.most)."
            raise StoreFull(problem % self._most)
        self.known().add(principal)
