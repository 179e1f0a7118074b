"""Changes of memories: messages to the board, stored until it has answered.

A merge is two changes: one memory gets both texts, and then the other is forgotten. The first
message has all data of the second, so a restart can resume.
"""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace

from engram.errors import ArgumentError
from engram.memory import ALL
from engram_host.companion.conversations.service import LOOK_SECONDS, ConversationService, Exchange
from engram_host.companion.errors import (
    REFUSALS,
    MemoryNotChangeable,
    TooManyWaiting,
    UnknownConversation,
    UnknownEntry,
)
from engram_host.companion.memories import commands
from engram_host.companion.memories.browse import MemoryBrowser, MemoryDetail
from engram_host.companion.memories.commands import (
    ChangeId,
    MemoryChange,
    MemoryEdit,
    describe_change,
    entries_to_undo,
    is_newest_undoable,
    is_overtaken,
    parse_id,
    standing_changes,
)
from engram_host.companion.supervisor import BackgroundPart, Supervisor, wait_for_event
from engram_host.companion.types import Conversation, Said

MOST_LISTED = 100

MOST_MERGES = 64

KEY_PATTERN = r"^[0-9a-f]{8}$"
"""Format of a change's key; a repeated change has the same key."""

_UNDOING = ("waiting", "done")
_RECENT_SECONDS = 60
_AWAY_LOOK_SECONDS = 10.0
_RESUMED_SECONDS = 7 * 86400


