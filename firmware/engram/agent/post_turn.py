"""What follows a turn: a rule may keep what the model did not, and facts are read in the background."""

from engram.agent import phrase_rules
from engram.compat import const
from engram.errors import EngramError
from engram.lazy import lazy
from engram.learning.jobs import Jobs
from engram.memory.recall import snippet

_OPENING = const(1600)  # characters in which an intent stands


class PostTurn:
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
        self._background = Jobs(self.jobs, quiet_ms)
        self.run = self._background.run
        self.preempt = self._background.preempt

    def turn_over(self, caller, turn: str, content: str, is_answered: bool) -> str:
        """A turn is over; a sentence on what a rule kept of it, or ""."""
        told = self._by_rule(caller, turn, content)
        if is_answered:
            for job in self.jobs:
                job.on_model_ok()
        self._flush.turn_over(caller, self._parts.journal.current(caller))
        self._background.turn_over()
        return told

    def _by_rule(self, caller, turn: str, content: str) -> str:
        """Keep what the person asked to be kept, where the model has not."""
        config, tools = self._parts.config, self._parts.tools
        if not config.get("rules.on"):
            return ""
        told = "" if tools.has_intended else self._intended_by_rule(caller, content)
        if told or tools.has_changed or config.get("mode") != "full":
            return told
        return self._kept_by_rule(caller, turn, content)

    def _intended_by_rule(self, caller, content: str) -> str:
        # Seldom: what the rule needs is loaded only for what may be one.
        if "remind" not in content[:_OPENING].lower() and "提醒" not in content[:_OPENING]:
            return ""
        with lazy("agent", "reminders", "learning"):
            from engram.agent import rule_actions

            try:
                return rule_actions.add_reminder_by_rule(self._parts.intents, content, caller)
            except EngramError as error:
                return "no reminder: " + str(error)

    def _kept_by_rule(self, caller, turn: str, content: str) -> str:
        rule = phrase_rules.match(content)
        if rule is None or rule.kind != "remember":
            return ""
        with lazy("agent", "learning"):
            from engram.agent import rule_actions

            try:
                stored = rule_actions.store_by_rule(self._parts.records, rule, caller, turn)
            except EngramError as error:
                return "not remembered: " + str(error)
        if stored is None or stored.outcome == "duplicate":
            return ""
        return "remembered %s: %s" % (stored.id, snippet(rule.content, 80))

    def status_lines(self):
        """Yield (name, line) on how the jobs go, for /stats."""
        for job in self.jobs:
            for line in job.status_lines():
                yield job.name, line
