"""Changes of memories: each is a message to the board, which owns its memory, and is kept until the board has answered.

A merge is two changes: the one memory gets the text of both, and once the board says that it has, the other one is forgotten.
Its first message says all that the second one needs, so a companion that was restarted goes on where it was.
"""

import asyncio
import contextlib
import time
from collections.abc import Sequence
from dataclasses import replace

from engram.errors import ArgumentError
from engram.memory import ALL
from engram_host.companion.conversations.answers import Exchange
from engram_host.companion.conversations.service import LOOK_SECONDS, ConversationService
from engram_host.companion.conversations.wakers import wait_for_event
from engram_host.companion.errors import (
    REFUSALS,
    MemoryNotChangeable,
    TooManyWaiting,
    UnknownConversation,
    UnknownEntry,
)
from engram_host.companion.memories import commands
from engram_host.companion.memories.browse import MemoryBrowser
from engram_host.companion.memories.commands import MemoryEdit
from engram_host.companion.memories.outcome import ChangeId, MemoryChange, describe_change, parse_id
from engram_host.companion.memories.types import MemoryDetail
from engram_host.companion.memories.undo_order import (
    compare_with_copy,
    entries_to_undo,
    is_newest_undoable,
    is_overtaken,
    is_pin_overtaken,
    standing_changes,
)
from engram_host.companion.supervisor import BackgroundTask, Supervisor
from engram_host.companion.types import Conversation, Said

MOST_LISTED = 100
"""Messages among which the changes of one memory are looked for, the newest ones."""

MOST_MERGES = 64
"""That may be under way at the same time."""

KEY_PATTERN = r"^[0-9a-f]{8}$"
"""How the key of a change looks: the same change sent again has the same one."""

_UNDOING = ("waiting", "done")
_RECENT_SECONDS = 60
_AWAY_LOOK_SECONDS = 10.0
_RESUMED_SECONDS = 7 * 86400
"""How long after its first part a merge is finished."""


