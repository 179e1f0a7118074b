"""Builds the prompt of one turn: stable blocks first, so that a provider's cache of prompt prefixes fits.

    system     profile · guidance · tag catalog (full mode) or Markdown notes (lightweight mode)
    messages   the session's window of turns, then the person's message with time, new tags and recalled memories

What changes each turn travels with the last message and is never stored with the turn. The catalog is a snapshot that
is renewed when the window moves; tags that came since stand with the last message. So two prompts in a row are the
same up to the last exchange. Each block has a budget in tokens (characters / 4, a CJK character is one).
"""

from collections import namedtuple

from engram import text
from engram.agent import guidance
from engram.compat import const
from engram.llm.types import Message, assistant, user
from engram.memory import catalog, profile
from engram.memory.journal import step

_TOOLS_TOKENS = const(1100)  # what the tools' schemas take in a request
_MARGIN = const(100)  # for what the estimate of tokens is off
_SMALLEST = const(200)  # tokens of history or message below which a window of the model makes no sense
_MORE = " … [cut; memory_get %s shows all of it]"
_BROKEN = " … [the answer broke off here]"

Prompt = namedtuple("Prompt", ("system", "messages", "notice"))
"""Two functions that yield the same each time they are called, and a sentence for the person, or ""."""


class _Snapshot:
    """The catalog as one session's prompts show it, until the window moves."""

    def __init__(self, key, tags, line: str):
        self.key = key
        self.tags = tags
        self.line = line


class Context:
    """Builds prompts from one board's memory; `parts` has profile, records, recall, journal, notes, clock and config."""

    def __init__(self, parts):
        self._parts = parts
        self._config = parts.config
        self._snapshot = None

    def build(self, asker, sid: str, seq: int, content: str) -> Prompt:
        """The prompt for the turn `seq` with which `asker` said `content` in the session `sid`."""
        mode = self._config.get("mode")
        turns = self._parts.journal.window(sid, self._config.get("session.messages"))
        turns = [turn for turn in turns if turn != seq]
        budget = self._config.get("llm.context_tokens") - self._config.get("llm.reply_tokens")
        budget -= _TOOLS_TOKENS + _MARGIN
        for block in self._system(asker, mode, ""):
            budget -= text.tokens(block)
        budget -= self._config.get("catalog.tokens") if mode == "full" else 0
        recalled = self._recalled(asker, content, mode, turns, seq)
        budget -= text.tokens(recalled)
        message, notice = self._fitted(content, "t%d" % seq, max(_SMALLEST, budget - _SMALLEST))
        turns = self._fitting(turns, max(0, budget - text.tokens(message)))
        line, fresh = self._catalog(asker, sid, turns) if mode == "full" else ("", "")
        last = self._last(asker, message, recalled, fresh)

        def system():
            return self._system(asker, mode, line)

        def messages():
            yield from self._history(turns, asker)
            yield user(last)

        return Prompt(system, messages, notice)

    # --- stable blocks

    def _system(self, asker, mode: str, tags: str):
        yield "\n".join(self._profile(asker))
        yield guidance.text(mode)
        if mode == "full":
            if tags:
                yield "# Tags in use\n" + tags
        elif not asker.group:
            yield from self._notes()

    def _profile(self, asker):
        for name in profile.FILES:
            # Who the person is stays out of rooms where others read along.
            if name != "user.md" or not asker.group:
                yield "<%s>\n%s\n</%s>" % (name, self._parts.profile.text(name).strip(), name)

    def _notes(self):
        notes = self._parts.notes
        for name in ("MEMORY.md", notes.yesterday(), notes.today()):
            content = notes.text(name).strip()
            if content:
                yield "<%s>\n%s\n</%s>" % (name, content, name)

    def _catalog(self, asker, sid: str, turns: list) -> tuple:
        """The snapshot's line of tags, and the tags that came since."""
        key = (sid, turns[0] if turns else 0, asker)
        tags = catalog.ranked(self._parts.records, asker)
        if self._snapshot is None or self._snapshot.key != key:
            line = catalog.line(tags, self._config.get("catalog.tokens"))
            self._snapshot = _Snapshot(key, {tag for tag, _ in tags}, line)
        fresh = [tag for tag, _ in tags if tag not in self._snapshot.tags]
        return self._snapshot.line, ", ".join(fresh[:12])

    # --- history

    def _fitting(self, turns: list, budget: int) -> list:
        """The turns without as many of the oldest, a few at a time, as do not fit into the budget."""
        costs = [self._cost(seq) for seq in turns]
        total = sum(costs)
        stride = step(self._config.get("session.messages"))
        start = 0
        while total > budget and start < len(turns):
            total -= sum(costs[start : start + stride])
            start += stride
        return turns[start:]

    def _cost(self, seq: int) -> int:
        turn = self._parts.journal.turn(seq)
        return text.tokens(self._shown(turn)) + 4 if turn else 0

    def _history(self, turns: list, asker):
        started = False
        for seq in turns:
            turn = self._parts.journal.turn(seq)
            # Some APIs want the person to speak first.
            started = started or (turn is not None and turn["role"] == "user")
            if turn is not None and started:
                yield self._message(turn, asker)

    def _message(self, turn: dict, asker) -> Message:
        content = self._shown(turn)
        if turn["role"] == "assistant":
            return assistant(content)
        return user(turn["who"] + ": " + content if asker.group else content)

    def _shown(self, turn: dict) -> str:
        content = turn.get("text", "")
        most = self._config.get("session.message_chars")
        if len(content) > most:
            content = text.cut(content, most) + _MORE % ("t%d" % turn["seq"])
        return content + _BROKEN if turn.get("cut") else content

    # --- the last message

    def _recalled(self, asker, content: str, mode: str, turns: list, seq: int) -> str:
        if mode != "full":
            return ""
        share = self._config.get("llm.context_tokens") * self._config.get("recall.share") // 100
        budget = min(share, self._config.get("recall.tokens"))
        skip = set(turns)
        skip.add(seq)
        return self._parts.recall.block(content, asker, budget, skip, self._config.get("recall.citations"))

    def _fitted(self, content: str, ref: str, budget: int) -> tuple:
        """The message cut to the budget, and a notice for the person if that was needed."""
        if text.tokens(content) <= budget:
            return content, ""
        shown = text.cut(content, budget)
        return (
            shown + _MORE % ref,
            "the message is longer than the model's window: it read the first %d characters." % len(shown),
        )

    def _last(self, asker, message: str, recalled: str, fresh: str) -> str:
        clock = self._parts.clock
        lines = [recalled] if recalled else []
        if clock.known:
            lines.append("(now: " + clock.minute(clock.now()) + ")")
        if fresh:
            lines.append("(new tags: " + fresh + ")")
        lines.append(asker.principal + ": " + message if asker.group else message)
        return "\n".join(lines)
