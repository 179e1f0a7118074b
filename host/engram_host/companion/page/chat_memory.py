"""Memories of a message in a conversation, shortened for a view."""

from dataclasses import dataclass, replace

from engram_host.companion.memories.exchanges import ExchangeMemory, RecalledItem, RememberedItem
from engram_host.companion.page.views.memories import cut_html, new_key

_TEXT_BYTES = 240


@dataclass(frozen=True)
class ShownExchangeMemory:
    """Memories shown beside a message; `key` identifies the form's undo."""

    recalled: tuple[RecalledItem, ...]
    remembered: tuple[RememberedItem, ...]
    session: str
    key: str


def shown_memory_of(found: ExchangeMemory) -> ShownExchangeMemory:
    """Return the memories of a message, with their texts cut."""
    return ShownExchangeMemory(
        tuple(replace(each, text=cut_html(each.text, _TEXT_BYTES)) for each in found.recalled),
        tuple(replace(each, text=cut_html(each.text, _TEXT_BYTES)) for each in found.remembered),
        found.session,
        new_key(),
    )
