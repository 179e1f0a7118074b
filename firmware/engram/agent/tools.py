"""The tools over a board's memory; the person sees each change too."""

from collections import namedtuple

from engram import text
from engram.agent import file_tools
from engram.errors import ArgumentError, NotFound
from engram.memory import access, catalog, events, ids
from engram.memory.recall import best_confidence, is_certain, make_query, snippet, stored_notice
from engram.memory.records import fields
from engram.memory.texts.notes import MEMORY, is_note
from engram.memory.texts.profile import FILES
from engram.tools import schemas
from engram.tools.toolbox import Tool


class RemoteRecall(namedtuple("RemoteRecall", "search archive archived notes")):
    """The tools' access to a companion and its archive; each part may be None."""

    async def read(self, ref: str, first: int, caller):
        """Return (line, problem) of an archived id or a file of the companion, None for anything else."""
        if ref[-3:] == ".md" and not self._is_own(ref, caller):
            if not self.search:
                return None, "%s is not on the board, and there is no companion." % ref
            return await self.search.read_file(ref, first, file_tools.LINES, caller)
        archive = self.archive
        return await archive.fetched(ref, caller) if archive and archive.may_be_archived(ref, caller) else None

    def _is_own(self, path: str, caller) -> bool:
        """True if a file belongs to the board, even if it is missing: groups never see notes."""
        if path == MEMORY or not is_note(path):
            return path == MEMORY
        return caller.group or not self.search or path in self.notes.for_caller(caller).names()

    def add_notes(self, answer: dict, more, is_list: bool) -> None:
        """Add the companion's note to an answer, and a remark on the archive if it did not reply."""
        if more and more.note:
            answer["note"] = more.note
        if not self.archived or not self.archived.total or (more and (more.ranked or not more.note)):
            return
        away = "" if self.search and self.search.is_connected else ", which is not connected"
        if "reason" in answer:
            answer["reason"] = "on the board, %s More may be with the companion%s." % (answer["reason"], away)
        elif is_list:
            answer["older"] = "more may be with the companion%s." % away


_PAGE = const(10)
_MOST_FOUND = const(50)  # results of a companion in one answer
_TAGS = const(60)  # tokens of the tags that an empty list names
_FORGOTTEN = const(8)  # memories of one call: the person has to read them before their yes
_SNIPPET = const(400)  # characters of one memory in a list
_SHORTEST = const(40)  # of one in a list that is too long
_RESULT_LONGEST = const(6000)  # characters of a result, as in toolbox.py
_UNCERTAIN = const("this came nearest, and may not be what was asked for: say so, or ask back.")
_FIELDS = const(("type", "importance", "keywords", "pinned", "source", "supersedes", "turns", "confidence", "evidence"))
_READING = const(("memory_search", "file_read"))
_Parts = namedtuple("_Parts", "config clock records recall journal forgetting profile notes remote")


