"""Answers without a model, by plain commands: remember, find, list, forget. It says that it is offline."""

from engram import text
from engram.compat import const
from engram.errors import EngramError
from engram.memory import ids
from engram.memory.recall import snippet

HINT = "Offline: no model is set up (llm.url and llm.model, see docs/settings.md); memory works all the same."

_HELP = (
    "I am offline, so I only understand plain commands: remember that ..., what do you know about ...?, "
    "list memories, forget ...; /help shows more. What you said is kept in the journal."
)
_FOUND = const(5)
_LISTED = const(20)

_REMEMBER = ("remember that ", "remember: ", "remember ", "please remember that ", "note that ")
_ASK = ("what do you know about ", "what do you remember about ", "do you remember ", "search for ", "search ", "find ")
_LIST = (
    "list",
    "list memories",
    "list everything",
    "what do you know",
    "what do you know about me",
    "what do you remember",
    "what do you remember about me",
)
_FORGET = ("forget that ", "forget about ", "forget ", "please forget ")
_QUESTION_MARKS = ("?", "？", "؟")


class Offline:
    """Plain commands over one board's memory; `parts` has records, recall and forgetting."""

    def __init__(self, parts):
        self._records = parts.records
        self._recall = parts.recall
        self._forgetting = parts.forgetting

    def understands(self, content: str) -> bool:
        """Whether a message is one of the plain commands: those are no conversation that is worth finding again."""
        said = content.strip()
        if _plain(said) in _LIST or said[-1:] in _QUESTION_MARKS:
            return True
        return any(_after(openings, said) is not None for openings in (_REMEMBER, _FORGET, _ASK))

    def answer(self, asker, content: str, turn: str) -> str:
        """The answer to a message; `turn` is the message's own id. Errors are told, never raised."""
        said = content.strip()
        try:
            if _plain(said) in _LIST:
                return self._list(asker)
            rest = _after(_REMEMBER, said)
            if rest is not None:
                return (
                    self._remember(asker, rest, turn) if rest else "Remember what? Say: remember that my bike is green"
                )
            rest = _after(_FORGET, said)
            if rest is not None:
                return self._forget(asker, rest) if rest else "Forget what? Say: forget m1, or forget my bike"
            rest = _after(_ASK, said)
            if rest == "":
                return self._list(asker)
            if rest or said[-1:] in _QUESTION_MARKS:
                return self._find(asker, rest or said, turn)
        except EngramError as error:
            return str(error)
        return _HELP

    def _remember(self, asker, content: str, turn: str) -> str:
        stored = self._records.store(content, ["note"], asker, turns=[turn])
        if stored.outcome == "duplicate":
            return "That is remembered already, as %s." % stored.id
        answer = "Remembered as %s: %s" % (stored.id, snippet(content, 200))
        if stored.similar:
            answer += "\n%s says nearly the same; forget it if it is out of date." % ", ".join(stored.similar)
        return answer

    def _find(self, asker, query: str, turn: str) -> str:
        found = self._recall.find(query, asker, _FOUND, (ids.number("id", turn, "t"),))
        if not found:
            return "Nothing found: " + self._recall.why_empty(query, asker)
        lines = [self._recall.line(item) for item in found]
        if self._recall.partial:
            lines.append("There may be more: " + self._recall.partial)
        return "\n".join(lines)

    def _list(self, asker) -> str:
        lines = []
        for record in self._records.newest(asker):
            if len(lines) == _LISTED:
                lines.append("and more: /memory list 2")
                break
            lines.append("- %s: %s" % (record["id"], snippet(record["content"], 200)))
        if not lines:
            return "Nothing is remembered yet; try: remember that my bike is green"
        return "\n".join(lines)

    def _forget(self, asker, wanted: str) -> str:
        if _is_id(wanted):
            return self._let_go(wanted, asker)
        found = [record for _, record in self._records.search(wanted, _FOUND, asker)]
        if not found:
            return "Nothing to forget: " + self._recall.why_empty(wanted, asker)
        terms = set(text.terms(wanted))
        exact = [record for record in found if terms.issubset(set(text.terms(record["content"])))]
        if len(exact) == 1:
            return self._let_go(exact[0]["id"], asker)
        lines = ["Which one? Say forget and its id:"]
        lines += ["- %s: %s" % (record["id"], snippet(record["content"], 200)) for record in exact or found]
        return "\n".join(lines)

    def _let_go(self, ref: str, asker) -> str:
        # Whoever forgets a thing does not want the message back either in which it was told.
        record, turns = self._forgetting.forget(ref, asker, with_turns=True)
        gone = ", ".join([record["id"]] + turns)
        return "Forgot %s: %s (/undo brings it back)" % (gone, snippet(record["content"], 200))


def _plain(said: str) -> str:
    return said.lower().rstrip("?!. ")


def _is_id(wanted: str) -> bool:
    wanted = wanted.strip()
    return wanted[:1] in "mM" and wanted[1:].isdigit()


def _after(openings: tuple, said: str):
    """What follows the opening with which a text begins, None if it begins with none."""
    lowered = said.lower().rstrip("?!. ") + " "
    for opening in openings:
        if lowered.startswith(opening):
            return said[len(opening) :].strip()
    return None
