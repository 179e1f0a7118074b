"""The gists of sessions that are longer than their window, in a few sentences that a model wrote; no other place has them.

    journal/gists.json    {"SESSION of EPOCH WORKSPACE": [seq of the last turn that it tells, text], ..}

A gist tells what was said in one workspace, or outside of all. It leaves with its session, with any turn that it may tell that
is forgotten or outdated, and when the next session of its room begins.
"""

from engram import diag, files, text
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

    def of(self, sid: str, workspace: str) -> tuple:
        """Return (seq of the last turn that the gist of a session tells, its text); (0, "") without one."""
        return self._all().get(self._key(sid, workspace), (0, ""))

    def put(self, sid: str, workspace: str, until: int, content: str) -> None:
        """Keep the gist of what a session said in a workspace, cut to 300 tokens, in place of the one before."""
        content = " ".join(text.printable(content).split())
        while text.tokens(content) > _TOKENS:
            content = text.cut(content, len(content) * _TOKENS // text.tokens(content))
        key = self._key(sid, workspace)
        others = sorted([(value, other) for other, value in self._all().items() if other != key])
        self._save([(other, value) for value, other in others[1 - _MOST :]] + [(key, (until, content))])

    def drop(self, sid, seq: int = 1) -> None:
        """Forget a session's gists, None for those of any, that may tell a turn; StoreError if they stay on flash."""
        kept = self._all()
        prefix = "" if sid is None else sid + " "
        left = [each for each in kept.items() if each[1][0] < seq or not each[0].startswith(prefix)]
        if len(left) < len(kept):
            files.remove(self._path)  # needs no room, and so never fails for a full flash
            self._save(left)

    def _key(self, sid: str, workspace: str) -> str:
        return "%s of %d %s" % (sid, self._store.epoch, workspace)

    def _all(self) -> dict:
        if self._kept is None:
            self._kept = files.read_json(self._path, _LARGEST, _parse) or {}
        return self._kept

    def _save(self, gists: list) -> None:
        self._kept = dict(gists)
        try:
            files.write(self._path, text.dumps(self._kept))
        except StoreError as error:
            diag.warning("journal", str(error))


def _parse(told: dict) -> dict:
    return {key: (int(until), str(content)) for key, (until, content) in told.items()}
