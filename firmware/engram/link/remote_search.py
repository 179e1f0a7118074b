"""Asks the companion if the board's own answer is weak, or always, within a time limit."""

from engram import diag, text
from engram.errors import ArgumentError, NetError
from engram.link.messages import caller_fields, is_row
from engram.memory import access
from engram.memory.recall import RemoteResults, is_weak

_QUERY_LONGEST = const(2000)  # characters
_TEXT_LONGEST = const(1000)  # of an archived entry, which comes with its text
_ALONE = const("only the board was searched.")


class RemoteSearch:
    """The companion's search: `when` is "weak", "always" or "never", within `within_ms`."""

    def __init__(self, exchange, sync, when: str, within_ms: int, archived=None):
        self._exchange = exchange
        self._sync = sync
        self._when = when
        self._within_ms = within_ms
        self._archived = archived

    @property
    def is_connected(self) -> bool:
        return not self._exchange.failure

    async def found(self, ranked, limit: int = 10, folders: bool = False):
        """Return the companion's results for a ranking, with a note on failures; None if it need not be asked."""
        query = ranked.query
        is_enough = self._when == "never" or (self._when == "weak" and not is_weak(ranked))
        if is_enough or not query.text.strip():
            return None
        have = (self._sync.have("records"), self._sync.have("journal"))
        if self._exchange.failure:
            return RemoteResults((), have, "the companion is not connected: " + self._alone(query.caller), ())
        try:
            answer = await self._exchange.ask_in_time(
                "search",
                self._within_ms,
                query=text.cut(query.text, _QUERY_LONGEST),
                limit=limit,
                tags=list(query.tags),
                since=query.since,
                until=query.until,
                folders=folders,
                **caller_fields(query.caller),
            )
            items, sure = _results(answer, limit)
            return RemoteResults(items, have, text.printable(answer["note"]), sure)
        except (NetError, ArgumentError, ValueError) as error:
            problem = "%s: %s" % (error, self._alone(query.caller))
        diag.info("companion", problem)
        return RemoteResults((), have, problem, ())

    async def read_file(self, path: str, first: int, count: int, caller) -> tuple:
        """Return (lines of a companion's file as a dict, problem)."""
        asked = dict(caller_fields(caller), path=path, first=first, count=count)
        try:
            found = text.loads((await self._exchange.ask_in_time("file", self._within_ms, **asked))["body"])
        except (NetError, ArgumentError, ValueError) as error:
            return None, "%s is with the companion: %s." % (path, error)
        if not isinstance(found, dict) or not isinstance(found.get("lines"), list):
            return None, "the companion has no file %s that may be shown." % path
        return found, ""

    def _alone(self, caller) -> str:
        total = self._archived.total if self._archived and access.is_owner(caller) else 0
        return _ALONE if not total else _ALONE[:-1] + ", without the archive (memories: %d)." % total


def _results(answer: dict, limit: int) -> tuple:
    items, sure = [], []
    found = text.loads(answer["body"])
    for item, sureness in zip(found, answer["sure"]) if isinstance(found, list) else ():
        # The latter is an archived entry: its moment, speaker and text.
        if len(items) < limit and (is_row(item, str, int) or is_row(item, str, int, int, str, str)):
            items.append(item[:4] + [text.cut(each, _TEXT_LONGEST) for each in item[4:]])
            sure.append(min(sureness, 1000))
    return items, sure
