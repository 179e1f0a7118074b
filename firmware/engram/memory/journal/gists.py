"""The gists of sessions that are longer than their window, in a few sentences that a model wrote; no other place has them.

    journal/gists.json    {"SESSION of EPOCH": [seq of the last turn that it tells, text], ..}

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
        if self._kept is None:
            self._kept = files.read_json(self._path, _LARGEST, _parse) or {}
        return self._kept.get(self._key(sid), (0, ""))

    def put(self, sid: str, until: int, content: str) -> None:
        """Keep the gist of a session, cut to 300 tokens, in place of the one before; "" forgets it."""
        self.of(sid)  # so that all are read
        content = " ".join(text.printable(content).split())
        while text.tokens(content) > _TOKENS:
            content = text.cut(content, len(content) * _TOKENS // text.tokens(content))
        others = sorted([(value, key) for key, value in self._kept.items() if key != self._key(sid)])
        self._kept = {key: value for value, key in others[1 - _MOST :]}
        if content:
            self._kept[self._key(sid)] = until, content
        try:
            files.write(self._path, text.dumps(self._kept))
        except StoreError as error:
            diag.warning("journal", str(error))

    def drop(self, sid: str, seq: int = 1) -> None:
        """Forget a session's gist if it tells a turn."""
        if seq <= self.of(sid)[0]:
            self.put(sid, 0, "")

    def _key(self, sid: str) -> str:
        return "%s of %d" % (sid, self._store.epoch)


def _parse(told: dict) -> dict:
    return {key: (int(until), str(content)) for key, (until, content) in told.items()}
