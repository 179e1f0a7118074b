"""Long-term memories in the log memory_records.jsonl; schema.py describes its lines."""

from collections import namedtuple

from engram import text
from engram.errors import ArgumentError, NotFound, StoreFull
from engram.memory import access, ids, line_meaning, outdated
from engram.memory.catalog import TagCounts
from engram.memory.records import dedup, fields
from engram.memory.records.eviction import Eviction
from engram.store.types import ARCHIVED, LIVE, SUPERSEDED, Query

_LEFT_SHARE = const(16)  # of the cap: a compaction keeps so many bytes of evicted records
_SPARE = const(40)  # more hits are asked for than are wanted: those that have expired are passed over

Stored = namedtuple("Stored", "outcome id similar supersedes")
"""Outcome "stored" or "duplicate", the record's id, similar ids, and the replaced id or ""."""

Draft = namedtuple("Draft", "id values similar same was")
"""A checked change: the changed id or "", fields, similar ids, same id or "", and old seq or 0."""


class Records:
    """The records of a board within `cap` bytes and `most` records; `archived` may be None."""

    limit = 2000
    """Maximum characters of a record, as prompts hold several and a line has to fit its buffer."""

    def __init__(self, store, journal, clock, cap: int, leaves_room, most, uses, importance, archived, find_archive):
        self.entries = store
        self._journal = journal
        self._leaves_room = leaves_room
        self._cap = cap
        self._most = most
        self.clock = clock
        self._archived = archived
        self.uses = uses
        self.tags = TagCounts(store).tags
        self.releases = 0
        """Counts changes that let records leave: forgotten or unpinned ones since the start."""
        self.importance = importance
        self.eviction = Eviction(self, most, cap, find_archive)
        self._left = set()  # seqs of records that left since a compaction began, and of the last ones before it

    # --- writing

    def store(self, content: str, tags, caller=access.OWNER, **more) -> Stored:
        """Save a record to flash unless its scope has the same; a given scope is not checked."""
        draft = self.draft(content, tags, caller, **more)
        if draft.same:
            self.used(draft.same)
            return Stored("duplicate", draft.same, draft.similar, "")
        if draft.id:
            self.used(draft.id)
            self.keep((draft,))
            return Stored("duplicate", draft.id, draft.similar, "")
        return Stored("stored", self.keep((draft,))[0], draft.similar, draft.values.get("supersedes", ""))

    def draft(self, content: str, tags, caller=access.OWNER, **more) -> Draft:
        values = {"content": content, "tags": tags}
        values.update(more)
        values = self._checked(values)
        fields.check_span(values)
        if "scope" not in values:
            values["scope"] = access.scope_of_new(values["tags"], caller)
        if "supersedes" in values:
            self._check_superseded(values, caller, "scope" in more)
        same, similar = dedup.related(self, values)
        if same and "supersedes" not in more:
            twin = self.entries.get(int(same[1:]))
            if twin.get("expires", fields.NEVER) < values.get("expires", fields.NEVER):
                # A fact that is stored again lasts as long as the newer one.
                twin.update({"expires": values.get("expires"), "updated": self.clock.now()})
                return Draft(same, twin, similar, "", twin["seq"])
        if "supersedes" in values:
            self._inherit(values)
        similar = [ref for ref in similar if ref != values.get("supersedes")]
        values["created"] = self.clock.now()
        return Draft("", values, similar, "" if "supersedes" in more else same, 0)

    def update(self, ref: str, changes: dict, caller=access.OWNER) -> dict:
        draft = self.draft_update(ref, changes, caller)
        # To unpin is how room is made: it needs none.
        self.keep((draft,), urgent=changes == {"pinned": False})
        return self.entries.get(int(draft.id[1:]))

    def draft_update(self, ref: str, changes: dict, caller=access.OWNER) -> Draft:
        record = self.live(ref, caller)
        for name in ("past", "guess", "confidence"):  # a pattern that somebody changes is confirmed
            record.pop(name, None)
        for name, value in changes.items():
            if name == "supersedes":
                raise ArgumentError(name, "is given when a memory is stored and stays: store a new one instead.")
            if value is None:
                if name not in fields.CLEARABLE:
                    raise ArgumentError(name, "cannot be cleared; only " + ", ".join(fields.CLEARABLE) + " can.")
                record.pop(name, None)
        kept = {name: value for name, value in changes.items() if value is not None}
        kept = self._checked(kept)
        if "tags" in kept and "scope" not in kept:
            kept["scope"] = access.scope_of_change(record, kept["tags"], caller)
        record.update(kept)
        fields.check_span(record)
        record["updated"] = self.clock.now()
        self.releases += changes.get("pinned") is False
        return Draft(record["id"], record, [], "", record["seq"])

    def keep(self, drafts, closing=(), urgent: bool = False) -> list:
        """Write drafts and lines in one flush, all or none; return ids. Urgent ones skip the room check."""
        if not urgent:
            keeping = [int(ref[1:]) for draft in drafts for ref in (draft.id, draft.values.get("supersedes")) if ref]
            self.check_room(self.net_new(drafts), keeping)
        refs = []
        lines = []
        for draft in drafts:
            refs.append(draft.id or "m%d" % (self.entries.next_seq + len(lines)))
            lines.append(self._line(refs[-1], draft))
            turns = self._outdated_turns(draft)
            if turns:
                # Before the change: after a power cut in between, the record still has the fact.
                outdated.mark(self._journal, turns, refs[-1], self.clock.now())
                lines[-1].append(("outdated", turns))
        self.entries.append(*lines, *closing, urgent=urgent)
        return refs

    def _outdated_turns(self, draft: Draft) -> list:
        values = draft.values
        older, said_now = None, values.get("turns", ())
        if draft.was and not values.get("rewords"):
            older = self.entries.line(draft.was)
            said_now = [turn for turn in said_now if turn not in (older or {}).get("turns", ())]
        elif "supersedes" in values and not draft.id:
            older = self.entries.get(int(values["supersedes"][1:]))
        if older is None or values.get("past") or older["content"] == values["content"]:
            return []
        return outdated.find(self._journal, older, values["content"], said_now)

    def renew_turns(self, line: dict) -> None:
        outdated.unmark(self._journal.entries, line.get("outdated", ()), self.clock.now())

    def net_new(self, drafts) -> int:
        """Return the number of live records that drafts add; replacements add none."""
        first = self.entries.next_seq
        count = 0
        taken = set()
        for at, draft in enumerate(drafts):
            if draft.id or draft.values.get("past"):
                continue
            count += 1
            older = int(draft.values.get("supersedes", "m0")[1:])
            if older >= first:
                is_live = older < first + at and not drafts[older - first].values.get("past")
            else:
                is_live = older and self.entries.state(older) == LIVE
            if is_live and older not in taken:
                taken.add(older)
                count -= 1
        return count

    def used(self, ref: str) -> None:
        self.uses.add(int(ref[1:]))

    def forget(self, ref: str, caller=access.OWNER, redacts=()) -> dict:
        """Hide a record and those it superseded, remove them at the next compaction; return it."""
        record = self.live(ref, caller)
        self.remove(record, redacts)
        return record

    def remove(self, record: dict, redacts=()) -> None:
        """Forget a record that is live or has left."""
        line = self.tombstone("forget", record, self.lineage(record)[0])
        if redacts:
            line.append(("redacts", redacts))
        self.entries.append(line, urgent=True)
        self._left.discard(record["seq"])
        self.releases += 1

    def evict(self, numbers) -> int:
        """Remove records with those they superseded for lack of room; return their count."""
        lines = []
        for number in numbers:
            record = self.entries.get(number)
            if record is None or record.get("pinned") or self.entries.state(number) != LIVE:
                continue
            older, turns = self.lineage(record)
            lines.append(self.tombstone("leave", record, older))
            if turns:
                # Whoever forgets it later forgets all that it came from.
                lines[-1].append(("turns", turns))
            self._left.add(record["seq"])
        if lines:
            self.entries.append(*lines, urgent=True)
        return len(lines)

    def left(self):
        """Yield evicted records still on flash, newest first and maybe repeated, and None as pauses."""
        forgotten = set()
        for line in self.entries.lines_backwards():
            if line.get("op") == "leave" and line["id"] not in forgotten:
                yield self._left_by(line)
            if line.get("op") in ("leave", "forget"):
                forgotten.add(line["id"])
            yield None

    def find_left(self, number: int):
        """Return an evicted record that is still on flash, or None."""
        for seq in reversed(self.entries.seqs_with_label("=%d" % number)):
            line = self.entries.line(seq) or {}
            if line.get("id") == "m%d" % number:
                return self._left_by(line) if line.get("op") == "leave" else None
        return None

    def _left_by(self, line: dict):
        """Return the record that a line removed, with `left` as its moment; None if it is gone."""
        record = self.entries.line(line["was"])
        if record is None or "content" not in record:
            return None
        record["left"] = line["at"]
        if "turns" in line:
            record["turns"] = line["turns"]
        return record

    def tombstone(self, op: str, record: dict, older: list) -> list:
        """Return the line that removes a record and the older ones that it superseded."""
        line: list = [("op", op), ("id", record["id"]), ("at", self.clock.now()), ("was", record["seq"])]
        if older:
            line.append(("with", older))
        if self._archived and op != "archive" and self._came_back(record):
            line.append(("back", True))
        return line

    def _came_back(self, record) -> bool:
        """True if a record may have been at the companion: its first versions are missing."""
        first = int(record["id"][1:])
        while record is not None and record["seq"] != first and "restored" not in record:
            record = self.entries.line(record["was"]) if "was" in record else None
        return record is None or "restored" in record

    def lineage(self, record: dict) -> tuple:
        """Return (ids that a record superseded, turns that all of them came from)."""
        older = []
        turns = list(record.get("turns", ()))
        while record is not None and "supersedes" in record and record["supersedes"] not in older:
            older.append(record["supersedes"])
            record = self.entries.get(int(record["supersedes"][1:]))
            turns += [turn for turn in (record or {}).get("turns", ()) if turn not in turns]
        return older, turns

    def check_room(self, more: int = 1, keeping=()) -> None:
        """Raise StoreFull if `more` records do not fit while `keeping` stay."""
        is_over = more > 0 and self.entries.count() + more > self._most
        if is_over and not self.eviction.make_room(more, keeping):
            problem = "memory holds %d records, the most it may (records.most), and all are pinned: forget some first."
            raise StoreFull(problem % self._most)
        if self.entries.bytes > self._cap:
            raise StoreFull("memory has no room left (records.bytes): forget something, /compact, then try again.")
        if not self._leaves_room():
            raise StoreFull("the flash is full, the rest is for messages: forget something, /compact, then try again.")

    def _line(self, ref: str, draft: Draft) -> list:
        line: list = [("id", ref)] + list(fields.stored(draft.values))
        if draft.was:
            line.append(("was", draft.was))
        if draft.values.get("guess", not self.clock.known):
            line.append(("guess", True))
        return line

    # --- reading

    def get(self, ref: str, caller=access.OWNER) -> dict:
        """Return a record as a dict; NotFound if the caller sees none with that id."""
        number = ids.number("id", ref, "m")
        record = self.entries.get(number)
        if record is None or not access.is_shown(caller, record):
            raise NotFound("memory", "m%d" % number, "it may have been forgotten; a list shows all.")
        return record

    def is_seen(self, ref: str, caller) -> bool:
        record = self.entries.get(ids.number("id", ref, "m"))
        return record is not None and access.may_see_line(caller, record)

    def live(self, ref: str, caller=access.OWNER) -> dict:
        """Return a record as get() does; NotFound if it was superseded too."""
        record = self.get(ref, caller)
        if self.entries.state(int(record["id"][1:])) != LIVE:
            raise NotFound("current memory", record["id"], "a newer one has taken its place.")
        return record

    def newest(self, caller=access.OWNER, tags=(), labels=()):
        """Yield live records with all `tags` and other labels, newest first."""
        for record in self.entries.newest(_tag_labels(tags) + list(labels), access.labels(caller)):
            if not self.is_expired(record):
                yield record

    def search(self, query, limit: int, weights=None):
        """Yield (hit, record) for at most `limit` matches of a memory.recall.Query, best first."""
        scopes = access.labels(query.caller)
        terms = line_meaning.query_terms(query.text, weights)
        wanted = Query(terms, _tag_labels(query.tags), scopes, query.since, query.until, "", weights, True)
        for hit in self.entries.search(wanted, limit + _SPARE):
            if limit <= 0:
                return
            if not self.is_expired(hit.line):
                limit -= 1
                yield hit, hit.line

    def is_expired(self, record: dict) -> bool:
        return 0 < record.get("expires", 0) <= self.clock.now()

    def history(self, ref: str, caller=access.OWNER):
        """Yield a record's versions on flash, newest first, then superseded ones, as far as visible."""
        record = self.get(ref, caller)
        while record is not None:
            if "content" in record and access.may_see_line(caller, record):
                yield record
            if record.get("was"):
                record = self.entries.line(record["was"])
            elif record.get("supersedes"):
                record = self.entries.get(int(record["supersedes"][1:]))
            else:
                return

    def count(self, caller=access.OWNER, tags=()) -> int:
        return self.entries.count(_tag_labels(tags), access.labels(caller))

    def compacting(self, with_history: bool = True):
        """Compact the log, pausing between slices; without history only current versions stay."""
        if self._archived:
            self._archived.mark_durable()
        if not self.entries.is_compacting:
            self._left = set()
        yield from self._find_newest_left()
        yield from self.entries.compacting(self._keep if with_history else self._is_latest)
        self.entries.append([("op", "compacted"), ("at", self.clock.now())], urgent=True)

    def _find_newest_left(self):
        """Note the latest evicted records within their bytes; pause between them."""
        room = self._cap // _LEFT_SHARE
        for record in self.left():
            yield
            room -= len(text.dumps(record)) if record else 0
            if room < 0:
                return
            if record:
                self._left.add(record["seq"])

    def _keep(self, line: dict) -> bool:
        """True if a compaction keeps a line; earlier versions stay as history."""
        if "id" not in line:
            return False
        state = self.entries.state(int(line["id"][1:]), line)
        is_there = state in (LIVE, SUPERSEDED) and line.get("op") != "archive"
        return is_there or self._is_left(line) or self._is_needed(line, state)

    def _is_left(self, line: dict) -> bool:
        """True for a kept evicted record and for the line that removed it."""
        return line["seq"] in self._left or (line.get("op") == "leave" and line["was"] in self._left)

    def _is_needed(self, line: dict, state) -> bool:
        return bool(self._archived) and self._archived.needs(line, state == ARCHIVED)

    def _is_latest(self, line: dict) -> bool:
        number = int(line["id"][1:]) if "id" in line else 0
        if not number:
            return False
        state, latest = self.entries.state_and_latest(number, line)
        is_latest = latest is not None and line["seq"] == latest["seq"]
        if self._is_left(line):
            return True
        return (state == LIVE and is_latest) or (self._is_needed(line, state) and (is_latest or "op" in line))

    # --- checking

    def _inherit(self, values: dict) -> None:
        """Pass the pin and importance of the superseded record on, unless stated."""
        older = self.entries.get(int(values["supersedes"][1:])) or {}
        if older.get("pinned"):
            values.setdefault("pinned", True)
        if older.get("importance", fields.IMPORTANCE) > fields.IMPORTANCE:
            values.setdefault("importance", older["importance"])

    def _check_superseded(self, values: dict, caller, is_trusted: bool) -> None:
        """Raise ArgumentError unless the same people see both records."""
        record = self.live(values["supersedes"], caller)
        if record.get("scope", access.ALL) != values["scope"] and not is_trusted:
            problem = "%s is not seen by the same people as this: change it with memory_update, or forget it."
            raise ArgumentError("supersedes", problem % record["id"])

    def _checked(self, values: dict) -> dict:
        checked = {}
        for name, value in values.items():
            value = fields.check(name, value, self.limit)
            if value is not None:
                checked[name] = value
        return checked


def _tag_labels(tags) -> list:
    return ["#" + fields.tag(value) for value in tags]
