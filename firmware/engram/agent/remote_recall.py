"""What memory_recall has of a companion: what it is asked for, what is shown, and what is told of the archive without it."""

from engram import text
from engram.archive.remote_results import merge_results
from engram.compat import const
from engram.memory.recall import Item, snippet
from engram.memory.records import fields

_MOST = const(50)  # items of an answer of the companion
_TAG_LONGEST = const(64)  # characters of one in a message
_MOST_NAMED = const(3)  # tags that a sentence names
_SNIPPET = const(400)  # characters of one memory, as in tools.py


async def search_remote(parts, query: str, limit: int, caller, tags, since: int, until: int):
    """What Ask.found gives of memories; of those with `tags` alone where there is no query."""
    ask = parts.companion.ask
    tags = [fields.tag(tag) for tag in tags]
    if not all(0 < len(tag) <= _TAG_LONGEST for tag in tags):
        return None  # no memory has it, and a message has no room for it
    if query:
        # The companion may find turns before them.
        return await ask.found(query, caller, limit if tags else _MOST, (), tags, since, until)
    # However good the board's own answer is, one with the tag may have left it; newer ones go before it.
    has_left = _left_about(parts.archived, caller, tags, since, until) > 0
    is_wanted = has_left and parts.records.count(caller, tags) < limit
    return await ask.found(" ".join(tags), caller, _MOST, (), tags, since, until, is_wanted)


def show_results(tools, parts, more, query: str, limit: int, caller, tags, since: int, until: int) -> list:
    """The board's memories and those that the companion found, as memory_recall shows them; newest first without a query."""
    answer = []
    for item in _memories(parts.records, parts.journal, more, query, limit, caller, tags, since, until):
        if item.text:
            parts.archived.used(int(item.id[1:]), caller)
            left = {"id": item.id, "content": snippet(item.text, _SNIPPET), "date": parts.clock.day(item.at)}
            left["from"] = "the companion"
            answer.append(left)
        else:
            record = parts.records.get(item.id, caller)
            answer.append(tools.used(record) if query else tools.shown(record))
    return answer


def _memories(records, journal, more, query: str, limit: int, caller, tags, since: int, until: int) -> list:
    """As merged(), the memories alone; newest first if there is no query."""
    own = []
    if query:
        for hit, record in records.search(query, limit, caller, tags, since, until):
            own.append(Item(record["id"], record["created"], "", "", hit.score, hit.evidence))
    else:
        for record in records.newest(caller, tags):
            if record["created"] >= since and (not until or record["created"] < until):
                own.append(Item(record["id"], record["created"], "", "", 0, 1))
                if len(own) == limit:
                    break
    items = [
        item for item in merge_results(records, journal, own, more, caller, (), tags, since, until) if item.id[0] == "m"
    ]
    if not query:
        items.sort(key=lambda item: (-item.at, item.id))
    return items[:limit]


def add_archived_note(answer: dict, parts, more, caller, query: str, tags, since: int, until: int) -> None:
    """Add to an answer which archived memories may fit, unless the companion has answered: to its reason, or as "older"."""
    if not parts.archived.total or (more and (more.ranked or not more.note)):
        return
    if "reason" in answer:
        told = _left(parts, caller, query, tags, since, until)
        if told:
            answer["reason"] = "on the board, " + answer["reason"] + " " + told
    elif tags:
        told = _left(parts, caller, "", tags, since, until)
        if told:
            answer["older"] = told


def _left(parts, caller, query: str, tags, since: int, until: int) -> str:
    """A sentence on archived memories that may fit, by the board's index of them; "" if none may."""
    archived = parts.archived
    if tags:
        count = _left_about(archived, caller, tags, since, until)
        about = ["%d more about %s" % (count, " and ".join(tags))] if count else []
    else:
        terms = set(text.terms(query))
        fitting = [tag for tag in sorted(archived.tags(caller)) if _stands_in(tag, terms)]
        counted = [(_left_about(archived, caller, (tag,), since, until), tag) for tag in fitting[:_MOST_NAMED]]
        about = ["%d more about %s" % pair for pair in counted if pair[0]]
        if not about:
            count = _left_about(archived, caller, (), since, until)
            about = ["%d older" % count + (" of about these days" if since or until else "")] if count else []
    if not about:
        return ""
    is_one = len(about) == 1 and about[0].startswith("1 ")
    is_there = parts.companion and parts.companion.ask.is_connected
    told = ", ".join(about) + (" is" if is_one else " are") + " with the companion"
    return told + ("." if is_there else ", which is not connected.")


def _left_about(archived, caller, tags, since: int, until: int) -> int:
    """How many archived memories may be of these days and have all `tags`."""
    total = 0
    wanted = [fields.tag(tag) for tag in tags]
    for entry in archived.entries(caller) if archived else ():
        if entry["until"] >= since and (not until or entry["since"] < until):
            counts = dict(entry["tags"])
            total += min([entry["count"]] + [counts.get(tag, 0) for tag in wanted])
    return total


def _stands_in(tag: str, terms) -> bool:
    """Whether all words of a tag, of which it has some, are among the words of a query."""
    words = set(text.terms(tag))
    return bool(words) and words.issubset(terms)
