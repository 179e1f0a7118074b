"""The firmware's files import each other without a cycle, also inside functions and by name."""

import ast
import re
from collections.abc import Iterator

from import_graph import cycles, graph, imports
from one_case import in_one_case
from pages import FIRMWARE, ROOT

TESTS = ROOT / "tests"

ALLOWED: set[frozenset[str]] = set()
"""Groups of modules that still import each other. There are none."""

MODULES = {
    ".".join(("engram", *path.relative_to(FIRMWARE).with_suffix("").parts)).removesuffix(".__init__"): path
    for path in sorted(FIRMWARE.rglob("*.py"))
}


def _firmware_cycles() -> set[frozenset[str]]:
    return cycles(graph({module: path.read_text(encoding="utf-8") for module, path in MODULES.items()}))


def test_no_import_cycle_but_those_that_are_allowed():
    assert _firmware_cycles() - ALLOWED == set()


def test_a_cycle_that_is_gone_is_no_longer_allowed():
    assert ALLOWED - _firmware_cycles() == set()


@in_one_case(
    "back",
    [
        "import engram.a",
        "def work():\n from engram.a import x",
        "NAMES = ('engram.a',)\ndef work():\n for name in NAMES:\n  __import__(name)",
    ],
)
def test_a_cycle_is_found_also_in_functions_and_by_name(back: str):
    found = cycles(graph({"engram": "", "engram.a": "from engram import b", "engram.b": back, "engram.c": back}))
    assert found == {frozenset({"engram.a", "engram.b"})}


MEANING = "engram.memory.line_meaning"
PURE = {
    *("engram.clock", "engram.compat", "engram.errors", "engram.memory", "engram.memory.ids", "engram.store.types"),
    *(module for module in MODULES if module.startswith("engram.text")),
}
"""What may be imported for the meaning of a line: values and functions of values."""

IO = {"io", "machine", "network", "os", "select", "socket", "ssl"}


def test_the_meaning_of_a_line_needs_nothing_that_reads_or_writes():
    sources = {module: path.read_text(encoding="utf-8") for module, path in MODULES.items()}
    imported = graph(sources)
    todo, reached = [MEANING], {MEANING}
    while todo:
        new = imported[todo.pop()] - reached
        reached |= new
        todo += new
    assert reached - {MEANING} <= PURE
    for module in reached:
        assert not {name.partition(".")[0] for name in imports(sources[module])} & IO, module
        names = {node.id for node in ast.walk(ast.parse(sources[module])) if isinstance(node, ast.Name)}
        assert "open" not in names, module


ON_THE_BOARD = {"device_script.py", "board_script.py"}
"""Files of the host that a board runs, beside its own firmware."""


def test_the_host_asks_for_the_meaning_of_a_line_in_one_place():
    asking: set[str] = set()
    for path in sorted((ROOT / "host" / "engram_host").rglob("*.py")):
        if path.name in ON_THE_BOARD:
            continue
        names = set(imports(path.read_text(encoding="utf-8")))
        asked = {name for name in names if name.startswith(MEANING)}
        asked |= {name for name in names if name.startswith("engram.store") and "engram.store.types" not in name}
        asked |= {name for name in names if ".schema" in name and name.startswith("engram.memory")}
        asking |= asked
    assert asking == {MEANING}


def _unexplained(source: str) -> Iterator[int]:
    """The lines of imports inside functions that neither stand in a lazy block nor say why, there or in a line above."""
    lines = source.split("\n")

    def walk(node: ast.AST, is_inside: bool) -> Iterator[int]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Import | ast.ImportFrom):
                said = (lines[child.lineno - 1], lines[(child.end_lineno or child.lineno) - 1])
                is_said = any("#" in line for line in said) or lines[child.lineno - 2].strip().startswith("#")
                if is_inside and not is_said:
                    yield child.lineno
            elif not (isinstance(child, ast.With) and _is_lazy(child)):
                yield from walk(child, is_inside or isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef))

    yield from walk(ast.parse(source), False)


def _is_lazy(block: ast.With) -> bool:
    calls = [item.context_expr for item in block.items]
    return any(isinstance(call, ast.Call) and ast.unparse(call.func) == "lazy" for call in calls)


def test_imports_inside_functions_say_why():
    found = {module: list(_unexplained(path.read_text(encoding="utf-8"))) for module, path in MODULES.items()}
    assert not {module: lines for module, lines in found.items() if lines}, (
        "each needs a comment, or a place at the top"
    )


def test_what_counts_as_said():
    body = ("import a", "import b  # seldom", "# why", "import c", "with lazy('d'):", "    import d")
    source = "def f():\n" + "".join(f"    {line}\n" for line in body)
    assert list(_unexplained(source + "import e\n")) == [2]


# --- tests


_OF_A_TEST = re.compile(r"^\s*(?:from|import) (test_\w+)", re.MULTILINE)


def test_no_test_imports_another_test():
    found = [
        f"{path.relative_to(TESTS)} imports {module}"
        for path in sorted(TESTS.rglob("*.py"))
        for module in _OF_A_TEST.findall(path.read_text(encoding="utf-8"))
    ]
    assert found == [], "what tests share stands in a file of its own"
