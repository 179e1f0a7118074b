"""Watcher of folders, each by itself, since a recursive watch would follow links."""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Iterable

from watchfiles import Change, awatch

from engram_host.companion.errors import CompanionError

_log = logging.getLogger("engram.folders")

_GROUP_MILLISECONDS = 500
_STEP_MILLISECONDS = 100
_MOST_DEBOUNCES = 10  # debounces after which a folder that keeps changing is read anyway

# A folder's path and inode, since a recreated folder has to be watched again.
Folder = tuple[str, int]


class WatchEnded(CompanionError):
    """The watch ended unexpectedly."""


class FolderWatcher:
    def __init__(self, debounce_seconds: float):
        self._debounce = debounce_seconds
        self._watched: frozenset[Folder] = frozenset()
        self._changed: set[str] = set()
        self._heard = asyncio.Event()
        self._woken = asyncio.Event()
        self._last = 0.0
        self._stop = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self.problem = ""

    async def watch_folders(self, folders: Iterable[Folder]) -> bool:
        """Watch these folders; True if the set has changed, so that changes may have been missed."""
        wanted = frozenset(folders)
        if wanted == self._watched and self._task and not self._task.done():
            return False
        await self.stop()
        self._watched = wanted
        if not wanted:
            return False
        self._stop = asyncio.Event()
        self._task = task = asyncio.create_task(self._hear(sorted(path for path, _ in wanted)), name="folders' changes")
        task.add_done_callback(self._on_end)
        await asyncio.sleep(0)  # it begins to watch before its first pause, or fails
        return not task.done()

    async def wait(self, seconds: float) -> set[str]:
        """Return the changed paths after the debounce, empty on timeout; if it raises, they are unknown."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._heard.wait()
        if self._heard.is_set():
            await self._quiet()
        self._check()
        self._heard.clear()
        self._woken.clear()
        changed, self._changed = self._changed, set()
        return changed

    def _check(self) -> None:
        if self._task and self._task.done():
            if self._task.cancelled():
                raise WatchEnded("the watch for changes was cancelled.")
            self._task.result()

    def wake(self) -> None:
        self._woken.set()
        self._heard.set()

    async def stop(self) -> None:
        self._stop.set()
        task, self._task = self._task, None
        if task:
            await asyncio.gather(task, return_exceptions=True)
        self._watched = frozenset()

    def _on_end(self, task: asyncio.Task[None]) -> None:
        if task is self._task:
            self.wake()  # waiting callers get the reason

    async def _quiet(self) -> None:
        loop = asyncio.get_running_loop()
        end = loop.time() + _MOST_DEBOUNCES * self._debounce
        while not self._woken.is_set() and (left := min(self._last + self._debounce, end) - loop.time()) > 0:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(left):
                    await self._woken.wait()

    async def _hear(self, paths: list[str]) -> None:
        try:
            changes = awatch(
                *paths,
                watch_filter=_matters(frozenset(paths)),
                debounce=_GROUP_MILLISECONDS,
                step=_STEP_MILLISECONDS,
                stop_event=self._stop,
                recursive=False,
                ignore_permission_denied=True,
            )
            self.problem = ""
            async for group in changes:
                self._changed.update(path for _, path in group)
                self._last = asyncio.get_running_loop().time()
                self._heard.set()
        except FileNotFoundError:
            await asyncio.sleep(self._debounce)
            # A folder vanished before it could be watched: the next listing shows that.
        except (OSError, RuntimeError) as error:
            # A system without enough events, which watchfiles reports in either way: the folders are polled
            # instead.
            self.problem = (
                f"changes in folders are not heard of ({error}), so the folders are looked through every few seconds."
            )
            _log.warning(self.problem)


def _matters(watched: frozenset[str]) -> Callable[[Change, str], bool]:
    def matters(_change: Change, path: str) -> bool:
        return path in watched or not path.rpartition("/")[2].startswith(".")

    return matters
