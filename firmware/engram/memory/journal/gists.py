"""The gists of sessions that are longer than their window, in a few sentences that a model wrote; no other place has them.

    journal/gists.json    {"epoch", "gists": [[session, seq of the last turn that it tells, text], ..]}

A gist leaves with its session, with any turn that it tells, and when the next session of its room begins.
"""

from engram import diag, files, text
from engram.compat import const
from engram.errors import StoreError

_FILE = const("/gists.json")
_MOST = const(4)  # sessions: the oldest leave
_TOKENS = const(300)  # of one
_LARGEST = const(24576)  # bytes of the file


class Gists:
    """The gists of the journal in `store`, read when first needed."""

    def __init__(self, store):
        self._store = store
        self._path = store.log.folder + _FILE
        self._kept = None

    def of(self, sid: str) -> tuple:
        """Return (seq of the last turn that a session's gist tells, its text); (0, "") without one."""
        return self._all().get(sid, (0, ""))

    def put(self, sid: str, until: int, content: str) -> None:
        """Keep the gist of a session, cut to 300 tokens, in place of the one before."""
        content = " ".join(text.printable(content).split())
        while text.tokens(content) > _TOKENS:
            content = text.cut(content, len(content) * _TOKENS // text.tokens(content))
        kept = self._all()
        kept.pop(sid, None)
        while len(kept) >= _MOST:
            kept.pop(min(kept, key=lambda each: kept[each][0]))
        kept[sid] = until, content
        self._save()

    def drop(self, sid: str, seq: int = 0) -> None:
        """Forget a session's gist, with a seq only if it tells that turn."""
        if seq <= self.of(sid)[0] and self._all().pop(sid, None):
            self._save()

    def _all(self) -> dict:
        if self._kept is None:
            epoch, found = files.read_json(self._path, _LARGEST, _parse) or (0, {})
            self._kept = found if epoch == self._store.epoch else {}
        return self._kept

    def _save(self) -> None:
        gists = [[sid, until, content] for sid, (until, content) in self._all().items()]
        try:
            files.write(self._path, text.dumps({"epoch": self._store.epoch, "gists": gists}))
        except StoreError as error:
            diag.warning("journal", str(error))


def _parse(told) -> tuple:
    return int(told["epoch"]), {str(sid): (int(until), str(content)) for sid, until, content in told["gists"]}
