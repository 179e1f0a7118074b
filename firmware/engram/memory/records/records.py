"""Long-term memories: the log memory_records.jsonl. schema.py tells what its lines look like and mean."""

from collections import namedtuple

from engram import text
from engram.compat import const
from engram.errors import ArgumentError, NotFound, StoreFull
from engram.memory import access, ids, outdated
from engram.memory.catalog import TagCounts
from engram.memory.records import dedup, fields
from engram.memory.records.eviction import Eviction
from engram.store.types import ARCHIVED, LIVE, SUPERSEDED, Query

_LEFT_SHARE = const(16)  # of the cap: so many bytes of what left for lack of room stay at a compaction
_SPARE = const(40)  # more hits are asked for than are wanted: those that have expired are passed over

Stored = namedtuple("Stored", "outcome id similar supersedes")
"""outcome "stored" or "duplicate"; the id of the new record, or of the one that says the same; ids of records that say
nearly the same; and the id of the record that the new one takes the place of, or ""."""

Draft = namedtuple("Draft", "id values similar same was")
"""A change that is checked and not kept yet: the id of the record that it changes, "" for a new one; its fields; ids of
records that say nearly the same; the id of one that says the same, or ""; and the seq of the version before, or 0."""


class Records:
    """The records of a board; `cap` is the most bytes of the log, `most` the most records.

    `journal` has the turns that a change makes outdated. `leaves_room()` tells whether the flash keeps enough for what people
    say, which goes before. `uses` counts how often each record was of use, `importance` tells how important it is now, and
    `archived` is what the board gave to a companion, None if it has none; find_archive() is as Eviction has it.
    """

    limit = 2000
    """Characters of one record: prompts and tools hold several, and a line has to fit its buffer."""

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
        """tags(caller) yields (tag, number of live records), in no order."""
        self.releases = 0
        """Counts what may let others leave: what was forgotten or is pinned no more, since the start."""
        self.importance = importance
        self.eviction = Eviction(self, most, cap, find_archive)
        self._left = set()  # seqs of records that left since a compaction began, and of the last ones before it

    # --- writing

    def store(self, content: str, tags, caller=access.OWNER, **more) -> Stored:
        """Keep a record; it is on flash when this returns. What says the same as one of its scope is not stored twice.

        more: keywords, type, importance, pinned, expires (Unix seconds), supersedes (an id), source, scope, turns (ids
        of the turns that it came from). A scope that is given is not checked: whoever gives it speaks for the board.
        """
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
        """The draft that store() would keep, checked and compared with its nearest."""
        values = {"content": content, "tags": tags}
        values.update(more)
        values = self._checked(values)
        if "scope" not in values:
            values["scope"] = access.scope_of_new(values["tags"], caller)
        if "supersedes" in values:
            self._check_superseded(values, caller, "scope" in more)
        same, similar = dedup.related(self, values["content"], values["scope"])
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
        """Write a next version of a record with some fields changed, None clears one; the version as a dict."""
        draft = self.draft_update(ref, changes, caller)
        # To unpin is how room is made: it needs none.
        self.keep((draft,), urgent=changes == {"pinned": False})
        return self.entries.get(int(draft.id[1:]))

    def draft_update(self, ref: str, changes: dict, caller=access.OWNER) -> Draft:
        """The draft that update() would write, checked."""
        record = self.live(ref, caller)
        record.pop("past", None)
        record.pop("guess", None)
        for name, value in changes.items():
            if name == "supersedes":
                raise ArgumentError(name, "is given when a memory is stored and stays: store a new one instead.")
            if value is None:
                fields.check_clearable(name)
                record.pop(name, None)
        kept = {name: value for name, value in changes.items() if value is not None}
        kept = self._checked(kept)
        if "tags" in kept and "scope" not in kept:
            kept["scope"] = access.scope_of_change(record, kept["tags"], caller)
        record.update(kept)
        record["updated"] = self.clock.now()
        self.releases += changes.get("pinned") is False
        return Draft(record["id"], record, [], "", record["seq"])

    def keep(self, drafts, closing=(), urgent: bool = False) -> list:
        """Write drafts, and lines about them, with one flush: all or none; the records' ids. Urgent ones need no room
        but for the line.
        """
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
                # Before the change: cut off in between, what the turns said still stands in the record.
                outdated.mark(self._journal.entries, turns, refs[-1], self.clock.now())
                lines[-1].append(("outdated", turns))
        self.entries.append(*lines, *closing, urgent=urgent)
        return refs

    def _outdated_turns(self, draft: Draft) -> list:
        """The ids of the turns that say what a draft changes."""
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
        """Let the turns count again that a version made outdated, which was taken back."""
        outdated.unmark(self._journal.entries, line.get("outdated", ()), self.clock.now())

    def net_new(self, drafts) -> int:
        """The number of live records that keeping drafts adds, for which there has to be room: one that takes the
        place of a live one, here or among them, needs none of its own.
        """
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
        """Note that a record was of use."""
        self.uses.add(int(ref[1:]))

    def forget(self, ref: str, caller=access.OWNER, redacts=()) -> dict:
        """Take a record out of recall at once, and off the flash at the next compaction; what it was, as a dict.

        What it superseded goes with it, so that an older fact does not come back. `redacts` are the turns that the
        caller forgets too, noted so that undo knows.
        """
        record = self.live(ref, caller)
        self.remove(record, redacts)
        return record

    def remove(self, record: dict, redacts=()) -> None:
        """As forget(), of a record that is live or has left."""
        line = self.tombstone("forget", record, self.lineage(record)[0])
        if redacts:
            line.append(("redacts", redacts))
        self.entries.append(line, urgent=True)
        self._left.discard(record["seq"])
        self.releases += 1

    def evict(self, numbers) -> int:
        """Take records away with what they superseded, for lack of room; how many were still there."""
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
        """Yield the records that left for lack of room and are on the flash still, newest first, and None while it looks.

        One that was brought back, or left twice, may come again.
        """
        forgotten = set()
        for line in self.entries.lines_backwards():
            if line.get("op") == "leave" and line["id"] not in forgotten:
                yield self._left_by(line)
            if line.get("op") in ("leave", "forget"):
                forgotten.add(line["id"])
            yield None

    def find_left(self, number: int):
        """The record with that number if it left for lack of room and is on the flash still, else None."""
        for seq in reversed(self.entries.seqs_with_label("=%d" % number)):
            line = self.entries.line(seq) or {}
            if line.get("id") == "m%d" % number:
                return self._left_by(line) if line.get("op") == "leave" else None
        return None

    def _left_by(self, line: dict):
        """The record that a line took away, `left` being the moment; None if it is not on the flash any more."""
        record = self.entries.line(line["was"])
        if record is None or "content" not in record:
            return None
        record["left"] = line["at"]
        if "turns" in line:
            record["turns"] = line["turns"]
        return record

    def tombstone(self, op: str, record: dict, older: list) -> list:
        """The line that takes a record away with the older ones that it superseded."""
        line: list = [("op", op), ("id", record["id"]), ("at", self.clock.now()), ("was", record["seq"])]
        if older:
            line.append(("with", older))
        if self._archived and op != "archive" and self._came_back(record):
            line.append(("back", True))
        return line

    def _came_back(self, record) -> bool:
        """True if a record was with the companion in between, or may have been: its first versions are not there."""
        first = int(record["id"][1:])
        while record is not None and record["seq"] != first and "restored" not in record:
            record = self.entries.line(record["was"]) if "was" in record else None
        return record is None or "restored" in record

    def lineage(self, record: dict) -> tuple:
        """The ids of what a record superseded, one after the other, and the turns that all of them came from."""
        older = []
        turns = list(record.get("turns", ()))
        while record is not None and "supersedes" in record and record["supersedes"] not in older:
            older.append(record["supersedes"])
            record = self.entries.get(int(record["supersedes"][1:]))
            turns += [turn for turn in (record or {}).get("turns", ()) if turn not in turns]
        return older, turns

    def check_room(self, more: int = 1, keeping=()) -> None:
        """Raise StoreFull if there is no room for that many more records; those with the numbers `keeping` stay."""
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
        """A record as a dict with its id, seq, tags and content; NotFound if this caller sees none of that id."""
        number = ids.number("id", ref, "m")
        record = self.entries.get(number)
        if record is None or not access.is_shown(caller, record):
            raise NotFound("memory", "m%d" % number, "it may have been forgotten; a list shows all.")
        return record

    def is_seen(self, ref: str, caller) -> bool:
        """True if the caller sees a record of that id."""
        record = self.entries.get(ids.number("id", ref, "m"))
        return record is not None and access.may_see_line(caller, record)

    def live(self, ref: str, caller=access.OWNER) -> dict:
        """As get(), of a record that no newer one has superseded."""
        record = self.get(ref, caller)
        if self.entries.state(int(record["id"][1:])) != LIVE:
            raise NotFound("current memory", record["id"], "a newer one has taken its place.")
        return record

    def newest(self, caller=access.OWNER, tags=()):
        """Yield live records, newest first; those that have all `tags`."""
        for record in self.entries.newest(_tag_labels(tags), access.labels(caller)):
            if not self.is_expired(record):
                yield record

    def search(self, query, limit: int, weights=None):
        """Yield (hit, record) for at most `limit` live records that fit a memory.recall.Query, best first."""
        scopes = access.labels(query.caller)
        terms = text.terms(query.text)
        wanted = Query(terms, _tag_labels(query.tags), scopes, query.since, query.until, "", weights, True)
        for hit in self.entries.search(wanted, limit + _SPARE):
            if limit <= 0:
                return
            if not self.is_expired(hit.line):
                limit -= 1
                yield hit, hit.line

    def is_expired(self, record: dict) -> bool:
        """True if a record's time is over."""
        return 0 < record.get("expires", 0) <= self.clock.now()

    def history(self, ref: str, caller=access.OWNER):
        """Yield the versions of a record that are still on flash, newest first, then what it superseded.

        A private one that went to a workspace keeps its earlier versions to itself.
        """
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
        """The number of live records that the caller may see, of those that have all `tags` if given."""
        return self.entries.count(_tag_labels(tags), access.labels(caller))

    def compacting(self, with_history: bool = True):
        """Take what was forgotten, and the texts that undo kept, off the flash: a generator that pauses between slices. Without
        history only what holds now stays.
        """
        if self._archived:
            self._archived.mark_durable()
        if not self.entries.is_compacting:
            self._left = set()
        yield from self._find_newest_left()
        yield from self.entries.compacting(self._keep if with_history else self._is_latest)
        self.entries.append([("op", "compacted"), ("at", self.clock.now())], urgent=True)

    def _find_newest_left(self):
        """Note the last records that left, as many as fit the bytes that they may take; a generator that pauses."""
        room = self._cap // _LEFT_SHARE
        for record in self.left():
            yield
            room -= len(text.dumps(record)) if record else 0
            if room < 0:
                return
            if record:
                self._left.add(record["seq"])

    def _keep(self, line: dict) -> bool:
        """Return what compaction does with a line: earlier versions of what is not forgotten stay as its history."""
        if "id" not in line:
            return False
        state = self.entries.state(int(line["id"][1:]), line)
        is_there = state in (LIVE, SUPERSEDED) and line.get("op") != "archive"
        return is_there or self._is_left(line) or self._is_needed(line, state)

    def _is_left(self, line: dict) -> bool:
        """True for a record that has left and stays on the flash, and for the line that took it away."""
        return line["seq"] in self._left or (line.get("op") == "leave" and line["was"] in self._left)

    def _is_needed(self, line: dict, state) -> bool:
        return bool(self._archived) and self._archived.needs(line, state == ARCHIVED)

    def _is_latest(self, line: dict) -> bool:
        """True if a line is what holds now of a live record."""
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
        """Give what supersedes another its pin and its importance, unless it says so itself."""
        older = self.entries.get(int(values["supersedes"][1:])) or {}
        if older.get("pinned"):
            values.setdefault("pinned", True)
        if older.get("importance", fields.IMPORTANCE) > fields.IMPORTANCE:
            values.setdefault("importance", older["importance"])

    def _check_superseded(self, values: dict, caller, is_trusted: bool) -> None:
        """A record takes the place of one that the same people see: else it would vanish for some of them."""
        record = self.live(values["supersedes"], caller)
        if record.get("scope", access.ALL) != values["scope"] and not is_trusted:
            problem = "%s is not seen by the same people as this: change it with memory_update, or forget it."
            raise ArgumentError("supersedes", problem % record["id"])

    def _checked(self, values: dict) -> dict:
        """The values in the form in which they are stored; ArgumentError names the first that is wrong."""
        checked = {}
        for name, value in values.items():
            value = fields.check(name, value, self.limit)
            if value is not None:
                checked[name] = value
        return checked


def _tag_labels(tags) -> list:
    return ["#" + fields.tag(value) for value in tags]
