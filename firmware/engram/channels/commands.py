"""The commands that people type in any chat: /help lists them. Each yields its answer line by line."""

import sys

from engram import __version__, log, text
from engram.compat import const, heap_free, heap_used, let_go
from engram.errors import ArgumentError
from engram.memory import catalog, ids, scope
from engram.memory.recall import shown_score, snippet

_PAGE = const(20)
_FOUND = const(10)
_EXPLAIN = "--explain"
_WIDTH = const(100)  # characters of a memory in a list

COMMANDS = (
    ("help", "[COMMAND]", "what there is to type"),
    ("memory", "[list [PAGE] | tags | show ID | history ID]", "what is remembered; alone: today's and the counts"),
    ("recall", "[--explain] QUERY", "find memories and turns by words; --explain: what each score is made of"),
    ("forget", "ID | QUERY", "forget a memory (m12) or a turn (t12); a query lists candidates"),
    ("pin", "ID", "keep a memory whatever happens: it never leaves for want of room"),
    ("unpin", "ID", "let it leave again as others do"),
    ("undo", "", "take the latest change of memory, profile or notes back"),
    ("session", "[new [TITLE] | list | switch ID | delete ID]", "threads of conversation; alone: the present one"),
    ("profile", "[FILE [add TEXT | write TEXT | replace OLD => NEW]]", "show or edit user.md, soul.md, identity.md"),
    ("intents", "[list | remove ID]", "what comes up and what you are then reminded of"),
    ("mode", "[full | lightweight]", "which memory the agent uses; the other one is kept"),
    ("note", "TEXT", "add a line to today's note"),
    ("distill", "", "turn the notes that wait into memories; /undo takes all of it back"),
    ("clear", "[DAY]", "empty the notes of today, or of a day such as 2026-01-31; memories stay"),
    ("dedupe", "", "look for memories that say the same, and let the lesser one go"),
    (
        "export",
        "[md | trash]",
        "all memories, profile and notes as JSON Lines; md: memories as Markdown; trash: what left",
    ),
    ("import", "FILE | OBJECT", "take memories from a file of the board (.jsonl, .json, .md) or a JSON object"),
    ("compact", "", "take what was forgotten off the flash"),
    ("stats", "", "how the board is doing"),
    ("workspace", "[ID | off]", "the workspace of this conversation: who is in it shares what is tagged ws:ID"),
    ("json", "on | off", "on the serial line: one JSON object a line, for programs"),
)


_CARE = "engram.channels.care"
_LENT = {
    "clear": _CARE,
    "dedupe": _CARE,
    "distill": _CARE,
    "note": _CARE,
    "export": "engram.channels.exchange",
    "import": "engram.channels.exchange",
    "intents": "engram.channels.standing",
    "pin": _CARE,
    "unpin": _CARE,
    "workspace": "engram.channels.workspace",
}
"""Modules with commands that are seldom used: each is a function of the parts, who asks and what stands behind the name."""


