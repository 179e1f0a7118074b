"""How important a record is now: what it was given, less what it lost while it was of no use to anybody.

Nothing of this is stored: it follows from the record, from its last use and from the time, each time that it is asked for.
"""

from engram.compat import const
from engram.memory.records import fields

_DAY = const(86400)
_WEEK_DAYS = const(7)


class Importance:
    """Computes the importance of one board's records. After `after_days` without use, each full week takes `a_week` hundredths.

    `uses` tells when records were of use, None where that is not kept.
    """

    def __init__(self, uses, clock, after_days: int = 30, a_week: int = 10):
        self._uses = uses
        self._clock = clock
        self._after_days = after_days
        self._a_week = a_week

    def importance_of(self, found: list, exactly: bool = False) -> list:
        """The importance in hundredths, and the moment of the last change or use, of each of several records: a list of
        pairs. `found` has what stated_importance() gives of each. Uses that make no difference count only `exactly`.
        """
        now = self._clock.now()
        wanted = {number for number, _, touched in found if exactly or self._lost(touched, now)}
        used = self._uses.usage_of_some(wanted) if wanted and self._uses else {}
        importances = []
        for number, hundredths, touched in found:
            touched = max(touched, used.get(number, (0, 0))[1])
            importances.append((max(0, hundredths - self._lost(touched, now)), touched))
        return importances

    def now(self, record: dict) -> int:
        """The importance of one record, in hundredths."""
        return self.importance_of([stated_importance(record)])[0][0]

    def _lost(self, touched: int, now: int) -> int:
        # Without a clock nobody knows how long it is ago.
        if not touched or not self._clock.known:
            return 0
        return max(0, ((now - touched) // _DAY - self._after_days) // _WEEK_DAYS * self._a_week)


def stated_importance(record: dict) -> tuple:
    """(number, the importance that it was given in hundredths, the moment of its last change or 0 if that is a guess)."""
    touched = 0 if record.get("guess") else record.get("updated", record["created"])
    return int(record["id"][1:]), round(100 * record.get("importance", fields.IMPORTANCE)), touched
