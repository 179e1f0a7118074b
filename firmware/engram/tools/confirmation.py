"""Calls that wait for a yes of the person: what the model says of it does not count.

A yes is a message that plainly begins with one, in English or Chinese, without a question and without a word that takes it
back. When in doubt it is none: the person is asked once more.
"""

from engram import text
from engram.compat import const

_CALLERS = const(8)  # for whom a call waits at once
_LONGEST = const(80)  # characters: a longer message says more than yes

_YES = const(" yes yeah yep yup sure confirm confirmed agreed absolutely definitely certainly ")
_YES_OF_TWO = const((" do it ", " go ahead ", " please do ", " of course ", " sounds good "))
_WEAK = const(" ok okay fine alright ")
"""A yes only if nothing but courtesy follows: "ok so where were we" is none."""
_COURTESY = const(" please thanks thank you do it go ahead that now then yes sure ok okay by all means ")
_DOUBT = const(
    " not no nope never dont wait stop cancel later but except unless only if instead without maybe perhaps "
    "hold what why how when which who where first before rather in at after until till once soon tomorrow tonight next "
    "minute minutes hour hours tell explain show ask yourself "
)
_WIDE_YES = const((
    "好", "可以", "是的", "是", "行", "嗯", "确认", "確認", "同意", "没问题", "沒問題", "对", "對", "请做", "做吧",
    "当然", "當然"
))  # fmt: skip
_WIDE_TAIL = const("的吧啊呀啦哦好行是对對嗯请請")
_WIDE_DOUBT = const("吗嗎呢？?不没沒别別但先等如果或除非取消停后後点點分时時晚明再算够夠说說")
_ENDS = const(",.!;:，。！；：、\n")


def is_yes(said: str) -> bool:
    """Whether a message plainly agrees."""
    said = said.strip().lower()
    if not said or len(said) > _LONGEST:
        return False
    return _is_wide_yes(said) if text.encode(said)[0] > 127 else _is_english_yes(said)


def _is_english_yes(said: str) -> bool:
    if "?" in said or "？" in said:
        return False
    said = said.replace("’", "'")
    opening, rest = said, ""
    for end in _ENDS:
        head, _, tail = opening.partition(end)
        opening, rest = head, tail + " " + rest
    words = opening.split()
    for word in words + rest.split():
        word = word.strip("'\"()-,.!;:")
        if " %s " % word.replace("'", "") in _DOUBT or word[-3:] == "n't" or _has_any(word, _WIDE_DOUBT):
            return False
    if not words:
        return False
    if " %s " % words[0] in _YES or any((" %s " % opening).startswith(phrase) for phrase in _YES_OF_TWO):
        return True
    return " %s " % words[0] in _WEAK and all(" %s " % word in _COURTESY for word in words[1:])


def _is_wide_yes(said: str) -> bool:
    """As is_yes(), in Chinese: nothing but a particle or an end of the sentence follows the yes."""
    opening = said
    for end in _ENDS + " ":
        opening = opening.partition(end)[0]
    for yes in _WIDE_YES:
        if opening.startswith(yes):
            rest = said[len(yes) :]  # 没问题 has a letter that doubts elsewhere
            return not _has_any(rest, _WIDE_DOUBT) and _is_tail(opening[len(yes) :])
    return False


def _is_tail(rest: str) -> bool:
    """Whether a text has only particles in it. MicroPython's strip() takes letters apart into their bytes."""
    for letter in _WIDE_TAIL:
        rest = rest.replace(letter, "")
    return not rest


def _has_any(said: str, letters: str) -> bool:
    return any(letter in said for letter in letters)


class _Waiting:
    """A call that waits."""

    def __init__(self, caller, name: str, arguments: dict, seq: int):
        self.caller = caller
        self.name = name
        self.arguments = text.dumps(arguments)  # as text: whoever has the dict may change it
        self.seq = seq
        """The turn in which it was asked; once the person said yes, the turn in which it may run."""
        self.is_confirmed = False

    def is_for(self, name: str, arguments: dict) -> bool:
        """Whether it is this call."""
        return self.name == name and text.loads(self.arguments) == arguments


class Confirmations:
    """The calls that wait, one for each caller: the same person in the same room."""

    def __init__(self):
        self._waiting = []

    def begin_turn(self, turn) -> None:
        """The person says something: a yes lets their call run in this turn, all else ends its wait."""
        waiting = self._waiting_of(turn.caller)
        if waiting and not waiting.is_confirmed and is_yes(turn.said):
            waiting.is_confirmed, waiting.seq = True, turn.seq
        elif waiting:
            self._waiting.remove(waiting)

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
        if waiting and not waiting.is_for(name, arguments):
            return "one question at a time: %s already waits for the person's yes." % waiting.name
        if not waiting:
            if len(self._waiting) >= _CALLERS:
                self._waiting.pop(0)
            self._waiting.append(_Waiting(turn.caller, name, arguments, turn.seq))
        return ""

    def _waiting_of(self, caller):
        for waiting in self._waiting:
            if waiting.caller == caller:
                return waiting
        return None
