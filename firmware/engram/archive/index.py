"""The board's index of the memories that it gave to a companion: per scope how many, of which days, with which tags.

    memory/archive.jsonl    {"format","epoch","seen","relied","gone":[[number,seq],..],"crc"}
                            {"scope","first","last","count","since","until","tags":[[tag,count],..],"crc"}   one a scope

The log tells the same by lines with `archive`, `restored`, and those that forget what is archived. The index has counted
them up to the line `seen`; after a power cut it counts the others at the start. `gone` are forgotten memories that the
companion still has to hear of. A compaction has relied on the companion's copy up to the line `relied`: a companion that has
less went back to an older state. A lost or damaged file is rebuilt from the companion's list.
"""

from engram import diag, files, log_line
from engram.compat import const
from engram.errors import NotFound, StoreError, StoreFull
from engram.memory import ALL, access, ids
from engram.memory.records.schema import is_about_archive
from engram.store.types import ARCHIVED

_FILE = const("/archive.jsonl")
_FORMAT = const(1)
_MOST_TAGS = const(16)  # of an entry: the most used
_ALL_TAGS = const(128)  # of all entries, of which each keeps four: bounds the heap
_MOST_USED = const(32)  # memories whose uses are counted at once: bounds the heap
_BUFFER = const(512)

MOST_ENTRIES = 32
"""Entries of the index, and so scopes of which memories are archived: bounds the file and the heap."""

MOST_GONE = 64
"""Forgotten memories that may wait until the companion hears of them: bounds the first line."""

SEVERAL = "*"
"""The scope of an entry of several scopes, which nobody may see: older versions archived more scopes than entries."""

_NAMES = const(("scope", "first", "last", "count", "since", "until", "tags"))
_DAMAGED = const("the index of what is with the companion is damaged: it is rebuilt when the companion is there.")


