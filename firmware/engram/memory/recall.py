"""Finds what fits a question among records, turns and notes, without a model.

Both stores rank with the same BM25, and a word weighs the same in both. To compare their hits, each store's scores are
scaled by the weight of the words that its best hit matches; a record's importance moves it by a quarter at most.
"""

from collections import namedtuple

# isort: off
from engram import text
from engram.text.times import find_days, without_dates, without_days
from engram.text.light_words import content_terms
from engram.text.openers import asks
from engram.clock import day_name
from engram.errors import NotFound

# Those below need it: an import within an import takes more of the stack.
from engram.store.search.weights import ONE, OWN, distinct_terms, known_weights, measure_query, weights
from engram.memory.ranking import (
    Item, events_on, most_evidence, on_one_scale, points, put_below, related, repeats, said_on, scaled, with_score,
)  # fmt: skip
from engram.memory import access, attributes, confidence
from engram.memory.events import whole_text
from engram.memory.line_meaning import asks_replies, attributed_text, happened_at, people_labels, query_terms
from engram.memory.records.fields import PERHAPS
from engram.memory.records.importance import stated_importance
from engram.memory.texts.notes import find_lines, lines_of_days
# isort: on

_LONGEST = const(1000)  # characters of one text in an answer: there may be twenty
_SNIPPET = const(320)  # characters of one memory in a prompt
_WHO_LONGEST = const(32)  # of a speaker's name there
_WITH_EARLIER = const(8)  # records that are shown with what they said before
_EARLIER = const(3)  # of these
_NAMES = const(8)  # words of a query by days that may name people
_AROUND = const('.,!?;:"()')

Query = namedtuple("Query", "text caller tags since until skip")
"""A search: words, caller, required tags, time span (0: open), and seqs to skip."""

Ranked = namedtuple("Ranked", "query items notes note")
"""Results without texts to save heap, found lines of notes, and the companion's remark or ""."""

RemoteResults = namedtuple("RemoteResults", "ranked have note confidence")
"""A companion's results: hits, its known seqs, a remark or "", and confidences of 0 to 1000."""

CANDIDATES = 24
"""Hits of each store before merging."""


def make_query(text: str, caller, tags=(), since: int = 0, until: int = 0, skip=()) -> Query:
    """Return a Query; turns that are not kept, with seqs below 0, need no skipping."""
    return Query(text, caller, tags, since, until, {seq for seq in skip if seq > 0})


