"""What a board knows of the memories that it gave to a companion: how many, of whom, of when, and about what.

    memory/archive.jsonl    {"format","epoch","seen","relied","gone":[[number,seq],..],"crc"}
                            {"scope","first","last","count","since","until","tags":[[tag,count],..],"crc"}   oldest first

An entry is of memories of one scope with numbers from `first` to `last`. The log tells all of it: lines with `archive`, with
`restored`, and those that forget what is archived; up to the line `seen` they are counted here. So a cut costs nothing: what is
not counted yet is counted at the next use. `gone` are forgotten ones of which the companion has not been told yet. Up to the
line `relied` the companion had been told of the archive when a compaction took lines off the flash: a companion that has less
has gone back to an older state since then. If the file is lost or damaged it is made anew from what the companion has.
"""

from engram import diag, files, log_line
from engram.compat import const
from engram.errors import StoreError, StoreFull
from engram.memory import ALL, access

_FILE = "/archive.jsonl"
_AGAIN = ".again"
_FORMAT = const(1)
_MOST_TAGS = const(16)  # of an entry: the most used
_MANY = const(64)  # memories of an entry, from which on the next ones begin a new one
_MOST_USED = const(32)  # memories of which uses are counted at once: bounds the heap
_BUFFER = const(512)

MOST_ENTRIES = 32
"""Entries of the index, and so scopes of which memories are archived: bounds the file, and what a search reads of it."""

MOST_GONE = 64
"""So many that are forgotten may wait until the companion is told: bounds the first line."""

SEVERAL = "*"
"""The scope of an entry of several scopes, which nobody may see: where an older version took more scopes than entries."""

_DAMAGED = "the index of what is with the companion is damaged: it is made anew when the companion is there."