class Commands:
    """Runs commands over one board; `parts` has all that the app is made of."""

    def __init__(self, parts):
        self._parts = parts

    def run(self, asker, line: str):
        """Yield the answer's lines to a line that begins with a slash; ArgumentError if it is no command.

        A number among them is a pause of so many milliseconds, in which others may run.
        """
        name, _, rest = line[1:].partition(" ")
        for known, usage, _ in COMMANDS:
            if known == name:
                return self._checked(name, rest.strip(), usage, asker)
        raise ArgumentError("/" + name[:20], "there is no such command; /help lists them.")

    def _checked(self, name: str, rest: str, usage: str, asker):
        if rest and not usage:
            raise ArgumentError("/" + name, "takes nothing after it.")
        if name in _LENT:
            return self._lent(_LENT[name], name, asker, rest)
        return getattr(self, "_" + name)(asker, rest)

    def _lent(self, module: str, name: str, asker, rest: str):
        """Run a command of a module, of which nothing stays on a small heap."""
        __import__(module)
        try:
            yield from getattr(sys.modules[module], name + "_command")(self._parts, asker, rest)
        finally:
            let_go((module,))

    def _help(self, asker, rest: str):
        wanted = rest.strip("/")
        if wanted and wanted not in [name for name, _, _ in COMMANDS]:
            raise ArgumentError("/help", "there is no command /%s; /help alone lists them." % wanted[:20])
        for name, usage, purpose in COMMANDS:
            if not wanted or wanted == name:
                yield "/" + name + (" " + usage if usage else "")
                yield "    " + purpose
        if not wanted:
            yield "All else is a message to the agent."

    # --- memory

    def _memory(self, asker, rest: str):
        what, _, more = rest.partition(" ")
        if not what:
            return self._overview(asker)
        if what == "list":
            return self._list(asker, more)
        if what == "tags":
            return self._tags(asker)
        if what == "show":
            return self._show(asker, more)
        if what == "history":
            return self._history(asker, more)
        raise ArgumentError("/memory", "takes list, tags, show ID or history ID.")

    def _overview(self, asker):
        parts = self._parts
        yield "%s, %s mode" % (counted(parts.records.count(asker), "memory", "memories"), parts.config.get("mode"))
        tags = catalog.line(catalog.ranked(parts.records, asker), 60)
        if tags:
            yield "tags: " + tags
        today = parts.clock.day(parts.clock.now())
        shown = 0
        for record in parts.records.newest(asker):
            # They come by their latest change, and no change is before the beginning.
            if shown == _PAGE or parts.clock.day(record.get("updated", record["created"])) < today:
                break
            if parts.clock.day(record["created"]) == today:
                shown += 1
                yield self._row(record)
        if not shown:
            yield "nothing was remembered today; /memory list shows all"
        if not asker.group:
            notes = parts.notes.of(asker)
            for name in ("MEMORY.md", notes.today()):
                content = notes.text(name).strip()
                if content:
                    yield name + ":"
                    yield from content.split("\n")

    def _list(self, asker, more: str):
        page = _page(more)
        position = 0
        for record in self._parts.records.newest(asker):
            if position == page * _PAGE:
                break
            if (page - 1) * _PAGE <= position:
                yield self._row(record)
            position += 1
        pages = max((position + _PAGE - 1) // _PAGE, (self._parts.records.count(asker) + _PAGE - 1) // _PAGE)
        if not position:
            yield "nothing is remembered yet"
        elif position <= (page - 1) * _PAGE:
            yield "there is no page %d; the last is %d" % (page, pages)
        elif pages > 1:
            yield "page %d of %d" % (page, pages)

    def _tags(self, asker):
        tags = catalog.ranked(self._parts.records, asker)
        for tag, count in tags:
            yield "%5d  %s" % (count, tag)
        if not tags:
            yield "no tags yet: nothing is remembered"

    def _show(self, asker, more: str):
        if more[:1] == "t":
            for turn in self._parts.journal.get(more, asker, 2):
                yield "t%-6d %s  %s: %s" % (turn["seq"], self._minute(turn["at"]), turn["who"], turn["text"])
            return
        record = self._parts.forgetting.seen(self._parts.records.get(more, asker), asker)
        yield "%s  %s" % (record["id"], record["content"])
        for name in ("tags", "keywords", "turns"):
            if record.get(name):
                yield "  %-11s %s" % (name, ", ".join(record[name]))
        for name in ("type", "importance", "source", "scope", "pinned", "supersedes"):
            if name in record:
                yield "  %-11s %s" % (name, record[name])
        for name in ("created", "updated", "expires"):
            if name in record:
                yield "  %-11s %s" % (name, self._minute(record[name]))

    def _history(self, asker, more: str):
        for record in self._parts.records.history(more, asker):
            yield "%-7s %s  %s" % (
                record["id"],
                self._minute(record.get("updated", record["created"])),
                record["content"],
            )

    def _recall(self, asker, rest: str):
        if not rest:
            raise ArgumentError("/recall", "needs words to look for.")
        found = False
        for item, made_of in self._found(rest, asker):
            found = True
            who = item.who + ": " if item.who else ""
            shown = (item.id, self._day(item.at), shown_score(item.score), who, snippet(item.text, _WIDTH))
            yield "%-7s %s  %s  %s%s" % shown
            if made_of:
                yield "        " + ", ".join(["%s %s" % (what, shown_score(points)) for what, points in made_of])
        if not found:
            yield "nothing found: " + self._parts.recall.why_empty(rest, asker)
        elif self._parts.recall.partial:
            yield "there may be more: " + self._parts.recall.partial

    def _found(self, rest: str, asker):
        """Yield (item, what its score is made of or ())."""
        if rest.startswith(_EXPLAIN):
            query = rest[len(_EXPLAIN) :].strip()
            if not query:
                raise ArgumentError("/recall", "needs words to look for.")
            return self._parts.recall.explain(query, asker, _FOUND)
        return ((item, ()) for item in self._parts.recall.find(rest, asker, _FOUND))

    def _forget(self, asker, rest: str):
        kind = rest[:1].lower()
        if kind in ("m", "t") and rest[1:].isdigit():
            if kind == "m" and self._is_in_trash(asker, rest):
                yield "%s had left for want of room; it has left the trash too, for good" % rest
            elif kind == "m":
                record, turns = self._parts.forgetting.forget(rest, asker, with_turns=True)
                gone = ", ".join([record["id"]] + turns)
                yield "forgot %s: %s (/undo brings it back)" % (gone, snippet(record["content"], _WIDTH))
            else:
                self._parts.journal.redact(rest, asker)
                yield "forgot the turn t%d; /compact takes it off the flash" % ids.number("id", rest, "t")
            return
        if not rest:
            raise ArgumentError("/forget", "needs an id such as m12, or words to look for.")
        found = False
        for _, record in self._parts.records.search(rest, _FOUND, asker):
            if not found:
                yield "which one? /forget and its id"
            found = True
            yield self._row(record)
        if not found:
            yield "nothing found: " + self._parts.recall.why_empty(rest, asker)
        elif self._parts.recall.partial:
            yield "there may be more: " + self._parts.recall.partial

    def _is_in_trash(self, asker, ref: str) -> bool:
        """Take a memory that left for want of room out of the trash; whether it was there and nowhere else."""
        number = ids.number("id", ref, "m")
        if self._parts.records.has(number):
            return False
        return bool(self._parts.trash.remove(lambda record: _is_trashed(record, number, asker)))

    def _undo(self, asker, rest: str):
        yield self._parts.changes.undo(asker)

    # --- sessions and profile

    def _session(self, asker, rest: str):
        journal = self._parts.journal
        what, _, more = rest.partition(" ")
        more = more.strip()
        if what == "new":
            before = journal.sessions(asker)
            yield "session %s begins" % journal.begin(asker, more)
            now = [session.id for session in journal.sessions(asker)]
            for session in before:
                if session.id not in now:
                    yield "%s left the list of sessions (session.live); its turns are still found" % session.id
        elif what == "switch":
            yield "on with " + self._session_row(asker, journal.switch(asker, more))
        elif what == "delete":
            session = journal.delete(asker, more)
            yield "deleted %s with %s; /compact takes them off the flash" % (
                session.id,
                counted(session.turns, "turn", "turns"),
            )
        elif what in ("", "list"):
            found = journal.sessions(asker)
            if not what:
                found = [session for session in found if session.id == journal.current(asker)]
            for session in found:
                yield self._session_row(asker, session)
            if not found:
                yield "no session yet; the first message begins one"
        else:
            raise ArgumentError("/session", "takes new [TITLE], list, switch ID or delete ID.")

    def _session_row(self, asker, session) -> str:
        mark = "*" if session.id == self._parts.journal.current(asker) else " "
        return "%s %-6s %4d turns  %s  %s" % (mark, session.id, session.turns, self._minute(session.at), session.title)

    def _profile(self, asker, rest: str):
        if asker.group:
            raise ArgumentError("/profile", "is private and stays out of group rooms.")
        keeper = self._parts.profile.of(asker)
        name, _, more = rest.partition(" ")
        action, _, content = more.partition(" ")
        content = content.strip()
        if not action:
            for each in keeper.names() if not name else (name,):
                yield "--- " + each
                yield keeper.text(each).strip()
                over = keeper.overlong(each)
                if over:
                    yield "! its last %d characters are over profile.chars: the model does not see them" % over
            return
        if action == "add":
            keeper.append(name, content)
        elif action == "write":
            keeper.write(name, content + "\n")
        elif action == "replace" and " => " in content:
            old, _, new = content.partition(" => ")
            keeper.replace(name, old, new)
        else:
            raise ArgumentError("/profile", "FILE takes add TEXT, write TEXT or replace OLD => NEW.")
        yield "%s is changed (/undo takes it back):" % name
        yield keeper.text(name).strip()

    # --- the whole

    def _mode(self, asker, rest: str):
        parts = self._parts
        if rest:
            only_owner(asker, "/mode")
            parts.config.save("mode", rest)
            parts.tools.mode = rest
        yield "%s mode%s" % (parts.config.get("mode"), "; nothing of the other mode is lost" if rest else "")

    def _compact(self, asker, rest: str):
        only_owner(asker, "/compact")
        saved = 0
        for part in (self._parts.records, self._parts.journal):
            before = part.bytes
            for _ in part.compacting():
                yield 0
            saved += before - part.bytes
        yield "%d bytes came free" % saved if saved > 0 else "there was nothing to free"

    def _stats(self, asker, rest: str):
        parts = self._parts
        clock = parts.clock
        model = parts.agent.model
        rows = (
            ("version", __version__),
            ("time", clock.minute(clock.now()) + ("" if clock.known else " (a guess: the clock is not set)")),
            ("mode", parts.config.get("mode")),
            ("model", model.name if model else "none, offline"),
            ("memories", self._memories_told(asker)),
        )
        for name, value in rows:
            yield "%-9s %s" % (name, value)
        if scope.is_owner(asker):
            yield from self._stats_of_all()

    def _stats_of_all(self):
        """What concerns the whole board, and everybody on it."""
        parts = self._parts
        damaged = sum(part.damaged for part in (parts.records, parts.journal, parts.intents))
        rows = (
            ("turns", "%d, %d bytes" % (parts.journal.turns(), parts.journal.bytes)),
            ("answered", "%d since the start, %d failed" % (parts.agent.turns, parts.agent.failed)),
            ("damaged", "%d lines set aside since the start" % damaged),
            ("heap", "%d bytes used, %d free" % (heap_used(), heap_free())),
        )
        for name, value in rows:
            yield "%-9s %s" % (name, value)
        for name, told in parts.agent.after.told() if parts.agent.after else ():
            yield "%-9s %s" % (name, told)
        if parts.network:
            yield "%-9s %s" % ("network", parts.network.told())
        if parts.recall.partial:
            yield "%-9s %s" % ("index", parts.recall.partial)
        if parts.journal.dropped_segments:
            yield "%-9s %d segments of old turns left to make room" % ("journal", parts.journal.dropped_segments)
        for line in log.lines():
            yield "log       " + line

    def _memories_told(self, asker) -> str:
        parts = self._parts
        told = "%d" % parts.records.count(asker)
        if not scope.is_owner(asker):
            return told
        told += ", %d bytes" % parts.records.bytes
        if parts.trash.bytes:
            told += "; %d left for want of room since the start, the trash has %d bytes" % (
                parts.capacity.left,
                parts.trash.bytes,
            )
        return told + ("; " + parts.capacity.why if parts.capacity.why else "")

    def _json(self, asker, rest: str):
        # Where it fits the console takes it before it gets here.
        if rest != "off":
            raise ArgumentError("/json", "takes on or off, and on only on the serial line.")
        yield "it is off"

    # --- how things look

    def _row(self, record: dict) -> str:
        tags = ", ".join(record.get("tags", ()))
        return "%-7s %s  %s  [%s]" % (
            record["id"],
            self._day(record["created"]),
            snippet(record["content"], _WIDTH),
            tags,
        )

    def _day(self, at: int) -> str:
        return self._parts.clock.day(at)

    def _minute(self, at: int) -> str:
        return self._parts.clock.minute(at)


def _is_trashed(record: dict, number: int, asker) -> bool:
    return record["id"] == "m%d" % number and scope.may_see(asker, record.get("scope", scope.ALL))


def only_owner(asker, command: str) -> None:
    """ArgumentError for all but the owner: a command that concerns what others have, too."""
    if not scope.is_owner(asker):
        raise ArgumentError(command, "concerns the whole board: only the owner can do that, on the console.")


def counted(count: int, one: str, several: str) -> str:
    """A number with its noun."""
    return "%d %s" % (count, one if count == 1 else several)


def _page(more: str) -> int:
    if not more:
        return 1
    # As bytes, since str.isdigit knows more digits than int() on CPython.
    digits = text.encode(more)
    if not digits.isdigit() or int(digits) < 1:
        raise ArgumentError("page", "must be a number from 1 on.")
    return int(digits)