class Recall:
    """A joint search of records and journal; `remote` merges a companion's results, None without one."""

    candidates = CANDIDATES

    def __init__(self, records, journal, notes, clock, remote, searches):
        self._records = records
        self._journal = journal
        self._notes = notes
        self._clock = clock
        self._remote = remote
        self._searches = searches

    def find(self, ranked: Ranked, limit: int = 10, page: int = 1) -> list:
        """Return a page of at most `limit` items with texts, best first; only certain ones count as used."""
        caller = ranked.query.caller
        found = []
        is_answer = is_certain(ranked)
        for item in self.all_items(ranked)[limit * (page - 1) : limit * page]:
            shown = self.with_text(item, caller)
            if shown:
                if is_answer:
                    self.add_use(item, caller)
                found.append(shown)
        self._searches[0] += 1
        self._searches[1] += not found
        return found

    def rank(self, asked) -> Ranked:
        """Return the board's results for a Query; with tags, only records."""
        days, words = self._without_days(asked.text)
        query = Query(words, asked.caller, asked.tags, asked.since, asked.until, asked.skip)
        terms = distinct_terms(query_terms(query.text))
        stores = self._records.entries, self._journal.entries
        frequencies = [store.frequencies(terms) for store in stores]
        notes = self._find_notes(query, terms)
        if notes:
            frequencies.append((notes.count, notes.having))
        idfs = weights(frequencies)
        known = known_weights(frequencies, idfs)
        measure = measure_query(frequencies, known)
        documents = sum([count for count, _ in frequencies])
        content = attributes.content(query.text)
        certainty = confidence.Certainty(measure, content, idfs, documents, asks(query.text))
        alike = ()
        if certainty.weights:
            said = content_terms(query.text)
            known = {term: weight if term in said else 1 for term, weight in known.items()}
            # An attribute that is asked for weighs no less than the words that it is asked with.
            known.update({term: max(known.values()) for term in content if known.get(term) and term not in said})
            alike = related([term for term in said if not known.get(term, 1)], stores, idfs)
            known.update(alike)
            certainty.judged = self.candidates if alike else certainty.judged
        items = self._ranked_records(query, known, certainty)
        if not query.tags:
            turns, asking = self._ranked_turns(query, known, certainty)
            confidence.compare(items, turns)
            items = put_below(on_one_scale(items, turns), asking)
        if alike:  # by a hash: the text has to have it
            items = [item for item in items if item.confidence]
        if days:
            content = attributes.content(without_dates(query.text))
            if not content or not items:
                sure = confidence.CERTAIN - 1 if content else confidence.OWN_WORDS
                found = said_on(days, query, self._records, self._journal, self._clock)[: self.candidates]
                by_days = [Item(ref, at, who, "", ONE, OWN, sure) for at, ref, who in found]
                return Ranked(asked, by_days, self._noted_on(days, query, sure), "")
            for place, item in enumerate(items):
                more = points(days, self._clock.day_number(item.at))
                item = with_score(item, item.score + more * ONE // 100)
                items[place] = confidence.times(item, confidence.ON_DAYS if more else confidence.OFF_DAYS)
            items = self._with_people(days, query, content, items)
        items.sort(key=lambda item: (-item.score, -item.at, -int(item.id[1:])))
        items, lines = _with_notes(notes, known, measure, items)
        return Ranked(asked, items, lines, "")

    def _with_people(self, days, query, content: list, items: list) -> list:
        """Return items with the events of the days first that have the people whom a query names."""
        names = [term for term in text.terms(query.text) if not set(content).isdisjoint(text.index_terms(term))]
        scopes, is_used = access.labels(query.caller), self._records.entries.is_used
        people = [name for name in names[:_NAMES] if is_used("&" + name, scopes)]
        if not people:
            return items
        rest = set(content).difference(people, text.index_terms(" ".join(people)))
        others = {item.id: item for item in items}
        found = []
        for event in events_on(days, query, self._records, self._clock, people_labels(people)):
            others.pop(event["id"], None)
            has = len(rest.intersection(text.index_terms(event["content"])))
            sure = confidence.OWN_WORDS * (1 + 2 * has) // (1 + 2 * len(rest))
            found.append(Item(event["id"], event["when"], "", "", 2 * ONE, 0, sure))
        return found + list(others.values())

    def _without_days(self, query: str) -> tuple:
        if not self._clock.known:
            return None, query
        days = find_days(query, self._clock.day_number(self._clock.now()))
        return days, without_days(query) if days and days.by_today else query

    def _find_notes(self, query, terms: list):
        if query.caller.group or query.tags or not terms:
            return None
        return find_lines(self._notes.for_caller(query.caller), terms, self._clock, query.since, query.until)

    def _noted_on(self, days, query, sure: int) -> list:
        """Return the lines of the days' notes, which go before all else."""
        notebook = None if query.caller.group or query.tags else self._notes.for_caller(query.caller)
        lines = lines_of_days(notebook, days, self._clock, query.since, query.until) if notebook else ()
        return [Item(line.ref, line.at, "", line.text, ONE + 1, OWN, sure) for line in lines]

    def _ranked_records(self, query, known, certainty) -> list:
        items = []
        stated = []
        for place, (hit, record) in enumerate(self._records.search(query, self.candidates, known)):
            stated.append(stated_importance(record))
            item = certainty.item_of(hit, place, record["id"], happened_at(record), "", record["content"])
            items.append(confidence.times(item, confidence.of_record(record)))
        for at, (importance, _) in enumerate(self._records.importance.importance_of(stated)):
            item = items[at]
            # A turn's score has half as much again from its session; a record is a session of its own.
            score = item.score * 3 // 2 * (75 + importance // 2) // 100
            items[at] = with_score(item, score)
        return items

    def _with_earlier(self, items: list, caller):
        """Yield items, the memories among the first with what they said before, until when."""
        for place, item in enumerate(items):
            yield item
            newer = None
            is_own = place < _WITH_EARLIER and item.id[0] == "m" and not item.text
            room, undone = _EARLIER, set()
            for record in self._records.history(item.id, caller) if is_own else ():
                undone.add(record.get("undoes"))
                if record["seq"] in undone:
                    continue
                if newer and record["content"] != newer["content"]:
                    said = "until %s: %s" % (self._clock.day(newer.get("updated", newer["created"])), record["content"])
                    yield Item(record["id"], record["created"], "", said, item.score, item.evidence, item.confidence)
                    room -= 1
                    if not room:
                        break
                newer = record

    def all_items(self, ranked: Ranked) -> list:
        """Return the items and lines of notes, best first, with earlier versions if the past is asked for."""
        every = ranked.items
        if attributes.PAST in attributes.kinds(ranked.query.text):
            every = list(self._with_earlier(every, ranked.query.caller))
        if not ranked.notes:
            return every
        every = every + ranked.notes
        # MicroPython's sort is not stable.
        order = sorted([(-item.score, place) for place, item in enumerate(every)])
        return [every[place] for _, place in order]

    def _ranked_turns(self, query, known, certainty) -> tuple:
        """Return (turns' items, ids of turns in which the caller asked the same)."""
        items = []
        asking = []
        is_asked = asks_replies(query.text)
        terms = list(text.terms(query.text))
        for place, (hit, turn) in enumerate(self._journal.search(query, self.candidates, "", known)):
            item = certainty.item_of(hit, place, "t%d" % hit.number, turn["at"], turn["who"], turn["text"])
            if turn["who"] == query.caller.principal and repeats(turn["text"], terms):
                item = confidence.question(item)
                asking.append(item.id)
            items.append(confidence.times(item, 100 if is_asked or turn["role"] == "user" else confidence.OF_REPLY))
        return items, asking

    def with_remote(self, ranked: Ranked, more) -> Ranked:
        """Return the board's ranking merged with a companion's, None if not asked."""
        if not more:
            return ranked
        is_merged = more.ranked and self._remote
        if not is_merged:
            return Ranked(ranked.query, ranked.items, ranked.notes, more.note)
        items, notes = self._remote.merge(ranked.items, list(ranked.notes), more, ranked.query)
        return Ranked(ranked.query, items, notes, more.note)

    def add_use(self, item: Item, caller) -> None:
        if item.id[0] == "m" and "#" not in item.id and not self._journal.unkept.is_on(caller):
            if not item.text:
                self._records.used(item.id)
            elif self._remote and not self._records.is_seen(item.id, caller):
                self._remote.add_use(int(item.id[1:]), caller)

    def with_text(self, item: Item, caller):
        """Return an item with its text; None if it is gone meanwhile."""
        if item.text:
            return item
        try:
            if item.id[0] == "m":
                content = whole_text(self._records.get(item.id, caller), self._clock)
            else:
                content = attributed_text(self._journal.turn(int(item.id[1:])) or {}) or None
        except NotFound:
            return None
        if content is None:
            return None
        return Item(item.id, item.at, item.who, text.cut(content, _LONGEST), item.score, item.evidence, item.confidence)

    def is_event(self, ref: str, caller) -> bool:
        return ref[0] == "m" and self._records.get(ref, caller).get("type") == "event"

    def is_unasked(self, item: Item) -> bool:
        """True for an item with the text of a tentative pattern that was in no answer yet."""
        return item.text[: len(PERHAPS)] == PERHAPS and not (
            self._records.uses and self._records.uses.usage_of(int(item.id[1:]))[0]
        )

    def line(self, item: Item, citations: bool = True, mark: str = "") -> str:
        """Return "- [m12 2026-01-31] text", with a speaker for turns and `mark` in the brackets."""
        marks = [item.id] if citations else []
        if not (citations and "#" in item.id):  # the name of a note is its day
            marks.append(self._clock.day(item.at))
        if item.who:
            marks.append(snippet(item.who, _WHO_LONGEST))
        if mark:
            marks.append(mark)
        return unfenced("- [" + " ".join(marks) + "] " + snippet(item.text, _SNIPPET))

    @property
    def partial(self) -> str:
        """Return why a search may be incomplete, or ""."""
        parts = (("memories", self._records.entries.partial), ("turns", self._journal.entries.partial))
        found = [name + ": " + partial for name, partial in parts if partial]
        return "; ".join(found) + "." if found else ""

    def why_empty(self, query: str, caller, has_days: bool = True) -> str:
        """Return why a search found nothing; without `has_days`, names of days are plain words."""
        if self.partial:
            return self.partial
        if not self._records.count(caller) and not self._journal.knows(caller):
            return "nothing is stored yet."
        days, query = self._without_days(query) if has_days else (None, query)
        words = ", ".join(distinct_terms(word.strip(_AROUND) for word in query.split() for _ in text.terms(word))[:8])
        if days:
            first, last = day_name(days.first), day_name(days.last)
            named = first if first == last else first + " to " + last
            told = "no memory that may be shown here is of %s" % named
            return told + (" or has one of the words (%s)." % words if words else ".")
        if not words:
            return "the query has no word to search for, only very common ones."
        return "none of the words (%s) stands in a memory that may be shown here." % words


def best_confidence(ranked: Ranked) -> int:
    return max((item.confidence for items in (ranked.items, ranked.notes) for item in items), default=0)


def is_weak(ranked: Ranked) -> bool:
    """True if the best result is at most a weak answer."""
    return best_confidence(ranked) < confidence.WEAK


def is_certain(ranked: Ranked) -> bool:
    """True if a result may count as an answer."""
    return best_confidence(ranked) >= confidence.CERTAIN


def weak_mark(item: Item, ranked: Ranked) -> str:
    """Return "weak" for a weak item among possible answers."""
    return "weak" if item.confidence < confidence.WEAK and is_certain(ranked) else ""


def _with_notes(notes, known: dict, measure, items: list) -> tuple:
    """Return (items, lines of notes), the side with less evidence scaled down."""
    if not notes or not notes.lines:
        return items, ()
    found = []
    for line in notes.lines:
        evidence = confidence.evidence_once(sum([known[term] for term in line.terms]))
        found.append(Item(line.ref, line.at, "", line.text, 0, evidence, confidence.of_words(evidence, measure)))
    ours, theirs = most_evidence(items), most_evidence(found)
    # Weights reach 2^30: the quotients are taken in 1/256 so that products stay small.
    most = (max(ours, theirs) >> 8) + 1
    found = [with_score(item, ONE * 3 // 2 * (item.evidence // most) // 256) for item in found]
    return scaled(items, ours // most) if ours < theirs else items, found


def snippet(content: str, longest: int) -> str:
    """Return a text on one line, cut to `longest` characters."""
    content = " ".join(content.split())
    return content if len(content) <= longest else text.cut(content, longest - 1) + "…"


def stored_notice(stored, content: str) -> str:
    notice = "remembered %s: %s" % (stored.id, snippet(content, 80))
    return notice + " (in place of %s; /undo takes it back)" % stored.supersedes if stored.supersedes else notice


def unfenced(content: str) -> str:
    return content.replace("<", "‹") if "recalled-memories" in content.lower() else content