class MemoryChanges:
    """Asks boards for changes. Runs beside all else between start() and stop(), to finish merges.

    `was` is the seq of the version that a person has read: of a memory that the board has changed since, nothing is changed.
    Each call may raise UnknownDevice, UnknownEntry, TooManyWaiting and StoreUnavailable.
    """

    def __init__(self, conversations: ConversationService, browser: MemoryBrowser, supervisor: Supervisor):
        self._conversations = conversations
        self._browser = browser
        self._supervisor = supervisor
        self._merges: set[tuple[str, str]] = set()
        self._asked = asyncio.Event()
        self._lock = asyncio.Lock()
        """Held from the look at the other changes of a memory until the new one is kept."""
        self._task: BackgroundTask | None = None

    def start(self) -> None:
        """Begin to finish merges, those of an earlier start as well."""
        self._task = self._supervisor.start("merges", self._run)

    async def stop(self) -> None:
        """End that; what is left is finished after the next start."""
        if self._task:
            await self._task.stop()

    # --- changes

    async def edit(self, device: str, entry: str, was: int, edit: MemoryEdit, key: str) -> MemoryChange:
        """Change the text or other fields of a memory. MemoryNotChangeable."""
        found = await self._changeable(device, entry)
        command = commands.edit_command(found.origin, found.entry.line, was, edit)
        return await self._say_alone(device, ChangeId("edit", entry, key), command, found)

    async def pin(self, device: str, entry: str, key: str, *, is_pinned: bool) -> MemoryChange:
        """Protect a memory from eviction, or end that. MemoryNotChangeable."""
        found = await self._changeable(device, entry)
        command = commands.pin_command(entry, is_pinned=is_pinned)
        return await self._say(device, ChangeId("pin" if is_pinned else "unpin", entry, key), command, found)

    async def forget(self, device: str, entry: str, was: int, key: str, *, with_turns: bool) -> MemoryChange:
        """Forget a memory, also with the turns that it came from. MemoryNotChangeable.

        With turns, and for an archived memory, `was` is compared with the copy here: the board's command has no version.
        """
        found = await self._browser.detail(device, entry)
        if with_turns or found.entry.state == "archived":
            id = ChangeId("forget", entry, key)
            if was != found.entry.line["seq"] and not await self._known(device, str(id)):
                raise MemoryNotChangeable(entry, "changed")
            return await self._say(device, id, commands.forget_command(entry), found)
        command = commands.drop_command(found.origin, found.entry.line, was)
        return await self._say_alone(device, ChangeId("drop", entry, key), command, found)

    async def undo(self, device: str, change: str, key: str) -> MemoryChange:
        """Undo a change that is done, both parts of a merge, once; `key` is for another try after the board refused, since
        it has made another change since. UnknownConversation; MemoryNotChangeable if a later change of the memory is known.
        """
        said = (await self._conversations.exchange(device, change)).message.said
        id = parse_id(change)
        if id is None:
            raise UnknownConversation(change)
        async with self._lock:
            first = await self._known(device, str(ChangeId("undo", id.entry, id.key)))
            if first and first.state in _UNDOING:
                return first
            changes = await self._changes_of(device, {id.entry, id.other})
            wanted = next((each for each in changes if each.id == change), None)
            entries = entries_to_undo(changes, wanted) if wanted else []
            if not wanted or not entries:
                raise MemoryNotChangeable(id.entry, "not_undoable")
            await self._check_is_newest(device, wanted)
            made = [await self._undo_once(device, entry, id.key, key, said) for entry in entries]
        return made[-1]

    async def _undo_once(self, device: str, entry: str, key: str, other_key: str, said: Said) -> MemoryChange:
        is_again = await self._known(device, str(ChangeId("undo", entry, key)))
        return await self._say_undo(device, entry, other_key if is_again else key, said.principal, said.workspace)

    async def undo_entry(self, device: str, entry: str, key: str) -> MemoryChange:
        """Undo the latest change of a memory, such as that it was stored. The board refuses if another one came later."""
        found = await self._browser.detail(device, entry)
        said = commands.speak("", "", found.entry.line)
        return await self._say_undo(device, entry, key, said.principal, said.workspace)

    async def undo_newest(self, device: str, entry: str, was: int, key: str) -> MemoryChange:
        """Undo the newest version `was` of a memory, which was made on the board itself. MemoryNotChangeable.

        Compared with the copy here: if the board has changed the memory since the copy was made, it undoes that.
        """
        async with self._lock:
            if known := await self._known(device, str(ChangeId("undo", entry, key))):
                return known
            found = await self._browser.detail(device, entry)
            if was != found.entry.line["seq"]:
                raise MemoryNotChangeable(entry, "changed")
            if not is_newest_undoable(found.entry, await self.newest(device, MOST_LISTED, entry)):
                raise MemoryNotChangeable(entry, "newest_not_undoable")
            return await self.undo_entry(device, entry, key)

    async def _check_is_newest(self, device: str, change: MemoryChange) -> None:
        """Refuse to undo a change after which the board has changed the memory itself, as far as its copy says."""
        with contextlib.suppress(UnknownEntry):  # a forgotten memory comes back
            found = await self._browser.detail(device, change.entry)
            is_pin = change.kind in ("pin", "unpin")
            if is_pin_overtaken(change, found.versions) if is_pin else is_overtaken(change, found.entry.line):
                raise MemoryNotChangeable(change.entry, "overtaken")

    async def merge(
        self, device: str, entry: str, was: int, other: str, other_was: int, edit: MemoryEdit, key: str
    ) -> MemoryChange:
        """Give one memory the text of two, and forget the other one, once the board has the text. MemoryNotChangeable."""
        if entry == other:
            raise ArgumentError("other", "is the same memory: name another one.")
        if len(self._merges) >= MOST_MERGES:
            raise TooManyWaiting(REFUSALS.say("many_merges", count=MOST_MERGES))
        found = await self._changeable(device, entry)
        gone = await self._changeable(device, other)
        if found.entry.line.get("scope", ALL) != gone.entry.line.get("scope", ALL):
            raise MemoryNotChangeable(other, "other_scope")
        command = commands.edit_command(found.origin, found.entry.line, was, edit)
        made = await self._say_alone(device, ChangeId("merge", entry, key, other, other_was), command, found)
        self._merges.add((device, made.id))
        self._asked.set()
        return made

    # --- what became of them

    async def newest(self, device: str, limit: int, entry: str = "") -> list[MemoryChange]:
        """The newest changes of a board, or of one memory, as far as they are kept; the newest first."""
        found = await self._conversations.list_messages(device, MOST_LISTED, room=commands.ROOM)
        ids = [(each, parse_id(each.said.mid)) for each in found]
        wanted = [id for _, id in ids if id and (not entry or entry in (id.entry, id.other))][:limit]
        entries = {name for id in wanted for name in (id.entry, id.other)}
        changes = await self._described_of(found, entries)
        shown = {str(id) for id in wanted}
        return await self._compared(
            device,
            [
                replace(change, is_undoable=bool(entries_to_undo(changes, change)))
                for change in changes
                if change.id in shown
            ],
        )

    async def _compared(self, device: str, changes: Sequence[MemoryChange]) -> list[MemoryChange]:
        """The changes with what the copy of the board says of them."""
        ended = {change.entry for change in changes if change.state in ("done", "conflict")}
        entries = await self._browser.entries(device, ended) if ended else {}
        lines = {id: entry.line for id, entry in entries.items()}
        compared = [compare_with_copy(change, lines.get(change.entry)) for change in changes]
        return [
            replace(change, is_undoable=False) if await self._is_pin_overtaken(device, change) else change
            for change in compared
        ]

    async def _is_pin_overtaken(self, device: str, change: MemoryChange) -> bool:
        if not change.is_undoable or change.kind not in ("pin", "unpin"):
            return False
        try:
            return is_pin_overtaken(change, (await self._browser.detail(device, change.entry)).versions)
        except UnknownEntry:
            return False

    async def _changes_of(self, device: str, entries: set[str]) -> list[MemoryChange]:
        """The newest changes of some memories, the newest first."""
        found = await self._conversations.list_messages(device, MOST_LISTED, room=commands.ROOM)
        return await self._described_of(found, entries)

    async def _described_of(self, messages: Sequence[Conversation], entries: set[str]) -> list[MemoryChange]:
        ids = [(each, parse_id(each.said.mid)) for each in messages]
        wanted = [each for each, id in ids if id and entries & ({id.entry, id.other} - {""})]
        return [change for each in wanted if (change := await self._described(each))]

    async def find(self, device: str, change: str) -> MemoryChange:
        """One change. UnknownConversation."""
        return (await self._compared(device, [await self._found(device, change)]))[0]

    async def _found(self, device: str, change: str) -> MemoryChange:
        found = await self._described(await self._conversations.find(device, change))
        if found is None:
            raise UnknownConversation(change)
        return found

    async def cancel(self, device: str, change: str) -> None:
        """Ask the board for a change no more. UnknownConversation."""
        if parse_id(change) is None:
            raise UnknownConversation(change)
        await self._conversations.cancel(device, change)

    async def _described(self, message: Conversation) -> MemoryChange | None:
        exchange = await self._conversations.exchange(message.device, message.said.mid)
        return describe_change(exchange, await self._conversations.why_waiting(exchange.message))

    # --- what they are made of

    async def _changeable(self, device: str, entry: str) -> MemoryDetail:
        found = await self._browser.detail(device, entry)
        if not found.is_changeable:
            raise MemoryNotChangeable(entry, found.entry.state)
        return found

    async def _say(self, device: str, id: ChangeId, command: str, found: MemoryDetail) -> MemoryChange:
        return await self._keep(device, commands.speak(str(id), command, found.entry.line))

    async def _say_alone(self, device: str, id: ChangeId, command: str, found: MemoryDetail) -> MemoryChange:
        """Ask for a change of one version. Another change that waits would make a new version first: refused then."""
        async with self._lock:
            if not await self._known(device, str(id)):
                await self._check_is_alone(device, id)
            return await self._say(device, id, command, found)

    async def _check_is_alone(self, device: str, id: ChangeId) -> None:
        for each in await self._conversations.list_messages(device, MOST_LISTED, room=commands.ROOM):
            other = parse_id(each.said.mid)
            if not each.is_open or not other:
                continue
            for entry in (id.entry, id.other):
                if entry and entry in (other.entry, other.other):
                    raise MemoryNotChangeable(entry, "is_changing")

    async def _say_undo(self, device: str, entry: str, key: str, principal: str, workspace: str) -> MemoryChange:
        mid, command = str(ChangeId("undo", entry, key)), commands.undo_command(entry)
        said = Said(mid, principal, command, commands.ROOM, workspace=workspace, is_command=True)
        return await self._keep(device, said)

    async def _keep(self, device: str, said: Said) -> MemoryChange:
        kept = await self._conversations.say(device, said)
        change = await self._described(kept)
        assert change is not None, said.mid
        return change

    # --- merges

    async def _run(self) -> None:
        found = await self._conversations.unfinished(f"{commands.PREFIX}merge:", _RESUMED_SECONDS, MOST_MERGES)
        self._merges |= {(each.device, each.said.mid) for each in found}
        while True:
            self._asked.clear()
            looks_soon = [await self._finish(*merge) for merge in [*self._merges]]
            if not self._merges:
                await self._asked.wait()
            else:
                await wait_for_event(self._asked, LOOK_SECONDS if any(looks_soon) else _AWAY_LOOK_SECONDS)

    async def _finish(self, device: str, mid: str) -> bool:
        """Forget the other memory if the board has the text of both; whether to look again soon."""
        try:
            exchange = await self._conversations.exchange(device, mid)
            if exchange.message.is_open:
                # A board that was not offered it for so long is away.
                return exchange.message.offers > 0 or time.time() - exchange.message.at < _RECENT_SECONDS
            await self._drop_other(device, exchange)
        except (UnknownConversation, UnknownEntry):
            pass  # it is kept no more, or the other memory has gone by itself
        except TooManyWaiting:
            return False  # there will be room once the board has answered something
        self._merges.discard((device, mid))
        return False

    async def _drop_other(self, device: str, exchange: Exchange) -> None:
        change, id = describe_change(exchange), parse_id(exchange.message.said.mid)
        if change is None or id is None or change.state not in ("done", "unchanged"):
            return
        mid = str(ChangeId("drop", id.other, id.key))
        found = await self._browser.detail(device, id.other)
        command = commands.drop_command(found.origin, found.entry.line, id.was)
        async with self._lock:
            if await self._known(device, mid) or await self._is_taken_back(device, change):
                return
            await self._conversations.say(device, commands.speak(mid, command, found.entry.line))

    async def _is_taken_back(self, device: str, merge: MemoryChange) -> bool:
        """Whether somebody has asked to undo a merge: then its other memory stays, also if the board refuses the undo."""
        if await self._known(device, str(ChangeId("undo", merge.entry, merge.key))):
            return True
        changes = await self._changes_of(device, {merge.entry})
        standing = {change.id for change in standing_changes(changes, merge.entry)}
        return merge.state == "done" and merge.id in {each.id for each in changes} - standing

    async def _known(self, device: str, mid: str) -> MemoryChange | None:
        try:
            return await self._found(device, mid)
        except UnknownConversation:
            return None
