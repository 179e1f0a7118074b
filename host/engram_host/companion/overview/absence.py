"""Explains why a search does not show a known memory or turn."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from engram import text
from engram.memory import ALL, access
from engram.memory.access import Caller
from engram_host.companion.entries.reader import ReadEntry
from engram_host.companion.search.request import MOST_HITS, Hit, SearchResult
from engram_host.companion.search.tokenizer import query_terms, query_words
from engram_host.sentences import SentenceTable

AbsenceReason = Literal["shown", "below", "unknown", "superseded", "expired", "filtered", "no match"]

# Reasons for a missing entry.
ABSENCES = SentenceTable(
    "absence",
    {
        "unknown": "{entry} is not in the copy of {board}, was forgotten, or is not for who asks.",
        "superseded": "{entry} is history: something newer took its place. Include the history to find it.",
        "expired": "{entry} has expired: it was to be remembered until a time that is over.",
        "textless": "{entry} is a command, or its text is gone: a search does not find it.",
        "filtered": "{entry} does not pass the filters: {filters}.",
        "shown": "{entry} is there: it is hit {rank}.",
        "below": "{entry} is hit {rank}, with a score of {score}; the last of the first {limit} has {last}. Ask for more.",
        "others_fit": "{entry} has {words}, and {most} others fit better: use rarer words, or filters.",
        "no_word": "none of the words ({words}) stands in {entry}",
        "only_common": "the query has no word to search for, only very common ones",
        "too_common": "{entry} has {words}, which are too common, or too few of the query's words",
        "no_meaning": "{why}, and meaning was not searched.",
        "some_meaning": "{why}; meaning was not fully searched: {problem}",
        "far": "{why}; it is not close in meaning.",
    },
)

_MOST_TERMS = 64
_SHOWN_WORDS = 8


@dataclass(frozen=True)
class Absence:
    """Reason for a missing entry; `rank` is its place in the search from 1, 0 if unranked."""

    entry: str
    reason: AbsenceReason
    sentence: str
    rank: int = 0


class Search(Protocol):
    async def __call__(self, caller: Caller, *, devices: Sequence[str], **options: Any) -> SearchResult: ...


class EntryLookup(Protocol):
    async def entries(self, device: str, ids: Iterable[str]) -> dict[str, ReadEntry]: ...


class AbsenceFinder:
    """Repeats a search for one entry of a board."""

    def __init__(self, lookup: EntryLookup, search: Search):
        self._lookup = lookup
        self._search = search

    async def explain(
        self, caller: Caller, device: str, entry: str, limit: int, *, ranked: SearchResult | None = None, **options: Any
    ) -> Absence:
        """Explain why `entry` is not among the first `limit` hits; `ranked` has MOST_HITS, if known."""
        found = (await self._lookup.entries(device, [entry])).get(entry)
        if found is None or not access.may_see(caller, found.line.get("scope", ALL)):
            return Absence(entry, "unknown", ABSENCES.say("unknown", entry=entry, board=device))
        if absence := _by_state(found, has_history=bool(options.get("history"))):
            return absence
        result = ranked or await self._search(
            caller, devices=(device,), **options | {"limit": MOST_HITS, "folders": False}
        )
        for rank, hit in enumerate(result.hits, 1):
            if hit.id == entry:
                return _ranked(entry, rank, result.hits, limit)
        if refused := _by_filters(found, options):
            return Absence(entry, "filtered", ABSENCES.say("filtered", entry=entry, filters=refused))
        return _unmatched(found, result, str(options["query"]), uses_meaning=options.get("meaning") is not False)


def _by_state(found: ReadEntry, *, has_history: bool) -> Absence | None:
    if found.state == "superseded" and not has_history:
        return Absence(found.id, "superseded", ABSENCES.say("superseded", entry=found.id))
    if found.state == "expired":
        return Absence(found.id, "expired", ABSENCES.say("expired", entry=found.id))
    if "command" in found.line or "gone" in found.line:
        return Absence(found.id, "no match", ABSENCES.say("textless", entry=found.id))
    return None


def _ranked(entry: str, rank: int, hits: Sequence[Hit], limit: int) -> Absence:
    if rank <= limit:
        return Absence(entry, "shown", ABSENCES.say("shown", entry=entry, rank=rank), rank)
    score, last = f"{hits[rank - 1].score:.2f}", f"{hits[limit - 1].score:.2f}"
    sentence = ABSENCES.say("below", entry=entry, rank=rank, score=score, limit=limit, last=last)
    return Absence(entry, "below", sentence, rank)


def _by_filters(found: ReadEntry, options: dict[str, Any]) -> str:
    line, is_turn = found.line, found.id[0] == "t"
    at = line.get("at" if is_turn else "created", 0)
    log, since, until = options.get("log"), options.get("since") or 0, options.get("until") or 0
    failed = [
        ("kind", bool(log) and log != ("journal" if is_turn else "records")),
        ("tag", not set(options.get("tags") or ()) <= set(line.get("tags", ()))),
        ("type", bool(options.get("type")) and (is_turn or line.get("type", "fact") != options["type"])),
        ("session", bool(options.get("session")) and line.get("sid") != options["session"]),
        ("speaker", bool(options.get("speaker")) and line.get("who") != options["speaker"]),
        ("since", at < since),
        ("until", bool(until) and at >= until),
    ]
    return ", ".join(name for name, is_failed in failed if is_failed)


def _unmatched(found: ReadEntry, result: SearchResult, query: str, *, uses_meaning: bool) -> Absence:
    terms, named = query_terms(query, _MOST_TERMS), query_words(query)
    having = set(text.index_terms(_words_of(found.line)))
    words = list(dict.fromkeys(named.get(term, term) for term in terms))[:_SHOWN_WORDS]
    common = [named.get(term, term) for term in terms if term in having][:_SHOWN_WORDS]
    if common and len(result.hits) >= MOST_HITS:
        sentence = ABSENCES.say("others_fit", entry=found.id, words=", ".join(common), most=MOST_HITS)
        return Absence(found.id, "below", sentence)
    why = ABSENCES.say("no_word", entry=found.id, words=", ".join(words))
    if not words:
        why = ABSENCES.say("only_common")
    elif common:
        why = ABSENCES.say("too_common", entry=found.id, words=", ".join(common))
    sentence = ABSENCES.say("far", why=why)
    if not uses_meaning:
        sentence = ABSENCES.say("no_meaning", why=why)
    elif result.degraded:
        sentence = ABSENCES.say("some_meaning", why=why, problem=result.degraded)
    return Absence(found.id, "no match", sentence)


def _words_of(line: dict[str, Any]) -> str:
    texts = [line.get("content", line.get("text", "")), line.get("who", ""), line.get("caption", "")]
    return " ".join([*texts, *line.get("tags", ()), *line.get("keywords", ())])
