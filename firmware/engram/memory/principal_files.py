"""The text files of each principal, and whose one is: the owner's have their plain names, those of others hold the principal
too (user~ann.md). The notes of a workspace are those of one more principal, "ws:garden".

The principal is spelt so that no two share a file, on file systems too that take upper for lower case: a to z, 0 to 9 and
"-" stand for themselves, every other byte of its UTF-8 is "_" and two hexadecimal digits. So there are no new folders, each
of which takes 8 KB of a littlefs, and a name can be read back.
"""

from engram import files, text
from engram.errors import ArgumentError, StoreFull
from engram.memory.access import OWNER
from engram.memory.journal.schema import TEXT_BYTES, json_bytes

_MARK = const("~")
_PLAIN = const(b"abcdefghijklmnopqrstuvwxyz0123456789-")
_NAME_BYTES = const(64)  # of a principal: a file's name may have 255 bytes, and one takes three letters


def file_name_of(name: str, principal: str) -> str:
    if principal == OWNER.principal:
        return name
    stem, _, ending = name.rpartition(".")
    return stem + _MARK + _spelling(principal) + "." + ending


def principal_of(file: str) -> tuple:
    """Return (name, principal) of a file on flash, ("", "") if it is not ours."""
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
    """The principals with text files of their own, at most `most`, as each takes flash."""

    def __init__(self, folders, most: int):
        self._folders = folders
        self._most = most
        self._known = None

    def known(self) -> set:
        if self._known is None:
            found = set()
            for folder in self._folders:
                for file in files.names(folder):
                    name, principal = principal_of(file)
                    if name[-3:] == ".md" and principal != OWNER.principal:
                        found.add(principal)
            self._known = found
        return self._known

    def has_room(self, principal: str) -> bool:
        """True if a principal may have files."""
        if principal == OWNER.principal or principal in self.known():
            return True
        if len(self.known()) >= self._most:
            # Somebody's last file may have gone meanwhile.
            self._known = None
        return len(self.known()) < self._most

    def admit(self, principal: str) -> None:
        """Register a principal before a write; StoreFull at the limit."""
        if not self.has_room(principal):
            problem = "%d people and workspaces have files of their own, the most that may (principals.most)."
            raise StoreFull(problem % self._most)
        if principal != OWNER.principal:
            self.known().add(principal)


class PrincipalTexts:
    """The text files of one principal; no other's can be named here."""

    # A kind of texts has _path(name) and _check_writable(name), which raise ArgumentError for invalid names.

    kind = ""
    """Name of the kind for undo."""
    most_bytes = 4
    """Maximum bytes per character read: a person may exceed the limit."""

    def __init__(self, texts, principal: str):
        self._texts = texts
        self._principal = principal

    def _path(self, name: str) -> str:
        raise NotImplementedError

    def _check_writable(self, name: str) -> None:
        raise NotImplementedError

    def _limit(self, name: str) -> int:
        """Return the maximum characters of a file."""
        return self._texts.limit

    def _whole(self, name: str) -> str:
        """Return a file's whole text, "" without one; invalid UTF-8 becomes U+FFFD."""
        data = files.read(self._path(name), self._texts.limit * self.most_bytes)
        return "" if data is None else text.decode(data)

    def write(self, name: str, content: str) -> None:
        self._check_writable(name)
        self._change(name, content)

    def append(self, name: str, line: str) -> None:
        self.write(name, appended(self._whole(name), line))

    def replace(self, name: str, old: str, new: str) -> None:
        self.write(name, _replaced(self._whole(name), old, new, name))

    def put_back(self, name: str, content: str) -> None:
        """Restore a file's text from before a change."""
        self._texts.people.admit(self._principal)
        self._texts.put(self._path(name), content)

    def _change(self, name: str, content: str) -> None:
        path = self._path(name)
        self._check_text(name, content)
        self._texts.changes.note(self.kind, name, self._whole(name), self._principal)
        self._texts.put(path, content)

    def _check_text(self, name: str, content: str) -> None:
        """Raise ArgumentError if a text does not fit, StoreFull if no file is left."""
        if not isinstance(content, str):
            raise ArgumentError("text", "must be a text.")
        if "\0" in content:
            raise ArgumentError("text", "must not contain a NUL character.")
        sizes = (len(content), "characters", self._limit(name)), (json_bytes(content), "bytes", TEXT_BYTES)
        for size, unit, most in sizes:
            if size > most:
                problem = "%s would have %d %s, at most %d are kept: shorten it or remove what is out of date."
                raise ArgumentError("text", problem % (name, size, unit, most))
        self._texts.people.admit(self._principal)


def appended(content: str, line: str) -> str:
    if not isinstance(line, str) or not line.strip():
        raise ArgumentError("text", "must be a text that is not empty.")
    if content and not content.endswith("\n"):
        content += "\n"
    return content + line.rstrip("\n") + "\n"


def _replaced(content: str, old: str, new: str, name: str) -> str:
    """Return the content with `old` replaced; ArgumentError unless it occurs exactly once."""
    if not isinstance(old, str) or not old:
        raise ArgumentError("old", "must be the text to replace, exactly as it stands in %s." % name)
    if not isinstance(new, str):
        raise ArgumentError("text", "must be a text.")
    found = content.count(old)
    if found != 1:
        times = "%d times" % found if found else "not at all"
        problem = "stands %s in %s; give a piece of it that stands there exactly once." % (times, name)
        raise ArgumentError("old", problem)
    return content.replace(old, new)
