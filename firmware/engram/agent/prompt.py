"""Builds the prompt of one turn: stable blocks first, so that a provider's cache of prompt prefixes fits.

    system     profile · guidance · tag catalog (full mode) or Markdown notes (lightweight mode)
    messages   the gist of the turns before the session's window, the window, then the person's message with time, new tags
               and recalled memories; the first one of a session with the notes of yesterday and today (full mode)

What changes each turn travels with the last message and is never stored with the turn. The catalog is a snapshot that
is renewed when the window moves; tags that came since stand with the last message. So two prompts in a row are the
same up to the last exchange. Each block has a budget in tokens, estimated by script and corrected by what the service counts:

    reply (llm.reply_tokens) · tools · profile · guidance · catalog or notes · recalled memories
    of what is left, at most a half for the history, at least a quarter for tool calls and their results

No budget depends on the message, or the history would begin elsewhere each turn.
"""

from collections import namedtuple

from engram import tables, text
from engram.llm.types import Message, assistant, user
from engram.memory import access, catalog, recall_block
from engram.memory.journal.journal import step
from engram.memory.line_meaning import attributed_text
from engram.memory.recall import make_query
from engram.memory.texts import profile
from engram.tools.schemas import SMALL
from engram.tools.toolbox import tokens_of

_MARGIN = const(150)  # tokens for the time, the new tags and what the estimate is off
_SMALLEST = const(200)  # tokens of a message that are always shown
_PROFILE_SHARE = const(20)  # per cent of the model's window
_NOTES_SHARE = const(30)
_SMALL_SHARE = const(10)  # of a small window, for either
_RECALL_SHARE = const(20)  # of a small window: the conversation needs the rest
_NEW_TAGS = const(60)  # tokens
_CATALOG_SHARE = const(6)  # of a small window
_LEAST_PERCENT = const(75)  # bounds of the correction by what services count
_MOST_PERCENT = const(300)
_LEAST_COUNT = const(60)  # per cent of the estimate: a service that counts less leaves out what it had in its cache
_MOST_COUNT = const(400)
CATALOG = 300  # tokens of the tag catalog: many tags would fill the prompt
TURN_CHARS = 1500  # of a turn in later prompts: one long text would push out the conversation
_PAUSE = const(10_800)  # seconds after which a message in the history carries its minute
_MARK = const(20)  # tokens of the mark of a cut
_SNAPSHOTS = const(4)  # sessions whose catalog is kept as their prompts show it
_MORE = const(" … [cut; memory_search t%d reads all of it]")
_CUT = const(" … [cut: too long for this window]")
_EARLIER = const("[file_read %s shows what stands before]\n")
_EARLIER_NOTES = const("[memory_search %s reads what stands before]\n")
_BROKEN = const(" … [the answer broke off here]")
_UNANSWERED = const("[not answered]")
_GIST = const("(earlier in this session: %s)\n")

# The guidance on memory: stable texts, which a provider caches with the start of each prompt.
_guidance = {}  # of each mode, and "plain" without tools, read at its first prompt
_CITE = const("Cite ids when asked. ")


Prompt = namedtuple("Prompt", "system messages notice room reply_tokens note_usage")
"""Two functions that yield the prompt's parts, a notice or "", the tokens left for tool calls and those of the reply, and
a function that takes the service's count of the prompt."""


Window = namedtuple("Window", "turns room for_memories gist tokens")
"""Seqs of the shown turns, the tokens left for message and tool calls, and for memories, a line on the turns before, and
the tokens of turns, tools and the stable blocks."""


_Parts = namedtuple("_Parts", "config clock records journal recall profiles notebooks toolbox model snapshots")


