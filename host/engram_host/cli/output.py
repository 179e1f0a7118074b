"""Output of commands on stdout: a table, plain lines, or one JSON document."""

import json
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from engram import text as board_text
from engram_host.wording import format_day as format_day
from engram_host.wording import format_size as format_size
from engram_host.wording import format_time as format_time

_PLAIN_GAP = "  "


def print_json(value: Any) -> None:
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=1 if sys.stdout.isatty() else None) + "\n")


def print_line(sentence: str) -> None:
    sys.stdout.write(printable_line(sentence) + "\n")


def print_either(value: Any, sentence: str, *, is_json: bool) -> None:
    if is_json:
        print_json(value)
    else:
        print_line(sentence)


def print_table(columns: Sequence[str], rows: Iterable[Sequence[Any]], empty: str = "") -> None:
    """Print a table on a terminal, aligned lines elsewhere, `empty` without rows."""
    shown = [[printable_line("" if cell is None else str(cell)) for cell in row] for row in rows]
    if not shown:
        print_line(empty)
    elif sys.stdout.isatty():
        _rich(columns, shown)
    else:
        widths = [max(len(row[at]) for row in shown) for at in range(len(columns) - 1)] + [0]
        for row in shown:
            cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
            sys.stdout.write(_PLAIN_GAP.join(cells).rstrip() + "\n")


def format_flash(percent: int | None) -> str:
    """Format the fill level of a flash; "" if unknown."""
    return "" if percent is None else f"{percent} %"


def _rich(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    drawn = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        drawn.add_column(column, overflow="fold")
    for row in rows:
        drawn.add_row(*(Text(cell) for cell in row))  # as text: brackets in a memory are no markup
    Console(highlight=False).print(drawn)


def printable_line(text: str) -> str:
    """Return a text as one line without control characters: it may be a stranger's."""
    return board_text.printable(text.replace("\n", " ⏎ ").replace("\t", " "))
