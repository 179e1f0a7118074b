"""A plain board that has notes too: files in a dictionary, by their names on flash, of which it tells a store."""

import asyncio
from collections.abc import Callable
from zlib import crc32

from companion_store import embedding_of, search_of
from engram_host.companion.settings import SearchSettings
from engram_host.companion.store import CompanionStore
from engram_host.companion.types import LEFT_NOTES, NOTES, NoteEntry, NoteSpan
from plain_board import NoAnswer, PlainBoard
from search_store import asked

AT_ONCE = 3
"""Files in one list."""


class NotingBoard(PlainBoard):
    """`notes` are what it has, `left` the files that left it for want of days, of which the store was not told."""

    def __init__(self, store: CompanionStore, name: str = "kitchen", board: str = "board-1"):
        super().__init__(store, name, board)
        self.notes: dict[str, bytes] = {}
        self.left: set[str] = set()
        self.state = ""

    @property
    def epoch(self) -> int:
        return self.logs["records"].epoch

    def sync_notes(self) -> None:
        """List all notes and send those that the store lacks; NoAnswer when the board gave up."""
        self.hello()
        after: str = ""
        while True:
            names = sorted(file for file in {*self.notes, *self.left} if file > after)
            is_end = len(names) <= AT_ONCE
            names = names[:AT_ONCE]
            for place in self.list_notes(after, "" if is_end else names[-1], names):
                self.send_note(names[place])
            self.left -= set(names)
            if is_end:
                return
            after = names[-1]

    def list_notes(self, after: str, to: str, names: list[str]) -> list[int]:
        """Say which notes there are of a span; the places of those that the store lacks."""
        entries = tuple(self._entry(file) for file in names)
        span = NoteSpan(self.name, self.epoch, after, to, entries)
        lacks, self.state = self._ask(
            self._message(lambda sender: self.store.notes.compare_notes(sender, span, self.now))
        )  # type: ignore[misc]
        return lacks

    def _entry(self, file: str) -> NoteEntry:
        if file in self.notes:
            return NoteEntry(file, crc32(self.notes[file]))
        return NoteEntry(file, None, file in self.left)

    def send_note(self, file: str) -> None:
        """Send a note, or say that it has gone."""
        if file not in self.notes:
            self.list_notes(file, file, [file])
            return
        told = self.name, self.epoch, file, self.notes[file]
        self.state = self._ask(  # type: ignore[assignment]
            self._message(lambda sender: self.store.notes.put_note(sender, *told, self.now, self.quota))
        )

    def _message(self, call: Callable[..., object]) -> Callable[[], Callable[[], object]]:
        def made() -> Callable[[], object]:
            sender = self.sender()
            return lambda: call(sender)

        return made


def shown(store: CompanionStore, name: str = "kitchen") -> dict[str, list[str]]:
    """What a search may find of a board's notes: their lines, by "file" of those that it has and "left file" of others."""
    found: dict[str, list[str]] = {}
    for prefix, mark in ((NOTES, ""), (LEFT_NOTES, "left ")):
        if not [device for device in store.boards.sources() if device.name == prefix + name]:
            continue
        for path, *_ in store.folders.stamps(prefix + name):
            file = store.folders.file(prefix + name, path)
            assert file
            epoch = store.boards.device(prefix + name).logs["records"].epoch
            lines = store.boards.lines_at(prefix + name, "records", epoch, [seq for seq, _, _ in file.places])
            assert len(lines) == len(file.places)
            found[mark + path] = [lines[seq].decode() for seq, _, _ in file.places]
    return found


def found_notes(
    store: CompanionStore, query: str, caller, boards: tuple[str, ...] = ("kitchen",)
) -> list[tuple[str, str]]:
    """(citation, text) of the lines of notes that a search by words finds."""
    who = {"principal": caller.principal, "group": caller.group, "workspace": caller.workspace}
    request = asked(query, devices=list(boards), log="notes", meaning=False, **who).request
    result = asyncio.run(search_of(store, SearchSettings(), embedding_of(store)).search(request))
    return sorted((hit.citation, hit.text) for hit in result.hits)


__all__ = ["NoAnswer", "NotingBoard", "found_notes", "shown"]
