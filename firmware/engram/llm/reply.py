"""A streamed reply under construction: it is fed events (or one document) and gives new text, finish()
the rest. Fields count only if they have the type that the API promises.
"""

import random

from engram.errors import ArgumentError, BadAnswer
from engram.llm import text_calls
from engram.llm.answer_filter import AnswerFilter
from engram.llm.refusal import refusal_in
from engram.llm.types import Call, Reply, plain_name
from engram.text import decode, dumps, encode, loads, object_in, strict_json

# Protects the heap from thoughts without end. What is not whole must not go back: beyond this nothing of the reply does.
_KEPT_BYTES = const(32768)
# About what a number, a word or a container takes.
_SMALL = const(16)
# Fields that name something, and come again with each piece: all other text goes on where the last piece ended.
_LABELS = ("id", "type", "index", "format", "name", "role", "object")
_IDENTITY = ("index", "id", "type")


class Kept:
    """A joiner of one reply's extra fields from streamed pieces."""

    def __init__(self):
        self._left = _KEPT_BYTES

    @property
    def is_whole(self) -> bool:
        """True if all fields were kept."""
        return self._left >= 0

    @property
    def size(self) -> int:
        return _KEPT_BYTES - self._left

    def add(self, holder: dict, piece: dict, known=()) -> None:
        for name in piece:
            if name not in known and piece[name] is not None:
                holder[name] = self._join(holder.get(name), piece[name], name)

    def fields(self, holder: dict) -> tuple:
        return tuple([(name, plain(holder[name])) for name in holder]) if self._left >= 0 else ()

    def _join(self, old, new, name):
        """Return a field joined with its next piece; text is a bytearray meanwhile."""
        self._left -= len(new) if isinstance(new, str) else _SMALL
        if self._left < 0:
            return None
        if isinstance(new, str) and name not in _LABELS:
            old = old if isinstance(old, bytearray) else bytearray()
            old.extend(encode(new))
        elif isinstance(new, dict):
            old = old if isinstance(old, dict) else {}
            self.add(old, new)
        elif isinstance(new, list):
            old = old if isinstance(old, list) else []
            self._join_list(old, new)
        else:
            old = new
        return old

    def _join_list(self, old, new):
        count = len(old)  # of earlier pieces: two items of one piece are never one
        for item in new:
            for at in range(count):
                if _goes_on(old[at], item, at == count - 1):
                    old[at] = self._join(old[at], item, "")
                    break
            else:
                old.append(self._join(None, item, ""))


def _goes_on(entry, item, is_last) -> bool:
    """True if an item continues an entry: same index, or the last one without a signature."""
    if not (isinstance(entry, dict) and isinstance(item, dict)):
        return False
    if item.get("index") is None and (not is_last or "signature" in entry):
        return False
    return all(item.get(name) is None or entry.get(name) in (None, item[name]) for name in _IDENTITY)


def plain(value):
    """Return a joined field as JSON values."""
    if isinstance(value, bytearray):
        return decode(value)
    if isinstance(value, dict):
        return {name: plain(value[name]) for name in value}
    return [plain(item) for item in value] if isinstance(value, list) else value


# Bounds of a reply's calls; they protect the heap from a model that runs away. A text that is too long is cut, and the reply's
# stop says "length". A call is never cut, since half a call must not run.
_CALLS = const(8)
_ARGUMENTS_BYTES = const(8192)


