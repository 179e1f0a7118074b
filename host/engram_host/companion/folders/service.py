"""Markdown folders of a companion: indexed and looked through in the background, with access checks."""

import asyncio
import contextlib
import logging
import secrets
import threading
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from engram import text as board
from engram.memory import access
from engram.memory.access import Caller
from engram_host.companion.errors import BadSearch, NoSuchFile, SettingError, StoreUnavailable
from engram_host.companion.folder_settings import FoldersSettings
from engram_host.companion.folders.chunks import lines_of, snippet
from engram_host.companion.folders.indexer import FolderIndexer, FolderProgress
from engram_host.companion.folders.sources import FolderSource, Listing, decoded, folder_sources, list_files, read_file
from engram_host.companion.search.request import Hit, SearchResult
from engram_host.companion.store.boards.table import BoardTable
from engram_host.companion.store.markdown_files import FolderTable
from engram_host.companion.store.processes import Lease
from engram_host.companion.supervisor import BackgroundTask, Supervisor
from engram_host.companion.types import FOLDER, Device
from engram_host.wording import counted

_log = logging.getLogger("engram.folders")

ID_FILE = "folders.id"
# Lease of the process that indexes a companion's folders, by the companion's id.
LEASE = "folders {}"
MOST_LINES = 500  # lines of one answer
MOST_CHARACTERS = 64000  # characters of one answer; longer lines are cut

# elsewhere: another process reads it, or is asked for its lease.
FolderStatus = Literal["waiting", "reading", "up to date", "not there", "elsewhere"]


@dataclass
class FolderState:
    """Status of a folder; `read_at` is the end of its last reading in Unix seconds."""

    place: FolderSource
    state: FolderStatus = "waiting"
    progress: FolderProgress = field(default_factory=FolderProgress)
    links: int = 0
    read_at: int = 0


@dataclass(frozen=True)
class FileExcerpt:
    """Lines of a file from `first`; `total` counts its lines, `following` is the next one or 0."""

    path: str
    first: int
    lines: list[str]
    total: int
    following: int


