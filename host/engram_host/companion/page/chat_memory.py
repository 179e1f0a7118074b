"""What a conversation has to do with memories, as short as a view of it has room for."""

from dataclasses import dataclass, replace

from engram_host.companion.memories.exchanges import ExchangeMemory, RecalledItem, RememberedItem
from engram_host.companion.page.views.memories import cut_html, new_key

_TEXT_BYTES = 240


@dataclass(frozen=True)
class ShownExchangeMemory:
    """What is shown beside an exchange; `key` is for a form that undoes something of it."""

    recalled: tuple[RecalledItem, ...]
    remembered: tuple[RememberedItem, ...]
    session: str
    key: str


def shown_memory_of(found: ExchangeMemory) -> ShownExchangeMemory:
    """What a view shows of it: texts are cut."""
    return ShownExchangeMemory(
        tuple(replace(each, text=cut_html(each.text, _TEXT_BYTES)) for each in found.recalled),
        tuple(replace(each, text=cut_html(each.text, _TEXT_BYTES)) for each in found.remembered),
        found.session,
        new_key(),
    )
