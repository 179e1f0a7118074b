"""Imports one memory, text of the profile or note, which it finds by its origin or content.

1. A live record with its origin is updated if the object differs and is not older. A record superseded here or
   at its source stays as it is.
2. A record of another source with the same content makes it a duplicate. Records of one source are never
   compared, and an import supersedes nothing by content.
3. Otherwise it is new, and supersedes here what it superseded there.
"""

from engram import text
from engram.errors import ArgumentError, StoreError, StoreFull
from engram.memory import access
from engram.memory.records import dedup, provenance
from engram.memory.records import fields as record_fields
from engram.memory.records.records import Draft
from engram.memory.texts import profile
from engram.schema_check import check
from engram.store.types import FORGOTTEN, LIVE, SUPERSEDED

_MOST_UNKNOWN = const(8)  # names of unknown fields that the report has
_NAME_SHOWN = const(24)
_MOMENT = const("0..68719476736")  # Unix seconds; milliseconds are more
_COUNT = {"type": "integer", "minimum": 0}

_OPTIONAL = const((
    "keywords", "type", "importance", "source", "scope", "pinned", "expires", "when", "until", "people", "where",
    "confidence", "evidence",
))  # fmt: skip
_CHECKED = ("content", "tags") + _OPTIONAL
_KNOWN = _CHECKED + (
    "id", "origin", "created", "updated", "turns", "guess", "supersedes", "superseded", "archived", "uses", "used",
    "deleted", "partial", "was",
)  # fmt: skip