class ArchiveIndex:
    """The archive of a board; `store` is that of the records, `versions` its owner."""

    def __init__(self, folder: str, store, versions):
        self._path = folder + _FILE
        self._store = store
        self._versions = versions
        self._epoch = 0  # of what is known from the file; 0 if it was not read yet
        self._seen = 0
        self._durable_seq = 0
        self._gone = []
        self._total = 0
        self.acknowledged = lambda: 0
        """The seq up to which the companion has the records; 0 where none is set up."""
        self.lost = 0
        """How many of these memories the companion does not have, as it says itself."""
        self._ranges = (None, ())  # of which state and caller, and first and last number of each entry
        self._uses = []  # [number, uses, who used it last], the one that came first first
        self.uses_wanted = 0
        """After so many uses one comes back; 0: none does."""
        self.why = ""
        """Why the index could not be written, "" if it could."""
        self.damage = ""
        """What is wrong with the index, "" if nothing is."""

    # --- what there is

    @property
    def total(self) -> int:
        """How many memories are archived."""
        self.fold()
        return self._total

    def count(self, caller) -> int:
        """How many of them the caller may see."""
        return sum(entry["count"] for entry in self.entries(caller)) if self.total else 0

    def tags(self, caller) -> dict:
        """How many of those that the caller may see have each tag, at least."""
        counts = {}
        for entry in self.entries(caller):
            for tag, count in entry["tags"]:
                counts[tag] = counts.get(tag, 0) + count
        return counts

    def entries(self, caller=None):
        """Yield the entries, oldest first, as dicts; those that an caller may see if one is given."""
        self.fold()
        for entry in self._entries(self._path) if self._total else ():
            if caller is None or access.may_see(caller, entry["scope"]):
                yield entry

    def covers(self, number: int, caller, is_checked: bool = True) -> bool:
        """Whether the record with a number may be one of them that the caller may see, as far as is known here.

        Where several scopes share an entry only the line tells whose it is: `is_checked` says that it will be looked at.
        """
        if not self.total or any(number == gone for gone, _ in self._gone):
            return False
        key = (self._epoch, self._seen, access.labels(caller), is_checked)
        if self._ranges[0] != key:
            # An answer of the companion has many that are looked up.
            found = []
            for each in self.entries():
                if access.may_see(caller, each["scope"]) or (is_checked and each["scope"] == SEVERAL):
                    found.extend((each["first"], each["last"]))
            self._ranges = (key, found)
        ranges = self._ranges[1]
        return any(ranges[at] <= number <= ranges[at + 1] for at in range(0, len(ranges), 2))

    def scopes(self) -> set:
        """The scopes of all entries."""
        return {entry["scope"] for entry in self.entries()}

    def used(self, number: int, caller) -> None:
        """Note that one was shown to somebody."""
        if not self.uses_wanted:
            return
        for use in self._uses:
            if use[0] == number:
                use[1] += 1
                use[2] = caller
                return
        if len(self._uses) >= _MOST_USED:
            fewest = min(use[1] for use in self._uses)
            del self._uses[[use[1] for use in self._uses].index(fewest)]
        self._uses.append([number, 1, caller])

    def wanted_back(self):
        """(number, who used it last) of one that was used often, None if there is none; it is told once."""
        for at, (number, count, caller) in enumerate(self._uses):
            if count >= self.uses_wanted:
                del self._uses[at]
                return number, caller
        return None

    def may_forget(self) -> None:
        """StoreFull if too many wait already until the companion is told that they are forgotten."""
        self.fold()
        if len(self._waiting()) >= MOST_GONE:
            raise StoreFull("too many archived memories wait to be forgotten at the companion: connect it first.")

    def needs(self, line: dict, is_archived: bool) -> bool:
        """Whether a compaction must leave a line of the records where it is; `is_archived` tells of its record."""
        if line.get("op") == "archive" or "scopes" in line or "left" in line:
            return line["seq"] > self._durable_seq
        # Until the companion has been told that it is archived, what it promised is a promise only.
        return is_archived and "content" in line and self._versions.archived > self._durable_seq

    @property
    def durable_seq(self) -> int:
        """Up to which line a compaction has relied on the companion's having been told of the archive."""
        if self._epoch != self._store.epoch:
            self._read_head()
        return self._durable_seq

    def mark_durable(self) -> None:
        """Note, before a compaction, up to where the companion has been told of the archive: so far lines may go."""
        self.fold()
        relied = min(self.acknowledged(), self._versions.archived, self._seen)
        if relied <= self._durable_seq:
            return
        try:
            self._write(self._path, self._path, self._seen, relied, self._waiting(), [])
            self._durable_seq = relied
        except StoreError as error:
            # What is not noted is not relied on: the lines stay.
            diag.warning("archive", str(error))

    # --- keeping it up to date

    def fold(self) -> None:
        """Count what the log tells that is not counted yet."""
        if self._epoch != self._store.epoch:
            self._read_head()
        if self._versions.archived <= self._seen:
            return
        try:
            self._fold()
            self.why = ""
        except StoreError as error:
            # The lines stay until they are counted.
            self.why = str(error)
            diag.warning("archive", self.why)

    def _fold(self) -> None:
        changes = []
        newest = self._store.next_seq - 1
        for line in self._store.lines_backwards():
            if line["seq"] <= self._seen:
                break
            if line.get("op") == "archive" or "scopes" in line or "left" in line or "restored" in line:
                changes.append(line)
        changes.reverse()
        gone = self._waiting()
        for line in changes:
            if "scopes" in line or "left" in line:
                gone.append([int(line["id"][1:]), line["seq"]])
        self._total = self._write(self._path, self._path, newest, self._durable_seq, gone, changes)
        self._seen, self._gone = newest, gone

    def _write(self, path: str, source: str, seen: int, relied: int, gone: list, changes: list) -> int:
        """Write a file with the entries of another one, "" for none, and what lines change in them; how many there are then."""
        head = [("format", _FORMAT), ("epoch", self._store.epoch), ("seen", seen), ("relied", relied), ("gone", gone)]
        keys = [entry["scope"] for entry in _Work(changes).changed(self._entries(source))]
        total = _Total()
        entries = total.of(_merged(_Work(changes).changed(self._entries(source)), _doubles(keys)))
        files.write_parts(path, self._parts(head, entries))
        return total.count

    def remade(self, lines: list, newest: int, is_first: bool, is_last: bool) -> bool:
        """Make the index anew, from lines as `archive` writes them, a few at a time: beside the old one, whose place it
        takes at the end. False if the log has told of the archive since its line `newest`: then it is to be begun again.
        StoreError.
        """
        if self._versions.archived > newest:
            files.discard(self._path + _AGAIN)
            return False
        relied = min(self.acknowledged(), self._versions.archived)
        again = self._path + _AGAIN
        total = self._write(again, "" if is_first else again, newest, relied, [], lines)
        if is_last:
            files.rename(again, self._path)
            self._seen, self._durable_seq, self._gone, self._total = newest, relied, [], total
            self._ranges = (None, ())
            self.damage = ""
        return True

    def _parts(self, head, entries):
        yield log_line.encode(head)
        for entry in entries:
            yield log_line.encode([(name, entry[name]) for name in _NAMES])

    def _waiting(self) -> list:
        have = self.acknowledged()
        return [pair for pair in self._gone if pair[1] > have]

    def _read_head(self) -> None:
        self._epoch = self._store.epoch
        self._seen = self._durable_seq = self._total = 0
        self._gone = []
        head = next(self._lines(self._path), None)
        if head and head.get("format") == _FORMAT and head.get("epoch") == self._epoch:
            self._seen, self._gone, self._durable_seq = head["seen"], head["gone"], head.get("relied", 0)
            self._total = sum(entry["count"] for entry in self._entries(self._path))
        elif files.size(self._path) >= 0:
            self.damage = self.damage or _DAMAGED
        if self.damage:
            diag.error("archive", self.damage)

    def _entries(self, path: str):
        """Yield the entries of a file."""
        lines = self._lines(path)
        head = next(lines, None)
        if head and head.get("format") == _FORMAT and head.get("epoch") == self._epoch:
            for entry in lines:
                if "count" in entry:
                    yield entry

    def _lines(self, path: str):
        try:
            file = open(path, "rb") if path else None
        except OSError as error:
            if error.errno == files.ENOENT:
                return
            raise files.failure(error, path) from None
        if file is None:
            return
        with file:
            for _, line, ended in log_line.long_lines(file, bytearray(_BUFFER)):
                if log_line.is_whole(line, ended):
                    yield log_line.decode(bytes(line))  # pyright: ignore
                else:
                    self.damage = _DAMAGED


