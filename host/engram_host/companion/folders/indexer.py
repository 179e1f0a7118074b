"""Indexes changed files of a folder, and keeps unchanged passages.

Each transaction has a few files, so that an interrupted pass continues; calls block.
"""

import hashlib
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from engram import text as board
from engram_host.companion.errors import FileUnreadable
from engram_host.companion.folder_settings import FoldersSettings
from engram_host.companion.folders import chunks
from engram_host.companion.folders.sources import MOST_PROBLEMS, FileContents, FolderSource, Listing, decoded, read_file
from engram_host.companion.store.markdown_files import FolderTable
from engram_host.companion.types import NewFile, StoredPassage

FILES_AT_ONCE = 32
# Bytes of a transaction, except for a single larger file: bounds the memory.
BYTES_AT_ONCE = 1 << 19
_STAMPS_AT_ONCE = 1000
# A file this recent may change again without a new stamp: it is read again next time.
_JUST_NOW_SECONDS = 2
_LONGEST_HEADING = 300
_DIGEST_BYTES = 16
# Characters not shown in a terminal.
_UNSHOWN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@dataclass
class FolderProgress:
    """Progress of indexing a folder: `problems` are sentences, `left_out` counts skipped files."""

    done: int = 0
    total: int = 0
    passages: int = 0
    problems: list[str] = field(default_factory=list)
    left_out: int = 0

    def add_problem(self, sentence: str) -> None:
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append(sentence)
        else:
            self.left_out += 1


class FolderIndexer:
    def __init__(self, store: FolderTable, settings: FoldersSettings, stop: threading.Event):
        self._store = store
        self._settings = settings
        self._stop = stop

    def bring_up_to_date(
        self, place: FolderSource, listing: Listing, progress: FolderProgress, kept: Callable[[], None]
    ) -> bool:
        """Index a listing, with `kept()` per transaction; False if incomplete. Raises StoreUnavailable."""
        form = self._form(place)
        wanted = dict(listing.files)
        gone: list[str] = []
        unreadable: dict[str, str] = {}
        for path, stamp, passages, problem in self._stored_files(place):
            if path not in wanted:
                if not listing.may_contain(path):
                    gone.append(path)
            elif stamp and stamp == f"{form}.{wanted[path]}":
                del wanted[path]
                progress.passages += passages
                if problem:
                    progress.add_problem(problem)
            elif problem and not stamp:
                unreadable[path] = problem
        progress.total = len(listing.files)
        progress.done = progress.total - len(wanted)
        for sentence in listing.problems:
            progress.add_problem(sentence)
        is_whole = self._drop_files(place, gone)
        for group in self._groups(place, list(wanted), unreadable, progress):
            if self._stop.is_set():
                return False
            self._store_files(place, group, progress)
            kept()
        return is_whole and not self._stop.is_set()

    def _stored_files(self, place: FolderSource) -> Iterator[tuple[str, str, int, str]]:
        after = ""
        while part := self._store.stamps(place.device, after, _STAMPS_AT_ONCE):
            yield from part
            after = part[-1][0]

    def _drop_files(self, place: FolderSource, gone: Sequence[str]) -> bool:
        for start in range(0, len(gone), FILES_AT_ONCE):
            if self._stop.is_set():
                return False
            self._store.drop_files(place.device, gone[start : start + FILES_AT_ONCE], int(time.time()))
        return True

    def _groups(
        self, place: FolderSource, paths: Sequence[str], unreadable: Mapping[str, str], progress: FolderProgress
    ) -> Iterator[list[NewFile]]:
        group: list[NewFile] = []
        size = 0
        for path in paths:
            if self._stop.is_set():
                return
            progress.done += 1
            try:
                file, read_bytes = self._file(place, path)
            except FileNotFoundError:
                continue  # the next listing shows its new state
            except OSError as error:
                progress.add_problem(f"{place.citation(path)} could not be read this time: {error.strerror}.")
                continue
            if not file.stamp and file.problem and file.problem == unreadable.get(path):
                progress.add_problem(file.problem)
                continue  # tried again each time, but stored once
            group.append(file)
            size += read_bytes
            if len(group) == FILES_AT_ONCE or size >= BYTES_AT_ONCE:
                yield group
                group, size = [], 0
        if group:
            yield group

    def _file(self, place: FolderSource, path: str) -> tuple[NewFile, int]:
        try:
            contents = read_file(place, path, self._settings.most_file_bytes)
        except FileUnreadable as problem:
            return NewFile(path, "", "", 0, place.scope, problem=str(problem)), 0
        form = self._form(place)
        stamp = _settled(contents, form)
        digest = hashlib.blake2b(form.encode() + contents.data, digest_size=_DIGEST_BYTES).hexdigest()
        try:
            passages = self._passages(decoded(place, path, contents.data))
        except FileUnreadable as problem:
            return NewFile(path, stamp, digest, contents.changed, place.scope, problem=str(problem)), len(contents.data)
        return NewFile(path, stamp, digest, contents.changed, place.scope, passages), len(contents.data)

    def _passages(self, text: str) -> tuple[StoredPassage, ...]:
        settings = self._settings
        return tuple(
            StoredPassage(
                printable(passage.text),
                printable(board.cut(" > ".join(passage.headings), _LONGEST_HEADING)),
                passage.first,
                passage.last,
            )
            for passage in chunks.split_passages(text, settings.chunk_tokens, settings.overlap_tokens)
        )

    def _store_files(self, place: FolderSource, group: Sequence[NewFile], progress: FolderProgress) -> None:
        self._store.put_files(place.device, group, int(time.time()))
        for file in group:
            progress.passages += len(file.passages)
            if file.problem:
                progress.add_problem(file.problem)

    def _form(self, place: FolderSource) -> str:
        return f"{chunks.FORM}.{self._settings.chunk_tokens}.{self._settings.overlap_tokens}.{place.scope}"


def printable(text: str) -> str:
    """Remove unprintable characters like the board, but fast for texts without any."""
    return board.printable(text) if _UNSHOWN.search(text) else text


def _settled(contents: FileContents, form: str) -> str:
    if not contents.stamp or abs(time.time() - contents.changed) < _JUST_NOW_SECONDS:
        return ""
    return f"{form}.{contents.stamp}"
