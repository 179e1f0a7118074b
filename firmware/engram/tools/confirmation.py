"""Calls that wait for a yes of the person: what the model says of it does not count.

A yes is a message of words that agree, in ten languages, and of no others.
"""

from engram import text
from engram.compat import const, ticks_diff, ticks_ms
from engram.errors import EngramError

_CALLERS = const(8)  # for whom a call waits at once
_WAIT_MS = const(600_000)  # for a yes: one that comes later may be of another question

_ENDS = const(",.!;:，。！；：、\n")
_YES = const(
    "|yes|yes please|yes thanks|yes thank you|yeah|yep|sure|sure go ahead|ok|okay|ok thanks|ok thank you|okay do it|do it|"
    "do it now|go ahead|yes go ahead|yes do it|please do|of course|confirm|confirmed|agreed|"
    "好|好的|好吧|好的 谢谢|可以|是|是的|行|嗯|对|對|确认|確認|同意|没问题|沒問題|当然|當然|"
    "ja|ja bitte|klar|gerne|sí|si|sí por favor|claro|vale|oui|d'accord|はい|お願いします|네|예|sim|"
    "да|Да|конечно|Конечно|хорошо|Хорошо|نعم|"
)
"""Messages that plainly agree, without their marks: all else may take a yes back, or ask for something else."""


def is_yes(said: str) -> bool:
    """Return True if a message plainly agrees."""
    for end in _ENDS:
        said = said.replace(end, " ")
    said = " ".join(said.split()).lower()
    return bool(said) and "|" not in said and "|" + said + "|" in _YES


class Confirmations:
    """The calls that wait, one for each caller: the same person in the same room.

    For how long goes by the counter of ticks, since the clock may not be set yet, and jump when it is.
    """

    def __init__(self, ticks=ticks_ms):
        self._ticks_ms = ticks
        self._waiting = {}
        """By caller (name, arguments as text, ticks)."""

    def tick(self) -> None:
        """Let waits expire; at least once in some days, since the counter of ticks wraps."""
        now = self._ticks_ms()
        for caller, waiting in list(self._waiting.items()):
            if ticks_diff(now, waiting[2]) >= _WAIT_MS:
                self._waiting.pop(caller)

    def begin_turn(self, turn) -> None:
        """Handle what the person says: a yes lets their call run in this turn, all else ends its wait."""
        self.tick()
        waiting = self._waiting.pop(turn.caller, None)
        turn.confirmed = waiting if is_yes(turn.said) else None

    def is_confirmed(self, turn, name: str, arguments: dict) -> bool:
        """Return True, once, if the person said yes to this call and to nothing else."""
        confirmed, turn.confirmed = turn.confirmed, None
        return confirmed is not None and _is_same(confirmed, name, arguments)

    def ask(self, turn, name: str, arguments: dict) -> None:
        """Let a call wait for a yes; EngramError if another one waits."""
        self.tick()
        waiting = self._waiting.get(turn.caller)
        if waiting:
            if not _is_same(waiting, name, arguments):
                raise EngramError("one question at a time: %s already waits for the person's yes." % waiting[0])
            return
        if len(self._waiting) >= _CALLERS:
            self._waiting.popitem()
        # As text: whoever has the dict may change it.
        self._waiting[turn.caller] = name, text.dumps(arguments), self._ticks_ms()


def _is_same(waiting: tuple, name: str, arguments: dict) -> bool:
    return waiting[0] == name and text.loads(waiting[1]) == arguments
