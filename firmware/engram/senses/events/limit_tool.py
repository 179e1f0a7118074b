"""Limits as people and the model set them: the tool `sense_limit`, and a sentence for the person.

run(arguments, caller)   what the tool answers
"""

from engram import text
from engram.compat import const
from engram.errors import ArgumentError, NotFound
from engram.memory import access
from engram.senses.values import value_text

NAME = "sense_limit"
DESCRIPTION = (
    "Tell the person in this chat when a sense is below (low) or above (high) a limit for some minutes. "
    "Set, list or remove such limits."
)
SCHEMA = const(
    '{"type":"object","properties":{"action":{"type":"string","enum":["set","list","remove"]},'
    '"sense":{"type":"string"},"low":{"type":"number"},"high":{"type":"number"},'
    '"minutes":{"type":"integer","minimum":0,"maximum":1440},"id":{"type":"string"}},'
    '"required":["action"],"additionalProperties":false}'
)

_NOT_YOURS = const("is not one of yours; %s.")


class LimitTool:
    """The tool over a board's `senses` and `limits`; scope_of(sense) is who may see what it perceives."""

    def __init__(self, senses, limits, scope_of):
        self._senses = senses
        self._limits = limits
        self._scope_of = scope_of

    def run(self, arguments: dict, caller) -> dict:
        """What the tool answers; ArgumentError or NotFound says what would be right."""
        action = arguments["action"]
        if action == "list":
            seen = [sense.number for sense in self._visible(caller)]
            return {"limits": [self._shown(each) for each in self._limits.of_caller(caller) if each["sense"] in seen]}
        if action == "remove":
            if "id" not in arguments:
                raise ArgumentError("id", "is missing; action list shows the ids.")
            return {"removed": self._shown(self._limits.remove(caller, arguments["id"]))}
        if "sense" not in arguments:
            raise ArgumentError("sense", "is missing: %s." % self._names(caller))
        more = [arguments.get(name, default) for name, default in (("low", None), ("high", None), ("minutes", 0))]
        return self._shown(self.set_named(caller, arguments["sense"], *more))

    def set_named(self, caller, name: str, low=None, high=None, minutes: int = 0) -> dict:
        """As set(), of the sense that a name means."""
        sense = self.find(name, caller)
        if sense is None:
            raise ArgumentError("sense", _NOT_YOURS % self._names(caller))
        return self.set(caller, sense, low, high, minutes)

    def set(self, caller, sense, low=None, high=None, minutes: int = 0) -> dict:
        """Keep a limit of a sense that the caller may see; its fields."""
        if not access.may_see(caller, self._scope_of(sense)):
            raise NotFound("sense", sense.name)
        return self._limits.add(caller, sense, low, high, minutes)

    def find(self, name: str, caller):
        """The sense that a name means to a caller, None if there is none: a part will do if no other has it."""
        visible = self._visible(caller)
        sense = self._senses.find(name)
        if sense is not None:
            return sense if sense in visible else None
        wanted = list(text.terms(name))
        found = [each for each in visible if all(word in list(text.terms(each.name)) for word in wanted)]
        return found[0] if len(found) == 1 and wanted else None

    def _visible(self, caller) -> list:
        senses = [self._senses.find(name) for name in self._senses.names()]
        return [sense for sense in senses if access.may_see(caller, self._scope_of(sense))]

    def _names(self, caller) -> str:
        return "there are " + (", ".join([sense.name for sense in self._visible(caller)]) or "none")

    def _shown(self, fields: dict) -> dict:
        sense = self._senses.sense(fields["sense"])
        shown = {"id": fields["id"], "sense": sense.name if sense else "?"}
        for side in ("low", "high"):
            if side in fields:
                shown[side] = sense.text(fields[side]) if sense else value_text(fields[side], 0)
        if fields.get("minutes"):
            shown["minutes"] = fields["minutes"]
        return shown

    def describe(self, fields: dict) -> str:
        """The notice to the person about a new limit."""
        sense = self._senses.sense(fields["sense"])
        side, word = ("low", "below") if "low" in fields else ("high", "above")
        lasting = " for %d min" % fields["minutes"] if fields.get("minutes") else ""
        said = sense.name, word, sense.text(fields[side]), lasting, fields["id"]
        return "will tell you here when %s is %s %s%s (%s)" % said
