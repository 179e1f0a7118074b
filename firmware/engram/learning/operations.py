"""Reads a model's answer that is asked for facts: {"facts":[..]} with operations that become changes of the records.

    {"from":1,"content":"...","tags":[..],"keywords":[..],"type":"..","importance":0.6}       "op":"add" is understood
                           an event also has "when":"2026-05-12T18:00","until":"2026-05-13","people":["Carla"],"where":".."
    {"op":"update","id":"m3","from":1,"content":"...", ...}      the same fact, told in more detail
    {"op":"supersede","id":"m3","from":1,"content":"...", ...}   what held no longer holds; content is what holds now
    {"note":"...","from":1}                                      what matters for some days: a line of the day's note
    {"forget":"m3","from":1}                                     what a model had understood and the person denies
    {"gist":"..."}                                               of the session
    {"type":"question","from":1}                                 nothing to keep; so say request, talk, knowledge and secret

`from` is the number of a message or a note in the prompt. The form is read leniently, what it says is not: each operation is
taken or refused alone, and a refusal says why without a word of what the person said. Fields are dropped that are unknown, or
cannot be kept.
"""

from collections import namedtuple

from engram import tables, text
from engram.compat import sleep_ms
from engram.errors import ArgumentError, NotFound
from engram.llm.types import Request, assistant, user
from engram.memory import access, catalog
from engram.memory.recall import make_query, snippet
from engram.memory.records import dedup, fields
from engram.text.strict_json import read_lenient
from engram.text.time_words import date_of, minute_of_day
from engram.text.times import find_days

_MOST = const(60)  # operations in one answer
CONTENT_CHARS = 400
"""Characters of one fact (a sentence)."""

SNIPPET = 240

_LEAST_TOKENS = const(200)  # of what is read: less teaches nothing
_REF_TOKENS = const(8)  # of a line's id and fence
_MOST_REFS = const(8)  # turns, and notes, that a record names
_KINDS = const(("add", "update", "supersede", "note"))
_FIELDS = const(("keywords", "type", "importance"))
_NAMED = const(
    (("note", "content"), ("forget", "id"), ("gist", "content"))
)  # an op as a key, and the field that it has
# Types of a message without a fact, or words in a type that a model made up.
_NOTHING = const(("question", "request", "talk", "knowledge", "secret", "passw", "credential", "key"))


def schema(kinds: str) -> str:
    """Return the JSON Schema of an answer with these kinds of operations, see schema.txt."""
    rows = [row.partition(" ") for row in tables.rows("learning/schema")]
    return rows[0][2] % ",".join([form for kind, _, form in rows if kind in kinds.split()])


Operation = namedtuple("Operation", "kind id turn values")
"""A kind, the changed record's id or "", the source turn's id, and the record's fields."""


def read(answered: str) -> list:
    """Return the elements of an answer: its objects, alone, in lists or in an object that holds nothing else; ArgumentError."""
    data, elements = text.encode(answered), None
    at = data.find(b"{")
    if at < 0 and (b"[]" in data or data.strip() == b"null"):
        elements = []
    while at >= 0:
        try:
            found, at = read_lenient(data, at)
        except ValueError:
            break  # words, perhaps behind the answer
        elements = elements or []
        elements += [each for each in _elements(found) if isinstance(each, dict) and each not in elements]
        at = data.find(b"{", at)
    if elements is None:
        raise ArgumentError("answer", "is not one JSON list.")
    if len(elements) > _MOST:
        raise ArgumentError("answer", "has more than %d operations." % _MOST)
    return elements


def _elements(found):
    """Return the operations in a value: {"facts":[..]}, {"answer":{"facts":[..]}}, or one alone."""
    while isinstance(found, dict):
        inner = found.get("facts") or (next(iter(found.values())) if len(found) == 1 else None)
        if not isinstance(inner, (dict, list)):
            return [found] if found and "facts" not in found else []
        found = inner
    return found


