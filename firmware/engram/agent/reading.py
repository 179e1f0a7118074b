"""Reading one batch of messages for facts: what the model is asked, and what is kept of the operations that it proposes."""

from engram import log, text
from engram.agent import operations, rules
from engram.agent.extract_prompt import Asking
from engram.compat import const
from engram.errors import ArgumentError, NotFound
from engram.memory import comparing, scope
from engram.memory.secrets import secrets

_SHORT = const(8)  # words of an answer such as "yes, that is right"
_MOST_TURNS = const(7)  # that a record names already, when one more is added


class Reading:
    """Some turns of one session, to be read together; `refused` says why some operations were, without a word of theirs."""

    most_bytes = operations.MOST_BYTES

    def __init__(self, parts, turns: list):
        self._parts = parts
        self._turns = turns
        self._asker = scope.teller(turns[0])
        self._asking = Asking(parts, turns, self._asker)
        self._most_facts = parts.config.get("extract.facts")
        self.refused = []
        for seq in self._asking.cut:
            log.info("learning", "only the beginning of t%d was read for facts: it is long" % seq)

    def request(self):
        """What the model is asked."""
        return self._asking.request(self._most_facts, self._parts.config.get("extract.reply_tokens"))

    def tokens(self) -> int:
        """About how many tokens that has."""
        return self._asking.tokens()

    def elements(self, answer: bytes) -> list:
        """The elements of an answer; ArgumentError says why it is none."""
        return operations.read(answer)

    def drafts(self, elements: list) -> list:
        """What is to be kept of a model's operations."""
        drafts = []
        asker = self._asker
        left = {"t%d" % turn["seq"]: self._most_facts for turn in self._turns}
        said = _Said(self._turns, self._asking)
        for element in elements:
            try:
                wanted = operations.check(element, left, self._asking.known)
                if wanted is None:
                    continue
                # Taken back or forgotten since: nothing is learned from it.
                self._parts.journal.get(wanted.turn, asker)
                if not left[wanted.turn]:
                    raise ArgumentError("answer", "has more facts than a message may give.")
                said.check(wanted)
                draft = self._draft(wanted, asker)
                if draft is None or not self._is_news(draft, drafts):
                    continue
            except (ArgumentError, NotFound) as error:
                self.refused.append(str(error))
                continue
            left[wanted.turn] -= 1
            drafts.append(draft)
        comparing.done()
        return drafts

    def _draft(self, wanted, asker):
        """An operation as a change of the records, None if they have it."""
        records = self._parts.records
        values = dict(wanted.values)
        values["source"], values["turns"] = "auto_llm", [wanted.turn]
        record = records.get(wanted.id, asker) if wanted.id else None
        content, tags = values.pop("content"), values.pop("tags", ()) or (record or {}).get("tags", ())
        if record and self._may_change(wanted.kind, record, content):
            if wanted.kind == "supersede":
                return records.draft(content, tags, asker, supersedes=wanted.id, **values)
            return self._next_version(record, content, tags, values, asker)
        draft = records.draft(content, tags, asker, **values)
        if draft.same:
            records.used(draft.same)
            return None
        for ref in draft.similar:
            record = records.get(ref, asker)
            if record.get("source") == "auto_rule" and wanted.turn in record.get("turns", ()):
                # A rule kept the same words of the same message: the model's wording takes their place.
                return self._next_version(record, content, tags, values, asker)
        return draft

    def _next_version(self, record: dict, content: str, tags, values: dict, asker):
        turns = list(record.get("turns", ()))[-_MOST_TURNS:]
        values["turns"] = turns + [turn for turn in values["turns"] if turn not in turns]
        values.update({"content": content, "tags": tags})
        return self._parts.records.draft_update(record["id"], values, asker)

    def _may_change(self, kind: str, record: dict, content: str) -> bool:
        """Whether a record may be changed on a model's word; if not, what it proposes stands beside it."""
        comparison = comparing.load()
        verdict = comparison.compare(record["content"], content)
        if verdict == comparison.CHANGED:
            return True
        if record.get("pinned") or record.get("source", "manual") == "manual":
            return False
        return kind == "supersede" or set(text.terms(record["content"])).issubset(text.terms(content))

    def _is_news(self, draft, drafts: list) -> bool:
        """Whether an answer has not said so already; what it said otherwise gives way to what it says later."""
        comparison = comparing.load()
        for place, earlier in enumerate(drafts):
            verdict = comparison.compare(earlier.values["content"], draft.values["content"])
            older, newer = _changed(earlier), _changed(draft)
            if verdict == comparison.SAME and not (newer and not older):
                return False
            if verdict != comparison.DIFFERENT or (newer and newer == older):
                drafts.pop(place)
                if older and not newer and not draft.id:
                    draft.values["supersedes"] = older
                return True
        return True


def _changed(draft) -> str:
    """The id of the record that a draft changes, "" if it is new."""
    return draft.id or draft.values.get("supersedes", "")


class _Said:
    """What people said in a batch, against which a proposed fact is held."""

    def __init__(self, turns: list, asking):
        self._turns = turns
        self._asking = asking
        self._secrets = [piece for turn in turns for piece in secrets(turn["text"])]

    def check(self, wanted) -> None:
        """ArgumentError if a fact has nothing of its message, or a secret that the person did not ask to be kept."""
        values = wanted.values
        turn = next(turn for turn in self._turns if "t%d" % turn["seq"] == wanted.turn)
        if self._terms(turn).isdisjoint(text.terms(values["content"])):
            raise ArgumentError("content", "has no word of what the person said.")
        for name in ("content", "keywords", "tags"):
            value = values.get(name, "")
            for part in (value,) if isinstance(value, str) else value:
                if isinstance(part, str) and self._has_secret(part):
                    raise ArgumentError(name, "holds what looks like a secret; people have to ask for it to be kept.")

    def _terms(self, turn: dict) -> set:
        found = set(text.terms(turn["text"]))
        if len(found) < _SHORT and not rules.is_question(turn["text"]):
            # "Yes, that is right": what the agent had said may be what is meant.
            found |= set(text.terms(self._asking.before[turn["seq"]]))
        return found

    def _has_secret(self, part: str) -> bool:
        pieces = list(secrets(part)) + [piece for piece in self._secrets if piece in part]
        return any(not self._was_asked_for(piece) for piece in pieces)

    def _was_asked_for(self, piece: str) -> bool:
        for turn in self._turns:
            rule = rules.match(turn["text"])
            if rule and rule.kind == "remember" and rule.asked and piece in rule.content:
                return True
        return False
