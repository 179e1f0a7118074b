"""What follows a turn: a rule may keep what the model did not, and facts are read in the background."""

from engram.compat import const, let_go
from engram.errors import EngramError
from engram.learning.jobs import Background
from engram.memory.recall import snippet

_MODULES = (
    "engram.agent.rule_actions",
    "engram.reminders.rules",
    "engram.agent.phrase_rules",
    "engram.agent.phrases",
    "engram.learning.secrets",
)
_OPENING = const(1600)  # characters in which an intent stands


class After:
    """What follows the turns of an agent with a model; `parts` has tools, journal, records, learning, clock and config."""

    def __init__(self, parts, model, context):
        from engram.learning.distill import Distillation
        from engram.learning.extract import Extraction
        from engram.learning.flush import Flush

        self._parts = parts
        self._extraction = Extraction(parts, model)
        self._flush = Flush(parts, model, context, self._extraction)
        quiet_ms = 1000 * parts.config.get("extract.pause_seconds")
        self.distillation = Distillation(parts, model)
        self.jobs = (self._extraction, self._flush, self.distillation)
        self._background = Background(self.jobs, quiet_ms)
        self.run = self._background.run
        self.give_way = self._background.give_way

    def turn_over(self, asker, turn: str, content: str, is_answered: bool) -> str:
        """A turn is over; a sentence on what a rule kept of it, or ""."""
        told = self._by_rule(asker, turn, content)
        if is_answered:
            for job in self.jobs:
                job.link_is_up()
        self._flush.turn_over(asker, self._parts.journal.current(asker))
        self._background.turn_over()
        return told

    def _by_rule(self, asker, turn: str, content: str) -> str:
        """Keep what the person asked to be kept, where the model has not."""
        config, tools = self._parts.config, self._parts.tools
        if not config.get("rules.on"):
            return ""
        try:
            told = "" if tools.has_intended else self._intended_by_rule(asker, content)
            if told or tools.has_changed or config.get("mode") != "full":
                return told
            return self._kept_by_rule(asker, turn, content)
        finally:
            let_go(_MODULES)

    def _intended_by_rule(self, asker, content: str) -> str:
        # Seldom: what the rule needs is loaded only for what may be one.
        if "remind" not in content[:_OPENING].lower() and "提醒" not in content[:_OPENING]:
            return ""
        from engram.agent import rule_actions

        try:
            return rule_actions.intend(self._parts.intents, content, asker)
        except EngramError as error:
            return "no reminder: " + str(error)

    def _kept_by_rule(self, asker, turn: str, content: str) -> str:
        from engram.agent import phrase_rules, rule_actions

        rule = phrase_rules.match(content)
        if rule is None or rule.kind != "remember":
            return ""
        try:
            stored = rule_actions.keep(self._parts.records, rule, asker, turn)
        except EngramError as error:
            return "not remembered: " + str(error)
        if stored is None or stored.outcome == "duplicate":
            return ""
        return "remembered %s: %s" % (stored.id, snippet(rule.content, 80))

    def told(self):
        """Yield (name, line) on how the jobs go, for /stats."""
        for job in self.jobs:
            for line in job.told():
                yield job.name, line
