"""Separates the answer in a model's text from its thoughts, and from tool calls that are written as text.

Services that know their model's form take both out of the text. Where one does not, marks such as <think> come with it. They
count only where an answer begins; later the same marks are words of the answer. Two more cases:

A template may have opened the thought, so that only its closing mark comes. Such a mark ends what was a thought if it stands
behind a line or a sentence, outside of code, and its opening mark was not named before. Unless such a thought is expected, it
has to be the first of its kind as well, and no message before may name it.

From the mark of a call on, the text is held back to its end, when text_calls.py can tell if it is one.
"""

from engram.compat import const
from engram.text import decode

# What opens a thought, and what closes it; "" for marks that mean nothing by themselves.
_THOUGHTS = const((
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("[THINK]", "[/THINK]"),
    ("<seed:think>", "</seed:think>"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("<|channel|>analysis<|message|>", "<|channel|>"),
    ("<|channel|>commentary<|message|>", "<|channel|>"),
    ("commentary<|message|>", "<|channel|>"),
    ("<|channel|>final<|message|>", ""),
    ("final<|message|>", ""),
    ("<|start|>assistant", ""),
    ("<|START_RESPONSE|>", ""),
))  # fmt: skip
_CLOSING = const(("</think>", "</thinking>", "</thought>", "</reasoning>", "[/THINK]", "</seed:think>"))
# How calls begin, in the forms of many models.
_CALLS = const((
    "<tool_", "<|tool", "<function=", "<function_call", "<invoke ", "<minimax:tool_call>", "<|python_tag|>", "<｜",
    "[TOOL_", "<|channel|>commentary to=",
))  # fmt: skip
_CALLS_AT_START = const(("commentary to=", "```tool_c"))
# How calls begin that are plain JSON, without white space and with Python's quotes made JSON's.
_JSON_CALLS = const(('{"name":', '{"function":', '{"type":"function"', '{"tool":', '{"tool_name":', '{"tool_calls":'))
_SENTENCE_ENDS = const("\n.!?。！？…")
# As much as an answer may have. A thought longer than that is dropped as it comes; a call of that length is an answer.
_HELD_BYTES = const(16384)
# An answer that begins with a mark as a word of its own is no longer than this; what is longer is a thought.
_UNCLOSED_BYTES = const(2048)


class AnswerFilter:
    """Takes a text in pieces, and gives back what belongs to the answer.

    is_expecting  all text is held back until a thought's closing mark comes
    is_call       the text that is held back began with the mark of a call
    is_marked     that mark was more than plain JSON
    was_closed    the last piece closed a thought that had no opening mark: all text before it was thought
    has_closed    so did one of the pieces
    messages      gives the messages that the text answers
    """

    def __init__(self):
        self.is_expecting = False
        self.is_call = False
        self.is_marked = False
        self.was_closed = False
        self.has_closed = False
        self.messages = tuple
        self._tail = ""  # what may become a mark
        self._close = ""  # the mark that ends the present thought
        self._thought = bytearray()  # the beginning of the present thought
        self._is_start = True
        self._is_stripped = False  # a thought came before
        self._held = bytearray()  # while is_expecting or is_call

    def expect_thought(self) -> None:
        """Hold the text back until a closing mark comes: this model's last thought had no opening mark."""
        self.is_expecting = True

    @property
    def is_thinking(self) -> bool:
        """True within a thought."""
        return bool(self._close)

    def held(self) -> str:
        """The text that is held back; within a thought, all of it, if it is as short as an answer about its mark."""
        if self._close:
            text = decode(self._thought) + self._tail
            return text if len(self._thought) <= _UNCLOSED_BYTES else ""
        return decode(self._held) + self._tail

    def feed(self, piece: str, before: bytearray) -> str:
        """Take the next piece of a text; what of it belongs to the answer, of which `before` came before."""
        self.was_closed = False
        if self.is_call:
            return self._hold(piece)
        text = self._tail + piece
        self._tail = ""
        shown = ""
        while text:
            if self._close:
                text = self._skip_thought(text)
            elif self._is_start:
                text = self._begin(text)
            else:
                at, mark = _first_mark(text, not self.is_expecting)
                shown += text[:at]
                text = text[at:]
                if mark in _CLOSING:
                    text = text[len(mark) :]
                    if self._is_closed_by(mark, decode(self._held if self.is_expecting else before) + shown):
                        shown = ""
                        self._close_thought()
                    else:
                        shown += mark
                elif mark:
                    self._begin_call(text, True)
                    text = ""
                else:
                    self._tail = text
                    text = ""
        return self._hold(shown) if self.is_expecting else shown

    def _hold(self, text: str) -> str:
        """Keep a text back; what is too much to be kept any longer."""
        self._held.extend(text.encode())
        if len(self._held) <= _HELD_BYTES:
            return ""
        shown = decode(self._held) if self.is_call else ""
        self._held = bytearray()
        self.is_call = False
        return shown

    def _skip_thought(self, text: str) -> str:
        at = text.find(self._close)
        if at < 0:
            self._tail = _unfinished(text, (self._close,))
            if len(self._thought) <= _UNCLOSED_BYTES:
                self._thought.extend(text[: len(text) - len(self._tail)].encode())
            return ""
        text = text[at + len(self._close) :]
        self._close = ""
        self._thought = bytearray()
        return text

    def _is_closed_by(self, mark: str, before: str) -> bool:
        """True if a closing mark behind this text ends a thought that a template has opened."""
        if not before.strip() or self.is_expecting:
            return _ends_thought(before, mark)
        is_word = self._is_stripped or before.rstrip()[-1] in ":：" or any(each in before for each in _CLOSING)
        if is_word or not _ends_thought(before, mark):
            return False
        return not any(message.role == "user" and mark[2:] in message.text for message in self.messages())

    def _close_thought(self) -> None:
        self.is_expecting = False
        self._held = bytearray()
        self._is_start = self._is_stripped = True
        self.was_closed = self.has_closed = True

    def _begin(self, text: str) -> str:
        """Look whether the answer begins with a mark; what comes after it."""
        body = text.lstrip()
        for opening, close in _THOUGHTS:
            if body.startswith(opening):
                self._close = close
                self._thought = bytearray(opening.encode())
                self._is_stripped = True
                self.is_expecting = False
                return body[len(opening) :]
        has_mark = any(body.startswith(mark) for mark in _CALLS + _CALLS_AT_START)
        json = _compact(body)
        if has_mark or any(json.startswith(mark) for mark in _JSON_CALLS):
            self._begin_call(body, has_mark)
            return ""
        openings = tuple(opening for opening, _ in _THOUGHTS)
        if any(mark.startswith(body) for mark in openings + _CALLS + _CALLS_AT_START) or any(
            mark.startswith(json) for mark in _JSON_CALLS
        ):
            self._tail = body if self._is_stripped else text
            return ""
        self._is_start = False
        return body if self._is_stripped else text

    def _begin_call(self, text: str, is_marked: bool) -> None:
        self.is_expecting = False
        self.is_call = True
        self.is_marked = is_marked
        self._is_start = False
        self._held = bytearray(text.encode())


def _first_mark(text: str, with_calls: bool) -> tuple:
    """(where the first mark stands, the mark), or (where what may become one stands, "")."""
    first, found = len(text), ""
    if "<" not in text and "[" not in text:
        return first, found
    marks = _CLOSING + _CALLS if with_calls else _CLOSING
    for mark in marks:
        at = text.find(mark)
        if 0 <= at < first:
            first, found = at, mark
    return (first, found) if found else (first - len(_unfinished(text, marks)), "")


def _unfinished(text: str, marks) -> str:
    """The end of a text that may become a mark."""
    at = max(text.rfind("<"), text.rfind("["))
    tail = text[at:] if at >= 0 else ""
    return tail if tail and any(mark.startswith(tail) for mark in marks) else ""


def _ends_thought(before: str, mark: str) -> bool:
    """True if a closing mark behind a text ends a thought that a template has opened."""
    is_behind_sentence = not before.strip() or before[-1:] in _SENTENCE_ENDS
    return is_behind_sentence and mark.replace("/", "") not in before and before.count("```") % 2 == 0


def _compact(text: str) -> str:
    """The beginning of a text, if it may be a call in JSON: without fence, list and white space."""
    text = "".join(text[:80].split())
    if text.startswith("`"):
        text = text.lstrip("`")
        text = text[4:] if text.startswith("json") or "json".startswith(text) else text
    return text.lstrip("[").replace("'", '"')