class MemoryTools(_Parts):
    """The tools over one board's memory; `remote` reaches the companion, None without one."""

    def tools(self) -> list:
        run = {
            "memory_store": self._memory_store,
            "memory_search": self._memory_search,
            "memory_update": self._memory_update,
            "memory_forget": self._memory_forget,
            "file_read": self._file_read,
            "file_edit": self._file_edit,
        }
        found = []
        for name in schemas.ALL.split():
            is_for = lambda _caller, name=name: name in self._names()  # noqa: E731
            tool = Tool(name, *schemas.describe(name), run[name], is_for, name not in _READING, is_memory=True)
            if name == "memory_forget":
                tool.needs_yes = lambda arguments: len(_refs(arguments)) > 1
            found.append(tool)
        return found

    def _names(self) -> list:
        mode = self.config.get("mode")
        if mode == "full" and self.config.get("llm.context_tokens") < schemas.SMALL:
            mode = "small"
        return schemas.MODES[mode].split()

    # --- full mode

    def _memory_store(self, arguments: dict, turn) -> tuple:
        content, tags = arguments.pop("content"), arguments.pop("tags")
        if not self._is_personal(arguments, turn.caller):
            tags = access.learned_tags(tags, turn.caller)
        if "expires" in arguments:
            arguments["expires"] = self._end("expires", arguments["expires"])
        stored = self.records.store(content, tags, turn.caller, source="auto_llm", turns=[turn.id], **arguments)
        if stored.outcome == "duplicate":
            return {"outcome": "duplicate", "duplicate_of": stored.id}, ""
        answer = {"outcome": "stored", "id": stored.id}
        if stored.supersedes:
            answer["supersedes"] = stored.supersedes
        if stored.similar:
            answer["similar"] = stored.similar
            answer["hint"] = "if one of these is out of date, forget it or store with supersedes."
        return answer, stored_notice(stored, content)

    def _is_personal(self, arguments: dict, caller) -> bool:
        is_asked = arguments.pop("personal", False)
        older = arguments.get("supersedes")
        if is_asked or not older:
            return is_asked
        return self.records.get(older, caller).get("scope") == access.own_scope(caller)

    async def _memory_search(self, arguments: dict, turn) -> tuple:
        if not arguments["query"].strip():
            return self._newest(arguments, turn)
        ref, first = file_tools.reference(arguments["query"])
        if not ref:
            return await self._found(arguments, turn), ""
        more = await self.remote.read(ref, first, turn.caller) if self.remote and turn.is_kept else None
        try:
            return file_tools.read(self, ref, first, turn, more)
        except ArgumentError as error:
            raise ArgumentError("query", error.problem) from None
        except NotFound as error:
            # It may be a word, such as the m4 of a screw.
            answer = {} if ref[-3:] == ".md" else await self._found(arguments, turn)
            if not answer.get("found"):
                raise error
            return answer, ""

    async def _found(self, arguments: dict, turn) -> dict:
        limit, page, query = arguments.get("limit", _PAGE), arguments.get("page", 1), self._query(arguments, turn)
        ranked = self.recall.rank(query)
        remote = self.remote.search if self.remote and turn.is_kept else None
        more = await remote.found(ranked, min(limit * page, _MOST_FOUND), folders=True) if remote else None
        ranked = self.recall.with_remote(ranked, more)
        found = self.recall.find(ranked, limit, page)
        answer: dict = {"found": [self._shown_item(item) for item in found]}
        if found:
            if self.recall.partial:
                answer["partial"] = self.recall.partial
            answer["confidence"] = best_confidence(ranked) // 10
            if not is_certain(ranked):
                answer["uncertain"] = _UNCERTAIN
            if len(ranked.items) + len(ranked.notes) > limit * page:
                answer["more"] = "on page %d" % (page + 1)
        elif (page > 1 or query.since or query.until) and not self.recall.partial:
            answer["reason"] = "nothing fits here; try without since, until and page."
        else:
            answer["reason"] = self.recall.why_empty(query.text, turn.caller)
        if self.remote:
            self.remote.add_notes(answer, more, False)
        return _shortened(answer)

    def _query(self, arguments: dict, turn):
        since = self._moment("since", arguments["since"]) if "since" in arguments else 0
        until = self._moment("until", arguments["until"], 1) if "until" in arguments else 0
        tags = [fields.tag(tag) for tag in arguments.get("tags", ())]
        return make_query(arguments["query"], turn.caller, tags, since, until, (turn.seq,))

    def _newest(self, arguments: dict, turn) -> tuple:
        page, tags = arguments.get("page", 1), arguments.get("tags", ())
        first, position, found = (page - 1) * _PAGE, 0, []
        for record in self.records.newest(turn.caller, tags):
            if position == first + _PAGE:
                break
            if first <= position:
                found.append(self.shown(record))
            position += 1
        total = max(position, self.records.count(turn.caller, tags))
        pages = max(1, (total + _PAGE - 1) // _PAGE)
        answer = {"memories": found, "page": page, "pages": pages, "total": total}
        if not found:
            answer["reason"] = "there are none yet." if not total else "the last page is %d." % pages
            answer["tags"] = catalog.line(catalog.ranked(self.records, turn.caller), _TAGS)
        if self.remote:
            self.remote.add_notes(answer, None, True)
        return _shortened(answer), ""

    def _memory_update(self, arguments: dict, turn) -> tuple:
        ref = arguments.pop("id")
        if not arguments:
            raise ArgumentError("content", "name at least one field to change.")
        if arguments.get("expires") is not None:
            arguments["expires"] = self._end("expires", arguments["expires"])
        record = self.records.update(ref, arguments, turn.caller)
        return {"updated": self.shown(record)}, "changed %s: %s" % (record["id"], snippet(record["content"], 80))

    def _memory_forget(self, arguments: dict, turn) -> tuple:
        refs, forgotten, redacted = _refs(arguments), [], []
        for ref in refs:
            try:
                record, turns = self.forgetting.forget(ref, turn.caller, arguments.get("turns", False))
            except NotFound:
                # One of several confirmed memories may be gone.
                if len(refs) == 1:
                    raise
                continue
            forgotten.append(record["id"])
            redacted += turns
        answer = {"forgotten": forgotten}
        if redacted:
            answer["turns"] = redacted
        return answer, "forgot " + ", ".join(forgotten + redacted) if forgotten else ""

    # --- files

    def _file_read(self, arguments: dict, turn) -> tuple:
        name, _, line = arguments["file"].partition("#")
        return file_tools.file_read(self.notes.for_caller(turn.caller), name, int(line) if line.isdigit() else 1), ""

    def _file_edit(self, arguments: dict, turn) -> tuple:
        name, content = arguments["file"], arguments["text"]
        is_profile = name in FILES
        if is_profile and turn.only:
            raise ArgumentError("file", "must not be of the profile: only a person's own message changes that.")
        keeper = (self.profile if is_profile else self.notes).for_caller(turn.caller)
        return file_tools.edit(keeper, name, arguments.get("action", ""), content, arguments.get("old"))

    # --- how things look

    def shown(self, record: dict, whole: bool = False) -> dict:
        shown = {
            "id": record["id"],
            "content": fields.stated(record) if whole else snippet(fields.stated(record), _SNIPPET),
            "tags": record.get("tags", []),
            "date": self.clock.day(record["created"]),
        }
        for name in _FIELDS if whole else _FIELDS[:1]:
            if name in record:
                shown[name] = record[name]
        shown.update(events.unsaid(record, self.clock))
        if "expires" in record:
            shown["expires"] = self.clock.day(record["expires"] - 1)
        return shown

    def _shown_item(self, item) -> dict:
        content = snippet(item.text, _SNIPPET)
        shown = {"id": item.id, "text": content, "date": self.clock.day(item.at), "score": item.score}
        if item.who:
            shown["who"] = item.who
        return shown

    def _end(self, argument: str, day: str) -> int:
        end = self._moment(argument, day, 1)
        if self.clock.known and end <= self.clock.now():
            raise ArgumentError(argument, "is over; today is %s." % self.clock.day(self.clock.now()))
        return end

    def _moment(self, argument: str, day: str, days_after: int = 0) -> int:
        try:
            return self.clock.start_of(day, days_after)
        except ValueError:
            raise ArgumentError(argument, "must be a day such as 2026-01-31.") from None


def _refs(arguments: dict) -> list:
    """Return the ids of memories to forget, all of them checked; ArgumentError."""
    given = arguments["id"]
    refs = given if isinstance(given, list) else given.replace(",", " ").split()
    if not 0 < len(refs) <= _FORGOTTEN:
        raise ArgumentError("id", "must be 1 to %d ids." % _FORGOTTEN)
    return ["m%d" % ids.number("id", ref, "m") for ref in refs]


def _shortened(values: dict) -> dict:
    longest = _SNIPPET
    while len(text.dumps(values)) > _RESULT_LONGEST and longest > _SHORTEST:
        longest = longest * 3 // 4
        for name in ("memories", "found"):
            for item in values.get(name, ()):
                key = "text" if "text" in item else "content"
                item[key] = snippet(item[key], longest)
    return values