class ReplyBuilder:
    """A reply under construction; each API has its own take()."""

    # stop    the model's reason to end, "" until then
    # done    True if nothing more will come
    # answer  the AnswerFilter of its text; `expects_thought` if the last thought had no opening mark
    # kept    joins unknown fields; those of the message are its own `fields`

    def __init__(self, expects_thought: bool = False):
        self.stop = ""
        self.done = False
        self.usage = [-1, -1, -1]  # tokens: input, output, cached
        self.answer = AnswerFilter(expects_thought)
        self._length = 0  # of all text, thoughts included
        self.kept = Kept()
        self.fields = {}
        self._calls = []

    @property
    def size(self) -> int:
        """A measure of what the model has said so far, to which signs of life add nothing."""
        return self._length + self.kept.size + sum([call.size for call in self._calls])

    def feed(self, data: bytes) -> str:
        try:
            event = loads(decode(data))  # a letter that is cut in two spoils no more than itself
        except ValueError:
            event = None
        if isinstance(event, list) and event:
            event = event[0]  # an error of some services
        if not isinstance(event, dict):
            if data.strip().startswith(b"{"):
                raise BadAnswer("the model's service sent something that is no JSON object")
            return ""  # a sign of life
        if event.get("error") or event.get("object") == "error" or event.get("detail"):
            raise refusal_in(event)
        text = self.take(event)
        if self.answer.is_full:
            self.stop = "length"
            self.done = True
        return text

    def take(self, event: dict) -> str:
        raise NotImplementedError

    def reply(self) -> Reply:
        """Return the finished reply; a cut one has no calls, as the last may be incomplete."""
        calls = ()
        if self.answer.is_full:
            self.stop = "length"
        if self.stop in ("end", "tools"):
            calls = tuple(call.finished(self._calls, self.kept) for call in self._calls if call.size)
            self.stop = "tools" if calls else "end"
        reply = Reply(decode(self.answer.text), calls, self.stop, tuple(self.usage))
        reply.kept = self.kept.fields(self.fields)
        return reply

    def finish(self, names, messages=()) -> str:
        """End the text and return its rest; calls in it count unless `messages` quote them."""
        held = self.answer.end()
        calls = text_calls.read(held, names)
        # Words of others are no call, such as a page that the person pasted.
        is_quoted = calls and any(text_calls.is_quoted(calls, message.text) for message in messages)
        has_text = bool(decode(self.answer.text).strip())
        if is_quoted or not (calls or (self.answer.is_marked and not has_text)):
            return self.answer.keep(held)
        if self.stop in ("end", "tools") and not self._calls:
            if not calls or has_text:
                self.stop = "as_text"
            else:
                for name, arguments in calls:
                    self.open_call(None, "", name).add(arguments)
        return ""

    def add_text(self, text: str) -> str:
        """Append text; return the answer's part within the bound."""
        self._length += len(text)
        return self.answer.feed(text)

    def open_call(self, key, ref: str, name: str) -> "_Call":
        if len(self._calls) == _CALLS:
            raise BadAnswer("the model called more than 8 tools at once")
        call = _Call(key, ref, name)
        self._calls.append(call)
        return call

    def call(self, key):
        return next((call for call in reversed(self._calls) if key is None or call.key == key), None)

    def count(self, usage: dict, *names: str) -> None:
        """Keep the input, output and cached token counts with these names."""
        for place, name in enumerate(names):
            if isinstance(usage.get(name), int):
                self.usage[place] = usage[name]


class _Call:
    def __init__(self, key, ref, name):
        self.key = key
        self.ref = ref
        self.name = name
        self.fields = {}
        self._arguments = bytearray()

    def add(self, arguments: str) -> None:
        self._arguments.extend(encode(arguments))
        if len(self._arguments) > _ARGUMENTS_BYTES:
            raise BadAnswer("the model called a tool with more than 8 KB")

    @property
    def size(self) -> int:
        return len(self.name) + len(self._arguments)

    def is_whole(self) -> bool:
        return object_in(self._arguments) is not None

    def finished(self, calls, kept):
        first = next(call for call in calls if call is self or call.ref == self.ref)
        if first is not self or not self.ref:
            self.ref = "%09x" % random.getrandbits(30)
        arguments = decode(self._arguments).strip() or "{}"
        if object_in(arguments) is None:
            try:
                arguments = dumps(strict_json.loads_lenient(arguments, dict))
            except (ValueError, ArgumentError):
                pass  # the tool says what is wrong
        call = Call(self.ref, plain_name(self.name), arguments)
        call.kept = kept.fields(self.fields)
        return call
