"""What a model proposes to keep, held against what is kept: it becomes changes of the records, or nothing."""

from engram import text
from engram.compat import const
from engram.memory.records import nearest

_MOST_TURNS = const(7)  # that a record names already, when one more is added


class OperationApplier:
    """Takes the operations of one answer for the records of one caller; `source` is what the new records say of theirs.

    `is_trusted` tells whether a model's word is enough to let a fact that a model kept give way. `drafts` are the changes,
    `known` counts what the records had already.
    """

    def __init__(self, records, caller, source: str, is_trusted: bool = True):
        self._records = records
        self._caller = caller
        self._source = source
        self._is_trusted = is_trusted
        self.drafts = []
        self.known = 0

    def take(self, wanted, turns=()) -> bool:
        """Take an operation, which came of turns with these ids; whether it brought something. ArgumentError, NotFound."""
        draft = self._draft(wanted, turns)
        if draft is None or not self._is_news(draft):
            self.known += 1
            return False
        self.drafts.append(draft)
        return True

    def _draft(self, wanted, turns):
        """An operation as a change of the records, None if they have it."""
        records, caller = self._records, self._caller
        values = dict(wanted.values)
        values["source"] = self._source
        if turns:
            values["turns"] = turns
        record = records.get(wanted.id, caller) if wanted.id else None
        content, tags = values.pop("content"), values.pop("tags", ()) or (record or {}).get("tags", ())
        if record and self._may_change(wanted.kind, record, content):
            if wanted.kind == "supersede":
                return records.draft(content, tags, caller, supersedes=wanted.id, **values)
            return self._next_version(record, content, tags, values)
        draft = records.draft(content, tags, caller, **values)
        if draft.same:
            records.used(draft.same)
            return None
        if draft.id and not self._is_trusted and _is_protected(records.get(draft.id, caller)):
            # It would only last longer: what a person wrote lasts as long as they said.
            records.used(draft.id)
            return None
        older = None if draft.id else draft.values.get("supersedes")
        if older and not self._is_trusted and _is_protected(records.get(older, caller)):
            # Both stand: a person may say which holds.
            for name in ("supersedes", "pinned"):
                draft.values.pop(name, None)
        for ref in draft.similar:
            record = records.get(ref, caller)
            if record.get("source") == "auto_rule" and set(turns).intersection(record.get("turns", ())):
                # A rule kept the same words of the same message: the model's wording takes their place.
                return self._next_version(record, content, tags, values)
        return draft

    def _next_version(self, record: dict, content: str, tags, values: dict):
        turns = list(record.get("turns", ()))[-_MOST_TURNS:]
        turns += [turn for turn in values.pop("turns", ()) if turn not in turns]
        if turns:
            values["turns"] = turns
        values.update({"content": content, "tags": tags})
        return self._records.draft_update(record["id"], values, self._caller)

    def _may_change(self, kind: str, record: dict, content: str) -> bool:
        """Whether a record may be changed on a model's word; if not, what it proposes stands beside it."""
        dedup = nearest.load_dedup()
        verdict = dedup.compare(record["content"], content)
        if verdict == dedup.CHANGED and (self._is_trusted or not _is_protected(record)):
            return True
        if _is_protected(record):
            return False
        if kind == "supersede" and self._is_trusted:
            return True
        return set(text.terms(record["content"])).issubset(text.terms(content))

    def _is_news(self, draft) -> bool:
        """Whether the answer has not said so already; what it said otherwise gives way to what it says later."""
        for place, earlier in enumerate(self.drafts):
            dedup = nearest.load_dedup()
            verdict = dedup.compare(earlier.values["content"], draft.values["content"])
            older, newer = changed_ids(earlier), changed_ids(draft)
            if verdict == dedup.SAME and not (newer and not older):
                return False
            if verdict in (dedup.SAME, dedup.CHANGED) or (newer and newer == older):
                self.drafts.pop(place)
                if older and not newer and not draft.id:
                    draft.values["supersedes"] = older
                return True
        return True


def _is_protected(record: dict) -> bool:
    """Whether a person stored a record by hand, or pinned it."""
    return bool(record.get("pinned")) or record.get("source", "manual") == "manual"


def changed_ids(draft) -> str:
    """The id of the record that a draft changes, "" if it is new."""
    return draft.id or draft.values.get("supersedes", "")
