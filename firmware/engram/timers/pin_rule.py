"""Sets a pin at a time that the owner plainly names, without a model: "turn off the lamp at 22:00", 晚上十点关灯.

Only outputs of config.json are set, by their names; what is no clear request is no match.
"""

from engram.compat import const
from engram.errors import EngramError
from engram.lazy import lazy
from engram.memory.access import OWNER

_OUTPUTS = ("out", "pwm")
_ON = const("turn on %|turn % on|打开%|开%|把%打开")
_OFF = const("turn off %|turn % off|关闭%|关掉%|关%|把%关掉|把%关上")
"""How it is asked for; % stands for the name."""


def make_pin_rule(pins, find_timers, check_tool):
    """Return what keeps a pin's timer that a message plainly asks for.

    find_timers() and check_tool() are those of the Board.
    """

    def keep(said: str, caller) -> str:
        """A sentence on it, "" for none."""
        told = ""
        if caller.principal == OWNER.principal and not caller.group:
            for pin in pins.for_caller(caller, _OUTPUTS):
                if pin.name in said and not told:
                    with lazy("timers", "text.phrases"):
                        told = _add(find_timers, check_tool, said, caller, pin.name)
        return told

    return keep


def _add(find_timers, check_tool, said: str, caller, name: str) -> str:
    from engram.text.phrases import asks, simplified, unmarked  # while they are used
    from engram.timers import rules, typed, when  # likewise

    data = said.encode()
    time, what = rules.match_time(unmarked(data).decode()) or ({}, "")
    form = simplified(what.replace(name, "%").encode()).decode().replace("switch", "turn")
    for word in ("please ", "the ", "my "):
        form = form.replace(word, "")
    value = "on" if form in _ON.split("|") else "off" if form in _OFF.split("|") else ""
    if not value or not when.is_full(time) or asks(data):
        return ""
    try:
        return typed.add_call(find_timers(), check_tool, caller, time, "pin", name + " " + value)
    except EngramError as error:
        return str(error)
