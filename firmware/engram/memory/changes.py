"""What was changed lately, and taking it back.

The log of records holds each change with what it replaced (see records.py), so undo works after a restart too. Undo
goes back one change at a time and is itself a change: a line that names the line it undoes.
"""

from engram.compat import const
from engram.errors import NotFound

_FARTHEST = const(64)  # lines that undo looks back over: bounds its reads

_TEXT_CHANGES = ("profile", "note")


class Changes:
    """Notes changes of text files in the log of records, and undoes changes of all kinds."""

    def __init__(self, store, journal, clock):
        self._store = store
        self._journal = journal
        self._clock = clock
        self._files = {}

    def takes_back(self, kind: str, keeper) -> None:
        """Tell who puts files of a kind back: an object with put_back(name, content) and text(name)."""
        self._files[kind] = keeper

    def note(self, kind: str, name: str, old: str) -> None:
        """Keep a file's text before it is replaced."""
        self._store.append([("op", kind), ("file", name), ("old", old), ("at", self._clock.now())])

    def note_append(self, kind: str, name: str, length: int) -> None:
        """Keep a file's length in characters before a line is added to it."""
        self._store.append([("op", kind), ("file", name), ("length", length), ("at", self._clock.now())])

    def undo(self) -> str:
        """Take the latest change back that was not taken back yet; a sentence that says what was done."""
        undone = set()
        for looked, line in enumerate(self._store.lines_backwards()):
            if looked == _FARTHEST:
                break
            if "undoes" in line:
                undone.add(line["undoes"])
            elif line["seq"] not in undone:
                return self._undo(line)
        raise NotFound("change", "to undo", "changes are kept until the memory is compacted.")

    def _undo(self, line: dict) -> str:
        if line.get("op") in _TEXT_CHANGES:
            return self._undo_text(line)
        if line.get("op") == "forget":
            sentence = self._bring_back(line, "%s is remembered again: %s")
            for turn in line.get("redacts", ()):
                self._journal.show(turn)
            return sentence
        if line.get("was"):
            return self._bring_back(line, "%s is again: %s")
        return self._take_out(line)

    def _bring_back(self, line: dict, sentence: str) -> str:
        """Write the version before a line once more."""
        old = self._store.line(line["was"])
        if old is None or "content" not in old:
            raise NotFound("earlier version", "of " + line["id"], "it left the flash when the memory was compacted.")
        kept = [(name, value) for name, value in old.items() if name not in ("seq", "was", "undoes")]
        self._store.append(kept + [("was", line["seq"]), ("undoes", line["seq"])])
        return sentence % (line["id"], old["content"])

    def _take_out(self, line: dict) -> str:
        """Let a new record go; what it superseded is live again."""
        gone = [("op", "forget"), ("id", line["id"]), ("at", self._clock.now()), ("undoes", line["seq"])]
        sentence = "%s was taken back: %s" % (line["id"], line["content"])
        if "supersedes" in line:
            gone.append(("restores", line["supersedes"]))
            sentence += " (%s holds again)" % line["supersedes"]
        self._store.append(gone)
        return sentence

    def _undo_text(self, line: dict) -> str:
        keeper = self._files[line["op"]]
        name = line["file"]
        current = keeper.text(name)
        content = line["old"] if "old" in line else current[: line["length"]]
        self._store.append(
            [("op", line["op"]), ("file", name), ("old", current), ("at", self._clock.now()), ("undoes", line["seq"])]
        )
        keeper.put_back(name, content)
        return name + " is again as it was before the last change."
