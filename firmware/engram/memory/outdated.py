"""Finds the turns that say what a memory said before it was replaced or changed: what the person said, and answers that repeat
it. A line of the journal marks each: recall leaves them out from then on, people and history do not.

These are the turns that the memory came from, and the turns of its scope that have all words which the new text has not, and
most of those which both have, or that say in other words what the attribute was (attributes.py). Left alone are turns that say
what holds now, those about something else, such as a sister's home, and those that say other things as well: these would be
lost.
"""

from engram import text
from engram.memory import ALL, access, attributes, ids
from engram.store.types import SUPERSEDED, Query

MOST = 32

_LOOKED_AT = const(64)  # as many as a search keeps
_PERSON = const("user 用户 ")
_WORD = const(2)  # weights of a word, and of a pair of characters of a script without spaces
_PAIR = const(1)
# Words before and behind the statement in a turn that says nothing else: "by the way", "please".
_BEFORE = const(6)
_BEHIND = const(4)
_RETOLD = const(24)  # words of a source that only restates the fact


def find(journal, older: dict, content: str, said_now) -> list:
    """Return the ids of turns that state the old version and not the new content."""
    scope = older.get("scope", ALL)
    change = _Change(older["content"], content, _PERSON + scope.partition(":")[2])
    if not change.differs:
        return []
    kept = [ids.number("turns", ref, "t") for ref in said_now]
    sources = [ids.number("turns", ref, "t") for ref in older.get("turns", ())]
    found = [seq for seq in sources if seq not in kept and _is_told(journal, change, seq, len(sources) == 1)]
    speaker = (journal.turn(sources[0]) or {}).get("who", "") if sources else ""
    for turn in _nearest(journal, change, scope, speaker):
        seq = turn["seq"]
        if len(found) >= MOST:
            break
        if seq not in kept and seq not in sources and change.is_repeated(turn, _asked_before(journal, turn)):
            found.append(seq)
    return ["t%d" % seq for seq in found]


def _is_told(journal, change, seq: int, is_only: bool) -> bool:
    """True if a source turn states what the record said."""
    if seq < journal.entries.oldest:
        return is_only  # a companion has it, and may show it
    turn = journal.live_turn(seq)
    return turn is not None and change.is_told(turn, is_only)


def _nearest(journal, change, scope: str, speaker: str):
    """Yield a scope's turns nearest to the outdated fact: answers and the speaker's own words."""
    terms = list(text.terms(change.text)) if not change.gone else change.gone + change.shared
    is_workspace = scope[:3] == access.WORKSPACE
    query = Query(terms, (), () if is_workspace else ("@" + scope,), 0, 0, "", None, True)
    for hit in journal.entries.search(query, _LOOKED_AT) if change.is_telling else ():
        turn = hit.line
        is_own = turn["role"] == "assistant" or (turn["who"] == speaker and "forwarded" not in turn)
        if is_own and (not is_workspace or turn.get("workspace") == scope[3:]):
            yield turn


def _asked_before(journal, turn: dict) -> str:
    before = turn.get("re") or turn.get("prev") if turn["role"] == "assistant" else 0
    return ((journal.turn(before) or {}).get("text") or "") if before else ""


