"""The limits of limits.toml, a table for each group, and the figures that need no board."""

import ast
import subprocess
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import TypeGuard

ROOT = Path(__file__).resolve().parents[3]
FILE = ROOT / "limits.toml"


def read() -> dict[str, dict[str, float]]:
    """Return the limits by group and name."""
    return tomllib.loads(FILE.read_text(encoding="utf-8"))


def code_lines(folder: str) -> int:
    """Count the code lines of the Python files that git tracks in a folder of the project."""
    listed = subprocess.run(["git", "ls-files", "-z", folder], cwd=ROOT, capture_output=True, text=True, check=True)
    files = [ROOT / name for name in listed.stdout.split("\0") if name.endswith(".py")]
    return sum(lines_with_code(file.read_bytes()) for file in files if file.exists())


def lines_with_code(source: bytes) -> int:
    """Count the lines of a module without blank lines, comments and docstrings."""
    code = {at for at, line in enumerate(source.splitlines(), 1) if line.strip() and line.strip()[:1] != b"#"}
    docstrings: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and _is_text(node.value):
            docstrings.update(_lines_of(node))
        elif isinstance(node, ast.JoinedStr) or _is_text(node):
            code.update(_lines_of(node))
    return len(code - docstrings)


def _is_text(node: ast.AST) -> TypeGuard[ast.Constant]:
    return isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)


def _lines_of(node: ast.expr | ast.Expr) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def over(limits: Mapping[str, float], figures: Mapping[str, float]) -> str:
    """Return a table of all figures if one of them is over its limit, else ""."""
    if all(value <= limits[name] for name, value in figures.items()):
        return ""
    rows = [("limit of", "limit", "now", "")]
    for name, value in figures.items():
        rows.append((name, f"{limits[name]:.8g}", f"{value:.8g}", "OVER" if value > limits[name] else ""))
    widths = [max(len(row[at]) for row in rows) for at in range(3)]
    lines = [f"{a:{widths[0]}}  {b:>{widths[1]}}  {c:>{widths[2]}}  {d}".rstrip() for a, b, c, d in rows]
    advice = "Make it less. Limits only fall; raising one needs a line in the issue that asks for it."
    return "\n".join(["a limit of limits.toml is exceeded", "", *lines, "", advice])
