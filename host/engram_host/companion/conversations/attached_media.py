"""Photos and sounds of people's messages: downloaded, stored and referenced in the text.

Files that fail or are refused leave "[photo]" without a reference, and a log line.
"""

import asyncio
import logging
from dataclasses import replace

from engram.memory import access
from engram.memory.access import Caller
from engram_host.companion.bridges.errors import FileNotFetched
from engram_host.companion.bridges.network import Attachment, Incoming
from engram_host.companion.errors import CompanionError, MediaRefused, StoreUnavailable
from engram_host.companion.media.service import MediaService
from engram_host.companion.supervisor import describe_error

_log = logging.getLogger("engram.media")

FETCH_SECONDS = 20.0

MOST_OF_MESSAGE = 4

_KINDS = ("photo", "audio")


class AttachedMedia:
    """Storage for photos and sounds of a bridge's messages; a no-op without a media service."""

    def __init__(self, bridge: str, media: MediaService | None):
        self._bridge = bridge
        self._media = media

    async def keep(self, message: Incoming, caller: Caller, board: str) -> Incoming:
        """Store a message's media; return it with references. Raise StoreUnavailable."""
        if self._media is None or not self._media.limits.board_count:
            return message
        references: dict[int, str] = {}
        try:
            async with asyncio.timeout(FETCH_SECONDS):
                for at, each in enumerate(message.attachments):
                    if len(references) < MOST_OF_MESSAGE and _is_fetched(each, message, caller):
                        references[at] = await self._keep(self._media, each, caller, board)
        except TimeoutError:
            _log.warning("the bridge %s gave photos or sounds within %.0f s only in part", self._bridge, FETCH_SECONDS)
        files = [replace(each, reference=references.get(at, "")) for at, each in enumerate(message.attachments)]
        return replace(message, attachments=tuple(files))

    async def _keep(self, media: MediaService, file: Attachment, caller: Caller, board: str) -> str:
        try:
            if file.size > media.limits.bytes_each:
                raise media.too_large()
            return (await media.keep(board, await self._fetch(file, media.limits.bytes_each), caller)).reference
        except StoreUnavailable:
            raise
        except (MediaRefused, FileNotFetched) as problem:
            _log.info("a %s of the bridge %s is not kept: %s", file.kind, self._bridge, problem)
        except CompanionError as problem:
            _log.warning("a %s of the bridge %s is not kept: %s", file.kind, self._bridge, problem)
        return ""

    async def _fetch(self, file: Attachment, most: int) -> bytes:
        assert file.fetch is not None
        try:
            return await file.fetch(most)
        except (FileNotFetched, TimeoutError):
            raise
        # Network libraries raise their own errors for odd addresses.
        except Exception as error:  # noqa: BLE001
            raise FileNotFetched(describe_error(error)) from None


def _is_fetched(file: Attachment, message: Incoming, caller: Caller) -> bool:
    """True unless the address was written by anyone but the owner in private."""
    is_allowed = not file.is_link or (access.is_owner(caller) and not message.chat.is_group)
    return file.kind in _KINDS and file.fetch is not None and is_allowed
