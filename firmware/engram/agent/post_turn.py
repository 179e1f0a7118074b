"""Work after a turn: a rule may keep what the model did not, and facts are read in the background."""

from collections import namedtuple

from engram.agent.openings import may_name_time, may_remind
from engram.compat import const
from engram.errors import EngramError
from engram.lazy import lazy
from engram.memory.recall import snippet, stored_notice

_HEAD = const(200)  # characters in which a statement begins, after "please", "hey" and the like
_WORDS = const(12)
_TIMER_RULES = (
    "timers.rules", "timers.english_times", "timers.unread", "timers.rules_wide", "timers.when", "timers.tool", "text.phrases",
)  # fmt: skip
_STARTS = const(" remember note keep bear make save store write don dont do never i my call ")


class PostTurn(namedtuple("PostTurn", "config records journal notes reminders find_timers jobs flush")):
    """Runs after the turns of an agent with a model: rules, then the background's jobs."""

    def turn_over(self, turn, is_answered: bool) -> str:
        """A Turn is over; a sentence on what a rule kept of it, or ""."""
        told = self._apply_rules(turn, turn.said) if turn.said else ""
        if is_answered:
            self.jobs.on_model_ok()
        self.flush.turn_over(turn.caller, self.journal.current(turn.caller))
        self.jobs.turn_over()
        return told

    def _apply_rules(self, turn, content: str) -> str:
        """Keep what the person asked to be kept, where the model has not."""
        if not self.config.get("rules.on"):
            return ""
        told = ""
        if not turn.has_reminder:
            told = self._add_reminder(turn.caller, content) or self._add_timer(turn.caller, content)
        if told or turn.has_changed:
            turn.has_acted = turn.has_acted or bool(told)
            return told
        told = self._store_fact(turn, content)
        if told:
            turn.unkept = ""
        return told

    def _add_reminder(self, caller, content: str) -> str:
        # Seldom: what the rule needs is loaded only for what may be one.
        if not may_remind(content):
            return ""
        with lazy("reminders", "text.phrases"):
            from engram.reminders import tool

            try:
                return tool.add_reminder_by_rule(self.reminders, content, caller)
            except EngramError as error:
                return "no reminder: " + str(error)

    def _add_timer(self, caller, content: str) -> str:
        if not may_name_time(content):
            return ""
        with lazy(*_TIMER_RULES):
            from engram.timers import tool

            try:
                return tool.add_by_rule(self.find_timers, content, caller)
            except EngramError as error:
                return "no timer: " + str(error)

    def _store_fact(self, turn, content: str) -> str:
        if not may_state(content):
            return ""
        with lazy("agent", "text.phrases", "text.secrets"):
            from engram.agent import phrase_rules

            rule = phrase_rules.match(content)
            if rule is None or rule.kind != "remember":
                return ""
            try:
                if self.config.get("mode") != "full":
                    turn.act()
                    return self._keep_in_file(turn.caller, rule, phrase_rules.keep_in_file)
                stored = phrase_rules.store(self.records, rule, turn.caller, turn.id)
            except EngramError as error:
                return "not remembered: " + str(error)
            if stored is None or stored.outcome == "duplicate":
                return ""
            return stored_notice(stored, rule.content)

    def _keep_in_file(self, caller, rule, keep) -> str:
        """In lightweight mode only what the person asked for is kept by a rule, by keep(notebook, rule)."""
        if not rule.asked or caller.group or not keep(self.notes.for_caller(caller), rule):
            return ""
        return "kept in MEMORY.md: " + snippet(rule.content, 80)


def may_state(content: str) -> bool:
    """Whether a message may begin with what a rule keeps: the rules are loaded for those only."""
    for word in content[:_HEAD].lower().replace("’", "'").split()[:_WORDS]:
        word = word.strip(",.!:;")
        if ord(word[:1] or " ") > 127 or " %s " % word.split("'")[0] in _STARTS:
            return True
    return False
