"""The pages are written in plain English, with prose of at most 100 columns."""

import ast
import itertools
import re
from collections.abc import Iterator
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
LOGS_OR_RAISES = r"^_?log\.|^diag\.|(?:Error|Refused|Unavailable|Failed|Problem)$"


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


def docstrings(file: Path) -> list[str]:
    """The docstrings of a module, its classes and its functions."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    nodes = ast.walk(ast.parse(file.read_bytes()))
    return [ast.get_docstring(node) or "" for node in nodes if isinstance(node, kinds)]


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


def sentences_of_code(file: Path) -> Iterator[str]:
    """The docstrings of a file, its lines for the log, and its errors."""
    yield from docstrings(file)
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.Call) and re.search(LOGS_OR_RAISES, ast.unparse(node.func)):
            yield from (
                part.value for part in ast.walk(node) if isinstance(part, ast.Constant) and isinstance(part.value, str)
            )


def test_docstrings_begin_with_what_a_call_does():
    found = [
        f"{file.relative_to(ROOT)}: {text.splitlines()[0]}"
        for file in CODE
        for text in docstrings(file)
        if OPENINGS.match(text)
    ]
    assert found == []


def test_no_docstring_log_line_or_error_has_a_phrase_that_is_avoided():
    found = [
        f"{file.relative_to(ROOT)}: {text.splitlines()[0]}"
        for file in CODE
        for text in sentences_of_code(file)
        if any(re.search(phrase, text) for phrase in AVOIDED[:IN_CODE])
    ]
    assert found == []


def test_the_readme_is_read_in_about_a_minute():
    text = re.sub(r"\]\([^)]*\)", "]", "\n".join(prose(read("README.md"))))
    assert len(text.split()) <= MOST_WORDS
