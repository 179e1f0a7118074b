"""Says what a search does with a query: what is asked for, about whom, of which days, where it is looked for, in which order.

It is told from what the search itself found out, so that both cannot differ.
"""

from collections import namedtuple

from engram import text
from engram.clock import day_name
from engram.compat import const
from engram.memory.line_meaning import asks_replies

_TIMES = const("when |what time |what day |what date |how long ago |什么时候|几点|哪天|何时")
_LISTS = const("list |which |what are |what were |what all |all |how many |哪些|列出|有什么")
_SAID = const(" say said says tell told tells mention mentioned mentions ask asked write wrote ")

Plan = namedtuple("Plan", "intent names first last kinds order")
"""What is asked for: fact, event, time, said or list; the names in the query; the first and the last of its days, "" without;
the kinds that are searched, such as memories, turns and notes; and best first or newest first."""


def of_ranked(ranked) -> Plan:
    """The Plan by which a board ranked something, a recall.Ranked."""
    query = ranked.query
    kinds = ["memories"] + ([] if query.tags else ["turns"]) + (["notes"] if ranked.has_notes else [])
    return make_plan(query.text, ranked.days, kinds, ranked.is_by_days)


def make_plan(query: str, days, kinds: list, is_by_days: bool = False) -> Plan:
    """The Plan of a search for a query in these kinds; `days` are the Days of the query, or None."""
    first, last = (day_name(days.first), day_name(days.last)) if days else ("", "")
    order = "newest first" if is_by_days else "best first"
    return Plan(_intent(query, days, is_by_days), names_in(query), first, last, kinds, order)


def described(plan: Plan, limit: int) -> str:
    """A plan as one line for a person."""
    parts = [plan.intent]
    if plan.names:
        parts.append("about " + ", ".join(plan.names))
    if plan.first:
        parts.append(plan.first if plan.first == plan.last else "%s to %s" % (plan.first, plan.last))
    return "plan: %s; %s; %s, at most %d" % ("; ".join(parts), ", ".join(plan.kinds), plan.order, limit)


def names_in(query: str) -> list:
    """The words of a query that begin with a capital, but for its first word, or have a digit."""
    found = []
    for place, word in enumerate(query.split()):
        word = word.strip(".,?!:;\"'()").split("'")[0]
        is_name = place and "A" <= word[:1] <= "Z" and word != "I"
        if (is_name or any("0" <= sign <= "9" for sign in word)) and word not in found:
            found.append(word)
    return found


def _intent(query: str, days, is_by_days: bool) -> str:
    words = " ".join(query.lower().split()) + " "
    if any(words.startswith(opening) for opening in _TIMES.split("|")):
        return "time"
    if is_by_days or any(words.startswith(opening) for opening in _LISTS.split("|")):
        return "list"
    if asks_replies(query) or any(" " + word + " " in _SAID for word in text.words(query)):
        return "said"
    return "event" if days else "fact"
