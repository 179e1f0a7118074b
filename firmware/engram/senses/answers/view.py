"""The senses of a board as one caller may see them; all that looks at readings for people and for the model goes through it.

What answers questions is loaded when somebody asks.
"""

from engram.compat import const
from engram.errors import NotFound
from engram.lazy import lazy
from engram.memory import access

_PACKAGE = const("senses.answers")
_COUNTS = (("pin", "changes"), ("pin", "count"))


def make_view(config, clock, senses, watch, limit_tool, sampling) -> "SenseView":
    """The view of a board's senses; `sampling` reads the sensors of config.json, None if there are none."""
    settings = config.table("senses"), config.get("senses.share"), config.get("senses.tokens")
    return SenseView(senses, watch, limit_tool, clock, *settings, sampling.failing if sampling else tuple)


class SenseView:
    """Reads `senses`; `watch` knows their events and limits, `limit_tool` sets limits.

    `declared` are config.json's senses, failing() names those whose sensor fails. `share` is the setting senses.share,
    `most_tokens` the room of the prompt's block.
    """

    def __init__(self, senses, watch, limit_tool, clock, declared: dict, share: str, most_tokens: int, failing):
        self.senses = senses
        self.watch = watch
        self.limit_tool = limit_tool
        self.clock = clock
        self.declared = declared
        self.failing = failing
        self.most_tokens = most_tokens
        self._share = share

    # --- who may see what

    def scope_of(self, sense) -> str:
        """Who may see the readings of a sense."""
        return readings_scope(sense, self._share, self.declared)

    def visible(self, caller) -> list:
        """The senses that a caller may see, in the order of their numbers."""
        every = [self.senses.find(name) for name in self.senses.names()]
        return [sense for sense in every if access.may_see(caller, self.scope_of(sense))]

    def find(self, name: str, caller):
        """The sense of a name; NotFound, with the names that there are, if the caller sees none of that name."""
        sense = self.senses.find(name)
        if sense is not None and access.may_see(caller, self.scope_of(sense)):
            return sense
        names = ", ".join([other.name for other in self.visible(caller)])
        raise NotFound("sense", str(name)[:40], "there are: %s." % names if names else "there is none for you here.")

    def events(self, caller, since: int = 0):
        """Yield the events of senses that a caller may see, newest first; a limit of their own shows nothing more."""
        for fields in self.watch.events.newest_first(caller, since):
            sense = self.senses.sense(fields["sense"])
            if sense is not None and access.may_see(caller, self.scope_of(sense)):
                yield fields, sense

    def open_events(self, caller) -> list:
        """(fields, sense) of those that have not ended."""
        found = []
        for fields in self.watch.events.open.values():
            sense = self.senses.sense(fields["sense"])
            is_own = access.may_see(caller, fields.get("scope", access.ALL))
            if sense is not None and is_own and access.may_see(caller, self.scope_of(sense)):
                found.append((fields, sense))
        return found

    # --- what a sense is

    def is_counter(self, sense) -> bool:
        """Whether a sense counts, and its readings are to be added up."""
        entry = self.declared.get(sense.config_name, {})
        return (entry.get("kind"), entry.get("what")) in _COUNTS

    def is_switch(self, sense) -> bool:
        """Whether a sense may be open or closed: it has no unit."""
        return not sense.unit

    def is_aside(self, sense) -> bool:
        """Whether a sense is of the board itself, and only meant where it is named."""
        return self.declared.get(sense.config_name, {}).get("kind") in ("chip_temperature", "heap", "wifi_signal")

    # --- what is asked of it

    def may_ask(self, caller, said: str) -> bool:
        """Whether a text asks for readings of senses that the caller may see, and for nothing else."""
        with lazy(_PACKAGE):
            from engram.senses.answers import words

            if not words.asks(said):
                return False
            from engram.senses.answers import questions

            return questions.find(self, caller, said) is not None

    def answer(self, caller, said: str) -> str:
        """The answer to a question, "" if it is none for the senses."""
        with lazy(_PACKAGE):
            from engram.senses.answers import questions

            return questions.answer(self, caller, said)

    def memory_query(self, caller, said: str) -> str:
        """What the memory is asked for a text: of "was it cold when Anna called?" that is "Anna called"."""
        with lazy(_PACKAGE):
            from engram.senses.answers import recalled

            return recalled.memory_query(self, caller, said)

    def beside(self, caller, said: str, items) -> list:
        """Lines with the readings at the times of what was found for a text, if it asks for some."""
        with lazy(_PACKAGE):
            from engram.senses.answers import recalled

            return recalled.beside(self, caller, said, items)

    def block(self, caller, said: str, items) -> str:
        """The block of a prompt, "" if there is nothing that the caller may see."""
        with lazy(_PACKAGE):
            from engram.senses.answers import prompt_block

            return prompt_block.make(self, caller, said, items)

    def recall(self, caller, arguments: dict) -> dict:
        """What the tool sense_recall gives; ArgumentError or NotFound say what would be right."""
        with lazy(_PACKAGE):
            from engram.senses.answers import sense_tool

            return sense_tool.run(self, caller, arguments)

    def tool(self):
        """The tool sense_recall, for a Toolbox."""
        return SenseTool(self)

    def command(self, caller, rest: str):
        """Yield the answer to /senses."""
        with lazy(_PACKAGE):
            from engram.senses.answers import command

            yield from command.run(self, caller, rest)


def readings_scope(sense, share: str, declared: dict) -> str:
    """The scope of a sense's readings: the owner's, unless a setting shares all, or config.json this one."""
    is_shared = share == "all" or declared.get(sense.config_name, {}).get("shared") is True
    return access.ALL if is_shared else access.own_scope(access.OWNER)


class SenseTool:
    """The tool sense_recall as a Toolbox has its tools, see tools/own_tool.py: offered to those who may see a sense."""

    name = "sense_recall"
    description = (
        "Readings of one of the board's sensors, by name: latest; range (rows of mean, lowest, highest); extremes (lowest and "
        "highest with their times); events (unusual, limits); times (when a switch or door was on or open)."
    )
    schema = (
        '{"type":"object","properties":{"name":{"type":"string","maxLength":32},"what":{"type":"string","enum":["latest","range",'
        '"extremes","events","times"]},"since":{"type":"string","maxLength":16,"description":"2026-01-31 or 2026-01-31 14:05; '
        'a day ago if left out"},"until":{"type":"string","maxLength":16,"description":"likewise; a day is meant to its end"}},'
        '"required":["name"],"additionalProperties":false}'
    )
    who = "all"
    groups = True
    confirm = False
    timeout_ms = 10_000
    wants_caller = True

    def __init__(self, view: SenseView):
        self._view = view
        self.task = None

    def for_caller(self, caller):
        """What the model is offered for a caller; None if they may see no sense."""
        return self if self._view.visible(caller) else None

    def run(self, caller, **arguments) -> dict:
        """The result of a call."""
        return self._view.recall(caller, arguments)

    def notice(self, _arguments: dict, _value) -> str:
        """A line for the person after a call: none, since nothing changes."""
        return ""
