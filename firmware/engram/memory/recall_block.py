"""The block of recalled memories that goes into a prompt, fenced as data: facts and rules, what was said, lines of notes.

Each kind has a budget of its own within that of the block, so that long turns do not push out facts. What a kind leaves free
goes to what fitted best and had no room. Nothing stands there twice: neither a turn that says what a record says, nor a line of
a note that the prompt shows anyway.
"""

from engram import tables, text
from engram.memory import attributes
from engram.memory.confidence import WEAK
from engram.memory.ranking import most_evidence
from engram.memory.recall import CANDIDATES, best_confidence, is_certain, is_weak, unfenced
from engram.text.light_words import content_terms
from engram.text.openers import asks

_OPEN = const("<recalled-memories>")
_CLOSE = const("</recalled-memories>")
_RULE, _WEAK_RULE, _NEAREST, _NOTHING, _ASK, _DIFFERENT = tables.rows("memory/recall_block")
_WEAKEST = const(4)  # what matches less than a fourth of the best hit's words is left out
_KINDS = (("m", "Facts and rules:", 50), ("t", "Said:", 50), ("#", "Notes:", 25))
_HEADS = const(12)  # tokens of all headings
_LONGEST_VALUE = const(3)  # words of a value; of Han, characters
_SAME = const(50)  # per cent of a text that another one makes up if both say the same


def make(recall, ranked, budget: int, citations: bool = True, shown_notes=(), shown=None) -> str:
    """Return the block of results within `budget` tokens, or ""; [id, sure] go to `shown`."""
    if _needs_nothing(ranked):
        return ""
    found = recall.all_items(ranked)[:CANDIDATES]
    if not best_confidence(ranked):
        return _nothing(ranked, budget)
    is_answer = is_certain(ranked)
    is_all_weak = is_weak(ranked)
    rule = _NEAREST if not is_answer else _WEAK_RULE if is_all_weak else _RULE
    rule += " " + unfenced(ranked.note) if ranked.note else ""
    room = budget - text.tokens(_OPEN + _CLOSE + rule) - _HEADS
    chosen = _Chosen(recall, ranked.query, room, citations, not is_all_weak)
    most = most_evidence(found)
    left = []
    for item in found:
        if (
            (not item.evidence or item.evidence * _WEAKEST >= most)  # what only the companion found has none
            and item.id.partition("#")[0] not in shown_notes
            and (item.confidence or not is_answer or item.who in ("", ranked.query.caller.principal))
            and not chosen.add(item, True)
        ):
            left.append(item)
    for item in left:
        chosen.add(item, False)
    if not chosen.lines:
        return ""
    if shown is not None:
        shown.extend([[item.id, item.confidence] for item in chosen.items])
    if is_answer:
        for item in chosen.items:
            recall.add_use(item, ranked.query.caller)
    lines = chosen.contradictions() + chosen.all_lines()
    return "\n".join([_OPEN, rule + chosen.question()] + lines + [_CLOSE])


def _needs_nothing(ranked) -> bool:
    """True for a greeting, and for a statement that nothing surely fits."""
    message = ranked.query.text
    if asks(message):
        return not is_certain(ranked) and not content_terms(message)
    return is_weak(ranked) or not content_terms(message)


def _nothing(ranked, budget: int) -> str:
    """Return the block without results: "" unless the message asks something."""
    query = ranked.query.text
    if not asks(query) or not any(True for _ in text.terms(query)):
        return ""
    note = " " + unfenced(ranked.note) if ranked.note else ""
    block = "\n".join([_OPEN, _NOTHING + note, _CLOSE])
    return block if text.tokens(block) <= budget else ""


