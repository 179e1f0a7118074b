"""Calls that wait for a yes of the person: what the model says of it does not count.

A yes is a message of a word that agrees, in English or Chinese, and courtesy behind it. All else is none, since it may take
the yes back or ask for another thing: the person is asked once more.
"""

from engram import text
from engram.compat import const, ticks_diff, ticks_ms

_CALLERS = const(8)  # for whom a call waits at once
_WAIT_MS = const(600_000)  # for a yes: one that comes later may be of another question
_EXPIRED = const("%s did not run: that question has expired: ask again.")
_LONGEST = const(80)  # characters: a longer message says more than yes

_YES = const(
    "yes|yeah|yep|yup|sure|confirm|confirmed|agreed|absolutely|definitely|certainly|ok|okay|fine|alright|"
    "do it|go ahead|please do|of course|sounds good"
)
_COURTESY = const(" please thanks thank you do it go ahead that now then yes sure ok okay by all means ")
"""What may stand behind a yes; all else may take it back or ask for something else."""
_WIDE_YES = const("好|可以|是的|是|行|嗯|确认|確認|同意|没问题|沒問題|对|對|请做|做吧|当然|當然")
_WIDE_COURTESY = const("谢谢|謝謝|的|吧|啊|呀|啦|哦|好|行|是|对|對|嗯|请|請|可以|没问题|沒問題|麻烦你|麻煩你")
_ENDS = const(",.!;:，。！；：、\n")


def is_yes(said: str) -> bool:
    """Whether a message plainly agrees."""
    said = said.strip().lower()
    if not said or len(said) > _LONGEST:
        return False
    for end in _ENDS:
        said = said.replace(end, " ")
    words = said.split()
    return _is_wide_yes("".join(words)) if text.encode(said)[0] > 127 else _is_english_yes(words)


def _is_english_yes(words: list) -> bool:
    for yes in _YES.split("|"):
        opening = yes.split()
        if words[: len(opening)] == opening:
            return all(" %s " % word in _COURTESY for word in words[len(opening) :])
    return False


def _is_wide_yes(said: str) -> bool:
    """As is_yes(), in Chinese, of a message without its marks. MicroPython's strip() takes letters apart into their bytes."""
    for yes in _WIDE_YES.split("|"):
        if said.startswith(yes):
            rest = said[len(yes) :]
            for courtesy in _WIDE_COURTESY.split("|"):
                rest = rest.replace(courtesy, "")
            return not rest
    return False


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
        """Whether it is this call."""
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
        """Whether this call may run, once, since the person said yes to it and to nothing else."""
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
