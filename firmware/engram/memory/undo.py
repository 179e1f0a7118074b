"""The last changes, and taking them back.

The log of records holds each change with what it replaced (see records.py), so undo works after a restart too. Undo
goes back one change at a time, as far as the last compaction, and is itself a change: a line that names the line it
undoes.
"""

from engram.errors import ArgumentError, NotFound
from engram.memory import access, outdated
from engram.memory.journal.schema import TEXT_BYTES, json_bytes
from engram.memory.texts.profile import TASK

_FARTHEST = const(200)  # lines that undo looks back over: bounds its reads

_TEXT_CHANGES = const(("profile", "note"))
_CLOSED = const(" That it was done, and the end of its memories, stay kept: /undo again takes these back too.")
_OTHER = const("the latest change is of %s, not of %s; /undo alone takes it back.")
_NOT_KEPT = const(("seq", "was", "undoes", "with", "past", "restored", "outdated"))  # of a version that holds again


class TextChanges:
    """Earlier texts of files, kept in the log of records."""

    def __init__(self, store, clock):
        self._store = store
        self._clock = clock

    def note(self, kind: str, name: str, old: str, principal: str) -> None:
        if json_bytes(old) > TEXT_BYTES:
            raise ArgumentError("file", "%s is too long to be kept for /undo: shorten it on a computer." % name)
        self._store.append(self.line(kind, name, principal) + [("old", old)])

    def note_append(self, kind: str, name: str, length: int, principal: str) -> None:
        """Save a file's length in characters before a line is appended."""
        self._store.append(self.line(kind, name, principal) + [("length", length)])

    def line(self, kind: str, name: str, principal: str) -> list:
        line: list = [("op", kind), ("file", name), ("at", self._clock.now())]
        if principal != access.OWNER.principal:
            line.append(("who", principal))
        return line


class Undo:
    """Undo of all changes in the log of records; `files` restores texts by kind."""

    def __init__(self, store, journal, clock, files):
        self._store = store
        self._journal = journal
        self._clock = clock
        self._files = files

    def undo(self, caller=access.OWNER, ref: str = "") -> str:
        """Undo the caller's latest change and return a sentence; ArgumentError if it is not of `ref`."""
        undone = set()
        for looked, line in enumerate(self._store.lines_backwards()):
            if looked == _FARTHEST or line.get("op") == "compacted":
                break
            if "undoes" in line:
                undone.add(line["undoes"])
            elif line["seq"] not in undone and self._may_undo(line, caller):
                if ref and line.get("id") != ref:
                    raise ArgumentError("/undo", _OTHER % (line.get("id") or "a text", ref))
                return self._undo(line, caller)
        raise NotFound("change", "to undo", "changes are kept until the memory is compacted.")

    def _may_undo(self, line: dict, caller) -> bool:
        if "restored" in line:
            return False
        if line.get("op") in _TEXT_CHANGES:
            whose = caller.principal if line["op"] == "profile" else access.notebook_of(caller)
            return not caller.group and _whose(line) == whose
        if line.get("op") == "forget":
            return _is_seen(self._store.line(line["was"]) if "was" in line else None, caller)
        # Its later versions, and those that would come back, count too: a private record may have gone to a workspace.
        latest = self._store.get(int(line["id"][1:])) if "id" in line else None
        if not _is_seen(line, caller) or (latest is not None and not _is_seen(latest, caller)):
            return False
        older = None
        if line.get("was"):
            older = self._store.line(line["was"])
        elif "supersedes" in line:
            older = self._store.get(int(line["supersedes"][1:]))
        return older is None or "content" not in older or _is_seen(older, caller)

    def _undo(self, line: dict, caller) -> str:
        if line.get("op") in _TEXT_CHANGES:
            return self._undo_text(line)
        if line.get("op") == "forget":
            taken_back, sentence = self._brought_back(line, "%s is remembered again: %s")
        elif line.get("was"):
            taken_back, sentence = self._brought_back(line, "%s is again: %s")
        else:
            taken_back, sentence = self._taken_out(line)
        self._store.append(taken_back)
        for turn in line.get("redacts", ()):
            self._journal.show(turn, caller)
        outdated.unmark(self._journal.entries, line.get("outdated", ()), self._clock.now())
        return sentence

    def _brought_back(self, line: dict, sentence: str) -> tuple:
        old = self._store.line(line["was"])
        if old is None or "content" not in old:
            raise NotFound("earlier version", "of " + line["id"], "it left the flash when the memory was compacted.")
        kept = [(name, value) for name, value in old.items() if name not in _NOT_KEPT]
        # A tombstone leaves with compaction: the way to the versions before must not lead over it.
        kept += [("was", line["was"] if "op" in line else line["seq"]), ("undoes", line["seq"])]
        if "with" in line:
            kept.append(("with", line["with"]))
        return kept, sentence % (line["id"], old["content"])

    def _taken_out(self, line: dict) -> tuple:
        gone = [("op", "forget"), ("id", line["id"]), ("at", self._clock.now()), ("undoes", line["seq"])]
        sentence = "%s was taken back: %s" % (line["id"], line["content"])
        if "supersedes" in line:
            gone.append(("restores", line["supersedes"]))
            sentence += " (%s holds again)" % line["supersedes"]
        return gone, sentence

    def _undo_text(self, line: dict) -> str:
        files, name = self._files[line["op"]], line["file"]
        keeper = files.named(_whose(line))
        is_opened = name == TASK and not keeper.text(name).strip()
        # Put back first: cut off in between, the next undo does the same once more.
        keeper.put_back(name, line["old"] if "old" in line else keeper.text(name)[: line["length"]])
        self._store.append(files.changes.line(line["op"], name, _whose(line)) + [("undoes", line["seq"])])
        return name + " is again as it was before the last change." + (_CLOSED if is_opened else "")


def _is_seen(version, caller) -> bool:
    return bool(version) and "content" in version and access.may_see_line(caller, version)


def _whose(line: dict) -> str:
    return line.get("who", access.OWNER.principal)