class _Change:
    """A comparison of two texts by the words that are gone, new and shared."""

    def __init__(self, old: str, new: str, person: str):
        self.text = old
        self._cut = text.terms
        before, after = list(text.terms(old)), list(text.terms(new))
        if set(before) == set(after):
            # A small word decides: "I do not eat meat".
            self._cut = text.words
            before, after = list(text.words(old)), list(text.words(new))
        self.gone = _without(before, after)
        self.come = _without(after, before)
        self.shared = _without(before, self.gone + list(self._cut(person)))
        self._slack = sum([_is_pair(term) for term in self.gone]) // 2
        self._known = set(before + list(self._cut(person)))
        self._stated = attributes.kinds(old) & attributes.kinds(new)
        valued = set(attributes.content(old))
        self._value = [term for term in self.gone if term in valued or (_is_pair(term) and valued.issuperset(term))]

    @property
    def differs(self) -> bool:
        """True if one text says something that the other does not."""
        return bool(self.gone or self.come)

    @property
    def is_telling(self) -> bool:
        """True if its words can identify repetitions; a mere addition outdates nothing."""
        is_denied = self._cut is text.words
        return len(self.gone) + len(self.shared) > 1 and bool(self.gone or is_denied)

    def is_told(self, turn: dict, is_only: bool) -> bool:
        """True if a source turn, the only one or one of several, states the old text and no more."""
        said = self._said(turn)
        if self._holds(said):
            return False
        has_some = not _are_disjoint(said, self.gone or self.shared)
        return (is_only or has_some) and self._is_all(said)

    def is_repeated(self, turn: dict, asked: str) -> bool:
        """True if a turn repeats the old text and no more; `asked` is what it answers."""
        said = self._said(turn)
        if self._states_value(turn, said):
            return True
        missing = _without(self.gone, said)
        if self._holds(said) or len(missing) > self._slack or not all(_is_pair(term) for term in missing):
            return False
        around = said + list(self._cut(asked))
        common = len(self.shared) - len(_without(self.shared, around))
        if self.shared and 2 * common <= len(self.shared):
            return False
        # "My sister lives in Paris" is not "I live in Paris": a person's turn that says one word more is left.
        return self._is_all(said) and (turn["role"] == "assistant" or self._known.issuperset(said))

    def _states_value(self, turn: dict, said: list) -> bool:
        """True for a person's short turn that states the old value of the changed attribute in other words."""
        if not self._value or turn["role"] == "assistant" or self._holds(said) or _without(self._value, said):
            return False
        states = attributes.kinds(turn["text"])
        is_short = _weight(_without(said, self._value)) <= _BEFORE
        return is_short and bool(states & self._stated) and attributes.PAST not in states

    def _said(self, turn: dict) -> list:
        """Return a turn's words without questions about something else."""
        said = []
        for piece in _sentences(turn["text"] + "\n" + turn.get("caption", "")):
            words = list(self._cut(piece))
            if piece[-1:] != "?" or not _are_disjoint(words, self.gone + self.shared):
                said += words
        return said

    def _holds(self, said: list) -> bool:
        return bool(self.come) and not _without(self.come, said)

    def _is_all(self, said: list) -> bool:
        places = [at for at, word in enumerate(said) if word in self.gone or word in self.shared]
        if not places:
            return _weight(said) <= _RETOLD
        if self._cut is text.words:
            return True
        return _weight(said[: places[0]]) <= _BEFORE and _weight(said[places[-1] + 1 :]) <= _BEHIND


def _sentences(content: str) -> list:
    for mark in ("？", "?"):
        content = content.replace(mark, "?\n")
    for mark in ("。", "！", "!", ". "):
        content = content.replace(mark, "\n")
    return [piece.rstrip() for piece in content.split("\n")]


def _without(words: list, others: list) -> list:
    found = []
    for word in words:
        if word not in others and word not in found:
            found.append(word)
    return found


def _are_disjoint(words: list, others: list) -> bool:
    return not any(word in others for word in words)


def _is_pair(term: str) -> bool:
    """True if a term may be two characters of a script without spaces."""
    return len(term) == 2 and len(term.encode()) > 2


def _weight(words: list) -> int:
    return sum([_PAIR if _is_pair(word) else _WORD for word in words])


# --- marks


def mark(journal, refs, by: str, at: int) -> None:
    """Mark turns as outdated by the record `by`, and drop the gists that tell them."""
    for ref in refs:
        journal.drop_gist(int(ref[1:]))
    lines = [[("op", "past"), ("turn", int(ref[1:])), ("by", by), ("at", at)] for ref in refs]
    journal.entries.append(*lines, urgent=True)


def unmark(entries, refs, at: int) -> None:
    """Unmark turns, except those forgotten since."""
    turns = [int(ref[1:]) for ref in refs]
    lines = [shown(turn, at) for turn in turns if entries.state(turn) == SUPERSEDED]
    if lines:
        entries.append(*lines, urgent=True)


def shown(turn: int, at: int) -> list:
    return [("op", "show"), ("turn", turn), ("at", at)]


def last_mark(entries, turn: int) -> list:
    """Return a line that restores a forgotten turn's mark, an empty one without a mark."""
    for seq in reversed(entries.seqs_with_label("=%d" % turn)):
        line = entries.line(seq) or {}
        if line.get("turn") == turn and line["op"] != "redact":
            return [(name, line[name]) for name in ("op", "turn", "by", "at")] if line["op"] == "past" else []
    return []
