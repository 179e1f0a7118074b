"""The senses of a board as one caller may see them: all that people and the model get goes through it."""

from engram.errors import NotFound
from engram.memory import access
from engram.senses.answers import command, prompt_block
from engram.senses.answers.recall_tool import RecallTool


class SenseView:
    """Reads `senses`; `watch` knows their events and limits, `limit_tool` sets limits.

    `declared` are config.json's senses, failing() names those whose sensor fails. `share` is the setting
    senses.share, `most_tokens` the room of the prompt's block.
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
        """Yield (fields, sense) of the events that a caller may see, newest first."""
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

    def block(self, caller) -> str:
        """The block of a prompt, "" if there is nothing that the caller may see."""
        return prompt_block.make(self, caller)

    def command(self, caller, rest: str):
        """Yield the answer to /senses."""
        return command.run(self, caller, rest)

    def tool(self):
        """The tool sense_recall, for a Toolbox."""
        return RecallTool(self)


def readings_scope(sense, share: str, declared: dict) -> str:
    """The scope of a sense's readings: the owner's, unless a setting shares all, or config.json this one."""
    is_shared = share == "all" or declared.get(sense.config_name, {}).get("shared") is True
    return access.ALL if is_shared else access.own_scope(access.OWNER)
