"""Reads files of memories: JSON Lines, a JSON list, ChatGPT conversations, or Markdown."""

import io
import re
from collections.abc import Iterator
from pathlib import PurePath
from typing import Any, cast

from engram import log_line, text
from engram.errors import ArgumentError
from engram.schema_check import check
from engram.text.utf8 import valid
from engram.transfer import jsonl
from engram_host.transfer.formats import ChatGptExport, Fields, convert_memory
from engram_host.transfer.markdown import MarkdownPage
from engram_host.wording import counted

Line = tuple[int, Fields | str]

_BOM = b"\xef\xbb\xbf"
_NAME_SHOWN = 24


class MemoryFile:
    def __init__(self, name: str, data: bytes):
        self._data = data.removeprefix(_BOM)
        form = PurePath(name).suffix.lower()
        self._read = {".md": self._markdown, ".json": self._json_list}.get(form, self._json_lines)
        self._lines = self._expected = 0
        self._has_head = False
        self._page = MarkdownPage(self._note_unknown)
        self._chats: ChatGptExport | None = None
        self.unknown: dict[str, None] = {}

    def lines(self) -> Iterator[Line]:
        for number, found in self._read():
            try:
                memory = self._converted(found) if isinstance(found, bytes) else found
            except ArgumentError as error:
                memory = str(error)
            if memory:
                yield number, memory

    def _converted(self, line: bytes) -> Fields | str:
        found = self._read_object(line)
        if isinstance(found, dict) and ("file" not in found or "content" in found):
            return convert_memory(found, self._note_unknown)
        return found

    def _read_object(self, line: bytes) -> Fields | str:
        """Return an object's fields, else a refusal, or "" for the first and last line of an export."""
        self._lines += 1
        if len(line) > log_line.MAX_LINE:
            return f"has {len(line)} bytes, at most {log_line.MAX_LINE} fit."
        try:
            found: Any = text.loads(line)
        except ValueError:
            found = None
        if not isinstance(found, dict):
            return "is no JSON object." if valid(line) else "is not UTF-8."
        fields = cast("Fields", found)
        if "engram_export_end" in fields:
            self._lines -= 1
            self._expected = fields["engram_export_end"]
            check("engram_export_end", self._expected, "integer")
            return ""
        if "engram_export" not in fields:
            return fields
        if fields["engram_export"] != jsonl.FORMAT:
            raise ArgumentError("engram_export", "is of a form that this program does not know: update it first.")
        self._has_head = True
        return ""

    def notes(self) -> Iterator[str]:
        if self._page.outside:
            yield counted(
                self._page.outside, "line is in no list and was left out", "lines are in no list and were left out"
            )
        yield from self._chats.notes if self._chats else ()
        if self._has_head and self._lines != self._expected:
            lines = f"it had {self._expected} lines, {self._lines} were read"
            yield "the file is not whole: " + (lines if self._expected else "its last line is missing")

    def _note_unknown(self, name: str) -> None:
        self.unknown[text.printable(name[:_NAME_SHOWN])] = None

    def _json_lines(self) -> Iterator[tuple[int, bytes | str]]:
        for number, line in enumerate(io.BytesIO(self._data), 1):
            if line.strip():
                yield number, line

    def _json_list(self) -> Iterator[tuple[int, bytes | Fields | str]]:
        self._chats = ChatGptExport.parse(self._data)
        yield from self._chats.memories() if self._chats else _json_objects(self._data)

    def _markdown(self) -> Iterator[tuple[int, Fields | str]]:
        yield from self._page.memories(io.BytesIO(self._data))


# --- the objects of a JSON list, or of lists within an object, across lines

_DEEPEST = 64
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[\]{}]', re.DOTALL)


def _json_objects(data: bytes) -> Iterator[tuple[int, bytes | str]]:
    open_brackets: list[bytes] = []
    start, depth = -1, 0  # of the current object: its start, and the depth of brackets
    is_empty = True
    for token in _TOKEN.finditer(data):
        sign = token[0]
        if sign in (b"[", b"{"):
            if sign == b"{" and open_brackets[-1:] in ([], [b"["]) and (start < 0 or not depth):
                start, depth = token.start(), len(open_brackets)
            if len(open_brackets) == _DEEPEST:
                yield _line(data, token.start()), f"the file has more than {_DEEPEST} brackets within each other."
                return
            open_brackets.append(sign)
        elif sign in (b"]", b"}") and open_brackets:
            open_brackets.pop()
            if start >= 0 and len(open_brackets) == depth:
                yield _line(data, start), data[start : token.end()]
                start, is_empty = -1, False
    if open_brackets:
        yield _line(data, len(data)), "the file has no end."
    elif is_empty:
        yield 1, "the file has no JSON object."


def _line(data: bytes, at: int) -> int:
    return data.count(b"\n", 0, at) + 1
