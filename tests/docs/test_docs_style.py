"""The pages are written in plain English, with prose of at most 100 columns."""

import ast
import functools
import itertools
import re
from collections.abc import Callable
from pathlib import Path

from engram_host.firmware import FIRMWARE
from one_case import in_one_case
from pages import PAGES, ROOT, read, without_fences

WIDEST = 100
MOST_WORDS = 500
"""Of the README, code and tables not counted."""

AVOIDED = [
    r"\banew\b",
    r"\b(?:is|are|was|were) told\b",
    r"\b(?:lets?|let) go\b",
    r"\bby which\b",
    r"\bfor want of\b",
    r"\bwhat is missing of\b",
    r"\bhow-manieth\b",
    r"\ball (?:else|of that)\b",
    r"\bstands? (?:in(?! for)|at|there|behind|beside|under)\b",
    r"(?:^|[.:] )(?:What an? |Whether |Of (?:these|them|those)\b)",
]
"""Turns of phrase that a reader stumbles over; plain ones are again, learns, deletes, that, for lack of, the rest, is in."""


IN_CODE = 7
"""Code avoids this many of them as well, from the first on."""

CODE = sorted([*FIRMWARE.rglob("*.py"), *(ROOT / "host").rglob("*.py")])
LOGS_OR_RAISES = re.compile(r"^_?log\.|^diag\.|(?:Error|Refused|Unavailable|Failed|Problem)$")


def prose(text: str) -> list[str]:
    """The lines of a page that are neither code nor part of a table."""
    return [line for line in without_fences(text).splitlines() if not line.startswith(("|", "    "))]


def too_wide(text: str) -> list[str]:
    """The lines of prose that are too wide and could be broken; a heading, a picture or a single link cannot."""
    return [
        line
        for line in prose(text)
        if len(line) > WIDEST and not line.startswith(("#", "![")) and len(line.split()) > 2
    ]


def avoided(text: str) -> list[str]:
    """The phrases of a page that are avoided; quotations of commands and of messages in backticks do not count."""
    words = re.sub(r"`[^`\n]*`|\"[^\"]*\"", "", without_fences(text))
    return [match[0] for phrase in AVOIDED for match in re.finditer(phrase, words, re.MULTILINE)]


OPENINGS = re.compile(r"(?:What|Whether|How|Who|Whose|Of|Which|Where|By which|To whom)\b")
"""Words that begin no docstring: a call does something, a class is something."""


@functools.cache
def sentences_of_code() -> list[tuple[Path, str, bool]]:
    """The docstrings, the lines for the log and the errors of the code: each with its file, and whether it is a docstring."""
    found: list[tuple[Path, str, bool]] = []
    for file in CODE:
        for node in ast.walk(ast.parse(file.read_bytes())):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                found.append((file, ast.get_docstring(node) or "", True))
            elif isinstance(node, ast.Call) and LOGS_OR_RAISES.search(ast.unparse(node.func)):
                found += [(file, text, False) for text in _texts(node)]
    return found


def _texts(call: ast.Call) -> list[str]:
    parts = (part.value for part in ast.walk(call) if isinstance(part, ast.Constant))
    return [text for text in parts if isinstance(text, str)]


def blank_runs(text: str) -> list[int]:
    """The lines of a page, a fenced block counted as one, at which a second blank line in a row stands."""
    lines = [line.strip() for line in without_fences(text, "(code)").splitlines()]
    return [number for number, pair in enumerate(itertools.pairwise(lines), 2) if pair == ("", "")]


@in_one_case("page", PAGES)
def test_no_page_has_two_blank_lines_in_a_row(page: str):
    assert blank_runs(read(page)) == []


@in_one_case("page", PAGES)
def test_prose_is_not_too_wide(page: str):
    assert too_wide(read(page)) == []


@in_one_case("page", PAGES)
def test_no_page_has_a_phrase_that_is_avoided(page: str):
    assert avoided(read(page)) == []


def test_docstrings_begin_with_what_a_call_does():
    assert _matches(OPENINGS.match, only_docstrings=True) == []


def test_no_docstring_log_line_or_error_has_a_phrase_that_is_avoided():
    assert _matches(re.compile("|".join(AVOIDED[:IN_CODE])).search) == []


def _matches(match: Callable[[str], object], *, only_docstrings: bool = False) -> list[str]:
    """The file and the first line of each sentence of the code that matches."""
    return [
        f"{file.relative_to(ROOT)}: {text.splitlines()[0]}"
        for file, text, is_docstring in sentences_of_code()
        if (is_docstring or not only_docstrings) and match(text)
    ]


def test_the_readme_is_read_in_about_a_minute():
    text = re.sub(r"\]\([^)]*\)", "]", "\n".join(prose(read("README.md"))))
    assert len(text.split()) <= MOST_WORDS
