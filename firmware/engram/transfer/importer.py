"""Taking memories in: each is checked, recognised by its origin or by what it says, and kept, many with one flush.

How it is decided what becomes of a memory:

1. One of its origin that is live here: it is changed if it says something else and is not older, else it is there already.
   One that was superseded here, or is superseded where it comes from, stays as it is.
2. One that says the same, and comes from elsewhere: it is there already. Of two that come from the same place none is
   taken for the other, however alike they are, and what is here is never replaced because of what it says.
3. Else it is new. What it replaced where it comes from, it replaces here.
"""

from engram import text
from engram.compat import const
from engram.errors import ArgumentError, StoreFull
from engram.memory import access
from engram.memory.records import fields, provenance
from engram.memory.records.nearest import load_dedup, near, unload_dedup
from engram.memory.records.records import Draft
from engram.store.types import FORGOTTEN, LIVE, SUPERSEDED
from engram.transfer.item import DEFAULT_TAG

_AT_ONCE = const(16)  # memories that are kept with one flush
_CHARS_AT_ONCE = const(2000)  # of their contents: bounds the heap
_MOST_LEFT_OUT = const(8)  # names of fields that are told
_NAME_SHOWN = const(24)
_LATEST = const(1 << 36)  # a moment after that is no time in seconds

_MOMENTS = ("created", "updated")
_CHECKED = ("content", "tags", "keywords", "type", "importance", "source", "scope", "pinned", "expires")
_DEFAULTS = (
    ("keywords", []),
    ("type", "fact"),
    ("importance", fields.IMPORTANCE),
    ("source", "manual"),
    ("pinned", False),
    ("expires", None),
)


