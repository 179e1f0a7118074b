"""How much fits in a view: its HTML is bounded, whatever people, models and files wrote."""

from collections.abc import Callable, Iterable
from html import escape
from typing import TypeVar

Item = TypeVar("Item")


def html_bytes(text: str) -> int:
    """Bytes that a text takes as HTML."""
    return len(escape(text).encode())


def take_fitting(items: Iterable[Item], most: int, size: Callable[[Item], int]) -> list[Item]:
    """The first items that together take at most `most` bytes, one at least."""
    taken: list[Item] = []
    for item in items:
        most -= size(item)
        if most < 0 and taken:
            break
        taken.append(item)
    return taken


def cut_text(text: str, most: int) -> str:
    """A text of at most `most` characters, with a sign where it was cut."""
    return text if len(text) <= most else text[: most - 1] + "…"


def count_pages(total: int, at_once: int) -> int:
    """The pages of a list of `total` things, one at least."""
    return max(1, -(-total // at_once))
