"""Reads files of memories: JSON Lines, a JSON list of objects, or a page of Markdown."""

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from engram import text
from engram.errors import ArgumentError
from engram.log_line import MAX_LINE
from engram.text.utf8 import valid
from engram.transfer import jsonl
from engram_host.transfer.foreign import Fields, converted
from engram_host.transfer.markdown import Page

Line = tuple[int, Fields | str]
"""The number of a line, and the object for a board's /import, or why the line is refused."""

_BOM = b"\xef\xbb\xbf"
_NEWLINE, _QUOTE, _BACKSLASH, _OBJECT = b'\n"\\{'
_NAME_SHOWN = 24


class Source:
    """A file whose name ends in .md, .json, or anything else for JSON Lines."""

    def __init__(self, file: Path):
        self._data = file.read_bytes().removeprefix(_BOM)
        self._read = {".md": self._markdown, ".json": self._json_list}.get(file.suffix.lower(), self._json_lines)
        self._parts = jsonl.TextParts()
        self._page = Page(self._note_unknown)
        self._has_head = False
        self._expected = 0
        self._count = 0
        self.unknown: dict[str, None] = {}
        """Names of fields for which a memory has no place, in their order."""

    def lines(self) -> Iterator[Line]:
        """Yield what is to be imported, and what is refused."""
        for number, found in self._read():
            self._count += 1
            if isinstance(found, bytes):
                found = self._object(found)
            if found:
                yield number, found

    def notes(self) -> Iterator[str]:
        """Yield sentences on the whole file, once all of it was read."""
        if lost := self._parts.lost + self._parts.is_waiting:
            yield f"{lost} long texts were left out, since their last part is missing"
        if self._page.outside:
            yield f"{self._page.outside} lines are in no list and were left out"
        if self._has_head and self._count != self._expected:
            lines = f"it had {self._expected} lines, {self._count} were read"
            yield f"the file is not whole: {lines if self._expected else 'its last line is missing'}"

    def _note_unknown(self, name: str) -> None:
        self.unknown[text.printable(name[:_NAME_SHOWN])] = None

    def _json_lines(self) -> Iterator[tuple[int, bytes | str]]:
        for number, line in enumerate(io.BytesIO(self._data), 1):
            if line.strip():
                yield number, _of_a_length(line)

    def _json_list(self) -> Iterator[tuple[int, bytes | str]]:
        """The objects of a list, or of the lists within an object, over as many lines as they like."""
        line = 1
        first = start = inside = -1  # the object's first line, its place, and the brackets that are open around it
        brackets = bytearray()
        is_text = is_escaped = False
        for at, byte in enumerate(self._data):
            line += byte == _NEWLINE
            if is_text:
                is_text = is_escaped or byte != _QUOTE
                is_escaped = not is_escaped and byte == _BACKSLASH
            elif byte == _QUOTE:
                is_text = True
            elif byte in b"[{":
                if start < 0 and byte == _OBJECT and brackets.endswith(b"["):
                    first, start, inside = line, at, len(brackets)
                brackets.append(byte)
            elif byte in b"]}" and brackets:
                brackets.pop()
                if len(brackets) == inside and start >= 0:
                    yield first, _of_a_length(self._data[start : at + 1])
                    start = -1
        if brackets or is_text:
            yield line, "the file has no end."

    def _markdown(self) -> Iterator[tuple[int, Fields | str]]:
        for number, line in enumerate(io.BytesIO(self._data), 1):
            try:
                ended = self._page.read_line(number, line.decode())
            except UnicodeDecodeError:
                ended = number, "is not UTF-8."
            if ended:
                yield ended
        ended = self._page.end()
        if ended:
            yield ended

    def _object(self, data: bytes) -> Fields | str:
        """The object for a board; why it is refused; or "" if a board is not to get it."""
        try:
            fields: Any = text.loads(data)
        except ValueError:
            fields = None
        if not isinstance(fields, dict):
            return "is no JSON object." if valid(data) else "is not UTF-8."
        try:
            return self._memory(fields)
        except ArgumentError as error:
            return str(error)

    def _memory(self, fields: Fields) -> Fields | str:
        if "engram_export_end" in fields:
            self._expected = jsonl.whole(fields, "engram_export_end")
            self._count -= 1
        elif self._parts.take(fields):
            return ""
        elif "engram_export" in fields:
            if fields["engram_export"] != jsonl.FORMAT:
                raise ArgumentError("engram_export", "is of a form that this program does not know: update it first.")
            self._has_head = True
        elif "file" in fields and "content" not in fields:
            return fields
        else:
            return converted(fields, self._note_unknown)
        return ""


def _of_a_length(data: bytes) -> bytes | str:
    return data if len(data) <= MAX_LINE else f"has {len(data)} bytes, at most {MAX_LINE} fit."