class Importer:
    """An import of one object for a caller, for which nothing is evicted."""

    def __init__(self, records, forgetting, profile, notes, caller):
        self._records = records
        self._entries = records.entries
        self._forgetting = forgetting
        self._profile = profile
        self._notes = notes
        self._caller = caller
        self._is_owner = access.is_owner(caller)
        self._report = {"counts": {}, "ids": [], "files": [], "unknown": [], "notes": []}

    def import_object(self, line: str) -> dict:
        """Import a JSON object; return the report for programs, with a `why` if it is refused."""
        try:
            self._import(line)
        except ArgumentError as error:
            return {"code": error.argument, "why": str(error)}
        except StoreError as error:
            return {"code": "full" if isinstance(error, StoreFull) else "flash", "why": str(error)}
        return self._report

    def _import(self, line: str) -> None:
        fields = text.object_in(line)
        if fields is None:
            raise ArgumentError("object", "is no JSON object; files are for `engram import FILE` on a computer.")
        if "file" in fields and "content" not in fields:
            self._put_file(fields["file"], fields.get("text"))
        else:
            self._import_memory(fields)

    def _count(self, outcome: str, ref: str = "") -> None:
        self._report["counts"][outcome] = 1
        if ref:
            self._report["ids"].append(ref)

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
        if present.strip() and present != profile.template(name):
            self._report["notes"].append("not touched, since another text stands there: " + name)
        else:
            (keeper.write if is_profile else keeper.put)(name, content)
            self._report["files"].append(name)

    # --- memories

    def _import_memory(self, fields: dict) -> None:
        origin, older = [
            provenance.check(name, fields[name]) if name in fields else "" for name in ("origin", "supersedes")
        ]
        is_past, is_gone, is_partial = [
            record_fields.check_flag(name, fields.get(name, False)) for name in ("superseded", "deleted", "partial")
        ]
        if is_gone and not origin:
            raise ArgumentError("origin", "is missing: it says which memory was deleted.")
        is_whole = bool(origin) and not is_partial
        values = {} if is_gone else self._checked(fields, is_whole)
        state, record = self._find(origin, values.get("scope", access.own_scope(self._caller)))
        if "was" in fields and (state != LIVE or record["seq"] != fields["was"]):
            # The sender had read another version: do not overwrite it, nor later forgotten records.
            self._count("changed meanwhile")
        elif is_gone:
            self._forget(state, record, origin)
        elif state == LIVE:
            names = [name for name in _CHECKED + ("created",) if name in fields or (is_whole and name in _OPTIONAL)]
            self._update(record, values, names, is_past)
        elif (state is not None and state != FORGOTTEN) or (not is_past and self._is_known(origin, values)):
            self._count("there already")
        else:
            if origin:
                values["origin"] = origin
            if is_past:
                values["past"] = True
            self._store(values, older, fields)

    def _checked(self, fields: dict, is_whole: bool) -> dict:
        if "content" not in fields:
            raise ArgumentError("content", "is missing.")
        for name in ("uses", "used"):
            check(name, fields.get(name, 0), _COUNT)
        unknown = [text.printable(name[:_NAME_SHOWN]) for name in fields if name not in _KNOWN]
        self._report["unknown"] = unknown[:_MOST_UNKNOWN]
        values = {name: fields[name] for name in ("created", "updated") if name in fields}
        for name in _CHECKED:
            if name in fields:
                value = record_fields.check(name, fields[name], self._records.limit)
                if value not in (None, []):
                    values[name] = value
        for name in ("created", "updated", "expires", "when", "until"):
            check(name, values.get(name, 0), _MOMENT)
        record_fields.check_span(values)
        if "created" in values:
            values["guess"] = fields.get("guess") is True
        self._put_scope(values, values.get("scope", access.ALL if is_whole else ""))
        return values

    def _put_scope(self, values: dict, scope: str) -> None:
        tags = values.get("tags", ())
        if self._is_owner:
            # The owner imports what others have, too.
            values["scope"] = scope or access.scope_of_tags(tags) or access.own_scope(self._caller)
        elif self._caller.group and scope not in ("", access.ALL):
            raise ArgumentError("scope", "in a group room only memories that are for all can be imported.")
        else:
            values["scope"] = access.scope_of_import(scope, tags, self._caller)

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
        source = origin.partition(":")[0]
        for record in dedup.near(self._records, values["content"], values["scope"]):
            if source and provenance.origin_of(record, self._entries.epoch).partition(":")[0] == source:
                continue
            if record.get("expires", record_fields.NEVER) < values.get("expires", record_fields.NEVER):
                continue  # it says so for a shorter time, or has expired
            if dedup.says_the_same(record, values):
                return True
        return False

    # --- writing

    def _forget(self, state, record, origin: str) -> None:
        if state == LIVE:
            self._forgetting.forget(record["id"], self._caller)
        elif not self._forgetting.forget_copies(origin, self._caller):
            self._count("there already")
            return
        self._count("forgotten")

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
            self._count("there already")
        elif at < ours:
            self._count("older than here")
        else:
            changed = {name: value for name, value in record.items() if name not in ("past", "guess", "confidence")}
            changed.update(different)
            record_fields.check_span(changed)
            if "confidence" in values:  # a change without it is a person's, which confirms a pattern
                changed["confidence"] = values["confidence"]
            changed["updated"] = at if at > ours else self._records.clock.now()
            self._records.keep((Draft(record["id"], changed, [], "", record["seq"]),))
            self._count("changed", record["id"])

    def _store(self, values: dict, older: str, fields: dict) -> None:
        values.setdefault("tags", ["imported"])
        values.setdefault("created", self._records.clock.now())
        superseded = self._superseded(older, values["scope"]) if older else ""
        if superseded:
            values["supersedes"] = superseded
        draft = Draft("", values, [], "", 0)
        if self._records.net_new((draft,)) > max(0, self._records.eviction.spare):
            problem = "memory is full, and an import lets nothing leave that is here (records.most): forget some."
            raise StoreFull(problem)
        (ref,) = self._records.keep((draft,))
        self._count("stored", ref)
        if older and not superseded:
            self._report["notes"].append("it came without the older memory that it replaced")
        if fields.get("uses"):
            self._records.uses.put(int(ref[1:]), fields["uses"], fields.get("used", 0))
            self._records.uses.save()

    def _superseded(self, origin: str, own_scope: str) -> str:
        """Return the id that a record of this scope may supersede, or ""."""
        state, record = self._find(origin, own_scope)
        if state not in (LIVE, SUPERSEDED):
            return ""
        # One that others see must not vanish for them.
        is_shared = record.get("scope", access.ALL) != own_scope and not self._is_owner
        return "" if is_shared else record["id"]


def report_lines(report: dict):
    """Yield a report's sentences for people."""
    if "why" in report:
        yield report["why"]
        return
    lines = [" ".join([outcome] + report["ids"]) for outcome in report["counts"]]
    lines += ["put in its place: " + name for name in report["files"]] + report["notes"]
    yield from lines or ("there already",)
    if report["unknown"]:
        yield "left out, since a memory has no place for it: " + ", ".join(report["unknown"])