class FolderService:
    def __init__(
        self,
        *,
        boards: BoardTable,
        folders: FolderTable,
        settings: FoldersSettings,
        home: Path,
        supervisor: Supervisor,
        lease_of: Callable[[str], Lease],
        taken: Callable[[], None] = lambda: None,
    ):
        """`taken` is called when there are new passages. Raise SettingError for invalid settings."""
        self._boards = boards
        self._folders = folders
        self._settings = settings
        self._taken = taken
        self._is_used = bool(settings.paths or settings.memory)
        self._companion = companion_id(home, make=self._is_used)
        self._lease = lease_of(LEASE.format(self._companion))
        self.standings = [FolderState(place) for place in folder_sources(settings, self._companion)]
        self._by_device = {one.place.device: one for one in self.standings}
        self._stop = threading.Event()
        self._ending = asyncio.Event()
        self._indexer = FolderIndexer(folders, settings, self._stop)
        self._supervisor = supervisor
        self._task: BackgroundTask | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._trouble = ""

    # --- running

    def start(self) -> None:
        if self._companion:
            self._loop = asyncio.get_running_loop()
            # Without folders it only removes former ones from the store, and ends.
            self._task = self._supervisor.start(
                "folders", lambda: self._lease.run(self._run), is_finite=not self.standings
            )

    async def stop(self) -> None:
        self._ending.set()
        self._stop.set()
        if not self._lease.is_held:
            self._lease.release()  # the task waits for it, and ends
        if self._task:
            await self._task.finish()
        self._lease.release()

    async def _run(self) -> None:
        if self._ending.is_set():
            return
        self._stop.clear()
        is_purged = False
        try:
            while not self._ending.is_set():
                try:
                    if not is_purged:
                        await asyncio.to_thread(self._purge)
                        is_purged = True
                    for one in self.standings:
                        await self._update_folder(one)
                    self._trouble = ""
                except StoreUnavailable as error:
                    self._trouble = f"folders are read again later: {error}"
                if not (self.standings or self._trouble):
                    return
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(self._settings.rescan_seconds):
                        await self._ending.wait()
        finally:
            if not self._lease.is_held:
                for one in self.standings:
                    one.state = "waiting"  # another process continues it
            self._stop.set()  # a cancelled task does not stop the reading thread before its next group of files

    async def _update_folder(self, one: FolderState) -> None:
        if self._stop.is_set():
            return
        listing = await asyncio.to_thread(list_files, one.place, self._settings.most_files)
        if listing is None:
            one.state, one.progress = "not there", FolderProgress()
        else:
            one.links = listing.links
            await self._read(one, listing)

    async def _read(self, one: FolderState, listing: Listing) -> None:
        progress = FolderProgress()
        if one.state != "up to date":
            one.state = "reading"
        one.progress = progress if one.state == "reading" else one.progress
        if await asyncio.to_thread(self._indexer.bring_up_to_date, one.place, listing, progress, self._notify_stored):
            one.state, one.progress, one.read_at = "up to date", progress, int(time.time())

    def _notify_stored(self) -> None:
        if self._loop:
            self._loop.call_soon_threadsafe(self._taken)

    def _purge(self) -> None:
        for device in self._boards.sources():
            if device.name.startswith(f"{FOLDER}{self._companion}:") and device.name not in self._by_device:
                self._folders.drop_folder(device.name)

    # --- answering

    def problems(self) -> list[str]:
        found = [self._trouble] if self._trouble else []
        found += [_missing_folder(one.place) for one in self.standings if one.state == "not there"]
        return found

    def visible_folders(self, caller: Caller) -> list[FolderState]:
        seen = [one for one in self.standings if access.may_see(caller, one.place.scope)]
        is_elsewhere = not self._lease.is_held
        return [replace(one, state="elsewhere") if is_elsewhere and one.state == "waiting" else one for one in seen]

    def searchable_folders(self, caller: Caller, names: Collection[str] | None = None) -> list[Device]:
        for wanted in sorted(
            {one.place.scope for one in self.standings if not access.may_see(caller, one.place.scope)}
        ):
            _refuse(caller, wanted)
        there = [one.place.device for one in self._chosen(caller, names) if one.state != "not there"]
        # Each search calls this, and most companions have no folder: then nothing is read.
        known = {device.name: device for device in self._boards.sources()} if there else {}
        return [known[name] for name in there if name in known]

    def _chosen(self, caller: Caller, names: Collection[str] | None) -> list[FolderState]:
        visible = self.visible_folders(caller)
        if names is None:
            return visible
        known = [one.place.name for one in visible]
        for name in names:
            if name not in known:
                there = f"there are {', '.join(known)}" if known else "there are none"
                raise BadSearch("folders", f"names {name!r}, and no folder that you may see is called so; {there}")
        return [one for one in visible if one.place.name in names]

    def with_citations(
        self, result: SearchResult, query: str, caller: Caller, names: Collection[str] | None = None
    ) -> SearchResult:
        """Add current citations and snippets to hits; `names` are the searched folders, if not all."""
        hits: list[Hit] = []
        seen: set[str] = set()
        for hit in result.hits:
            one = self._by_device.get(hit.device)
            shown = self._with_citation(one.place, hit, query) if one else hit
            # Overlapping passages may both match by their common lines.
            if shown and shown.citation not in seen:
                hits.append(shown)
                seen |= {shown.citation} - {""}
        left_out = list(result.left_out)
        for one in self._chosen(caller, names):
            if one.state == "reading":
                files = counted(one.progress.total, "file", "files")
                left_out.append(f"{one.place.name}: {one.progress.done} of {files} read so far")
            elif one.state != "up to date":
                left_out.append(
                    _missing_folder(one.place)
                    if one.state == "not there"
                    else f"{one.place.name} has not been read yet"
                )
        citations = self._settings.citations
        if citations == "off" or (citations == "auto" and caller.group):
            hits = [replace(hit, id="", path="", citation="", heading="") if hit.citation else hit for hit in hits]
        return replace(result, hits=tuple(hits), left_out=tuple(left_out))

    def _with_citation(self, place: FolderSource, hit: Hit, query: str) -> Hit | None:
        file = self._folders.file(place.device, hit.path)
        first = next((first for seq, first, _ in file.places if seq == hit.seq), 0) if file else 0
        if not first:
            return None
        shown = snippet(hit.text, query, self._settings.snippet_chars)
        path = place.citation(hit.path)
        citation = f"{path}#{first + shown.line}"
        return replace(hit, device="", id=citation, text=shown.text, path=path, citation=citation, kind="passage")

    def lines(self, caller: Caller, cited: str, first: int, count: int) -> FileExcerpt:
        """Return lines of a file as it is now; raises NoSuchFile or FileUnreadable, also without access."""
        place, path = self._locate_file(caller, cited)
        try:
            contents = read_file(place, path, self._settings.most_file_bytes)
        except OSError:
            raise NoSuchFile(cited) from None
        return excerpt(place.citation(path), lines_of(decoded(place, path, contents.data)), first, count)

    def _locate_file(self, caller: Caller, cited: str) -> tuple[FolderSource, str]:
        for one in self.standings:
            path = one.place.path_of(cited)
            if path:
                if access.may_see(caller, one.place.scope):
                    return one.place, path
                _refuse(caller, one.place.scope)
        raise NoSuchFile(cited)


def excerpt(path: str, lines: Sequence[str], first: int, count: int, room: int = MOST_CHARACTERS) -> FileExcerpt:
    shown: list[str] = []
    for line in lines[first - 1 : first - 1 + min(count, MOST_LINES)]:
        if room < len(line) and shown:
            break
        shown.append(board.cut(line, room))
        room -= len(shown[-1])
    following = first + len(shown)
    return FileExcerpt(path, first, shown, len(lines), following if shown and following <= len(lines) else 0)


def _refuse(caller: Caller, wanted: str) -> None:
    """Log the denied scope, never the text."""
    where = " in a group" if caller.group else ""
    _log.info("what %s may see in folders was not shown to %s%s", wanted, caller.principal, where)


def _missing_folder(place: FolderSource) -> str:
    return f"the folder {place.name} is not there, so it is not searched; what was read of it is kept for when it comes back."


def companion_id(home: Path, *, make: bool) -> str:
    """Return this companion's id in a shared database; "" if there is none and `make` is false."""
    path = home / ID_FILE
    try:
        known = path.read_text(encoding="ascii").strip()
        if known.isalnum():
            return known
    except FileNotFoundError:
        pass
    except (OSError, UnicodeDecodeError):
        raise SettingError(str(path), "cannot be read; remove it, and all folders are read again.") from None
    if not make:
        return ""
    made = secrets.token_hex(8)
    try:
        path.write_text(made, encoding="ascii")
    except OSError as error:
        raise SettingError(str(path), f"cannot be written: {error.strerror}.") from None
    return made
