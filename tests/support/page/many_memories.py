"""Texts of a board that remembers a lot: alike enough that words and tags find many, each one of its own."""

from typing import Any

MEMORIES = 10_000

_WORDS = (
    "kettle", "garden", "violin", "ticket", "harbour", "window", "coffee", "bicycle", "letter", "winter", "shed", "lamp",
    "boiler", "recipe", "train", "neighbour",
)  # fmt: skip


def memory_fields(number: int, now: int) -> dict[str, Any]:
    """The fields of a memory: the higher its number, the older it is."""
    words = [_WORDS[(number * step + step) % len(_WORDS)] for step in (1, 3, 5, 7, 11, 13)]
    return {
        "content": f"number {number}: the {' '.join(words)} is where it was on day {number % 365}.",
        "tags": [words[0], words[1]],
        "keywords": [words[2]],
        "created": now - number * 3600,
    }
