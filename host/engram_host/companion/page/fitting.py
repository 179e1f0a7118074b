"""Size limits of a view's HTML, whatever people, models and files wrote."""

from collections.abc import Callable, Iterable
from html import escape
from typing import TypeVar

Item = TypeVar("Item")


def html_bytes(text: str) -> int:
    """Return the bytes of a text as HTML."""
    return len(escape(text).encode())


def take_fitting(items: Iterable[Item], most: int, size: Callable[[Item], int]) -> list[Item]:
    """Return the first items within `most` bytes in total, at least one."""
    taken: list[Item] = []
    for item in items:
        most -= size(item)
        if most < 0 and taken:
            break
        taken.append(item)
    return taken


def cut_text(text: str, most: int) -> str:
    """Cut a text to `most` characters with an ellipsis."""
    return text if len(text) <= most else text[: most - 1] + "…"


def count_pages(total: int, at_once: int) -> int:
    """Return the number of pages, at least 1."""
    return max(1, -(-total // at_once))
