"""Separates the answer in a model's text from its thoughts, and holds back possible tool calls in text form.

Some services leave marks such as <think> in the text. Opening marks count only at an answer's begin; later
they are words.

A template may have opened the thought, so that only its closing mark comes. It ends a thought if it is behind
a line or a sentence, outside of code, and without an earlier opening mark or thought.

From the mark of a call on, text is held back until text_calls.py can decide; so is text that begins as JSON,
fenced or not.
"""

from engram import tables
from engram.text import cut_bytes, decode, encode

# Marks that open and close a thought; "" for marks without a meaning of their own (thoughts.txt).
_THOUGHTS = [tuple((line + " ").split(" ")[:2]) for line in tables.rows("llm/thoughts")]
_CLOSING = const(("</think>", "</thinking>", "</thought>", "</reasoning>", "[/THINK]", "</seed:think>"))
# Beginnings of calls, in the forms of many models; the last ones only at an answer's begin.
_CALLS = const((
    "<tool_", "<|tool", "<function=", "<function_call", "<invoke ", "<minimax:tool_call>", "<|python_tag|>", "<｜",
    "[TOOL_", "<|channel|>commentary to=",
))  # fmt: skip
_CALLS_AT_START = const(("commentary to=", "```tool_c"))
_MAY_BE_CALL = const(("{", "[", "```json", "```\n"))
_MARKS = _CLOSING + _CALLS
_SENTENCE_ENDS = const("\n.!?。！？…")
# Bounds the heap: a longer answer is cut. A longer thought is dropped as it comes; a longer call is an answer.
_MOST_BYTES = const(16384)


class AnswerFilter:
    """A filter that removes thoughts and calls from streamed text; `is_full` at its bound."""

    # text          the answer so far
    # is_full       the answer has reached its bound
    # is_expecting  text is held back until a thought's closing mark
    # is_marked     the held back text begins with the mark of a call
    # has_closed    a thought without an opening mark was closed: all text before it was thought

    def __init__(self, is_expecting: bool):
        self.text = bytearray()
        self.is_full = False
        self.is_expecting = is_expecting
        self.is_marked = False
        self.has_closed = False
        self._is_call = False
        self._tail = ""  # what may become a mark
        self._close = ""  # the mark that ends the present thought
        self._is_start = True
        self._had_thought = False
        self._held = bytearray()  # while it is expecting, or may be a call

    def feed(self, piece: str) -> str:
        """Return the answer's part of the next piece."""
        text = self._tail + piece
        self._tail = ""
        shown = ""
        while text:
            if self._is_call:
                shown, text = text, ""
            elif self._close:
                text = self._skip_thought(text)
            elif self._is_start:
                text = self._begin(text)
            else:
                at, mark = _first_mark(text, _CLOSING if self.is_expecting else _MARKS)
                shown += text[:at]
                text = text[at:]
                if mark in _CLOSING:
                    text = text[len(mark) :]
                    shown = self._close_thought(shown, mark)
                elif mark:
                    self._begin_call(True)
                    return self.keep(shown) + self._hold(text)
                else:
                    self._tail, text = text, ""
        return self._hold(shown) if self._is_call or self.is_expecting else self.keep(shown)

    def keep(self, text: str) -> str:
        """Append a text to the answer; return the part within the bound."""
        within = cut_bytes(text, _MOST_BYTES - len(self.text))
        self.is_full = self.is_full or len(within) < len(text)
        self.text.extend(encode(within))
        return within

    def end(self) -> str:
        """Return the held back text; drop an unfinished thought."""
        return "" if self._close else decode(self._held) + self._tail

    def _hold(self, text: str) -> str:
        self._held.extend(encode(text))
        if len(self._held) <= _MOST_BYTES:
            return ""
        shown = self.keep(decode(self._held)) if self._is_call else ""
        self._held = bytearray()
        self._is_call = self.is_marked = False
        return shown

    def _skip_thought(self, text: str) -> str:
        at = text.find(self._close)
        if at < 0:
            self._tail = _unfinished(text, (self._close,))
            return ""
        text = text[at + len(self._close) :]
        self._close = ""
        return text

    def _close_thought(self, shown: str, mark: str) -> str:
        before = decode(self._held if self.is_expecting else self.text) + shown
        is_behind_sentence = not before.strip() or before[-1] in _SENTENCE_ENDS
        is_word = self._had_thought or mark.replace("/", "") in before or before.count("```") % 2
        if is_word or not is_behind_sentence:
            return shown + mark
        self.is_expecting = False
        self.text, self._held = bytearray(), bytearray()
        self._is_start = self._had_thought = self.has_closed = True
        return ""

    def _begin(self, text: str) -> str:
        body = text.lstrip()
        for opening, close in _THOUGHTS:
            if body.startswith(opening):
                self._close = close
                self._had_thought = True
                self.is_expecting = False
                return body[len(opening) :]
        calls = _CALLS + _CALLS_AT_START
        if any(mark.startswith(body) for mark in calls + _MAY_BE_CALL + tuple(opening for opening, _ in _THOUGHTS)):
            self._tail = body
            return ""
        self._is_start = False
        is_marked = any(body.startswith(mark) for mark in calls)
        if is_marked or any(body.startswith(mark) for mark in _MAY_BE_CALL):
            self._begin_call(is_marked)
        return body

    def _begin_call(self, is_marked: bool) -> None:
        self.is_expecting = False
        self._is_call = True
        self.is_marked = is_marked


def _first_mark(text: str, marks) -> tuple:
    if "<" not in text and "[" not in text:
        return len(text), ""
    found = [(text.find(mark), mark) for mark in marks if mark in text]
    return min(found) if found else (len(text) - len(_unfinished(text, marks)), "")


def _unfinished(text: str, marks) -> str:
    at = max(text.rfind("<"), text.rfind("["))
    tail = text[at:] if at >= 0 else ""
    return tail if tail and any(mark.startswith(tail) for mark in marks) else ""
