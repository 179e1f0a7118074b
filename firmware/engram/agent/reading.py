"""Reading one batch of messages for facts: what the model is asked, and what is kept of the operations that it proposes."""

from engram import log, text
from engram.agent import operations, rules
from engram.agent.extract_prompt import Asking
from engram.compat import const
from engram.errors import ArgumentError, NotFound
from engram.memory import comparing, scope
from engram.memory.secrets import secrets

_SHORT = const(8)  # words of an answer such as "yes, that is right"


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
                said.check(wanted.values["content"])
                draft = self._draft(wanted, asker)
                if draft is None or self._is_told(draft, drafts):
                    continue
            except (ArgumentError, NotFound) as error:
                self.refused.append(str(error))
                continue
            left[wanted.turn] -= 1
            drafts.append(draft)
        return drafts

    def _draft(self, wanted, asker):
        """An operation as a change of the records, None if they have it."""
        records = self._parts.records
        values = dict(wanted.values)
        if wanted.kind == "update":
            return records.draft_update(wanted.id, values, asker)
        values["source"], values["turns"] = "auto_llm", [wanted.turn]
        content, tags = values.pop("content"), values.pop("tags", ())
        if wanted.kind == "supersede":
            return records.draft(
                content, tags or records.get(wanted.id, asker)["tags"], asker, supersedes=wanted.id, **values
            )
        draft = records.draft(content, tags, asker, **values)
        if draft.same:
            records.used(draft.same)
            return None
        for ref in draft.similar:
            record = records.get(ref, asker)
            if record.get("source") == "auto_rule" and wanted.turn in record.get("turns", ()):
                # A rule kept the same words of the same message: the model's wording takes their place.
                values.update({"content": content, "tags": tags})
                return records.draft_update(ref, values, asker)
        return draft

    def _is_told(self, draft, drafts: list) -> bool:
        """Whether an answer says so already; what it says otherwise gives way to what it says later."""
        comparison = comparing.load()
        for place, earlier in enumerate(drafts):
            changed = draft.id or draft.values.get("supersedes")
            if changed and changed in (earlier.id, earlier.values.get("supersedes")):
                raise ArgumentError("id", "is changed twice in one answer.")
            verdict = comparison.compare(earlier.values["content"], draft.values["content"])
            if verdict == comparison.SAME:
                return True
            if verdict == comparison.CHANGED and not earlier.id and not draft.id and "supersedes" not in earlier.values:
                drafts.pop(place)
                return False
        return False


class _Said:
    """What people said in a batch, against which a proposed fact is held."""

    def __init__(self, turns: list, asking):
        self._turns = turns
        self._terms = set()
        for turn in turns:
            found = set(text.terms(turn["text"]))
            self._terms |= found
            if len(found) < _SHORT:
                self._terms |= set(text.terms(asking.before(turn)))

    def check(self, content: str) -> None:
        """ArgumentError if a fact has nothing of what was said, or a secret that the person did not ask to be kept."""
        if self._terms.isdisjoint(text.terms(content)):
            raise ArgumentError("content", "has no word of what the person said.")
        for piece in secrets(content):
            if not self._was_asked_for(piece):
                raise ArgumentError("content", "holds what looks like a secret; people have to ask for it to be kept.")

    def _was_asked_for(self, piece: str) -> bool:
        for turn in self._turns:
            rule = rules.match(turn["text"])
            if rule and rule.kind == "remember" and rule.asked and piece in rule.content:
                return True
        return False