class ArchiveIndex:
    """Counts what a board archived. `store` has the records' lines, `schema` is its owner, `link_state` tells what the
    companion has acknowledged. A memory that was used `uses_wanted` times comes back; with 0 none does.
    """

    def __init__(self, folder: str, store, schema, clock, link_state=None, uses_wanted: int = 0):
        self._path = folder + _FILE
        self._store = store
        self._schema = schema
        self._clock = clock
        self._link_state = link_state
        self._seen = 0
        self._gone = []
        self.ranges = []
        """(scope, lowest number, highest number) of each entry."""
        self._uses = []  # [number, uses, latest caller], oldest first
        self.uses_wanted = uses_wanted
        self.total = 0
        """The number of archived memories."""
        self.durable_seq = 0
        """A compaction has relied on the companion's copy of the archive up to this line."""
        self.lost = 0
        """The number of these memories that the companion says it does not have."""
        self.why = ""
        """Why the index could not be written, "" if it could."""
        self.damage = ""
        """The index's problem, "" if it has none."""
        self._open()
        self.fold()

    def _open(self) -> None:
        head, entries = self._read()
        if head:
            self._seen, self._gone, self.durable_seq = head["seen"], head["gone"], head.get("relied", 0)
            self._summarize(entries)
        elif files.size(self._path) >= 0:
            self.damage = _DAMAGED
        if self.damage:
            diag.error("archive", self.damage)

    # --- what there is

    def count(self, caller) -> int:
        """The number of archived memories that the caller may see."""
        return sum(entry["count"] for entry in self.entries(caller))

    def tags(self, caller) -> dict:
        """The tags of those that the caller may see, each with the number of its memories, at least."""
        counts = {}
        for entry in self.entries(caller):
            for tag, count in entry["tags"]:
                counts[tag] = counts.get(tag, 0) + count
        return counts

    def entries(self, caller=None):
        """Yield the entries as dicts, with a caller those that the caller may see."""
        for entry in self._lines() if self.total else ():
            if "scope" in entry and (caller is None or access.may_see(caller, entry["scope"])):
                yield entry

    def is_away(self, number: int, caller, is_checked: bool = True) -> bool:
        """Whether the companion may have a record that the caller may see, and the board has not.

        `is_checked` says that its line will be checked, which alone tells the scope where several share an entry.
        """
        if any(number == gone for gone, _ in self._gone):
            return False
        for scope, first, last in self.ranges:
            if first <= number <= last and (access.may_see(caller, scope) or (is_checked and scope == SEVERAL)):
                return self._store.state(number) in (None, ARCHIVED)
        return False

    def compare_held(self, held: int) -> bool:
        """Compare with the number of memories that the companion holds; whether it holds more than the index has."""
        lost = max(0, self.total - held)
        if lost and lost != self.lost:
            diag.error("archive", "the companion has lost %d archived memories: was its database replaced?" % lost)
        self.lost = lost
        return held > self.total

    # --- uses

    def add_use(self, number: int, caller) -> None:
        """Note that somebody was shown an archived memory."""
        if not self.uses_wanted:
            return
        for use in self._uses:
            if use[0] == number:
                use[1] += 1
                use[2] = caller
                return
        if len(self._uses) >= _MOST_USED:
            counts = [use[1] for use in self._uses]
            del self._uses[counts.index(min(counts))]
        self._uses.append([number, 1, caller])

    def pop_often_used(self):
        """(number, latest caller) of a memory that was used often enough to come back, None if there is none."""
        for at, (number, count, caller) in enumerate(self._uses):
            if count >= self.uses_wanted:
                del self._uses[at]
                return number, caller
        return None

    # --- forgetting

    def forget(self, ref: str, caller) -> dict:
        """Forget an archived memory for good once the companion hears of it; what is known of it. NotFound, StoreFull."""
        number = ids.number("id", ref, "m")
        ref = "m%d" % number
        if len(self._waiting()) >= MOST_GONE:
            raise StoreFull("too many archived memories wait to be forgotten at the companion: connect it first.")
        state, record = self._store.state_and_latest(number)
        if state == ARCHIVED:
            if not access.is_shown(caller, record):
                raise NotFound("memory", ref, "it may have been forgotten; a list shows all.")
            more = [("left", True)] + [(name, record[name]) for name in ("scope", "tags") if name in record]
        else:
            # The companion alone knows the scope: it forgets the memory if that is one of these.
            record: dict = {"id": ref, "content": "(its text is with the companion)"}
            more = [("scopes", [label[1:] for label in access.labels(caller)])]
        self._store.append([("op", "forget"), ("id", ref), ("at", self._clock.now())] + more, urgent=True)
        self.fold()
        if self.why:
            raise StoreError("the memory is forgotten, and the archive's index could not be written: " + self.why)
        found: dict = dict(record)
        found["archived"] = True
        return found

    @property
    def is_settled(self) -> bool:
        """Whether the companion has heard of all that was archived."""
        return self._schema.archived <= self._acknowledged()

    def _waiting(self) -> list:
        acknowledged = self._acknowledged()
        return [pair for pair in self._gone if pair[1] > acknowledged]

    def _acknowledged(self) -> int:
        return self._link_state.have("records") if self._link_state else 0

    # --- compaction

    def needs(self, line: dict, is_archived: bool) -> bool:
        """Whether a compaction must keep a line of the records; `is_archived` tells the state of its record."""
        if line.get("op") == "archive" or "scopes" in line or "left" in line:
            return line["seq"] > self.durable_seq
        if "back" in line:
            # The companion may not have heard that it came back: it has the memory in the archive still.
            return line["seq"] > self._acknowledged()
        # The companion's promise holds once it has heard that the record is archived.
        return is_archived and "content" in line and self._schema.archived > self.durable_seq

    def mark_durable(self) -> None:
        """Note, before a compaction, up to which line the companion has heard of the archive: those lines may go."""
        self.fold()
        durable = min(self._acknowledged(), self._schema.archived, self._seen)
        if durable > self.durable_seq:
            try:
                self._write(self._read()[1], self._seen, durable, self._waiting())
            except StoreError as error:
                # Lines stay as long as this is not noted.
                diag.warning("archive", str(error))

    # --- keeping the index up to date

    def fold(self) -> None:
        """Count what the log tells since the line `seen`; call it after each line about the archive."""
        if self._schema.archived <= self._seen:
            return
        try:
            self._fold()
            self.why = ""
        except StoreError as error:
            # The lines stay until they are counted.
            self.why = str(error)
            diag.warning("archive", self.why)

    def _fold(self) -> None:
        lines = []
        newest = self._store.next_seq - 1
        for line in self._store.lines_backwards():
            if line["seq"] <= self._seen:
                break
            if is_about_archive(line):
                lines.append(line)
        entries = self._read()[1]
        gone = self._waiting()
        while lines:
            line = lines.pop()
            if line.get("op") == "archive":
                add_memory(
                    entries, int(line["id"][1:]), line.get("scope", ALL), line.get("created", 0), line.get("tags", ())
                )
            else:
                _take_out(entries, line)
                if "restored" not in line:
                    gone.append([int(line["id"][1:]), line["seq"]])
        self._write(entries, newest, self.durable_seq, gone)

    def rebuild(self, entries: dict, newest: int) -> bool:
        """Replace the index by entries that add_memory() made. False if the log has lines about the archive after its line
        `newest`: the rebuild has to begin again. StoreError.
        """
        if self._schema.archived > newest:
            return False
        self._write(entries, newest, min(self._acknowledged(), self._schema.archived), [])
        self.damage = ""
        return True

    def _write(self, entries: dict, seen: int, durable: int, gone: list) -> None:
        head = [("format", _FORMAT), ("epoch", self._store.epoch), ("seen", seen), ("relied", durable), ("gone", gone)]
        lines: list = [head]
        for scope in sorted(entries):
            lines.append([(name, entries[scope][name]) for name in _NAMES])
        files.write_parts(self._path, (log_line.encode(line) for line in lines))
        self._seen, self.durable_seq, self._gone = seen, durable, gone
        self._summarize(entries)

    def _summarize(self, entries: dict) -> None:
        self.total = sum(entry["count"] for entry in entries.values())
        self.ranges = [(entry["scope"], entry["first"], entry["last"]) for entry in entries.values()]

    def _lines(self):
        """Yield the whole lines of the file as dicts, the head first."""
        for line in log_line.whole_lines(self._path, bytearray(_BUFFER)):
            if line is None:
                self.damage = _DAMAGED
            else:
                yield log_line.decode(line)

    def _read(self) -> tuple:
        """(head, entries by scope) of the file, (None, {}) if it has none for this log."""
        entries = {}
        head, is_known = None, False
        for line in self._lines():  # to the end, which closes the file
            if head is None:
                head = line
                is_known = head.get("format") == _FORMAT and head.get("epoch") == self._store.epoch
            elif is_known:
                # Older versions wrote several entries of one scope.
                _join(entries, line)
        return head if is_known else None, entries


