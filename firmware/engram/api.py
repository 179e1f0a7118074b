"""The API for code on the board: app.memory.store(...), app.memory.search(...). It acts for the owner by default."""

from engram.errors import ArgumentError
from engram.memory import access
from engram.memory.recall import make_query
from engram.memory.records import fields


class Memory:
    """The memory for a sensor loop or a person's own main.py."""

    def __init__(self, records, recall, forgetting, caller=access.OWNER):
        self._records = records
        self._recall = recall
        self._forgetting = forgetting
        self._caller = caller

    def store(self, content: str, tags, **more) -> str:
        """Store a memory on flash and return its id; `more` has fields such as type and expires."""
        workspace = access.scope_of_tags(fields.check("tags", tags, 0))
        if workspace and more.get("scope", workspace) != workspace:
            raise ArgumentError("scope", "is that of the workspace in the tags: give one of the two.")
        if "scope" not in more:
            more["scope"] = workspace or access.ALL
        return self._records.store(content, tags, self._caller, **more).id

    def search(self, query: str, limit: int = 10, tags=(), since: int = 0, until: int = 0) -> list:
        """Return dicts with id, at, text, score and confidence (0 to 100; below 10 is no answer)."""
        ranked = self._recall.rank(make_query(query, self._caller, tags, since, until))
        return [_shown(item) for item in self._recall.find(ranked, limit)]

    def get(self, ref: str) -> dict:
        """Return a memory; NotFound if there is none with that id."""
        return self._forgetting.seen(self._records.get(ref, self._caller), self._caller)

    def newest(self, tags=()):
        return self._records.newest(self._caller, tags)

    def forget(self, ref: str, with_turns: bool = False) -> None:
        """Forget a memory, and with `with_turns` the turns that it came from."""
        self._forgetting.forget(ref, self._caller, with_turns)

    def why_empty(self, query: str) -> str:
        return self._recall.why_empty(query, self._caller)

    def of(self, caller):
        """Return the memory as seen by Caller(principal, room, group, workspace)."""
        return Memory(self._records, self._recall, self._forgetting, access.check_caller(caller))


def _shown(item) -> dict:
    shown = {"id": item.id, "at": item.at, "text": item.text, "score": item.score, "confidence": item.confidence // 10}
    if item.who:
        shown["who"] = item.who
    return shown
