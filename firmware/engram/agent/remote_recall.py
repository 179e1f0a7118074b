"""The part of memory_recall that needs a companion, and what it says of the archive without one."""

from engram import text
from engram.compat import const
from engram.memory.query import make_query
from engram.memory.recall import Item, snippet
from engram.memory.records import fields

_MOST = const(50)  # items of an answer of the companion
_TAG_LONGEST = const(64)  # characters of one in a message
_MOST_NAMED = const(3)  # tags that a sentence names
_SNIPPET = const(400)  # characters of one memory, as in tools.py


async def search_remote(parts, query, limit: int):
    """What the companion finds of memories; of those with the query's tags alone where it has no words."""
    ask = parts.companion.ask
    tags = [fields.tag(tag) for tag in query.tags]
    if not all(0 < len(tag) <= _TAG_LONGEST for tag in tags):
        return None  # no memory has it, and a message has no room for it
    wanted = make_query(query.text or " ".join(tags), query.caller, tags, query.since, query.until)
    # The companion may find turns before the memories.
    most = limit if query.text and tags else _MOST
    if (
        not query.text
        and _archived_about(parts.archived, query, tags)
        and parts.records.count(query.caller, tags) < limit
    ):
        # However good the board's own answer is, one with the tag may have left it; newer ones go before it.
        return await ask.search(wanted, most)
    return await ask.found(parts.recall.rank(wanted), most)


def show_results(tools, parts, more, query, limit: int) -> list:
    """The board's memories and those that the companion found, as memory_recall shows them; newest first without words."""
    answer = []
    for item in _memories(parts, more, query, limit):
        if item.text:
            parts.archived.add_use(int(item.id[1:]), query.caller)
            left = {"id": item.id, "content": snippet(item.text, _SNIPPET), "date": parts.clock.day(item.at)}
            left["from"] = "the companion"
            answer.append(left)
        else:
            record = parts.records.get(item.id, query.caller)
            answer.append(tools.used(record) if query.text else tools.shown(record))
    return answer


def _memories(parts, more, query, limit: int) -> list:
    own = []
    if query.text:
        for hit, record in parts.records.search(query, limit):
            own.append(Item(record["id"], record["created"], "", "", hit.score, hit.evidence))
    else:
        for record in parts.records.newest(query.caller, query.tags):
            if record["created"] >= query.since and (not query.until or record["created"] < query.until):
                own.append(Item(record["id"], record["created"], "", "", 0, 1))
                if len(own) == limit:
                    break
    items = [item for item in parts.recall.merge(own, more, query) if item.id[0] == "m"]
    if not query.text:
        items.sort(key=lambda item: (-item.at, item.id))
    return items[:limit]


def add_archived_note(answer: dict, parts, more, query) -> None:
    """Add to an answer which archived memories may fit, unless the companion has answered: to its reason, or as "older"."""
    if not parts.archived.total or (more and (more.ranked or not more.note)):
        return
    if "reason" in answer:
        note = _archived_note(parts, query)
        if note:
            answer["reason"] = "on the board, " + answer["reason"] + " " + note
    elif query.tags:
        note = _archived_note(parts, query)
        if note:
            answer["older"] = note


def _archived_note(parts, query) -> str:
    """A sentence on archived memories that may fit, by the board's index of them; "" if none may."""
    archived = parts.archived
    if query.tags:
        count = _archived_about(archived, query, query.tags)
        about = ["%d more about %s" % (count, " and ".join(query.tags))] if count else []
    else:
        terms = set(text.terms(query.text))
        fitting = [tag for tag in sorted(archived.tags(query.caller)) if _stands_in(tag, terms)]
        counted = [(_archived_about(archived, query, (tag,)), tag) for tag in fitting[:_MOST_NAMED]]
        about = ["%d more about %s" % pair for pair in counted if pair[0]]
        if not about:
            count = _archived_about(archived, query, ())
            has_days = query.since or query.until
            about = ["%d older" % count + (" of about these days" if has_days else "")] if count else []
    if not about:
        return ""
    is_one = len(about) == 1 and about[0].startswith("1 ")
    is_there = parts.companion and parts.companion.ask.is_connected
    note = ", ".join(about) + (" is" if is_one else " are") + " with the companion"
    return note + ("." if is_there else ", which is not connected.")


def _archived_about(archived, query, tags) -> int:
    """How many archived memories may be of the query's days and have all `tags`."""
    total = 0
    wanted = [fields.tag(tag) for tag in tags]
    for entry in archived.entries(query.caller) if archived else ():
        if entry["until"] >= query.since and (not query.until or entry["since"] < query.until):
            counts = dict(entry["tags"])
            total += min([entry["count"]] + [counts.get(tag, 0) for tag in wanted])
    return total


def _stands_in(tag: str, terms) -> bool:
    """Whether all words of a tag, of which it has some, are among the words of a query."""
    words = set(text.terms(tag))
    return bool(words) and words.issubset(terms)
