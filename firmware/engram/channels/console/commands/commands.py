"""The commands that people type in any chat: /help lists them. Each yields its answer line by line."""

import sys

from engram import text
from engram.compat import const, unload_modules
from engram.errors import ArgumentError
from engram.memory import access, catalog, ids
from engram.memory.query import make_query
from engram.memory.recall import shown_score, snippet
from engram.memory.records import fields

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
    ("companion", "", "the link to the companion: whether there is one, and what it has of the board's logs"),
    ("stats", "", "how the board is doing"),
    ("workspace", "[ID | off]", "the workspace of this conversation: who is in it shares what is tagged ws:ID"),
    ("json", "on | off", "on the serial line: one JSON object a line, for programs"),
)


_CARE = "engram.channels.console.commands.care"
_LENT = {
    "clear": _CARE,
    "companion": "engram.channels.console.commands.stats",
    "dedupe": _CARE,
    "distill": _CARE,
    "note": _CARE,
    "export": "engram.channels.console.commands.transfer",
    "import": "engram.channels.console.commands.transfer",
    "intents": "engram.channels.console.commands.reminders",
    "pin": _CARE,
    "profile": "engram.channels.console.commands.sessions",
    "session": "engram.channels.console.commands.sessions",
    "stats": "engram.channels.console.commands.stats",
    "unpin": _CARE,
    "workspace": "engram.channels.console.commands.workspace",
}
"""Modules with commands that are seldom used: each is a function of the parts, who asks and what stands behind the name."""