class MemoryChanges(BackgroundPart):
    """Changes of memories; `was` is the version read, so that newer versions stay unchanged."""

    def __init__(self, conversations: ConversationService, browser: MemoryBrowser, supervisor: Supervisor):
        super().__init__(supervisor, "merges")
        self._conversations = conversations
        self._browser = browser
        self._merges: set[tuple[str, str]] = set()
        self._asked = asyncio.Event()
        self._lock = asyncio.Lock()
        """Makes the check of pending changes and the insert of a new one atomic."""

    # --- changes

    async def edit(self, device: str, entry: str, was: int, edit: MemoryEdit, key: str) -> MemoryChange:
        found = await self._changeable(device, entry)
        command = commands.edit_command(found.origin, found.entry.line, was, edit)
        return await self._say_alone(device, ChangeId("edit", entry, key), command, found)

    async def pin(self, device: str, entry: str, key: str, *, is_pinned: bool) -> MemoryChange:
        found = await self._changeable(device, entry)
        command = f"/pin {entry}{'' if is_pinned else ' off'}"
        return await self._say(device, ChangeId("pin" if is_pinned else "unpin", entry, key), command, found)

    async def forget(self, device: str, entry: str, was: int, key: str, *, with_turns: bool) -> MemoryChange:
        """Forget a memory; with turns or archived, `was` is compared with the local copy only."""
        found = await self._browser.detail(device, entry)
        if with_turns or found.entry.state == "archived":
            id = ChangeId("forget", entry, key)
            if was != found.entry.line["seq"] and not await self._known(device, str(id)):
                raise MemoryNotChangeable(entry, "changed")
            return await self._say(device, id, f"/forget {entry}", found)
        command = commands.drop_command(found.origin, found.entry.line, was)
        return await self._say_alone(device, ChangeId("drop", entry, key), command, found)

    async def undo(self, device: str, change: str, key: str) -> MemoryChange:
        """Undo a finished change, or both parts of a merge; a new `key` retries a refused undo."""
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
            if await self._is_overtaken(device, wanted):
                raise MemoryNotChangeable(id.entry, "overtaken")
            made = [await self._undo_once(device, entry, id.key, key, said) for entry in entries]
        return made[-1]

    async def _undo_once(self, device: str, entry: str, key: str, other_key: str, said: Said) -> MemoryChange:
        is_again = await self._known(device, str(ChangeId("undo", entry, key)))
        return await self._say_undo(device, entry, other_key if is_again else key, said.principal, said.workspace)

    async def undo_entry(self, device: str, entry: str, key: str) -> MemoryChange:
        """Undo the latest change of a memory unless the board made a later change."""
        found = await self._browser.detail(device, entry)
        said = commands.speak("", "", found.entry.line)
        return await self._say_undo(device, entry, key, said.principal, said.workspace)

    async def undo_newest(self, device: str, entry: str, was: int, key: str) -> MemoryChange:
        """Undo version `was`, made on the board itself, as far as the local copy is current."""
        async with self._lock:
            if known := await self._known(device, str(ChangeId("undo", entry, key))):
                return known
            found = await self._browser.detail(device, entry)
            if was != found.entry.line["seq"]:
                raise MemoryNotChangeable(entry, "changed")
            if not is_newest_undoable(found.entry, await self.newest(device, MOST_LISTED, entry)):
                raise MemoryNotChangeable(entry, "newest_not_undoable")
            return await self.undo_entry(device, entry, key)

    async def _is_overtaken(self, device: str, change: MemoryChange) -> bool:
        try:
            return is_overtaken(change, (await self._browser.detail(device, change.entry)).versions)
        except UnknownEntry:
            return False  # a forgotten memory returns

    async def merge(
        self, device: str, entry: str, was: int, other: str, other_was: int, edit: MemoryEdit, key: str
    ) -> MemoryChange:
        """Give one memory the text of both, then forget the other. Raise MemoryNotChangeable."""
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
        """Update changes from the newest lines of their memories, as far as the copy has them."""
        edited = [each for each in changes if each.kind in ("edit", "merge") and each.state in ("done", "conflict")]
        entries = await self._browser.entries(device, {each.entry for each in edited}) if edited else {}
        lines = {id: entry.line["seq"] for id, entry in entries.items()}
        behind = {each.id for each in edited if lines.get(each.entry) == each.was}
        return [
            replace(
                each,
                is_behind=each.id in behind,
                is_undoable=each.is_undoable and not await self._is_overtaken(device, each),
            )
            for each in changes
        ]

    async def _changes_of(self, device: str, entries: set[str]) -> list[MemoryChange]:
        found = await self._conversations.list_messages(device, MOST_LISTED, room=commands.ROOM)
        return await self._described_of(found, entries)

    async def _described_of(self, messages: Sequence[Conversation], entries: set[str]) -> list[MemoryChange]:
        ids = [(each, parse_id(each.said.mid)) for each in messages]
        wanted = [each for each, id in ids if id and entries & ({id.entry, id.other} - {""})]
        return [change for each in wanted if (change := await self._described(each))]

    async def find(self, device: str, change: str) -> MemoryChange:
        return (await self._compared(device, [await self._found(device, change)]))[0]

    async def _found(self, device: str, change: str) -> MemoryChange:
        found = await self._described(await self._conversations.find(device, change))
        if found is None:
            raise UnknownConversation(change)
        return found

    async def cancel(self, device: str, change: str) -> None:
        if parse_id(change) is None:
            raise UnknownConversation(change)
        await self._conversations.cancel(device, change)

    async def _described(self, message: Conversation) -> MemoryChange | None:
        exchange = await self._conversations.exchange(message.device, message.said.mid)
        return describe_change(exchange, await self._conversations.why_waiting(exchange.message))

    # --- commands

    async def _changeable(self, device: str, entry: str) -> MemoryDetail:
        found = await self._browser.detail(device, entry)
        if not found.is_changeable:
            raise MemoryNotChangeable(entry, found.entry.state)
        return found

    async def _say(self, device: str, id: ChangeId, command: str, found: MemoryDetail) -> MemoryChange:
        return await self._keep(device, commands.speak(str(id), command, found.entry.line))

    async def _say_alone(self, device: str, id: ChangeId, command: str, found: MemoryDetail) -> MemoryChange:
        """Request a change, or refuse it while another one waits that would make a new version."""
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
        mid = str(ChangeId("undo", entry, key))
        said = Said(mid, principal, f"/undo {entry}", commands.ROOM, workspace=workspace, is_command=True)
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
        """Forget the other memory if the board has both texts; True to check again soon."""
        try:
            exchange = await self._conversations.exchange(device, mid)
            if exchange.message.is_open:
                # A board without an offer for so long is away.
                return exchange.message.offers > 0 or time.time() - exchange.message.at < _RECENT_SECONDS
            await self._drop_other(device, exchange)
        except (UnknownConversation, UnknownEntry):
            pass  # expired, or the other memory is gone
        except TooManyWaiting:
            return False  # no room until the board answers
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
        """True if an undo of a merge was requested: then the other memory stays in any case."""
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
