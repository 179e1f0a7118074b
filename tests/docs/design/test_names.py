"""Names of files, classes, functions and methods in docstrings, comments and pages are those of the code."""

import ast
import builtins
import functools
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from pages import PAGES, ROOT, in_backticks, read

FOLDERS = ("firmware", "host", "tools", "boards")
"""Folders whose docstrings and comments are checked; those of tests only give names."""
FOREIGN = {"time.py", "discord.py", "src/main.py", "own.py", "engram.pack", "notes.Position"}
"""Names of things that are not the project's code: MicroPython's modules, examples, files on the flash, columns."""
PROPER = {"CoClaw", "LoCoMo", "MicroPython", "MicroPythons", "NickServ", "PyTorch", "UsageError", "WebSockets"}
"""Words written like classes that are none of the project's."""
PLACEHOLDER = re.compile(r"NAME|N{2,}")
"""Stands in a name for what the reader or the firmware chooses."""

_WORD = re.compile(r"\w+")
_FILE = re.compile(r"[\w/]+\.py\b")
_MEMBER = re.compile(r"\b([A-Z]\w+)\.([a-z_]\w*)")
_OF_MODULE = re.compile(r"\b([a-z_]\w*)\.([a-z_]\w*(?=\(\))|[A-Z]\w*)")
_MODULE = re.compile(r"\bengram(?:\.[a-z_]\w*)+")
_CAMEL_CASE = re.compile(r"\b(?:[A-Z][a-z]+){2,}\b")


def _identifiers(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """All names that a piece of code defines or uses."""
    for node in nodes:
        for field in ("name", "id", "attr", "arg", "asname"):
            name = getattr(node, field, None)
            if isinstance(name, str):
                yield name


class Code:
    """All names of the code: `members` of each class by its name, and the names of each module of the firmware; and the
    docstrings of each file, with the line on which each begins.

    The trees are not kept: every collection of garbage would walk them, for as long as this process runs tests.
    """

    def __init__(self):
        paths = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
        tests = [path for path in sorted((ROOT / "tests").rglob("*.py")) if path != Path(__file__)]
        self.files = {path.relative_to(ROOT).as_posix() for path in (*paths, *tests)}
        self.identifiers = set(dir(builtins)).union(
            *(_WORD.findall(path.read_text(encoding="utf-8")) for path in tests)
        )
        self.members: dict[str, set[str]] = {}
        self.modules: dict[str, set[str]] = {}
        self.docstrings = {path: list(self._read(path)) for path in paths}

    def _read(self, path: Path) -> Iterator[tuple[int, str]]:
        """Take the names of a file; give its docstrings."""
        nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        names = set(_identifiers(nodes))
        self.identifiers |= names
        if ROOT / "firmware" in path.parents:
            self.modules.setdefault(path.parent.name if path.stem == "__init__" else path.stem, set()).update(names)
        for node in nodes:
            if isinstance(node, ast.ClassDef):
                self.members.setdefault(node.name, {"py"}).update(_identifiers(ast.walk(node)))
            text = node.value if isinstance(node, ast.Expr) else None
            if isinstance(text, ast.Constant) and isinstance(text.value, str):
                yield text.lineno, text.value

    def has_file(self, name: str) -> bool:
        """Whether a file has this name, or this end of a path."""
        return any(f"/{file}".endswith(f"/{name.lstrip('/')}") for file in self.files)

    def has_module(self, name: str) -> bool:
        """Whether a dotted name is a module of the firmware, or of something in one."""
        path = ROOT / "firmware" / name.replace(".", "/")
        return path.is_dir() or path.with_suffix(".py").exists() or path.name in self.modules.get(path.parent.name, ())


@functools.cache
def _code() -> Code:
    return Code()


def unknown(text: str) -> list[str]:
    """The files, and the members of classes and modules, that a text names and that there are not."""
    code = _code()
    found = [name for name in _FILE.findall(text) if not code.has_file(name)]
    found += [f"{a}.{b}" for a, b in _MEMBER.findall(text) if a in code.members and b not in code.members[a]]
    found += [f"{a}.{b}" for a, b in _OF_MODULE.findall(text) if a in code.modules and b not in code.modules[a]]
    return [name for name in found if name not in FOREIGN and not PLACEHOLDER.search(name)]


def unknown_in_code(text: str) -> list[str]:
    """Likewise for a docstring or comment, in which classes and modules of the firmware stand without backticks."""
    code = _code()
    found = [name for name in _CAMEL_CASE.findall(text) if name not in code.identifiers | PROPER]
    found += [name for name in _MODULE.findall(text) if not code.has_module(name) and name not in FOREIGN]
    return unknown(text) + found


def _prose(path: Path) -> Iterator[tuple[int, str]]:
    """The docstrings and comments of a file, with the line on which each begins."""
    yield from _code().docstrings[path]
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        yield number, line.partition("# ")[2]  # a tokenizer would take most of the test's time


def test_docstrings_and_comments_name_what_exists():
    assert not [
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for path in _code().docstrings
        for line, text in _prose(path)
        for name in unknown_in_code(text)
    ]


def test_pages_name_what_exists():
    assert not [f"{page}: {name}" for page in PAGES for text in in_backticks(read(page)) for name in unknown(text)]