def _normal(element: dict) -> dict:
    """Return an operation with its op and type as plain words, and an op that is a key as its op."""
    element = dict(element)
    for name in ("op", "type"):
        element[name] = str(element.get(name) or "").strip("[]'\" ").lower()
    for op, name in _NAMED:
        if op in element and not element["op"]:
            element.update({"op": op, name: element[op]})
    return element


def _says_nothing(element: dict) -> bool:
    kind = element["type"]
    return element["op"] == "none" or (kind not in fields.TYPES and any(word in kind for word in _NOTHING))


def check(element: dict, turn: str, known, clock, day: int):
    """Return the Operation of a turn of that day; ArgumentError. `known` are valid ids."""
    kind = element.get("op") or "add"
    if kind not in _KINDS:
        raise ArgumentError("op", "must be one of " + ", ".join(_KINDS) + ", none.")
    is_new = kind in ("add", "note")
    ref = "" if is_new else element.get("id")
    if not is_new and ref not in known:
        raise ArgumentError("id", "is none of the memories that were shown.")
    found = {name: _checked(name, element.get(name)) for name in _FIELDS}
    tags = element.get("tags")
    tags = _each("tags", tags.split(",") if isinstance(tags, str) else tags)
    found["tags"] = tags[: fields.MOST_TAGS] or (["note"] if is_new else None)
    values = {name: value for name, value in found.items() if value is not None}
    values["content"] = fields.check("content", element.get("content"), CONTENT_CHARS)
    if found["type"] == "event":
        values.update(_event(element, clock, day))
    return Operation(kind, ref, turn, values)


def _event(element: dict, clock, today: int) -> dict:
    """Return the time, people and place of an event as far as they can be read; `today` is the day of the message, or -1."""
    first, last = _span(element.get("when"), clock, today)
    last = _span(element.get("until"), clock, today)[1] or last
    found = {"until": _checked("until", last) if last > first > 0 else 0}
    found.update({"when": _checked("when", first), "where": _checked("where", element.get("where"))})
    found["people"] = _each("people", element.get("people"))[: fields.MOST_PEOPLE]
    return {name: value for name, value in found.items() if value}


def _checked(name: str, value):
    """Return a field as it is kept, None if it cannot be."""
    try:
        return fields.check(name, value, 0)
    except ArgumentError:
        return None


def _each(name: str, words) -> list:
    """Return those of a list's words that can be kept."""
    found = [_checked(name, [word]) for word in words] if isinstance(words, list) else ()
    return [word[0] for word in found if word]


def _span(said, clock, today: int) -> tuple:
    """Return the first and last moment of "2026-05-12", "2026-05-12T18:00" or "last week"; zeros for none of these."""
    if not isinstance(said, str):
        return 0, 0
    first = last = date_of(text.encode(said[:10]))
    minute = max(0, minute_of_day(text.encode(said[11:16])))
    if first < 0:
        days = find_days(said, today) if today >= 0 else None
        first, last, minute = (days.first, days.last, 0) if days else (-1, -1, 0)
    return (clock.moment(first, minute), clock.moment(last, minute)) if 0 <= first <= last else (0, 0)


def fenced(content: str) -> str:
    """Return a text that cannot close its fence in a prompt."""
    return content.replace("<", "‹")


def room(prompts, prompt: str, reply: int) -> int:
    """Return the tokens that may be read in one call with the texts of a prompt and an answer of at most `reply`."""
    left = prompts.room(prompts.reply_tokens(reply)) - text.tokens(tables.read("learning/" + prompt))
    return max(_LEAST_TOKENS, left)