def add_memory(entries: dict, number: int, scope: str, at: int, tags) -> None:
    """Add one memory to entries by scope."""
    tags = [[tag, 1] for tag in tags]
    _join(entries, dict(zip(_NAMES, (scope, number, number, 1, at, at, tags))))


def _join(entries: dict, new: dict) -> None:
    scope = new["scope"]
    if scope not in entries and len(entries) >= MOST_ENTRIES:
        if SEVERAL not in entries:
            entries[SEVERAL] = entries.pop(max(entries))
        scope = SEVERAL
    entry = entries.setdefault(scope, new)
    entry["scope"] = scope
    if entry is new:
        return
    for name, better in (("first", min), ("since", min), ("last", max), ("until", max)):
        entry[name] = better(entry[name], new[name])
    entry["count"] += new["count"]
    tags = dict(entry["tags"])
    for tag, count in new["tags"]:
        tags[tag] = tags.get(tag, 0) + count
    ranked = [[tag, count] for tag, count in tags.items()]
    ranked.sort(key=lambda pair: (-pair[1], pair[0]))
    entry["tags"] = ranked[: max(4, min(_MOST_TAGS, _ALL_TAGS // len(entries)))]


def _take_out(entries: dict, line: dict) -> None:
    """Take the memory that a line brings back or forgets out of its entry: private scopes go before what all see."""
    number, tags = int(line["id"][1:]), line.get("tags", ())
    scopes = line.get("scopes") or [line.get("scope", ALL)]
    for scope in list(reversed(scopes)) + [SEVERAL]:
        entry = entries.get(scope)
        if entry and entry["first"] <= number <= entry["last"]:
            entry["count"] -= 1
            entry["tags"] = [[tag, count - (tag in tags)] for tag, count in entry["tags"] if count > (tag in tags)]
            if not entry["count"]:
                del entries[scope]
            return
