"""A reply while it comes in.

A draft is fed each event, or the one document of a service that does not stream, and gives back new text; finish() gives
what it had held back to the end.
What came is data of a stranger: every field is taken only if it has the type that the API promises.
"""

import random

from engram.compat import const
from engram.errors import ArgumentError, ModelGarbled
from engram.llm import text_calls
from engram.llm.answer_filter import AnswerFilter
from engram.llm.kept import Kept
from engram.llm.refusal import Refusal, refusal_in
from engram.llm.types import Call, Reply, plain_name
from engram.text import cut_bytes, decode, dumps, encode, lenient_json, loads

# Bounds of a reply; they protect the heap from a model that runs away. A text that is longer is cut there,
# and the reply's stop says "length". A call is never cut, since half a call must not run: ModelGarbled.
_TEXT_BYTES = const(16384)
_CALLS = const(8)
_ARGUMENTS_BYTES = const(8192)
_SENTENCE_ENDS = const(".!?。！？…")


class ReplyBuilder:
    """One reply as far as it has come. Each API has its own kind, with its own take().

    stop           why the model ended, "" as long as it has not said so
    done           whether nothing more is to come
    text           what came of its answer, as bytes
    answer_filter  takes thoughts and calls out of its text
    kept           joins the fields that the adapter does not know; those of the message are its own `fields`
    """

    def __init__(self):
        self.stop = ""
        self.done = False
        self.usage = [-1, -1, -1]  # tokens: input, output, cached
        self.text = bytearray()
        self.answer_filter = AnswerFilter()
        self.has_text = False
        self.kept = Kept()
        self.fields = {}
        self._calls = []

    @property
    def has_begun(self) -> bool:
        """True if the model has begun to think, to speak or to call."""
        return bool(self.has_text or self._calls or not self.kept.is_empty)

    def feed(self, data: bytes) -> str:
        """Take the JSON of one event; the new text in it."""
        event = self._event(data)
        if event is None:
            return ""  # a sign of life
        if event.get("error") or event.get("object") == "error" or event.get("detail"):
            raise Refusal(*refusal_in(event))
        return self.take(event)

    def _event(self, data):
        """The object in an event, None if it is none."""
        try:
            event = loads(decode(data))  # a letter that is cut in two spoils no more than itself
        except ValueError:
            event = None
        if isinstance(event, list) and event:
            event = event[0]  # an error of some services
        if isinstance(event, dict):
            return event
        if data.strip().startswith(b"{"):
            raise ModelGarbled("the model's service sent something that is no JSON object; is llm.url right?")
        return None

    def take(self, event: dict) -> str:
        """Take one event; the new text in it. Each API has its own."""
        raise NotImplementedError

    def reply(self) -> Reply:
        """The finished reply. One that was cut has no calls: the last of them may be incomplete."""
        calls = ()
        if self.stop in ("end", "tools"):
            calls = tuple(call.finished(self._calls, self.kept) for call in self._calls if not call.is_empty())
            self.stop = "tools" if calls else "end"
        reply = Reply(decode(self.text), calls, self.stop, tuple(self.usage))
        reply.kept = self.kept.fields(self.fields)
        return reply

    @property
    def has_calls(self) -> bool:
        """True if the service has sent calls."""
        return bool(self._calls)

    def finish(self, names) -> str:
        """End the text; what is left to be shown of it.

        Calls in it are taken if `names` has the names of their tools, and no message before has the call.
        """
        held = self.answer_filter.held()
        if self.answer_filter.is_call:
            held = self._take_written_calls(held, names)
        elif self.answer_filter.is_thinking and (self.stop != "end" or self._calls):
            held = ""  # a thought; without an end in a whole answer, its mark was a word
        return self._keep(held)

    def _take_written_calls(self, written: str, names) -> str:
        """Take calls that are written as text; what of it is an answer."""
        calls = text_calls.read(written, names)
        if calls and any(text_calls.is_echo(calls, message.text) for message in self.answer_filter.messages()):
            return written  # words of others, such as a page that the person pasted
        before = decode(self.text).strip()
        has_text = bool(before)
        if calls and has_text and before.count("`") % 2:
            return written  # an example
        if not calls and (has_text or not self.answer_filter.is_marked):
            return written
        if self.stop in ("end", "tools") and not self._calls:
            if not calls or has_text:
                self.stop = "as_text"
                if has_text and before[-1] not in _SENTENCE_ENDS:
                    return written  # it goes on the sentence before it
            for name, arguments in calls or ():
                self.open_call(None, "", name).add(arguments)
        return ""

    def add_text(self, text: str) -> str:
        """Keep what belongs to the answer of `text`; what of that is within the bound."""
        self.has_text = self.has_text or bool(text)
        shown = self.answer_filter.feed(text, self.text)
        if self.answer_filter.was_closed:
            self.text = bytearray()
        return self._keep(shown)

    def _keep(self, text: str) -> str:
        within = cut_bytes(text, _TEXT_BYTES - len(self.text))
        if len(within) < len(text):
            self.stop = "length"
            self.done = True
        self.text.extend(encode(within))
        return within

    def open_call(self, key, ref: str, name: str) -> "_Call":
        """Begin a call; `key` is what the API's later pieces of it will be found by."""
        if len(self._calls) == _CALLS:
            raise ModelGarbled("the model called more than 8 tools at once; ask for less in one message")
        call = _Call(key, ref, name)
        self._calls.append(call)
        return call

    def call(self, key):
        """The last call opened with `key`; without a key, the last one; None if there is none."""
        for call in reversed(self._calls):
            if key is None or call.key == key:
                return call
        return None

    def count(self, usage: dict, *names: str) -> None:
        """Keep the counts of input, output and cached tokens that have these names, where they are there."""
        for place, name in enumerate(names):
            if isinstance(usage.get(name), int):
                self.usage[place] = usage[name]


class _Call:
    def __init__(self, key, ref, name):
        self.key = key
        self.ref = ref
        self.name = name
        self.fields = {}
        self.fields_inside = {}
        self._arguments = bytearray()

    def add(self, arguments: str) -> None:
        """Keep the next fragment of the arguments' JSON text."""
        self._arguments.extend(encode(arguments))
        if len(self._arguments) > _ARGUMENTS_BYTES:
            raise ModelGarbled("the model called a tool with more than 8 KB; ask for less in one message")

    def is_empty(self) -> bool:
        """True if nothing but an id came of it."""
        return not self.name and not self._arguments

    def is_whole(self) -> bool:
        """True if the arguments have come to their end."""
        return _is_object(self._arguments)

    def finished(self, calls, kept):
        """The call for a reply, with an id that no earlier one of `calls` has."""
        first = next(call for call in calls if call is self or call.ref == self.ref)
        if first is not self or not self.ref:
            self.ref = "%09x" % random.getrandbits(30)
        arguments = decode(self._arguments).strip() or "{}"
        if not _is_object(arguments):
            try:
                arguments = dumps(lenient_json.loads(arguments, dict))
            except (ValueError, ArgumentError):
                pass  # the tool says what is wrong
        call = Call(self.ref, plain_name(self.name), arguments)
        call.kept = kept.fields(self.fields)
        call.kept_inside = kept.fields(self.fields_inside)
        return call


def _is_object(written) -> bool:
    try:
        return isinstance(loads(written), dict)
    except ValueError:
        return False
