"""The API for code on the board: app.memory.store(...), app.memory.search(...). It acts for the owner by default."""

from engram.errors import ArgumentError
from engram.memory import access
from engram.memory.recall import make_query
from engram.memory.records import fields


class Memory:
    """The memory as a sensor loop or a person's own main.py uses it."""

    def __init__(self, records, recall, forgetting, caller=access.OWNER):
        self._records = records
        self._recall = recall
        self._forgetting = forgetting
        self._caller = caller

    def store(self, content: str, tags, **more) -> str:
        """Keep a memory that all may see, with a tag ws:ID those in that workspace; its id. It is on flash when this returns.

        more: keywords, type, importance, pinned, expires (Unix seconds), supersedes (an id), source, scope.
        """
        workspace = access.scope_of_tags(fields.check("tags", tags, 0))
        if workspace and more.get("scope", workspace) != workspace:
            raise ArgumentError("scope", "is that of the workspace in the tags: give one of the two.")
        if "scope" not in more:
            more["scope"] = workspace or access.ALL
        return self._records.store(content, tags, self._caller, **more).id

    def search(self, query: str, limit: int = 10, tags=(), since: int = 0, until: int = 0) -> list:
        """The memories and turns that fit best, as dicts with id, at, text, score and confidence (and who, for a turn).

        The confidence, 0 to 100, says how sure it is that this is an answer; below 10 it is only what came nearest.
        """
        ranked = self._recall.rank(make_query(query, self._caller, tags, since, until))
        return [_shown(item) for item in self._recall.find(ranked, limit)]

    def get(self, ref: str) -> dict:
        """A memory by its id; NotFound if there is none."""
        return self._forgetting.seen(self._records.get(ref, self._caller), self._caller)

    def newest(self, tags=()):
        """Yield the memories, newest first; those that have all `tags`."""
        return self._records.newest(self._caller, tags)

    def forget(self, ref: str, with_turns: bool = False) -> None:
        """Let a memory go, and with it the turns that it came from if wanted."""
        self._forgetting.forget(ref, self._caller, with_turns)

    def why_empty(self, query: str) -> str:
        """Return the reason why a search found nothing."""
        return self._recall.why_empty(query, self._caller)

    def of(self, caller):
        """The memory as somebody else sees it, or the owner in a workspace: Caller(principal, room, group, workspace)."""
        return Memory(self._records, self._recall, self._forgetting, access.check_caller(caller))


def _shown(item) -> dict:
    shown = {"id": item.id, "at": item.at, "text": item.text, "score": item.score, "confidence": item.confidence // 10}
    if item.who:
        shown["who"] = item.who
    return shown
