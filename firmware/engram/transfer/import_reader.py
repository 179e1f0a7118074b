"""Reads what is imported: lines of JSON, a list of objects, or a page of Markdown. What becomes of it: importer.py."""

from engram import files, log_line
from engram.compat import const
from engram.errors import ArgumentError
from engram.text.utf8 import valid
from engram.transfer import jsonl

_BUFFER = const(1024)
_BOM = const(b"\xef\xbb\xbf")
_BLANK = const(b" \t\r\n\xef\xbb\xbf")
_NO_END = const("the file has no end.")
_NO_OBJECTS = const("the file is neither a list of JSON objects nor one nor lines of them.")


class ImportReader:
    """Reads one import. It finds a dict of fields, a sentence or an ArgumentError on what is refused, or "" for nothing.

    note_unknown(*names) gets the fields of a page for which a memory has no place.
    """

    def __init__(self, clock, note_unknown):
        self._clock = clock
        self._note_unknown = note_unknown
        self._lines = jsonl.Reader("board")
        self._page = None
        self._is_over = False

    @property
    def head(self) -> dict:
        """The fields of an export's first line, none if there was no such line."""
        return self._lines.head

    def notes(self):
        """Yield sentences on what an export lacks, and what of a page was left out."""
        if self._page and self._page.outside:
            yield "%d lines are in no list and were left out" % self._page.outside
        yield from self._lines.notes(self._is_over)

    def read_file(self, path: str):
        """Yield (line, what is found there), often, of a page of Markdown or JSON, as the name says: in .json may be a list,
        an object or lines. StoreError when the flash refuses.
        """
        form = path.rpartition(".")[2].lower()
        read = {"md": self._read_page, "json": self._read_list}.get(form, self._read_lines)
        try:
            with open(path, "rb") as file:
                yield from read(file)
        except OSError as error:
            raise files.failure(error, path) from None
        self._is_over = True

    def read_line(self, line):
        """What is found in a line's bytes; an int is the length of one that is too long."""
        try:
            return self._lines.read(line)
        except ArgumentError as error:
            return error

    def _read_lines(self, file):
        for number, line in _lines_of(file):
            yield number, self.read_line(line)

    def _read_list(self, file):
        data = file.read(_BUFFER)
        # What stands before a bracket would be passed over.
        if data.lstrip(_BLANK)[:1] in (b"[", b"{"):
            yield from self._read_objects(file, data)
        else:
            yield 1, _NO_OBJECTS

    def _read_objects(self, file, data):
        from engram.transfer.json_list import JsonList  # seldom needed

        objects = JsonList()
        is_first = True
        while data:
            try:
                for number, line in objects.feed(data):
                    if is_first and objects.is_whole and number == objects.line:
                        # It is a line, in no list: one that is wrong spoils none of the others.
                        file.seek(0)
                        yield from self._read_lines(file)
                        return
                    is_first = False
                    yield number, self.read_line(line)
            except ArgumentError as error:
                yield objects.line, error
                return
            yield objects.line, ""
            data = file.read(_BUFFER)
        if not objects.is_whole:
            yield objects.line, _NO_END
        elif is_first:
            yield 1, _NO_OBJECTS

    def _read_page(self, file):
        from engram.transfer.markdown_reader import MarkdownReader  # seldom needed

        clock = self._clock
        page = self._page = MarkdownReader(self._note_unknown, lambda local: clock.moment(0, local // 60) + local % 60)
        for number, line in _lines_of(file):
            if isinstance(line, int):
                yield page.end() or (number, "")
                yield number, "has %d bytes, which is too long for one memory." % line
                continue
            if number == 1 and line.startswith(_BOM):
                line = line[len(_BOM) :]
            if valid(line):
                yield page.read_line(number, line.decode()) or (number, "")
            else:
                yield number, "is not UTF-8."
        ended = page.end()
        if ended:
            yield ended


def _lines_of(file):
    """Yield (number, bytes) of a file's lines; of one that is too long its length."""
    for number, (_, line, _) in enumerate(log_line.long_lines(file, bytearray(_BUFFER)), 1):
        yield number, line if isinstance(line, int) else bytes(line)
