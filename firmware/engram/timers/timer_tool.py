"""The tool `timer`, as the Toolbox has those of a person's own."""

from engram.compat import const
from engram.timers import tool

NAME = "timer"
DESCRIPTION = const(
    "Timers of this chat. add: text is said at its time; with kind ask you answer text then. list, remove by id."
)
SCHEMA = const(
    '{"type":"object","properties":{"action":{"type":"string","enum":["add","list","remove"]},'
    '"kind":{"type":"string","enum":["say","ask","tool"]},"text":{"type":"string"},'
    '"time":{"type":"string","description":"one of: in 20 min; every 30 min; 08:00; 07:30 daily; '
    '07:30 mon fri; tomorrow 8:00; 2026-01-31 08:00"},'
    '"tool":{"type":"string"},"arguments":{"type":"string","description":"of the tool, as JSON"},'
    '"id":{"type":"string"}},"required":["action"],"additionalProperties":false}'
)


class TimerTool:
    """The tool of one board's timers, which find_timers() gives; they call those of a `toolbox`."""

    name = NAME
    description = DESCRIPTION
    schema = SCHEMA
    confirm = False
    timeout_ms = 10_000
    wants_caller = True
    task = None

    def __init__(self, find_timers, toolbox):
        self._find_timers = find_timers
        self._toolbox = toolbox

    def for_caller(self, _caller):
        """What the model is offered: all may set timers, and see their own."""
        return self

    def run(self, caller, **arguments) -> dict:
        """The result of a call."""
        return tool.run(self._find_timers, self._toolbox, caller, arguments)

    def notice(self, _arguments: dict, value: dict) -> str:
        """The line for the person after a call, "" for none."""
        if "removed" in value:
            return "no more timer " + value["removed"]
        if "id" not in value:
            return ""
        return tool.describe(value["id"], value["kind"], value["when"], value["text"])
