"""Reading one batch of messages for facts: what the model is asked, and what is kept of the operations that it proposes."""

from engram import diag, text
from engram.agent import phrase_rules
from engram.compat import const
from engram.errors import ArgumentError, NotFound
from engram.learning import extract_ops
from engram.learning.apply_ops import OperationApplier
from engram.learning.extract_prompt import ExtractPrompt
from engram.memory import access
from engram.memory.records import fields, nearest
from engram.text.secrets import secrets

_SHORT = const(8)  # words of an answer such as "yes, that is right"


class ExtractBatch:
    """Some turns of one session, to be read together.

    refused  why some operations were, without a word of theirs
    notes    what is to stand in the day's note
    """

    most_bytes = extract_ops.MOST_BYTES

    def __init__(self, config, clock, records, journal, notes, turns: list):
        self._config = config
        self._records = records
        self._journal = journal
        self._notes = notes
        self._turns = turns
        self._caller = access.turn_principal(turns[0])
        self._asking = ExtractPrompt(clock, records, journal, turns, self._caller)
        self._most_facts = config.get("extract.facts")
        self.refused = []
        self.notes = []
        for seq in self._asking.cut:
            diag.info("learning", "only the beginning of t%d was read for facts: it is long" % seq)

    def request(self):
        """What the model is asked."""
        return self._asking.request(self._most_facts, self._config.get("extract.reply_tokens"))

    def tokens(self) -> int:
        """About how many tokens that has."""
        return self._asking.tokens()

    def elements(self, answer: bytes) -> list:
        """The elements of an answer; ArgumentError says why it is none."""
        return extract_ops.read(answer)

    def drafts(self, elements: list) -> list:
        """What is to be kept of a model's operations."""
        caller = self._caller
        proposals = OperationApplier(self._records, caller, "auto_llm")
        left = {"t%d" % turn["seq"]: self._most_facts for turn in self._turns}
        said = _Said(self._turns, self._asking)
        for element in elements:
            try:
                wanted = extract_ops.check(element, left, self._asking.known)
                if wanted is None:
                    continue
                # Taken back or forgotten since: nothing is learned from it.
                self._journal.get(wanted.turn, caller)
                if not left[wanted.turn]:
                    raise ArgumentError("answer", "has more facts than a message may give.")
                said.check(wanted)
                if wanted.kind == "note":
                    self.notes.append(self._checked_note(wanted))
                elif not proposals.take(wanted, [wanted.turn]):
                    continue
            except (ArgumentError, NotFound) as error:
                self.refused.append(str(error))
                continue
            left[wanted.turn] -= 1
        nearest.unload_dedup()
        return proposals.drafts

    def _checked_note(self, wanted) -> str:
        """The text of a note of the day."""
        if self._caller.group:
            raise ArgumentError("op", "must not be note: notes are private and stay out of group rooms.")
        if not self._notes.people.has_room(self._caller.principal):
            raise ArgumentError("op", "must not be note: no more people can have files of their own (principals.most).")
        return fields.check("content", wanted.values["content"], extract_ops.CONTENT_CHARS)  # type: ignore

    def write_notes(self) -> None:
        """Keep the notes of the day that were proposed. Those that stand there already were written before a cut."""
        if self.notes:
            notebook = self._notes.for_caller(self._caller)
            there = notebook.text(notebook.today())
            for note in self.notes:
                if " ".join(note.split()) not in there:
                    notebook.note(note)


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
        extract_ops.check_secrets(values, self._has_secret)

    def _terms(self, turn: dict) -> set:
        found = set(text.terms(turn["text"]))
        if len(found) < _SHORT and not phrase_rules.is_question(turn["text"]):
            # "Yes, that is right": what the agent had said may be what is meant.
            found |= set(text.terms(self._asking.before[turn["seq"]]))
        return found

    def _has_secret(self, part: str) -> bool:
        pieces = list(secrets(part)) + [piece for piece in self._secrets if piece in part]
        return any(not self._was_asked_for(piece) for piece in pieces)

    def _was_asked_for(self, piece: str) -> bool:
        for turn in self._turns:
            rule = phrase_rules.match(turn["text"])
            if rule and rule.kind == "remember" and rule.asked and piece in rule.content:
                return True
        return False