class PromptBuilder(_Parts):
    """A builder of prompts from one board's memory; `snapshots` is a dict of its own."""

    # snapshots  by session (key, all tags, line of the catalog), kept until the window moves
    senses = None
    percent = 100
    """Tokens that the service counts for 100 estimated ones."""

    def window(self, caller, sid: str, seq: int) -> Window:
        """Return the Window of turns that the prompt for the turn `seq` shows before it."""
        mode = self.config.get("mode")
        room, for_memories = self._room(caller, mode), 0
        stable = self.room(self.reply_tokens()) - room
        if mode == "full":
            stable -= self._catalog_tokens()  # the prompt shows as many as there are
            budget = min(self._share(_RECALL_SHARE), self.config.get("recall.tokens"), room - 2 * _SMALLEST)
            for_memories = max(0, budget)
        room = max(0, room - for_memories)
        most = self.config.get("session.messages")
        turns = self.journal.window(sid, most)
        if seq < 0:
            turns = (turns + self.journal.unkept.seqs(caller))[-most:]
        gist = self.journal.gists.of(sid, caller.workspace)[1]
        gist = _GIST % gist if gist else ""
        tokens = text.tokens(gist)
        turns, costs = self._fitting([turn for turn in turns if turn != seq], room // 2 - tokens)
        shown = [turn for turn, cost in zip(turns, costs) if cost]
        has_earlier = gist and shown and (self.journal.turn(shown[0]) or {}).get("prev")
        left = room - sum(costs) - tokens
        return Window(shown, left, for_memories, gist if has_earlier else "", stable + sum(costs))

    def rank(self, caller, content: str, window: Window, seq: int):
        """Return the board's hits that the prompt does not show yet; None without room for memories."""
        if not window.for_memories:
            return None
        return self.recall.rank(make_query(content, caller, skip=window.turns + [seq]))

    def build(
        self, caller, sid: str, seq: int, content: str, window: Window, reminders: str = "", ranked=None, shown=None
    ) -> Prompt:
        """Build the prompt of the turn `seq`; append [id, confidence] of each memory in it to `shown`."""
        mode = self.config.get("mode")
        turns, room = window.turns, window.room - text.tokens(reminders)
        notes, shown_notes = self._first_notes(caller, mode, room // 4) if not turns else ("", ())
        earlier = "" if turns else self._session_before(caller, sid)
        room -= text.tokens(notes) + text.tokens(earlier)
        message, notice = self._fitted(content, seq, max(_SMALLEST, room * 3 // 4))
        with_ids = self._shows_ids(caller)
        recalled = ""
        if ranked:
            recalled = recall_block.make(self.recall, ranked, window.for_memories, with_ids, shown_notes, shown)
        line, fresh = self._catalog(caller, sid, turns or [seq]) if mode == "full" else ("", "")
        sensed = self.senses.block(caller) if self.senses else ""
        task = "".join(self._profile(caller, (profile.TASK,)))
        room -= text.tokens(sensed) + text.tokens(task)
        last = self._last(caller, message, (notes, task, sensed, recalled, reminders, earlier), fresh)
        estimate = window.tokens + text.tokens(line) + text.tokens(last)

        def system():
            return self._system(caller, mode, line)

        def messages():
            yield from self._history(turns, caller, window.gist)
            yield user(last)

        def note_usage(used: int):
            self._note_usage(used, estimate)

        room = max(_SMALLEST, room - text.tokens(message))
        return Prompt(system, messages, notice, room, self.reply_tokens(), note_usage)

    def last_look(self, caller, message: str) -> Prompt:
        """Build the prompt of a silent turn, which has a message and no history."""
        mode = self.config.get("mode")
        room = self._room(caller, mode) // 4
        system = lambda: self._system(caller, mode, "")  # noqa: E731
        return Prompt(system, lambda: (user(message),), "", room, self.reply_tokens(), lambda _used: None)

    def _room(self, caller, mode: str) -> int:
        room = self.room(self.reply_tokens())
        for tool in self.toolbox.listed(caller) if self._has_tools() else ():
            room -= tokens_of(tool)
        for block in self._system(caller, mode, ""):
            room -= text.tokens(block)
        return room - self._catalog_tokens() if mode == "full" else room

    def room(self, reply: int) -> int:
        """Return the tokens, as they are estimated, of a prompt whose answer has at most `reply` tokens."""
        return (self.config.get("llm.context_tokens") - reply) * 100 // self.percent - _MARGIN

    def _is_small(self) -> bool:
        return self.config.get("llm.context_tokens") < SMALL

    def reply_tokens(self, most: int = 0) -> int:
        """Return the tokens that an answer of at most `most`, or llm.reply_tokens, may have in the model's window."""
        most = most or self.config.get("llm.reply_tokens")
        return min(most, self.config.get("llm.context_tokens") // (4 if self._is_small() else 2))

    def estimate_more(self) -> None:
        """Make smaller prompts, after one that was too long."""
        self.percent = min(self.percent * 3 // 2, _MOST_PERCENT)

    def _note_usage(self, used: int, estimate: int) -> None:
        percent = 100 * used // estimate
        # A new window for each small change would begin the history elsewhere, and lose the service's cache.
        if _LEAST_COUNT <= percent <= _MOST_COUNT and abs(percent - self.percent) * 10 > self.percent:
            self.percent = min(max((self.percent + percent) // 2, _LEAST_PERCENT), _MOST_PERCENT)

    def _has_tools(self) -> bool:
        return not (self.model and self.model.no_tools)

    # --- stable blocks

    def _system(self, caller, mode: str, tags: str):
        yield "\n".join(self._profile(caller, profile.STABLE))
        yield self._guide(caller, mode if self._has_tools() else "plain")
        yield from self._profile(caller, (profile.RULES,))
        if mode == "full":
            if tags:
                yield "# Tags in use\n" + tags
        elif not caller.group:
            yield from self._notes(self.notebooks.for_caller(caller))

    def _guide(self, caller, name: str) -> str:
        """Return the guidance without its lines on tools that the caller has not."""
        if name not in _guidance:
            _guidance[name] = tables.read("agent/" + name).strip()
        there = [tool.name for tool in self.toolbox.listed(caller)]
        lines = _guidance[name].replace("%s", _CITE if self._shows_ids(caller) else "").split("\n")
        return "\n".join([line for line in lines if line[:2] != "- " or line[2:].split(":")[0] in there])

    def _profile(self, caller, names):
        budget = self._share(_SMALL_SHARE if self._is_small() else _PROFILE_SHARE) // len(profile.STABLE)
        keeper = self.profiles.for_caller(caller)
        for name in keeper.names():
            if name in names:
                yield _block(name, beginning(keeper.text(name).strip(), budget - _MARK, _CUT))

    def _notes(self, notes):
        budget = self._share(_SMALL_SHARE if self._is_small() else _NOTES_SHARE) // 4
        content = notes.text("MEMORY.md").strip()
        if content:
            yield _block("MEMORY.md", beginning(content, 2 * budget - _MARK, _CUT))
        for name in (notes.yesterday(), notes.today()):
            content = notes.text(name).strip()
            if content:
                yield _block(name, _end(content, budget - _MARK, _EARLIER % name))

    def _share(self, percent: int) -> int:
        return self.config.get("llm.context_tokens") * percent // self.percent

    def _catalog_tokens(self) -> int:
        return min(CATALOG, self._share(_CATALOG_SHARE))

    def _catalog(self, caller, sid: str, turns: list) -> tuple:
        key = (turns[0], access.labels(caller))
        tags = catalog.ranked(self.records, caller)
        snapshot = self.snapshots.get(sid)
        if snapshot is None or snapshot[0] != key:
            if len(self.snapshots) >= _SNAPSHOTS:
                self.snapshots.clear()
            line = catalog.line(tags, self._catalog_tokens())
            self.snapshots[sid] = snapshot = (key, {tag for tag, _ in tags}, line)
        _, known, line = snapshot
        fresh = ", ".join([tag for tag, _ in tags if tag not in known])
        return line, beginning(fresh, _NEW_TAGS, " …")

    # --- history

    def _fitting(self, turns: list, budget: int) -> tuple:
        """Return (turns without the oldest that exceed the budget, tokens of each)."""
        costs = [self._cost(seq) for seq in turns]
        total = sum(costs)
        stride = step(self.config.get("session.messages"))
        start = 0
        while total > budget and start < len(turns):
            total -= sum(costs[start : start + stride])
            start += stride
        return turns[start:], costs[start:]

    def _cost(self, seq: int) -> int:
        turn = self.journal.turn(seq)
        return text.tokens(self._shown(turn)) + 4 if turn and not turn.get("command") else 0

    def _history(self, turns: list, caller, gist: str):
        # In a group each message has its speaker's name.
        role, unanswered, before = "", "" if caller.group else "user", 0
        for seq in turns:
            turn = self.journal.turn(seq)
            # Some APIs want the person to speak first.
            if turn is None or turn.get("command") or not (role or turn["role"] == "user"):
                continue
            if role == turn["role"] == unanswered:
                yield assistant(_UNANSWERED)  # or an API would take both for one message
            role = turn["role"]
            pause = turn["at"] - before if before else self.clock.now() - turn["at"]
            is_told = role == "user" and pause >= _PAUSE and not turn.get("guess")
            before = turn["at"]
            message = self._message(turn, caller, "(%s) " % self.clock.minute(before) if is_told else "")
            yield user(gist + message.text) if gist else message
            gist = ""
        if role and role == unanswered:
            yield assistant(_UNANSWERED)

    def _message(self, turn: dict, caller, moment: str) -> Message:
        content = moment + self._shown(turn)
        if turn["role"] == "assistant":
            return assistant(content)
        return user(turn["who"] + ": " + content if caller.group else content)

    def _shown(self, turn: dict) -> str:
        content = attributed_text(turn)
        most = TURN_CHARS
        if len(content) > most:
            content = text.cut(content, most) + self._more(turn["seq"])
        return content + _BROKEN if turn.get("cut") else content

    # --- the last message

    def _session_before(self, caller, sid: str) -> str:
        """Return a line on the caller's session before `sid`, "" in a group."""
        for session in self.journal.sessions(caller) if not caller.group else ():
            if session.id != sid and session.turns:
                return "(session before: %s %s)" % (self.clock.minute(session.at), session.title)
        return ""

    def _first_notes(self, caller, mode: str, most: int) -> tuple:
        """Return (notes of yesterday and today for the session's first message, names of the whole ones)."""
        budget = min(self.config.get("notes.tokens"), most)
        if mode != "full" or caller.group or budget <= 2 * _MARK:
            return "", ()
        notes = self.notebooks.for_caller(caller)
        blocks, whole = [], []
        for name in (notes.yesterday(), notes.today()):
            content = notes.text(name).strip()
            if content:
                shown = _end(content, budget // 2 - _MARK, _EARLIER_NOTES % name)
                blocks.append(_block(name, shown))
                if shown == content:
                    whole.append(name)
        return "\n".join(blocks), whole

    def _shows_ids(self, caller) -> bool:
        # In a group, where others read the answer, ids are left out of it unless they are wanted.
        citations = self.config.get("recall.citations")
        return citations == "on" or (citations == "auto" and not caller.group)

    def _fitted(self, content: str, seq: int, budget: int) -> tuple:
        mark = self._more(seq)
        shown = beginning(content, budget - _MARK, mark)
        if shown == content:
            return content, ""
        read = len(shown) - len(mark)
        return shown, "the message is longer than the model's window: it read the first %d characters." % read

    def _more(self, seq: int) -> str:
        return _MORE % seq if seq > 0 and self.config.get("mode") == "full" and self._has_tools() else _CUT

    def _last(self, caller, message: str, blocks: tuple, fresh: str) -> str:
        clock = self.clock
        lines = [block for block in blocks if block]
        if clock.known:
            lines.append("(now: " + clock.minute(clock.now()) + ")")
        if fresh:
            lines.append("(new tags: " + fresh + ")")
        lines.append(caller.principal + ": " + message if caller.group else message)
        return "\n".join(lines)


def _block(name: str, content: str) -> str:
    return "<%s>\n%s\n</%s>" % (name, content, name)


def beginning(content: str, budget: int, mark: str) -> str:
    """Return a text, or its beginning of `budget` tokens and the mark."""
    if text.tokens(content) <= budget:
        return content
    # A character has at most eight quarters of a token, and at least one.
    low, high = max(0, budget // 2), max(0, 4 * budget)
    while high - low > 1:
        middle = (low + high) // 2
        if text.tokens(content[:middle]) <= budget:
            low = middle
        else:
            high = middle
    return text.cut(content, low) + mark


def _end(content: str, budget: int, mark: str) -> str:
    lines = content.split("\n")
    total = sum(text.tokens(line) + 1 for line in lines)
    if total <= budget:
        return content
    while total > budget and len(lines) > 1:
        total -= text.tokens(lines.pop(0)) + 1
    return mark + beginning("\n".join(lines), budget, _CUT)
