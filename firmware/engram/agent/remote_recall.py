"""What memory_recall has of a companion: what it is asked for, what is shown, and what is told of the archive without it."""

from engram import text
from engram.archive.remote_results import merge_results
from engram.compat import const
from engram.memory.recall import Item, snippet
from engram.memory.records import fields

_MOST = const(50)  # items of an answer of the companion
_TAG_LONGEST = const(64)  # characters of one in a message
_MOST_NAMED = const(3)  # tags that a sentence names
_MOST_LISTED = const(10)  # tags under a page
_SNIPPET = const(400)  # characters of one memory, as in tools.py


class RemoteRecall:
    """What the model's tools have of a companion and its archive.

    `search` asks it (None where none is set up), `archive` reads what has left the board, `archived` is the board's index of
    that; each may be None.
    """

    def __init__(self, clock, records, journal, search=None, archive=None, archived=None):
        self.search = search
        self._clock = clock
        self._records = records
        self._journal = journal
        self._archive = archive
        self._archived = archived

    async def read(self, ref: str, caller):
        """(line, why there is none) of what has left the board; None for all else."""
        archive = self._archive
        return await archive.fetched(ref, caller) if archive and ref and archive.is_away(ref, caller) else None

    async def recall(self, query: str, limit: int, caller, tags, since: int, until: int):
        """What a search gives of memories; of those with `tags` alone where there is no query."""
        tags = [fields.tag(tag) for tag in tags]
        if not self.search or not all(0 < len(tag) <= _TAG_LONGEST for tag in tags):
            return None  # no memory has it, and a message has no room for it
        if query:
            # The companion may find turns before them.
            return await self.search.found(query, caller, limit if tags else _MOST, (), tags, since, until)
        # However good the board's own answer is, one with the tag may have left it; newer ones go before it.
        has_left = self._count_archived(caller, tags, since, until) > 0
        is_wanted = has_left and self._records.count(caller, tags) < limit
        return await self.search.found(" ".join(tags), caller, _MOST, (), tags, since, until, is_wanted)

    def show_results(self, tools, more, query: str, limit: int, caller, tags, since: int, until: int) -> list:
        """The board's memories and those of the companion, as memory_recall shows them; newest first without a query."""
        answer = []
        for item in self._merged(more, query, limit, caller, tags, since, until):
            if item.text:
                self._archived.used(int(item.id[1:]), caller)
                left = {"id": item.id, "content": snippet(item.text, _SNIPPET), "date": self._clock.day(item.at)}
                left["from"] = "the companion"
                answer.append(left)
            else:
                record = self._records.get(item.id, caller)
                answer.append(tools.used(record) if query else tools.shown(record))
        return answer

    def _merged(self, more, query: str, limit: int, caller, tags, since: int, until: int) -> list:
        """As merge_results(), the memories alone; newest first if there is no query."""
        own = []
        if query:
            for hit, record in self._records.search(query, limit, caller, tags, since, until):
                own.append(Item(record["id"], record["created"], "", "", hit.score, hit.evidence))
        else:
            for record in self._records.newest(caller, tags):
                if record["created"] >= since and (not until or record["created"] < until):
                    own.append(Item(record["id"], record["created"], "", "", 0, 1))
                    if len(own) == limit:
                        break
        merged = merge_results(self._records, self._journal, own, more, caller, (), tags, since, until)
        items = [item for item in merged if item.id[0] == "m"]
        if not query:
            items.sort(key=lambda item: (-item.at, item.id))
        return items[:limit]

    def add_notes(self, answer: dict, more, caller, query: str, tags, since: int, until: int) -> None:
        """Add to an answer what the companion notes, and which archived memories may fit unless it has answered."""
        if more and more.note:
            answer["note"] = more.note
        if not self._archived or not self._archived.total or (more and (more.ranked or not more.note)):
            return
        if "reason" in answer:
            told = self._describe_archived(caller, query, tags, since, until)
            if told:
                answer["reason"] = "on the board, " + answer["reason"] + " " + told
        elif tags:
            told = self._describe_archived(caller, "", tags, since, until)
            if told:
                answer["older"] = told

    def with_archived(self, answer: dict, caller, tags) -> dict:
        """A page of tags or memories with what it lacks since it is with the companion."""
        if self._archived and self._archived.total:
            counts = self._archived.tags(caller)
            wanted = tags or sorted(counts, key=lambda tag: (-counts[tag], tag))[:_MOST_LISTED]
            about = ", ".join(["%d about %s" % (counts[tag], tag) for tag in wanted if tag in counts])
            if about:
                answer["older"] = "with the companion, memory_recall finds them: " + about
        return answer

    def _describe_archived(self, caller, query: str, tags, since: int, until: int) -> str:
        """A sentence on archived memories that may fit, by the board's index of them; "" if none may."""
        if tags:
            count = self._count_archived(caller, tags, since, until)
            about = ["%d more about %s" % (count, " and ".join(tags))] if count else []
        else:
            terms = set(text.terms(query))
            fitting = [tag for tag in sorted(self._archived.tags(caller)) if _stands_in(tag, terms)]
            counted = [(self._count_archived(caller, (tag,), since, until), tag) for tag in fitting[:_MOST_NAMED]]
            about = ["%d more about %s" % pair for pair in counted if pair[0]]
            if not about:
                count = self._count_archived(caller, (), since, until)
                about = ["%d older" % count + (" of about these days" if since or until else "")] if count else []
        if not about:
            return ""
        is_one = len(about) == 1 and about[0].startswith("1 ")
        told = ", ".join(about) + (" is" if is_one else " are") + " with the companion"
        return told + ("." if self.search and self.search.is_connected else ", which is not connected.")

    def _count_archived(self, caller, tags, since: int, until: int) -> int:
        """How many archived memories may be of these days and have all `tags`."""
        total = 0
        wanted = [fields.tag(tag) for tag in tags]
        for entry in self._archived.entries(caller) if self._archived else ():
            if entry["until"] >= since and (not until or entry["since"] < until):
                counts = dict(entry["tags"])
                total += min([entry["count"]] + [counts.get(tag, 0) for tag in wanted])
        return total


def _stands_in(tag: str, terms) -> bool:
    """Whether all words of a tag, of which it has some, are among the words of a query."""
    words = set(text.terms(tag))
    return bool(words) and words.issubset(terms)
