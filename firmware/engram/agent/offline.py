"""Answers without a model, by plain commands: remember, find, forget."""

from collections import namedtuple

from engram import tables, text
from engram.errors import EngramError
from engram.memory import access, attributes, ids
from engram.memory.journal.unkept import NOTICE
from engram.memory.recall import is_certain, is_weak, make_query, snippet, weak_mark
from engram.memory.texts.notes import MEMORY
from engram.text.openers import asks
from engram.text.utf8 import strip_end

_UNDERSTOOD, _KEPT, _REMEMBER_WHAT, _FORGET_WHAT, _UNCERTAIN = tables.rows("agent/offline")
_ENDS = (".", "!", "。", "！")
_FOUND = const(5)


class Offline(namedtuple("Offline", "records recall forgetting remote_search notes config")):
    """Plain commands over one board's memory; lightweight mode remembers in MEMORY.md."""

    async def answer(self, caller, command, turn: str, on_act=None) -> str:
        """Return the answer to a Command; errors become answers, on_act() precedes irreversible changes.

        `turn` is "" for a message that is not kept: the companion learns nothing of it.
        """
        kind, wanted = command
        if on_act and (kind == "forget" or (kind == "remember" and self.config.get("mode") != "full")):
            on_act()
        try:
            if kind in ("", "unkept"):
                return self._surely_found(caller, wanted, turn) or _UNDERSTOOD % (_KEPT if turn else NOTICE)
            if kind == "find":
                return await self._find(caller, wanted, turn)
            if not any(True for _ in text.terms(wanted)):
                return _FORGET_WHAT if kind == "forget" else _REMEMBER_WHAT
            if kind == "forget":
                return self.forget(caller, strip_end(wanted, _ENDS))
            return self._remember(caller, wanted, turn)
        except EngramError as error:
            return str(error)

    def _remember(self, caller, content: str, turn: str) -> str:
        if self.config.get("mode") != "full":
            notebook, line = self.notes.for_caller(caller), "- " + " ".join(content.split())
            is_new = line not in notebook.text(MEMORY).split("\n")
            if is_new:
                notebook.append(MEMORY, line)
            return ("Kept in MEMORY.md: " if is_new else "That is in MEMORY.md already: ") + snippet(content, 200)
        content, tags = access.with_speaker(content, caller.principal, caller), access.learned_tags(["note"], caller)
        stored = self.records.store(content, tags, caller, type="fact", source="auto_rule", turns=[turn])
        if stored.outcome == "duplicate":
            return "That is remembered already, as %s." % stored.id
        answer = "Remembered as %s: %s" % (stored.id, snippet(content, 200))
        if stored.similar:
            answer += "\n%s says nearly the same; forget it if it is out of date." % ", ".join(stored.similar)
        return answer

    def _surely_found(self, caller, said: str, turn: str) -> str:
        """Return the answer to a text that asks, or whose words one memory has and more; "" if none surely answers it."""
        ranked = self._rank(caller, said, turn)
        shown = None if is_weak(ranked) else self.recall.with_text(self.recall.all_items(ranked)[0], caller)
        best = shown.text if shown else ""
        asked, told = set(attributes.content(said)), set(attributes.content(best))
        is_told = asked.issubset(told.union(text.index_terms(best))) and not told.issubset(asked)
        return "\n".join(self.found_lines(ranked, _FOUND, said, caller)) if best and (is_told or asks(said)) else ""

    def _rank(self, caller, query: str, turn: str):
        return self.recall.rank(make_query(query, caller, skip=(ids.number("id", turn, "t"),) if turn else ()))

    async def _find(self, caller, query: str, turn: str) -> str:
        ranked = self._rank(caller, query, turn)
        if self.remote_search and turn:
            ranked = self.recall.with_remote(ranked, await self.remote_search.found(ranked, _FOUND))
        return "\n".join(self.found_lines(ranked, _FOUND, query, caller))

    def found_lines(self, ranked, most: int, query: str, caller):
        """Yield the lines with which a search is answered."""
        found = self.recall.find(ranked, most)
        if found and not is_certain(ranked):
            yield _UNCERTAIN
        for item in found:
            yield self.recall.line(item, True, weak_mark(item, ranked))
        if not found:
            yield "Nothing found: " + self.recall.why_empty(query, caller)
        if ranked.note:
            yield ranked.note
        if found and self.recall.partial:
            yield "There may be more: " + self.recall.partial

    def forget(self, caller, wanted: str) -> str:
        """Forget what has an id, or the only memory or line of a note with all of some words; return the answer."""
        # Bytes, since str.isdigit accepts more digits than int() on CPython.
        if wanted[:1] in "mM" and text.encode(wanted[1:]).isdigit():
            return self._let_go(wanted, caller)
        terms = set(text.terms(wanted))
        noted = self._noted(caller, wanted, terms)
        found = [record for _, record in self.records.search(make_query(wanted, caller), _FOUND)]
        if not found and not noted:
            return "Nothing to forget: " + self.recall.why_empty(wanted, caller, False)
        exact = [record for record in found if terms.issubset(set(text.index_terms(record["content"])))]
        if len(exact) + len(noted) == 1:
            return self._let_go(exact[0]["id"], caller) if exact else self._remove_line(caller, *noted[0])
        shown = [(record["id"], record["content"]) for record in (exact if noted else exact or found)] + noted
        lines = ["Which one? Say forget and its id:"]
        lines += ["- %s: %s" % (ref, snippet(content, 200)) for ref, content in shown[:_FOUND]]
        return "\n".join(lines)

    def _noted(self, caller, wanted: str, terms: set) -> list:
        """Return (citation, line) of the notes' changeable lines that `wanted` cites, or that have all terms."""
        if caller.group:
            return []
        notebook = self.notes.for_caller(caller)
        found = []
        for name in (MEMORY, notebook.today(), notebook.yesterday()):
            for number, line in enumerate(notebook.text(name).split("\n"), 1):
                ref = "%s#%d" % (name, number)
                if ref == wanted or (terms and terms.issubset(set(text.index_terms(line)))):
                    found.append((ref, line))
        return found

    def _remove_line(self, caller, ref: str, line: str) -> str:
        name, _, number = ref.partition("#")
        notebook = self.notes.for_caller(caller)
        lines = notebook.text(name).split("\n")
        lines[int(number) - 1] = ""  # the others keep their numbers
        notebook.write(name, "\n".join(lines))
        return "Forgot %s: %s (/undo brings it back)" % (ref, snippet(line, 200))

    def _let_go(self, ref: str, caller) -> str:
        # Whoever forgets a thing does not want the message back either that said it.
        record, turns = self.forgetting.forget(ref, caller, with_turns=True)
        gone = ", ".join([record["id"]] + turns)
        if "archived" in record:
            return "%s is with the companion, which forgets it for good as soon as it learns of it." % gone
        return "Forgot %s: %s (/undo brings it back)" % (gone, snippet(record["content"], 200))
