"""Timers of the model, by the tool `timer`, and of people, by /timers add."""

from engram import text
from engram.compat import const
from engram.errors import ArgumentError
from engram.text.times import read_time, split_time
from engram.timers import timer_store
from engram.timers.timer_store import TimerSpec
from engram.tools.toolbox import Tool

NAME = "timer"
_IN_A_TURN = const("a timer's own turn sets no timers: tell the person, who can.")
_DOES = {"say": "I remind you: ", "ask": "I answer: ", "tool": "I call "}
_WHEN = const("when ")


_DESCRIPTION = const(
    "Timers of this chat. add: text is said at its time, or when a message has all of words; "
    "with kind ask you answer text then. list, remove by id."
)
_SCHEMA = const(
    '{"type":"object","properties":{"action":{"type":"string","enum":["add","list","remove"]},'
    '"kind":{"type":"string","enum":["say","ask","tool"]},"text":{"type":"string"},'
    '"time":{"type":"string","description":"one of: in 20 min; every 30 min; 08:00; 07:30 daily; '
    '07:30 mon fri; tomorrow 8:00; 2026-01-31 08:00"},'
    '"words":{"type":"string"},'
    '"tool":{"type":"string"},"arguments":{"type":"string","description":"of the tool, as JSON"},'
    '"id":{"type":"string"}},"required":["action"],"additionalProperties":false}'
)


class TimerTool(Tool):
    """The timers' tool, whose timers call tools of a `toolbox`."""

    def __init__(self, timers, toolbox):
        self._timers = timers
        self._toolbox = toolbox
        super().__init__(NAME, _DESCRIPTION, _SCHEMA, self._run, lambda _caller: True, True)

    def _run(self, arguments: dict, turn) -> tuple:
        timers, caller, action = self._timers, turn.caller, arguments["action"]
        if action == "list":
            return {"timers": [_shown(row, timers.clock) for row in timers.owned_by(caller)]}, ""
        if not turn.said:
            raise ArgumentError("action", _IN_A_TURN)
        if action == "remove":
            if "id" not in arguments:
                raise ArgumentError("id", "is missing; action list shows the ids.")
            gone = timers.remove(caller, arguments["id"])
            return {"removed": gone["id"], "text": gone["what"]}, "removed timer " + gone["id"]
        row = timers.add(caller, self._spec(arguments, caller))
        return _shown(row, timers.clock), describe(row, timers.clock)

    def _spec(self, arguments: dict, caller) -> TimerSpec:
        kind, what = arguments.get("kind", "say"), arguments.get("text", "")
        if bool(arguments.get("time")) == bool(arguments.get("words")):
            raise ArgumentError("time", "is missing; it must be a text such as 07:30 daily, or words in its place.")
        tool, values = arguments.get("tool", ""), arguments.get("arguments", "{}")
        if (kind == "tool") != bool(tool):
            raise ArgumentError("tool", "goes with kind tool, and kind tool needs it.")
        if tool:
            what = checked_call(self._toolbox, tool, values, caller)
        return TimerSpec(kind, what, arguments.get("words") or read_time(arguments["time"], self._timers.clock))


def _shown(row: dict, clock) -> dict:
    when = timer_store.describe(row, clock)
    return {"id": row["id"], "kind": row["kind"], "text": row["what"], "when": when}


def checked_call(toolbox, name: str, arguments: str, caller) -> str:
    """Return the checked call of a timer's row; ArgumentError."""
    if name == NAME:
        raise ArgumentError("tool", "a timer sets no timers.")
    try:
        values = text.loads(arguments)
    except ValueError:
        values = None
    if not isinstance(values, dict):
        raise ArgumentError("arguments", 'must be a JSON object such as {"value": 1}.')
    toolbox.check(name, values, caller)
    return "%s %s" % (name, text.dumps(values))


# --- /timers add


def add(timers, caller, typed: str) -> str:
    """Add the timer of "TIME TEXT" or "when WORDS: TEXT"; return a sentence."""
    if typed.startswith(_WHEN):
        trigger, _, what = typed[len(_WHEN) :].replace("：", ":").partition(":")
    else:
        trigger, what = split_time(typed, timers.clock)
    return describe(timers.add(caller, TimerSpec("say", what, trigger)), timers.clock)


def describe(row: dict, clock) -> str:
    return "%s: %s %s%s" % (row["id"], timer_store.describe(row, clock), _DOES[row["kind"]], row["what"])
