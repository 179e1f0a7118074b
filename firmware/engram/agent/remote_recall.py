"""The companion's part of the agent's tools: requests, results, and notes on the archive while it is away."""

from collections import namedtuple

from engram.agent.schemas import NOTE_LINES
from engram.memory.texts.notes import MEMORY, is_note


class RemoteRecall(namedtuple("RemoteRecall", "search archive archived notes")):
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

    def add_notes(self, answer: dict, more, is_list: bool) -> None:
        """Add the companion's note to an answer, and a remark on the archive if it did not reply."""
        if more and more.note:
            answer["note"] = more.note
        if not self.archived or not self.archived.total or (more and (more.ranked or not more.note)):
            return
        away = "" if self.search and self.search.is_connected else ", which is not connected"
        if "reason" in answer:
            answer["reason"] = "on the board, %s More may be with the companion%s." % (answer["reason"], away)
        elif is_list:
            answer["older"] = "more may be with the companion%s." % away