class Import:
    """Takes items for one caller, as many as fit before `capacity` lets anything leave.

    The counts: stored, changed, there (already), older (than here), gone (forgotten since the line says so), refused.
    """

    def __init__(self, records, capacity, forgetting, clock, caller):
        self._records = records
        self._capacity = capacity
        self._forgetting = forgetting
        self._entries = records.entries
        self._clock = clock
        self._caller = caller
        self._is_owner = access.is_owner(caller)
        self._uses = records.uses
        self._own = access.own_scope(caller)
        self._batch = []  # (line, values, item) of new ones that are not kept yet
        self._chars = 0
        # On an empty board only what comes from nowhere can be there already.
        self._was_empty = not records.count()
        self._dedup = None
        self._left_out = []
        self.has_turns = lambda turn: False
        """Whether a turn of the journal here is one that a memory of this import may come from."""
        self.stored = self.changed = self.there = self.older = self.gone = self.refused = 0
        self.without_turns = self.without_older = 0
        self.line = 0
        """The line that is taken, or after StoreFull the first one that was not kept."""
        self.problems = []
        """(line, why) of those that were refused and not told yet."""

    def close(self) -> None:
        """Unload the comparison, and write how often memories were of use."""
        if self._dedup:
            unload_dedup()
            self._dedup = None
        if self._uses and self.stored:
            self._uses.save()

    def left_out(self, name: str) -> None:
        """Note a field that is not known."""
        name = text.printable(name[:_NAME_SHOWN])
        if name not in self._left_out and len(self._left_out) < _MOST_LEFT_OUT:
            self._left_out.append(name)

    def refuse(self, line: int, why: str) -> None:
        """Note a line that cannot be taken."""
        self.refused += 1
        self.problems.append((line, why))

    def take(self, line: int, item) -> None:
        """Take a memory that stood in a line; StoreFull and StoreError when the flash refuses."""
        self.line = line
        try:
            self._take(line, item)
        except ArgumentError as error:
            self.refuse(line, str(error))

    def _take(self, line: int, item) -> None:
        values = {} if item.is_gone else self._checked(item)
        if item.origin and [True for _, _, waiting in self._batch if waiting.origin == item.origin]:
            self.flush()
            self.line = line
        state, record = self._find(item.origin, values.get("scope", self._own))
        if item.is_gone:
            self._let_go(state, record, item.origin)
        elif state == LIVE:
            self._change(record, item, values)
        elif (state is not None and state != FORGOTTEN) or self._is_said(item, values):
            self.there += 1
        else:
            self._wait(line, values, item)

    # --- checking

    def _checked(self, item) -> dict:
        """The fields in the form in which they are stored; those that were not told are not there."""
        values = {}
        for name in _CHECKED:
            if name in item.values:
                value = fields.check(name, item.values[name], self._records.limit)
                if value is not None:
                    values[name] = value
        for name in _MOMENTS:
            if name in item.values:
                values[name] = _moment(name, item.values[name])
        if values.get("expires", 0) > _LATEST:
            raise ArgumentError("expires", "must be a time in Unix seconds.")
        if "created" in values:
            values["guess"] = item.values.get("guess") is True
        if self._is_owner:
            # Whatever it says: the owner brings in what others have, too.
            values.setdefault("scope", access.scope_of_tags(values.get("tags", ())) or self._own)
        elif self._caller.group and values.get("scope", access.ALL) != access.ALL:
            raise ArgumentError("scope", "in a group room only memories that are for all can be imported.")
        else:
            values["scope"] = access.scope_of_import(values.get("scope", ""), values.get("tags", ()), self._caller)
        self._put_turns(values, item)
        return values

    def _put_turns(self, values: dict, item) -> None:
        told = fields.check("turns", item.values.get("turns") or [], 0) or []
        turns = [turn for turn in told if self.has_turns(turn)]
        if turns:
            values["turns"] = turns
        if len(turns) < len(told):
            self.without_turns += 1

    # --- recognising

    def _find(self, origin: str, own_scope: str) -> tuple:
        if not origin:
            return None, None

        def is_ours(record) -> bool:
            has = record.get("scope", access.ALL)
            return access.may_see(self._caller, has) or (self._is_owner and has == own_scope)

        return provenance.find_by_origin(self._entries, origin, is_ours)

    def _is_said(self, item, values: dict) -> bool:
        """Whether a record that comes from elsewhere says the same."""
        if item.is_past or (self._was_empty and item.origin):
            return False
        if not item.origin and [True for _, waiting, _ in self._batch if waiting["content"] == values["content"]]:
            return True
        source = item.origin.partition(":")[0]
        for record in near(self._records, values["content"], values["scope"]):
            if source and provenance.origin_of(record, self._entries.epoch).partition(":")[0] == source:
                continue
            if record.get("expires", fields.NEVER) < values.get("expires", fields.NEVER):
                # It says so for a shorter time, or its time is over.
                continue
            self._dedup = self._dedup or load_dedup()
            if self._dedup.compare(record["content"], values["content"]) == self._dedup.SAME:
                return True
        return False

    # --- what becomes of it

    def _let_go(self, state, record, origin: str) -> None:
        if state == LIVE:
            self._forgetting.forget(record["id"], self._caller)
            self.gone += 1
        elif self._forgetting.forget_copies(origin, self._caller):
            self.gone += 1
        else:
            self.there += 1

    def _change(self, record: dict, item, values: dict) -> None:
        """Give a record that is here the fields of its line, unless it has them or is the newer one."""
        different = {
            name: value for name, value in self._told(item, values) if record.get(name, _default(name)) != value
        }
        at = values.get("updated", values.get("created", 0))
        ours = record.get("updated", record["created"])
        if not different or item.is_past:
            self.there += 1
        elif at < ours:
            self.older += 1
        else:
            changed = {name: value for name, value in record.items() if name not in ("past", "guess")}
            changed.update(different)
            changed["updated"] = at if at > ours else self._clock.now()
            self._records.keep((Draft(record["id"], changed, [], "", record["seq"]),))
            self.changed += 1

    def _told(self, item, values: dict):
        """Yield (name, value) of the fields that a line tells of; None for one that it has not."""
        for name in ("content", "tags", "created"):
            if name in values and name in item.values:
                yield name, values[name]
        if self._is_owner and (item.is_whole or "scope" in item.values):
            yield "scope", values["scope"]
        for name, default in _DEFAULTS:
            if item.is_whole or name in item.values:
                yield name, values.get(name, default)

    def _wait(self, line: int, values: dict, item) -> None:
        values.setdefault("tags", [DEFAULT_TAG])
        values.setdefault("created", self._clock.now())
        if item.origin:
            values["origin"] = item.origin
        if item.is_past:
            values["past"] = True
        # What stood in the line is checked by now: the heap is for what waits.
        item.values.clear()
        self._batch.append((line, values, item))
        self._chars += len(values["content"])
        if len(self._batch) == _AT_ONCE or self._chars >= _CHARS_AT_ONCE:
            self.flush()

    def flush(self) -> None:
        """Keep what waits; StoreFull when the flash refuses, then `line` is the first that was not kept."""
        batch, self._batch, self._chars = self._batch, [], 0
        if not batch:
            return
        try:
            self._keep(batch)
            return
        except (StoreFull, ArgumentError):
            pass
        for one in batch:
            self.line = one[0]
            try:
                self._keep((one,))
            except ArgumentError as error:
                self.refuse(one[0], str(error))

    def _keep(self, batch) -> None:
        """Write new memories with one flush: all or none."""
        first = self._entries.next_seq
        known = {}
        drafts = []
        missing = 0
        for at, (_, values, item) in enumerate(batch):
            values.pop("supersedes", None)
            if item.follows:
                older = known.get(item.follows) or self._older(item.follows, values["scope"])
                if older:
                    values["supersedes"] = older
                else:
                    missing += 1
            known[item.origin] = "m%d" % (first + at)
            drafts.append(Draft("", values, [], "", 0))
        needed = self._records.net_new(drafts)
        if needed > 0 and needed > self._capacity.spare:
            raise StoreFull(
                "memory is full, and an import lets nothing leave that is here (records.most): forget some."
            )
        refs = self._records.keep(drafts)
        self.stored += len(refs)
        self.without_older += missing
        for ref, (_, _, item) in zip(refs, batch):
            if item.uses and self._uses:
                self._uses.put(int(ref[1:]), item.uses, item.used)

    def _older(self, origin: str, own_scope: str) -> str:
        state, record = self._find(origin, own_scope)
        if state not in (LIVE, SUPERSEDED):
            return ""
        # One that others see must not vanish for them.
        is_shared = record.get("scope", access.ALL) != own_scope and not self._is_owner
        return "" if is_shared else record["id"]

    # --- telling

    def report(self):
        """Yield the lines that say what became of all, without the refused ones."""
        counts = (
            (self.stored, "stored"),
            (self.changed, "changed"),
            (self.there, "there already"),
            (self.older, "older than here"),
            (self.gone, "forgotten"),
            (self.refused, "refused"),
        )
        yield ", ".join(["%d %s" % (count, word) for count, word in counts if count or word in ("stored", "refused")])
        if self.without_turns:
            yield "%d came without the turns that they were told in: these are not of this board" % self.without_turns
        if self.without_older:
            yield "%d came without the older memory that they replaced" % self.without_older
        if self._left_out:
            yield "left out, since a memory has no place for it: " + ", ".join(self._left_out)


def _default(name: str):
    for known, default in _DEFAULTS:
        if known == name:
            return default
    return access.ALL if name == "scope" else None


def _moment(name: str, value) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _LATEST:
        raise ArgumentError(name, "must be a time in Unix seconds.")
    return value
