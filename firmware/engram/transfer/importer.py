"""Imports memories line by line: checks each, finds it by origin or content, and saves many with one flush.

1. A live record with its origin is updated if the line differs and is not older. A record superseded here or
   at its source stays as it is.
2. A record of another source with the same content makes it a duplicate. Records of one source are never
   compared, and an import supersedes nothing by content.
3. Otherwise it is new, and supersedes here what it superseded there.
"""

from engram import files, log_line, text
from engram.compat import const
from engram.errors import ArgumentError, StoreFull
from engram.memory import access
from engram.memory.records import dedup, provenance
from engram.memory.records import fields as record_fields
from engram.memory.records.records import Draft
from engram.memory.texts import profile
from engram.store.types import FORGOTTEN, LIVE, SUPERSEDED
from engram.transfer import jsonl

_BUFFER = const(1024)
_AT_ONCE = const(16)  # memories that are kept with one flush
_CHARS_AT_ONCE = const(2000)  # of their contents: bounds the heap
_MOST_UNKNOWN = const(8)  # names of unknown fields that the report has
_MOST_PROBLEMS = const(100)  # refused lines that are named; the others are counted
_MOST_IDS = const(16)  # that the report for programs has
_NAME_SHOWN = const(24)
_LATEST = const(1 << 36)  # a moment after that is no time in seconds

_OPTIONAL = const(("keywords", "type", "importance", "source", "scope", "pinned", "expires"))
_CHECKED = ("content", "tags") + _OPTIONAL
_KNOWN = _CHECKED + (
    "id", "origin", "created", "updated", "turns", "guess", "supersedes", "superseded", "archived", "uses", "used",
    "deleted", "partial", "was",
)  # fmt: skip
_OUTCOMES = const(
    ("stored", "changed", "there already", "older than here", "changed meanwhile", "forgotten", "refused")
)
_FOREIGN = const((  # where a line has no origin
    "created_at", "summary_ids", "createdAt", "lastUsedAt", "deleted", "memory", "entityType", "relationType", "mapping",
))  # fmt: skip


