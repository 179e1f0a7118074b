"""Storage of messages of one bridge for their boards, and of their edits."""

import asyncio
import time
from collections.abc import Collection
from dataclasses import replace

from engram.errors import EngramError
from engram.memory.access import Caller
from engram_host.companion.bridge_types import Delivery, KeptMessage
from engram_host.companion.bridges.network import Incoming
from engram_host.companion.conversations.routing import edited
from engram_host.companion.conversations.service import ConversationService, check_said, why_not_corrected
from engram_host.companion.errors import CompanionError, StoreUnavailable
from engram_host.companion.store.bridges.deliveries import DeliveryTable
from engram_host.companion.types import ConversationLimits, Said

_NO_COMMAND = "An edit does not become a command. Send the command as a new message."


class MessageKeeper:
    def __init__(
        self, store: DeliveryTable, conversations: ConversationService, limits: ConversationLimits, signs: str
    ):
        self._store = store
        self._conversations = conversations
        self._limits = limits
        self._signs = signs

    async def keep(self, owed: Delivery, said: Said, board: str) -> tuple[Delivery | None, str]:
        """Store a message; return its delivery (None if repeated) or an error sentence."""
        try:
            delivery = replace(owed, device=board)
            values = check_said(said), self._limits, int(time.time())
            added = await asyncio.to_thread(self._store.add_message, delivery, *values)
        except StoreUnavailable:
            raise
        except (CompanionError, EngramError) as problem:
            return None, str(problem)
        if added:
            self._conversations.wake_board(board)
        return added, ""

    async def keep_text(self, owed: Delivery, sentence: str) -> Delivery | None:
        return await asyncio.to_thread(self._store.add_text, replace(owed, text=sentence), int(time.time()))

    async def find_edited(self, mid: str, ref: str) -> KeptMessage | None:
        kept = await asyncio.to_thread(self._store.kept_message, mid)
        return kept if kept and kept.delivery.ref == ref else None

    async def keep_edit(
        self, message: Incoming, owed: Delivery, caller: Caller, kept: KeptMessage | None, boards: Collection[str]
    ) -> Delivery | None:
        """Store an edit, or the reason to ignore it; None if nothing is new."""
        owed = replace(owed, place=kept.delivery.place) if kept else owed
        spoken = edited(message, kept.text if kept else "", boards, self._signs)
        if not spoken.text or (kept and spoken.text == kept.text):
            return None
        given = kept and kept.given
        why = why_not_corrected(given, int(time.time())) or (_NO_COMMAND if spoken.is_command else "")
        if why or not (kept and given):
            return await self.keep_text(owed, why)
        quoted, before = message.quoted or given.said.quoted, given.said
        forwarded = message.forwarded or before.forwarded
        said = replace(before, mid=owed.mid, principal=caller.principal, text=spoken.text, edits=before.mid)
        added, why = await self.keep(owed, replace(said, forwarded=forwarded, quoted=quoted), given.device)
        return await self.keep_text(owed, why) if why else added
