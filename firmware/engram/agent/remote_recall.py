"""The companion's part of memory_recall: requests, results, and notes on the archive while it is away."""

from collections import namedtuple

from engram.agent.schemas import NOTE_LINES
from engram.compat import const
from engram.memory.recall import make_query
from engram.memory.texts.notes import MEMORY, is_note

_MOST = const(50)  # items of an answer of the companion
_TAG_LONGEST = const(64)  # characters of one in a message


class RemoteRecall(namedtuple("RemoteRecall", "records recall search archive archived notes")):
    """The tools' access to a companion and its archive; each part may be None."""

    async def read(self, arguments: dict, caller):
        """Return (line, problem) of an archived id or a file of the companion, None for anything else."""
        ref = arguments.get("id", "")
        path, mark, line = ref.partition("#")
        if mark and not self._is_own(path, caller):
            if not self.search:
                return None, "%s is not on the board, and there is no companion." % path
            begin = int(line) if line.encode().isdigit() else arguments.get("first", 1)
            return await self.search.read_file(path, max(1, begin), arguments.get("count", NOTE_LINES), caller)
        archive = self.archive
        return await archive.fetched(ref, caller) if archive and ref and archive.may_be_archived(ref, caller) else None

    def _is_own(self, path: str, caller) -> bool:
        """True if a file belongs to the board, even if it is missing: groups never see notes."""
        if path == MEMORY or not is_note(path):
            return path == MEMORY
        return caller.group or not self.search or path in self.notes.for_caller(caller).names()

    async def find(self, ranked, limit: int):
        """Return the companion's results beside the board's ranking of memories and turns."""
        return await self.search.found(ranked, limit, True) if self.search else None

    async def find_memories(self, query, ranked, limit: int):
        """Return the results of a search of memories; by tags alone if the query has no words."""
        tags = query.tags
        if not self.search or not all(0 < len(tag) <= _TAG_LONGEST for tag in tags):
            return None  # no memory has it, and a message has no room for it
        if ranked:
            # The companion may find turns before the memories.
            return await self.search.found(ranked, limit if tags else _MOST)
        wanted = make_query(" ".join(tags), query.caller, tags, query.since, query.until)
        if self.archived and self.archived.total and self.records.count(query.caller, tags) < limit:
            # However good the board's own answer is, one with the tag may have left it; newer ones go before it.
            return await self.search.search(wanted, _MOST)
        return await self.search.found(self.recall.rank(wanted), _MOST)

    def add_notes(self, answer: dict, more, query) -> None:
        """Add the companion's notes to an answer, and a remark on the archive if it did not reply."""
        if more and more.note:
            answer["note"] = more.note
        if not self.archived or not self.archived.total or (more and (more.ranked or not more.note)):
            return
        away = "" if self.search and self.search.is_connected else ", which is not connected"
        if "reason" in answer:
            answer["reason"] = "on the board, %s More may be with the companion%s." % (answer["reason"], away)
        elif query.tags:
            answer["older"] = "more may be with the companion%s." % away
