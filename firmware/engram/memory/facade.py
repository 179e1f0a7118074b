"""What code on the board calls: app.memory.store(...), app.memory.search(...). It acts for the owner."""

from engram.memory import scope


class Memory:
    """The memory as a sensor loop or a person's own main.py uses it; `parts` has records, recall and forgetting."""

    def __init__(self, parts):
        self._records = parts.records
        self._recall = parts.recall
        self._forgetting = parts.forgetting

    def store(self, content: str, tags, **more) -> str:
        """Keep a memory that all may see; its id. It is on flash when this returns.

        more: keywords, type, importance, pinned, expires (Unix seconds), supersedes (an id), source, scope.
        """
        if "scope" not in more:
            more["scope"] = scope.ALL
        return self._records.store(content, tags, **more).id

    def search(self, query: str, limit: int = 10, tags=(), since: int = 0, until: int = 0) -> list:
        """The memories and turns that fit best, as dicts with id, at, text and score (and who, for a turn)."""
        found = self._recall.find(query, scope.OWNER, limit, (), tags, since, until)
        return [_shown(item) for item in found]

    def get(self, ref: str) -> dict:
        """A memory by its id; NotFound if there is none."""
        return self._records.get(ref)

    def newest(self, tags=()):
        """Yield the memories, newest first; those that have all `tags`."""
        return self._records.newest(scope.OWNER, tags)

    def forget(self, ref: str, with_turns: bool = False) -> None:
        """Let a memory go, and with it the turns that it came from if wanted."""
        self._forgetting.forget(ref, with_turns=with_turns)

    def why_empty(self, query: str) -> str:
        """Why a search found nothing."""
        return self._recall.why_empty(query, scope.OWNER)


def _shown(item) -> dict:
    shown = {"id": item.id, "at": item.at, "text": item.text, "score": item.score}
    if item.who:
        shown["who"] = item.who
    return shown