class Importer:
    """An import for one caller, until eviction would be needed."""

    def __init__(self, records, clock, journal, eviction, forgetting, profile, notes, caller):
        self._records = records
        self._entries = records.entries
        self._uses = records.uses
        self._clock = clock
        self._journal = journal
        self._eviction = eviction
        self._forgetting = forgetting
        self._profile = profile
        self._notes = notes
        self._caller = caller
        self._is_owner = access.is_owner(caller)
        self._batch = []  # (line, values, origin superseded, uses, last use) of new ones that are not kept yet
        self._chars = 0
        # On an empty board only records without an origin can repeat.
        self._was_empty = not self._records.count()
        self._reader = jsonl.Reader("board")
        self._is_foreign = self._is_over = False
        self._unknown = []
        self._files_kept = []
        self._files_other = []
        self._without_turns = self._without_older = 0
        self._counts = dict.fromkeys(_OUTCOMES, 0)
        self._ids = []
        self.line = 0
        """Current line, or after StoreFull the first unsaved one."""
        self.problems = []

    def close(self) -> None:
        if self._counts["stored"]:
            self._uses.save()

    # --- reading

    def import_file(self, path: str):
        """Import a file, pausing after each line; StoreError."""
        try:
            with open(path, "rb") as file:
                for number, (_, line, _) in enumerate(log_line.long_lines(file, bytearray(_BUFFER)), 1):
                    self.import_line(number, line if isinstance(line, int) else bytes(line))
                    yield
                    if self._is_foreign:
                        break
                else:
                    self._is_over = True
        except OSError as error:
            raise files.failure(error, path) from None
        self.flush()

    def import_line(self, number: int, line) -> None:
        """Import a line's bytes, or report the length (int) of a too long one; StoreError."""
        self.line = number
        try:
            found = self._reader.read(line)
            if isinstance(found, dict):
                self._import_object(number, found)
            elif found:
                self._refuse(number, "line", found)
        except ArgumentError as error:
            self._refuse(number, error.argument, str(error))

    def _refuse(self, number: int, code: str, why: str) -> None:
        self._counts["refused"] += 1
        if self._counts["refused"] <= _MOST_PROBLEMS:
            self.problems.append((number, code, why))

    def _import_object(self, number: int, fields: dict) -> None:
        if "file" in fields and "content" not in fields:
            self._put_file(fields["file"], fields.get("text"))
        elif "origin" not in fields and [name for name in _FOREIGN if name in fields]:
            self._is_foreign = True
            self._refuse(number, "foreign", "is of another program: use `engram import FILE` on a computer.")
        else:
            self._import_memory(number, fields)

    # --- the profile and the notes

    def _put_file(self, name, content) -> None:
        if self._caller.group:
            raise ArgumentError("file", "the profile and the notes stay out of group rooms.")
        if not isinstance(name, str) or not isinstance(content, str) or "\0" in content:
            raise ArgumentError("file", "needs a name and a text.")
        is_profile = name in profile.FILES
        keeper = (self._profile if is_profile else self._notes).for_caller(self._caller)
        present = keeper.text(name)
        if present == content:
            return
        if present.strip() and present != profile.TEMPLATES.get(name):
            self._files_other.append(name)
            return
        (keeper.write if is_profile else keeper.put)(name, content)
        self._files_kept.append(name)

    # --- memories

    def _import_memory(self, number: int, fields: dict) -> None:
        origin, older = [
            provenance.check(name, fields[name]) if name in fields else "" for name in ("origin", "supersedes")
        ]
        is_past, is_gone, is_partial = [
            record_fields.check_flag(name, fields.get(name, False)) for name in ("superseded", "deleted", "partial")
        ]
        is_whole = bool(origin) and not is_partial
        uses, used = jsonl.whole(fields, "uses"), jsonl.whole(fields, "used")
        values = {} if is_gone else self._checked(fields, is_whole)
        if origin and [True for _, waiting, _, _, _ in self._batch if waiting.get("origin") == origin]:
            self.flush()
            self.line = number
        state, record = self._find(origin, values.get("scope", access.own_scope(self._caller)))
        if "was" in fields and (state != LIVE or record["seq"] != fields["was"]):
            # The sender had read another version: do not overwrite it, nor later forgotten records.
            self._counts["changed meanwhile"] += 1
        elif is_gone:
            self._forget(state, record, origin)
        elif state == LIVE:
            names = [name for name in _CHECKED + ("created",) if name in fields or (is_whole and name in _OPTIONAL)]
            self._update(record, values, names, is_past)
        elif (state is not None and state != FORGOTTEN) or (not is_past and self._is_known(origin, values)):
            self._counts["there already"] += 1
        else:
            values.setdefault("tags", ["imported"])
            values.setdefault("created", self._clock.now())
            if origin:
                values["origin"] = origin
            if is_past:
                values["past"] = True
            self._batch.append((number, values, older, uses, used))
            self._chars += len(values["content"])
            if len(self._batch) == _AT_ONCE or self._chars >= _CHARS_AT_ONCE:
                self.flush()

    def _checked(self, fields: dict, is_whole: bool) -> dict:
        if "content" not in fields:
            raise ArgumentError("content", "is missing.")
        self._note_unknown([name for name in fields if name not in _KNOWN])
        values = {}
        for name in _CHECKED:
            if name in fields:
                value = record_fields.check(name, fields[name], self._records.limit)
                if value not in (None, []):
                    values[name] = value
        for name in ("created", "updated"):
            if name in fields:
                values[name] = jsonl.whole(fields, name)
        for name in ("created", "updated", "expires"):
            if values.get(name, 0) > _LATEST:
                raise ArgumentError(name, "must be a time in Unix seconds.")
        if "created" in values:
            values["guess"] = fields.get("guess") is True
        self._put_scope(values, values.get("scope", access.ALL if is_whole else ""))
        self._put_turns(values, record_fields.check("turns", fields.get("turns") or [], 0) or [])
        return values

    def _note_unknown(self, names) -> None:
        for name in names:
            name = text.printable(name[:_NAME_SHOWN])
            if name not in self._unknown and len(self._unknown) < _MOST_UNKNOWN:
                self._unknown.append(name)

    def _put_scope(self, values: dict, scope: str) -> None:
        tags = values.get("tags", ())
        if self._is_owner:
            # The owner imports what others have, too.
            values["scope"] = scope or access.scope_of_tags(tags) or access.own_scope(self._caller)
        elif self._caller.group and scope not in ("", access.ALL):
            raise ArgumentError("scope", "in a group room only memories that are for all can be imported.")
        else:
            values["scope"] = access.scope_of_import(scope, tags, self._caller)

    def _put_turns(self, values: dict, turns: list) -> None:
        is_ours = self._reader.head.get("journal") == provenance.epoch_text(self._journal.entries.epoch)
        kept = [turn for turn in turns if is_ours and self._journal.has(turn, self._caller)]
        if kept:
            values["turns"] = kept
        self._without_turns += len(kept) < len(turns)

    # --- recognising

    def _find(self, origin: str, own_scope: str) -> tuple:
        if not origin:
            return None, None

        def is_ours(record) -> bool:
            is_own = self._is_owner and record.get("scope", access.ALL) == own_scope
            return is_own or access.may_see_line(self._caller, record)

        return provenance.find_by_origin(self._entries, origin, is_ours)

    def _is_known(self, origin: str, values: dict) -> bool:
        """True if a record of another source says the same."""
        if origin and self._was_empty:
            return False
        if not origin and [True for _, waiting, _, _, _ in self._batch if waiting["content"] == values["content"]]:
            return True
        source = origin.partition(":")[0]
        for record in dedup.near(self._records, values["content"], values["scope"]):
            if source and provenance.origin_of(record, self._entries.epoch).partition(":")[0] == source:
                continue
            if record.get("expires", record_fields.NEVER) < values.get("expires", record_fields.NEVER):
                continue  # it says so for a shorter time, or has expired
            if dedup.compare(record["content"], values["content"]) == dedup.SAME:
                return True
        return False

    # --- writing

    def _forget(self, state, record, origin: str) -> None:
        if state == LIVE:
            self._forgetting.forget(record["id"], self._caller)
        elif not self._forgetting.forget_copies(origin, self._caller):
            self._counts["there already"] += 1
            return
        self._counts["forgotten"] += 1

    def _update(self, record: dict, values: dict, names: list, is_past: bool) -> None:
        different = {}
        for name in names:
            default = record_fields.DEFAULTS.get(name)
            value = values.get(name, default)
            if record.get(name, default) != value and (name != "scope" or self._is_owner):
                different[name] = value
        at = values.get("updated", values.get("created", 0))
        ours = record.get("updated", record["created"])
        if not different or is_past:
            self._counts["there already"] += 1
        elif at < ours:
            self._counts["older than here"] += 1
        else:
            changed = {name: value for name, value in record.items() if name not in ("past", "guess")}
            changed.update(different)
            changed["updated"] = at if at > ours else self._clock.now()
            self._records.keep((Draft(record["id"], changed, [], "", record["seq"]),))
            self._count("changed", [record["id"]])

    def flush(self) -> None:
        """Save the batch; StoreFull leaves `line` at the first unsaved one."""
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
                self._refuse(one[0], error.argument, str(error))

    def _keep(self, batch) -> None:
        first = self._entries.next_seq
        known = {}
        drafts = []
        missing = 0
        for at, (_, values, origin, _, _) in enumerate(batch):
            values.pop("supersedes", None)
            if origin:
                older = known.get(origin) or self._superseded(origin, values["scope"])
                if older:
                    values["supersedes"] = older
                else:
                    missing += 1
            known[values.get("origin")] = "m%d" % (first + at)
            drafts.append(Draft("", values, [], "", 0))
        needed = self._records.net_new(drafts)
        if needed > 0 and needed > self._eviction.spare:
            raise StoreFull(
                "memory is full, and an import lets nothing leave that is here (records.most): forget some."
            )
        refs = self._records.keep(drafts)
        self._count("stored", refs)
        self._without_older += missing
        for ref, (_, _, _, uses, used) in zip(refs, batch):
            if uses:
                self._uses.put(int(ref[1:]), uses, used)

    def _superseded(self, origin: str, own_scope: str) -> str:
        """Return the id that a record of this scope may supersede, or ""."""
        state, record = self._find(origin, own_scope)
        if state not in (LIVE, SUPERSEDED):
            return ""
        # One that others see must not vanish for them.
        is_shared = record.get("scope", access.ALL) != own_scope and not self._is_owner
        return "" if is_shared else record["id"]

    # --- reporting

    def _count(self, outcome: str, refs) -> None:
        self._counts[outcome] += len(refs)
        self._ids.extend(refs[: _MOST_IDS - len(self._ids)])

    def report(self):
        """Yield refused lines, results, and last an object for programs."""
        counts = self._counts
        if counts["refused"] > _MOST_PROBLEMS:
            yield "%d more refused lines" % (counts["refused"] - _MOST_PROBLEMS)
        told = [word for word in _OUTCOMES if counts[word] or word in ("stored", "refused")]
        yield ", ".join(["%d %s" % (counts[word], word) for word in told])
        if self._unknown:
            yield "left out, since a memory has no place for it: " + ", ".join(self._unknown)
        if self._files_kept:
            yield "put in their place: " + ", ".join(self._files_kept)
        notes = []
        for what, sentence in (
            (self._without_turns, "%d came without the turns that they were told in: these are not of this board"),
            (self._without_older, "%d came without the older memory that they replaced"),
            (", ".join(self._files_other), "not touched, since another text stands there: %s"),
        ):
            if what:
                notes.append(sentence % what)
        notes.extend(self._reader.notes(self._is_over))
        yield from notes
        yield {"counts": counts, "ids": self._ids, "files": self._files_kept, "unknown": self._unknown, "notes": notes}
