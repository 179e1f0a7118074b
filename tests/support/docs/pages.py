"""The pages of the documentation, and what a test takes out of them: tables, fenced blocks, names in backticks."""

import re
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

ROOT = Path(__file__).resolve().parents[3]
FIRMWARE = ROOT / "firmware" / "engram"
PAGES = [
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "boards/README.md",
    "tests/support/firmware/fakes/README.md",
    "tests/support/servers/fake_llm/README.md",
    *sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md")),
]

_FENCE = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`([^`\n]+)`")
_CELL_END = re.compile(r"(?<!\\)\|")


def read(page: str) -> str:
    """The text of a page by its path below the project's folder."""
    return (ROOT / page).read_text(encoding="utf-8")


@dataclass(frozen=True)
class Fence:
    """A fenced block: its language, its text, and the page's line on which the text begins."""

    language: str
    text: str
    line: int


def fences(text: str, language: str) -> list[Fence]:
    """The fenced blocks of a page in one language, those of a list's items without their indentation."""
    found = [Fence(m[2], dedent(m[3]), text.count("\n", 0, m.start()) + 2) for m in _FENCE.finditer(text)]
    return [fence for fence in found if fence.language == language]


def without_fences(text: str, mark: str = "") -> str:
    """A page without its fenced blocks, with a `mark` in the place of each."""
    return _FENCE.sub(mark, text)


def in_backticks(text: str) -> list[str]:
    """What stands in backticks, outside of fenced blocks."""
    return _CODE.findall(without_fences(text))


def headings(text: str, rank: int) -> list[str]:
    """The headings of a rank, without their marks."""
    return re.findall(rf"^{'#' * rank} (.+)$", without_fences(text), re.MULTILINE)


def section(text: str, heading: str, *, below: bool = True) -> str:
    """What stands under a heading such as "## Secrets", with the headings `below` its rank or without."""
    rank = heading.index(" ") if below else 6
    kept: list[str] = []
    is_inside = is_fenced = False
    for line in text.splitlines(keepends=True):
        is_fenced ^= line.lstrip().startswith("```")
        if is_inside and not is_fenced and re.match(rf"#{{1,{rank}}} ", line):
            return "".join(kept)
        if is_inside:
            kept.append(line)
        is_inside = is_inside or line.rstrip() == heading
    assert is_inside, f"there is no heading {heading!r}"
    return "".join(kept)


def rows(text: str) -> list[list[str]]:
    """The cells of all tables in a text, row by row, without the tables' heads."""
    found: list[list[str]] = []
    is_inside = False
    for line in without_fences(text).splitlines():
        if not line.startswith("|"):
            is_inside = False
        elif line.startswith("|-"):
            is_inside = True
        elif is_inside:
            found.append([cell.strip().replace("\\|", "|") for cell in _CELL_END.split(line)[1:-1]])
    return found


def tables(text: str, rank: int) -> dict[str, list[list[str]]]:
    """The rows of the tables right below each heading of a rank, for headings that have some."""
    titles = headings(text, rank)
    found = {title: rows(section(text, f"{'#' * rank} {title}", below=False)) for title in titles}
    return {title: table for title, table in found.items() if table}


def plain(cell: str) -> str:
    """A cell that is one name, without its backticks."""
    return cell.strip("`")