class Batch:
    """One request for facts of one caller, checked against the known records."""

    # `source` and `is_trusted` describe new records: a trusted model may replace facts that a model saved.
    # known    ids of the records shown to the model
    # changes  drafts to save
    # denied   ids of the records that expire by one of them
    # merged   number of proposals that the records had already
    # refused  reasons of refusals, without anyone's words

    source = ""
    is_trusted = True

    def __init__(self, prompts, records, caller, refs: list):
        self._prompts = prompts
        self._records = records
        self._refs = refs
        self.caller = caller
        self.scope = access.scope_of_new(access.learned_tags((), caller), caller)
        self.known = []
        self.changes = []
        self.denied = []
        self.merged = 0
        self.refused = []

    # --- what the model is asked

    async def _ask(self, model, cursor, prompt: str, message: str, kinds: str, reply_tokens: int) -> list:
        """Return the elements of a model's answer; ArgumentError, ModelError."""
        # Small models follow turns as examples, in a table lines of <...> and {...}; and its last line, behind the message.
        rows = list(tables.rows("learning/" + prompt))
        message += "\n" + rows.pop()
        asked = "\n".join([row for row in rows if row[0] not in "<{"])
        turns = [(user if row[0] == "<" else assistant)(row) for row in rows if row[0] in "<{"] + [user(message)]
        most, model_name = self._prompts.reply_tokens(reply_tokens), self._prompts.config.get("extract.model")
        request = Request(lambda: (asked,), lambda: turns, (), most, model_name)
        request.schema = schema(kinds)
        return read(await _answer(model, cursor, request, text.tokens("\n".join(rows) + message)))

    async def _show_known(self, texts, each: int, most: int, tag_tokens: int, room: int) -> list:
        """Return prompt lines, of `room` tokens, of the used tags and of up to `most` related records, `each` per text."""
        found = {}
        for said in texts:
            for _, record in self._records.search(make_query(said, self.caller), each):
                is_new = record["id"] not in found and record.get("scope", access.ALL) == self.scope
                stated = snippet(fields.stated(record), SNIPPET)
                tokens = text.tokens(stated) + _REF_TOKENS
                if is_new and len(found) < most and tokens <= room:
                    found[record["id"]] = stated
                    room -= tokens
            # Each search takes a while: others have their turn.
            await sleep_ms(0)
        self.known = list(found)
        tags = catalog.line(catalog.ranked(self._records, self.caller), min(tag_tokens, room))
        lines = ["<tags>", fenced(tags), "</tags>"] if tags else []
        known = [fenced("[%s] %s" % pair) for pair in found.items()]
        return lines + (["<known>"] + known + ["</known>"] if known else [])

    # --- what it proposes

    def apply(self, elements: list) -> None:
        for element in elements:
            try:
                element = _normal(element)
                if not _says_nothing(element):
                    self._apply(element)
            except (ArgumentError, NotFound) as error:
                self.refused.append(str(error))

    def _apply(self, element: dict) -> None:
        """Apply one element; ArgumentError, NotFound."""
        raise NotImplementedError

    def _named(self, element: dict) -> list:
        """Return the sources, oldest first, that an element names: [1, 2], 1, 1.0, "1", "[1]", "message 1"; ArgumentError."""
        given = element.get("from")
        names = [str(each).strip("[] ").split(" ")[-1] for each in (given if isinstance(given, list) else [given])]
        numbers = {str(number): ref for number, ref in enumerate(self._refs, 1)}
        found = {numbers.get(name.split(".")[0], name) for name in names}
        if not found or not found.issubset(self._refs):
            raise ArgumentError("from", "is none of the messages that were shown.")
        return [ref for ref in self._refs if ref in found]

    def _change(self, wanted, **came_from) -> bool:
        draft = self._draft(wanted, dict(wanted.values, source=self.source, **came_from))
        if draft and draft.id in self.denied:
            raise ArgumentError("id", "is that of a memory which the same answer forgets.")
        if draft is None or not self._is_news(draft):
            self.merged += 1
            return False
        self.changes.append(draft)
        return True

    def _deny(self, record: dict, turn: str) -> None:
        """Let a record expire that a turn denies, in place of what the answer changed in it before."""
        ref = record["id"]
        earlier = [draft for draft in self.changes if _changed_id(draft) == ref]
        if any(not draft.id for draft in earlier):
            raise ArgumentError("id", "is that of a memory which the same answer replaces.")
        turns = ([each for each in record.get("turns", ()) if each != turn] + [turn])[-_MOST_REFS:]
        # With its confidence: a denial confirms no pattern.
        changes = {"expires": self._records.clock.now(), "turns": turns, "confidence": record.get("confidence", 1)}
        self.changes = [draft for draft in self.changes if draft not in earlier]
        self.changes.append(self._records.draft_update(ref, changes, self.caller))
        self.denied.append(ref)

    def _draft(self, wanted, values: dict):
        """Return the draft of an operation, None if the records already have it."""
        records, caller = self._records, self.caller
        turns = values.get("turns", ())
        record = records.get(wanted.id, caller) if wanted.id else None
        content, tags = values.pop("content"), values.pop("tags", ()) or (record or {}).get("tags", ())
        if record and self._may_change(wanted.kind, record, content):
            if wanted.kind == "supersede":
                return records.draft(content, tags, caller, supersedes=wanted.id, **values)
            return self._next_version(record, content, tags, values)
        draft = records.draft(content, access.learned_tags(tags, caller), caller, **values)
        if draft.same:
            records.used(draft.same)
            return None
        if draft.id and not self.is_trusted and is_protected(records.get(draft.id, caller)):
            # It would only last longer, but a person's own expiry stays.
            records.used(draft.id)
            return None
        for ref in draft.similar:
            record = records.get(ref, caller)
            if record.get("source") == "auto_rule" and set(turns).intersection(record.get("turns", ())):
                # A rule kept the same words of the same message: the model's wording takes their place.
                return self._next_version(record, content, tags, values)
        return draft

    def _next_version(self, record: dict, content: str, tags, values: dict):
        for name in ("turns", "notes"):
            refs = list(record.get(name, ()))
            refs += [ref for ref in values.pop(name, ()) if ref not in refs]
            if refs:
                values[name] = refs[-_MOST_REFS:]
        values.update({"content": content, "tags": tags})
        draft = self._records.draft_update(record["id"], values, self.caller)
        # In other words or in more detail what turns said holds still.
        draft.values["rewords"] = True
        return draft

    def _may_change(self, kind: str, record: dict, content: str) -> bool:
        """True if a model may change a record; otherwise its proposal becomes a second one."""
        is_open = not is_protected(record)
        if kind == "supersede":
            is_near = dedup.compare(record["content"], content) != dedup.DIFFERENT
            return (is_open or is_near) if self.is_trusted else (is_open and is_near)
        return is_open and set(text.terms(record["content"])).issubset(text.terms(content))

    def _is_news(self, draft) -> bool:
        """True if a draft is new in this answer; a later one replaces an earlier one of its record."""
        for place, earlier in enumerate(self.changes):
            is_same = dedup.says_the_same(earlier.values, draft.values)
            older, newer = _changed_id(earlier), _changed_id(draft)
            if is_same and not (newer and not older):
                return False
            if is_same or (newer and newer == older):
                self.changes.pop(place)
                if older and not newer and not draft.id:
                    draft.values["supersedes"] = older
                return True
        return True


async def _answer(model, cursor, request, asked: int) -> str:
    """Return the model's answer to a request of about `asked` tokens; ArgumentError if too long."""

    async def drop(piece: str) -> None:
        pass

    # Counted before: a call that a new message breaks off was one too.
    cursor.spend(asked)
    reply = await model.stream(request, drop)
    if reply.stop == "length":
        raise ArgumentError("answer", "reached its longest length (%d tokens)." % request.max_tokens)
    used = reply.usage[0] + reply.usage[1]
    cursor.correct(used - asked if min(reply.usage[:2]) >= 0 else text.tokens(reply.text))
    return reply.text


def is_protected(record: dict) -> bool:
    return bool(record.get("pinned")) or record.get("source", "manual") == "manual"


def _changed_id(draft) -> str:
    return draft.id or draft.values.get("supersedes", "")
