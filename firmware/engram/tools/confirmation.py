"""Calls that wait for a yes of the person: what the model says of it does not count.

A yes is a message of words that agree, in ten languages, and of no others.
"""

from engram import text
from engram.compat import const, ticks_diff, ticks_ms

_CALLERS = const(8)  # for whom a call waits at once
_WAIT_MS = const(600_000)  # for a yes: one that comes later may be of another question
_EXPIRED = const("%s did not run: that question has expired: ask again.")

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


class _Waiting:
    """A call that waits."""

    def __init__(self, caller, name: str, arguments: dict, seq: int, asked_at: int):
        self.caller = caller
        self.name = name
        self.arguments = text.dumps(arguments)  # as text: whoever has the dict may change it
        self.seq = seq
        """The turn in which it was asked; once the person said yes, the turn in which it may run."""
        self.is_confirmed = False
        self.asked_at = asked_at
        self.is_expired = False

    def is_for(self, name: str, arguments: dict) -> bool:
        return self.name == name and text.loads(self.arguments) == arguments


class Confirmations:
    """The calls that wait, one for each caller: the same person in the same room.

    For how long goes by the counter of ticks, since the clock may not be set yet, and jump when it is.
    """

    def __init__(self, ticks=ticks_ms):
        self._ticks_ms = ticks
        self._waiting = []

    def tick(self) -> None:
        """Let waits expire; at least once in some days, since the counter of ticks wraps."""
        now = self._ticks_ms()
        for waiting in self._waiting:
            waiting.is_expired = waiting.is_expired or ticks_diff(now, waiting.asked_at) >= _WAIT_MS

    def begin_turn(self, turn) -> str:
        """The person says something: a yes lets their call run in this turn, all else ends its wait. A sentence if a yes comes
        too late, or ""."""
        self.tick()
        waiting = self._waiting_of(turn.caller)
        if not waiting:
            return ""
        is_agreed = not waiting.is_confirmed and is_yes(turn.said)
        if is_agreed and not waiting.is_expired:
            waiting.is_confirmed, waiting.seq = True, turn.seq
            return ""
        self._waiting.remove(waiting)
        return _EXPIRED % waiting.name if is_agreed else ""

    def is_confirmed(self, turn, name: str, arguments: dict) -> bool:
        """Return True, once, if the person said yes to this call and to nothing else."""
        waiting = self._waiting_of(turn.caller)
        if not waiting or not waiting.is_confirmed:
            return False
        self._waiting.remove(waiting)
        return waiting.seq == turn.seq and waiting.is_for(name, arguments)

    def ask(self, turn, name: str, arguments: dict) -> str:
        """Let a call wait for a yes; why it cannot wait, or ""."""
        waiting = self._waiting_of(turn.caller)
        if waiting and waiting.is_expired:
            self._waiting.remove(waiting)
            waiting = None
        if waiting and not waiting.is_for(name, arguments):
            return "one question at a time: %s already waits for the person's yes." % waiting.name
        if not waiting:
            if len(self._waiting) >= _CALLERS:
                self._waiting.pop(0)
            self._waiting.append(_Waiting(turn.caller, name, arguments, turn.seq, self._ticks_ms()))
        return ""

    def _waiting_of(self, caller):
        for waiting in self._waiting:
            if waiting.caller == caller:
                return waiting
        return None