class _Chosen:
    """The lines chosen for a block."""

    def __init__(self, recall, query, room: int, citations: bool, marks_weak: bool):
        self._recall = recall
        self._query = query
        self._room = room
        self._rooms = {sign: room * share // 100 for sign, _, share in _KINDS}
        self._citations = citations
        self._marks_weak = marks_weak
        self._texts = []
        self._facts = []  # (when, the other way; place, fact, what its line begins with, id)
        self.items = []  # as they were ranked
        self.lines = []
        self.asking = []  # ids of patterns that the person is asked about

    def add(self, item, within_kind: bool) -> bool:
        """Add an item with a new text; False if there is no room for it."""
        shown = self._recall.with_text(item, self._query.caller)
        if not shown:
            return True
        plain = " %s " % " ".join(shown.text.lower().split()).rstrip(".!")
        if any(_say_the_same(plain, other) for other in self._texts):
            return True
        is_weak = self._marks_weak and item.confidence < WEAK
        line = self._recall.line(shown, self._citations, "weak" if is_weak else "")
        cost = text.tokens(line) + 1
        is_asking = item.confidence >= WEAK and item.id[0] == "m" and self._recall.is_unasked(shown)
        cost += text.tokens(_ASK) + 1 if is_asking else 0
        kind = "#" if "#" in item.id else item.id[0]
        if cost > self._room or (within_kind and cost > self._rooms[kind]):
            return False
        self._room -= cost
        self._rooms[kind] -= cost
        self._texts.append(plain)
        self.items.append(item)
        self.asking += [item.id] if is_asking else []
        caller = self._query.caller
        is_own = (kind == "m" and not item.text) or item.who == caller.principal
        if is_own and not self._recall.is_event(item.id, caller):
            fact = _Fact(shown.text, self._query.text)
            self._facts.append((-item.at, len(self._facts), fact, line[2 : line.find("]") + 1]))
        # A turn's memories follow it, even within the same second.
        self.lines.append((kind, item.at, len(item.id), item.id, line))
        return True

    def question(self) -> str:
        return " " + _ASK % ", ".join(self.asking) if self.asking else ""

    def contradictions(self) -> list:
        """Return a line that names texts if only one of them can hold, newest first, [] without them."""
        facts = sorted(self._facts)
        for place, (_, _, newest, name) in enumerate(facts):
            older = [each[3] for each in facts[place + 1 :] if newest.contradicts(each[2])]
            line = _DIFFERENT + " " + ", ".join([name] + older)
            if older and text.tokens(line) < self._room:
                return [line]
        return []

    def all_lines(self) -> list:
        self.lines.sort()
        found = []
        for sign, heading, _ in _KINDS:
            of_kind = [entry[-1] for entry in self.lines if entry[0] == sign]
            found += [heading] + of_kind if of_kind else []
        return found


def _say_the_same(one: str, other: str) -> bool:
    """True if one text contains the other and is mostly made of it."""
    if len(one) > len(other):
        one, other = other, one
    return len(one) * 100 >= _SAME * len(other) and one in other


class _Fact:
    """A text as it is compared with others, in any language.

    Two contradict each other if all words but one value are the same, or both state the attribute that is asked for.
    """

    def __init__(self, said: str, query: str):
        self._said = said
        self._words = list(text.words(said))
        self._kinds = attributes.kinds(said)
        self._asked = attributes.kinds(query) - {"", attributes.PAST}

    def contradicts(self, other) -> bool:
        """True if only one of both can hold, as far as their words tell."""
        if self._words == other._words or attributes.PAST in self._kinds.union(other._kinds):
            return False
        return bool(self._kinds & other._kinds & self._asked) or self._has_another_value(other)

    def _has_another_value(self, other) -> bool:
        mine, theirs = self._words, other._words
        shortest = min(len(mine), len(theirs))
        first = last = 0
        while first < shortest and mine[first] == theirs[first]:
            first += 1
        while last < shortest - first and mine[-1 - last] == theirs[-1 - last]:
            last += 1
        values = len(mine) - first - last, len(theirs) - first - last
        shared = mine[:first] + mine[len(mine) - last :]
        is_one_value = min(values) > 0 and max(values) <= _LONGEST_VALUE <= len(shared)
        return is_one_value and bool(content_terms(" ".join(shared)))