class Commands:
    """Runs commands over one board; `parts` has all that the app is made of."""

    def __init__(self, parts):
        self._parts = parts

    def run(self, caller, line: str):
        """Yield the answer's lines to a line that begins with a slash; ArgumentError if it is no command.

        A number among them is a pause of so many milliseconds, in which others may run.
        """
        name, _, rest = line[1:].partition(" ")
        for known, usage, _ in COMMANDS:
            if known == name:
                return self._checked(name, rest.strip(), usage, caller)
        raise ArgumentError("/" + name[:20], "there is no such command; /help lists them.")

    def _checked(self, name: str, rest: str, usage: str, caller):
        if rest and not usage:
            raise ArgumentError("/" + name, "takes nothing after it.")
        if name in _LENT:
            return self._lent(_LENT[name], name, caller, rest)
        return getattr(self, "_" + name)(caller, rest)

    def _lent(self, module: str, name: str, caller, rest: str):
        """Run a command of a module, of which nothing stays on a small heap."""
        __import__(module)
        try:
            yield from getattr(sys.modules[module], name + "_command")(self._parts, caller, rest)
        finally:
            unload_modules((module,))

    def _help(self, caller, rest: str):
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

    def _memory(self, caller, rest: str):
        what, _, more = rest.partition(" ")
        if not what:
            return self._overview(caller)
        if what == "list":
            return self._list(caller, more)
        if what == "tags":
            return self._tags(caller)
        if what == "show":
            return self._show(caller, more)
        if what == "history":
            return self._history(caller, more)
        raise ArgumentError("/memory", "takes list, tags, show ID or history ID.")

    def _overview(self, caller):
        parts = self._parts
        yield "%s, %s mode" % (count_of(parts.records.count(caller), "memory", "memories"), parts.config.get("mode"))
        tags = catalog.line(catalog.ranked(parts.records, caller), 60)
        if tags:
            yield "tags: " + tags
        today = parts.clock.day(parts.clock.now())
        shown = 0
        for record in parts.records.newest(caller):
            # They come by their latest change, and no change is before the beginning.
            if shown == _PAGE or parts.clock.day(record.get("updated", record["created"])) < today:
                break
            if parts.clock.day(record["created"]) == today:
                shown += 1
                yield self._row(record)
        if not shown:
            yield "nothing was remembered today; /memory list shows all"
        if not caller.group:
            notes = parts.notes.for_caller(caller)
            for name in ("MEMORY.md", notes.today()):
                content = notes.text(name).strip()
                if content:
                    yield name + ":"
                    yield from content.split("\n")

    def _list(self, caller, more: str):
        page = _page(more)
        position = 0
        for record in self._parts.records.newest(caller):
            if position == page * _PAGE:
                break
            if (page - 1) * _PAGE <= position:
                yield self._row(record)
            position += 1
        pages = max((position + _PAGE - 1) // _PAGE, (self._parts.records.count(caller) + _PAGE - 1) // _PAGE)
        if not position:
            yield "nothing is remembered yet"
        elif position <= (page - 1) * _PAGE:
            yield "there is no page %d; the last is %d" % (page, pages)
        elif pages > 1:
            yield "page %d of %d" % (page, pages)

    def _tags(self, caller):
        tags = catalog.ranked(self._parts.records, caller)
        for tag, count in tags:
            yield "%5d  %s" % (count, tag)
        archived = self._parts.archived
        for tag, count in sorted(archived.tags(caller).items()) if archived else ():
            yield "%5d  %s, older, with the companion" % (count, tag)
        if not tags:
            yield "no tags yet: nothing is remembered"

    def _show(self, caller, more: str):
        companion = self._parts.companion
        if companion and companion.archive and companion.archive.is_away(more, caller):
            from engram.channels.console.commands import remote

            line, why = (yield from remote.fetched(companion.archive, more, caller)) or (None, "it was broken off")
            if line is None:
                yield why
            elif "text" in line:
                yield self._turn_row(line)
            else:
                yield from self._shown(self._parts.forgetting.seen(line, caller))
                yield "  %-11s from the companion" % "read"
            return
        if more[:1] == "t":
            for turn in self._parts.journal.get(more, caller, 2):
                yield self._turn_row(turn)
            return
        record = self._parts.forgetting.seen(self._parts.records.get(more, caller), caller)
        yield from self._shown(record)
        yield from self._use_of(record)

    def _turn_row(self, turn: dict) -> str:
        return "t%-6d %s  %s: %s" % (turn["seq"], self._minute(turn["at"]), turn["who"], turn["text"])

    def _shown(self, record: dict):
        yield "%s  %s" % (record["id"], record["content"])
        for name in ("tags", "keywords", "turns"):
            if record.get(name):
                yield "  %-11s %s" % (name, ", ".join(record[name]))
        for name in ("type", "importance", "source", "scope", "pinned", "supersedes"):
            if name in record:
                yield "  %-11s %s" % (name, record[name])
        for name in ("created", "updated", "expires", "restored"):
            if name in record:
                yield "  %-11s %s" % (name, self._minute(record[name]))

    def _use_of(self, record: dict):
        records = self._parts.records
        uses, last = records.uses.usage_of(int(record["id"][1:])) if records.uses else (0, 0)
        if uses:
            yield "  %-11s %s the last time, %d in all" % ("used", self._day(last), uses)
        given, now = round(100 * record.get("importance", fields.IMPORTANCE)), records.importance.now(record)
        if now < given:
            yield "  %-11s 0.%02d now, as it was not used for long" % ("importance", now)

    def _history(self, caller, more: str):
        for record in self._parts.records.history(more, caller):
            yield "%-7s %s  %s%s" % (
                record["id"],
                self._minute(record.get("updated", record["created"])),
                record["content"],
                " (back from the companion)" if "restored" in record else "",
            )

    def _recall(self, caller, rest: str):
        explained = rest.startswith(_EXPLAIN)
        query = rest[len(_EXPLAIN) :].strip() if explained else rest
        if not query:
            raise ArgumentError("/recall", "needs words to look for.")
        recall = self._parts.recall
        more = None
        wanted = make_query(query, caller)
        if explained:
            items = recall.explain(wanted, _FOUND)
        else:
            ranked = recall.rank(wanted)
            if self._parts.companion:
                from engram.channels.console.commands import remote

                more = yield from remote.found(self._parts.companion.ask, ranked, _FOUND)
            items = ((item, ()) for item in recall.find(ranked, _FOUND, more))
        found = False
        for item, made_of in items:
            found = True
            who = item.who + ": " if item.who else ""
            shown = (item.id, self._day(item.at), shown_score(item.score), who, snippet(item.text, _WIDTH))
            yield "%-7s %s  %s  %s%s" % shown
            if made_of:
                yield "        " + ", ".join(["%s %s" % (what, shown_score(points)) for what, points in made_of])
        if not found:
            yield "nothing found: " + recall.why_empty(query, caller)
        elif recall.partial:
            yield "there may be more: " + recall.partial
        if more and more.note:
            yield more.note

    def _forget(self, caller, rest: str):
        kind = rest[:1].lower()
        if kind in ("m", "t") and rest[1:].isdigit():
            if kind == "m":
                record, turns = self._parts.forgetting.forget(rest, caller, with_turns=True)
                gone = ", ".join([record["id"]] + turns)
                if "left" in record:
                    yield "%s had left for want of room; %s left for good" % (record["id"], gone)
                    return
                if "archived" in record:
                    yield "%s is with the companion, which forgets it for good as soon as it is told" % record["id"]
                    return
                yield "forgot %s: %s (/undo brings it back)" % (gone, snippet(record["content"], _WIDTH))
            else:
                self._parts.journal.redact(rest, caller)
                yield "forgot the turn t%d; /compact takes it off the flash" % ids.number("id", rest, "t")
            return
        if not rest:
            raise ArgumentError("/forget", "needs an id such as m12, or words to look for.")
        found = False
        for _, record in self._parts.records.search(make_query(rest, caller), _FOUND):
            if not found:
                yield "which one? /forget and its id"
            found = True
            yield self._row(record)
        if not found:
            yield "nothing found: " + self._parts.recall.why_empty(rest, caller)
        elif self._parts.recall.partial:
            yield "there may be more: " + self._parts.recall.partial

    def _undo(self, caller, rest: str):
        yield self._parts.changes.undo(caller)

    # --- the whole

    def _mode(self, caller, rest: str):
        parts = self._parts
        if rest:
            only_owner(caller, "/mode")
            parts.config.save("mode", rest)
            parts.tools.mode = rest
        yield "%s mode%s" % (parts.config.get("mode"), "; nothing of the other mode is lost" if rest else "")

    def _compact(self, caller, rest: str):
        only_owner(caller, "/compact")
        saved = 0
        for part in (self._parts.records, self._parts.journal):
            before = part.bytes
            work = part.compacting()
            try:
                for _ in work:
                    yield 0
            finally:
                # MicroPython ends no generator by itself that is dropped half-way: no other compaction would begin.
                work.close()
            saved += before - part.bytes
        yield "%d bytes came free" % saved if saved > 0 else "there was nothing to free"

    def _json(self, caller, rest: str):
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


def only_owner(caller, command: str) -> None:
    """ArgumentError for all but the owner: a command that concerns what others have, too."""
    if not access.is_owner(caller):
        raise ArgumentError(command, "concerns the whole board: only the owner can do that, on the console.")


def count_of(count: int, one: str, several: str) -> str:
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
