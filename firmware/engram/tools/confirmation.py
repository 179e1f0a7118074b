"""Calls that wait for a person's yes, whatever the model says: a message of agreeing words only, in ten
languages.
"""

from engram import text
from engram.compat import const, ticks_diff, ticks_ms
from engram.errors import EngramError

_CALLERS = const(8)  # callers with a pending call
_WAIT_MS = const(600_000)  # for a yes: one that comes later may be of another question

_ENDS = const(",.!;:，。！；：、\n")
_YES = const(
    "|yes|yes please|yes thanks|yes thank you|yeah|yep|sure|sure go ahead|ok|okay|ok thanks|ok thank you|okay do it|do it|"
    "do it now|go ahead|yes go ahead|yes do it|please do|of course|confirm|confirmed|agreed|"
    "好|好的|好吧|好的 谢谢|可以|是|是的|行|嗯|对|對|确认|確認|同意|没问题|沒問題|当然|當然|"
    "ja|ja bitte|klar|gerne|sí|si|sí por favor|claro|vale|oui|d'accord|はい|お願いします|네|예|sim|"
    "да|Да|конечно|Конечно|хорошо|Хорошо|نعم|"
)
"""Plain agreements; anything else may revoke a yes."""


def is_yes(said: str) -> bool:
    for end in _ENDS:
        said = said.replace(end, " ")
    said = " ".join(said.split()).lower()
    return bool(said) and "|" not in said and "|" + said + "|" in _YES


class Confirmations:
    """Pending calls, one per caller, timed by ticks, as the clock may jump."""

    def __init__(self, ticks=ticks_ms):
        self._ticks_ms = ticks
        self._waiting = {}
        """By caller (name, JSON arguments, ticks)."""

    def tick(self) -> None:
        now = self._ticks_ms()
        for caller, waiting in list(self._waiting.items()):
            if ticks_diff(now, waiting[2]) >= _WAIT_MS:
                self._waiting.pop(caller)

    def begin_turn(self, turn) -> None:
        """Allow the pending call after a yes; end its wait after anything else."""
        self.tick()
        waiting = self._waiting.pop(turn.caller, None)
        turn.confirmed = waiting if is_yes(turn.said) else None

    def is_confirmed(self, turn, name: str, arguments: dict) -> bool:
        """True, once, if the person confirmed exactly this call."""
        confirmed, turn.confirmed = turn.confirmed, None
        return confirmed is not None and _is_same(confirmed, name, arguments)

    def ask(self, turn, name: str, arguments: dict) -> None:
        """Let a call wait for a yes; EngramError if another waits."""
        self.tick()
        waiting = self._waiting.get(turn.caller)
        if waiting:
            if not _is_same(waiting, name, arguments):
                raise EngramError("one question at a time: %s already waits for the person's yes." % waiting[0])
            return
        if len(self._waiting) >= _CALLERS:
            self._waiting.popitem()
        # As text, since a caller may change the dict.
        self._waiting[turn.caller] = name, text.dumps(arguments), self._ticks_ms()


def _is_same(waiting: tuple, name: str, arguments: dict) -> bool:
    return waiting[0] == name and text.loads(waiting[1]) == arguments