_NAMES = ("scope", "first", "last", "count", "since", "until", "tags")


class _Work:
    """Changes entries by lines of the log."""

    def __init__(self, lines: list):
        self._new = [line for line in lines if line.get("op") == "archive"]
        self._gone = [line for line in lines if line.get("op") != "archive"]

    def changed(self, entries):
        """Yield the entries with what the lines do to them; new ones come last."""
        # One that came and went within these lines is in none of them.
        for line in list(self._gone):
            for new in self._new:
                if new["id"] == line["id"] and new["seq"] < line["seq"]:
                    self._new.remove(new)
                    self._gone.remove(line)
                    break
        open_entries = []
        for entry in entries:
            self._take_out(entry)
            if entry["count"]:
                waiting = [each for each in open_entries if each["scope"] == entry["scope"]]
                for each in waiting:
                    open_entries.remove(each)
                    yield each
                if entry["count"] < _MANY:
                    open_entries.append(entry)
                else:
                    yield entry
        for line in self._new:
            told = line.get("scope", ALL)
            found = [entry for entry in open_entries if entry["scope"] == told and entry["count"] < _MANY]
            if found:
                _add(found[0], line)
            else:
                open_entries.append(_begun(line, told))
        yield from open_entries

    def _take_out(self, entry: dict) -> None:
        for line in list(self._gone):
            number = int(line["id"][1:])
            scopes = tuple(line.get("scopes") or (line.get("scope", ALL),))
            if entry["first"] <= number <= entry["last"] and entry["scope"] in scopes + (SEVERAL,) and entry["count"]:
                self._gone.remove(line)
                entry["count"] -= 1
                tags = line.get("tags", ())
                entry["tags"] = [[tag, count - (tag in tags)] for tag, count in entry["tags"] if count > (tag in tags)]


class _Total:
    """Counts the memories of entries on their way."""

    def __init__(self):
        self.count = 0

    def of(self, entries):
        """Yield the entries."""
        for entry in entries:
            self.count += entry["count"]
            yield entry


def _begun(line: dict, told: str) -> dict:
    number, at = int(line["id"][1:]), line.get("created", 0)
    tags = [[tag, 1] for tag in line.get("tags", ())]
    return {"scope": told, "first": number, "last": number, "count": 1, "since": at, "until": at, "tags": tags}


def _add(entry: dict, line: dict) -> None:
    _join(entry, _begun(line, entry["scope"]))


def _join(entry: dict, other: dict) -> None:
    """Let an entry have what another one has, too."""
    for name, better in (("first", min), ("since", min), ("last", max), ("until", max)):
        entry[name] = better(entry[name], other[name])
    entry["count"] += other["count"]
    tags = dict(entry["tags"])
    for tag, count in other["tags"]:
        tags[tag] = tags.get(tag, 0) + count
    ranked = [[tag, count] for tag, count in tags.items()]
    ranked.sort(key=lambda pair: (-pair[1], pair[0]))
    entry["tags"] = ranked[:_MOST_TAGS]


def _doubles(scopes: list) -> dict:
    """Where there are too many entries: the place of each that is joined, and the one that it is joined to."""
    joined = {}
    over = len(scopes) - MOST_ENTRIES
    while over > 0:
        places = [at for at in range(len(scopes)) if at not in joined]
        pair = None
        for at in places:
            later = [other for other in places if other > at and scopes[other] == scopes[at]]
            if later:
                pair = at, later[0]
                break
        if pair is None:
            pair = places[0], places[1]
            scopes[pair[1]] = SEVERAL
        joined[pair[0]] = pair[1]
        over -= 1
    return joined


def _merged(entries, joined: dict):
    """Yield entries, with those joined to others that `joined` says."""
    waiting = {}
    for at, entry in enumerate(entries):
        for before in waiting.pop(at, ()):
            if before["scope"] != entry["scope"]:
                entry["scope"] = SEVERAL
            _join(entry, before)
        if at in joined:
            waiting.setdefault(joined[at], []).append(entry)
        else:
            yield entry
