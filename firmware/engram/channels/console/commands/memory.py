"""The command /memory: what is remembered, page by page, one by one, with its history."""

from collections import namedtuple

from engram import text
from engram.channels.console.commands import count_of, remote
from engram.channels.console.commands.recall import row
from engram.compat import const
from engram.errors import ArgumentError
from engram.memory import catalog
from engram.memory.line_meaning import attributed_text
from engram.memory.records import fields

_PAGE = const(20)


def memory_command(config, clock, records, journal, notes, forgetting, archive, caller, rest: str):
    """Show what is remembered."""
    return _View(config, clock, records, journal, notes, forgetting, archive).run(caller, rest)


class _View(namedtuple("_View", "config clock records journal notes forgetting archive")):
    def run(self, caller, rest: str):
        """Yield the answer to /memory."""
        what, _, more = rest.partition(" ")
        if what not in ("", "list", "tags", "show", "history"):
            raise ArgumentError("/memory", "takes list, tags, show ID or history ID.")
        return getattr(self, "_" + (what or "overview"))(caller, more)

    def _overview(self, caller, _):
        yield "%s, %s mode" % (count_of(self.records.count(caller), "memory", "memories"), self.config.get("mode"))
        tags = catalog.line(catalog.ranked(self.records, caller), 60)
        if tags:
            yield "tags: " + tags
        today = self.clock.day(self.clock.now())
        shown = 0
        for record in self.records.newest(caller):
            # They come by their latest change, and no change is before the beginning.
            if shown == _PAGE or self.clock.day(record.get("updated", record["created"])) < today:
                break
            if self.clock.day(record["created"]) == today:
                shown += 1
                yield row(self.clock, record)
        if not shown:
            yield "nothing was remembered today; /memory list shows all"
        if not caller.group:
            notes = self.notes.for_caller(caller)
            for name in ("MEMORY.md", notes.today()):
                content = notes.text(name).strip()
                if content:
                    yield name + ":"
                    yield from content.split("\n")

    def _list(self, caller, more: str):
        page = _page(more)
        position = 0
        for record in self.records.newest(caller):
            if position == page * _PAGE:
                break
            if (page - 1) * _PAGE <= position:
                yield row(self.clock, record)
            position += 1
        pages = max((position + _PAGE - 1) // _PAGE, (self.records.count(caller) + _PAGE - 1) // _PAGE)
        if not position:
            yield "nothing is remembered yet"
        elif position <= (page - 1) * _PAGE:
            yield "there is no page %d; the last is %d" % (page, pages)
        elif pages > 1:
            yield "page %d of %d" % (page, pages)

    def _tags(self, caller, _):
        tags = catalog.ranked(self.records, caller)
        for tag, count in tags:
            yield "%5d  %s" % (count, tag)
        if not tags:
            yield "no tags yet: nothing is remembered"

    def _show(self, caller, more: str):
        archive = self.archive
        if archive and archive.may_be_archived(more, caller):
            line, why = (yield from remote.fetched(archive, more, caller)) or (None, "it was broken off")
            if line is None:
                yield why
            elif "text" in line:
                yield self._turn_row(line)
            else:
                yield from self._shown(self.forgetting.seen(line, caller))
                yield "  %-11s from the companion" % "read"
            return
        if more[:1] == "t":
            for turn in self.journal.get(more, caller, 2):
                yield self._turn_row(turn)
            return
        record = self.forgetting.seen(self.records.get(more, caller), caller)
        yield from self._shown(record)
        yield from self._use_of(record)

    def _turn_row(self, turn: dict) -> str:
        return "t%-6d %s  %s: %s" % (turn["seq"], self.clock.minute(turn["at"]), turn["who"], attributed_text(turn))

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
                yield "  %-11s %s" % (name, self.clock.minute(record[name]))

    def _use_of(self, record: dict):
        records = self.records
        uses, last = records.uses.usage_of(int(record["id"][1:])) if records.uses else (0, 0)
        if uses:
            yield "  %-11s %s the last time, %d in all" % ("used", self.clock.day(last), uses)
        given, now = round(100 * record.get("importance", fields.IMPORTANCE)), records.importance.now(record)
        if now < given:
            yield "  %-11s 0.%02d now, as it was not used for long" % ("importance", now)

    def _history(self, caller, more: str):
        for record in self.records.history(more, caller):
            changed = self.clock.minute(record.get("updated", record["created"]))
            back = " (back from the companion)" if "restored" in record else ""
            yield "%-7s %s  %s%s" % (record["id"], changed, record["content"], back)


def _page(more: str) -> int:
    if not more:
        return 1
    # As bytes, since str.isdigit knows more digits than int() on CPython.
    digits = text.encode(more)
    if not digits.isdigit() or int(digits) < 1:
        raise ArgumentError("page", "must be a number from 1 on.")
    return int(digits)
