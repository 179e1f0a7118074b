"""The firmware's files import each other without a cycle, also inside functions and by name."""

import ast
import re

from import_graph import cycles, graph, imports
from pages import FIRMWARE, ROOT

TESTS = ROOT / "tests"

MODULES = {
    ".".join(("engram", *path.relative_to(FIRMWARE).with_suffix("").parts)).removesuffix(".__init__"): path
    for path in sorted(FIRMWARE.rglob("*.py"))
}


def test_no_modules_import_each_other_in_a_cycle():
    assert cycles(graph({module: path.read_text(encoding="utf-8") for module, path in MODULES.items()})) == set()


MEANING = "engram.memory.line_meaning"
PURE = {
    *("engram", "engram.clock", "engram.compat", "engram.errors", "engram.loops", "engram.memory", "engram.memory.ids"),
    *("engram.memory.attributes", "engram.native", "engram.store.types", "engram.tables"),
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
        assert "open" not in names or module == "engram.tables", module  # these are part of the code


WIRING = ("engram.app", "engram.build", "engram.device.boot")
"""How the names of modules begin that import, where the settings name it, what other boards do without."""

OF_SOME_RUNTIMES = {
    "engram.compat": {"asyncio"},
    "engram.link.link_state": {"machine"},
    "engram.net.transport": {"tls"},
    "engram.senses.sampling": {"dht", "ds18x20", "machine", "onewire"},
    "engram.channels.console.commands.stats": {"machine"},
}
"""What modules import inside functions since not every runtime has it, or the host does without it."""


def _imported_inside(source: str) -> set[str]:
    """Return the modules that a file imports inside functions."""
    functions = [
        node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    nodes = [node for function in functions for node in ast.walk(function)]
    found = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    return found | {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}


def test_imports_stand_at_the_top_but_where_a_board_is_wired():
    found = {module: _imported_inside(path.read_text(encoding="utf-8")) for module, path in MODULES.items()}
    others = {module: names for module, names in found.items() if names and not module.startswith(WIRING)}
    assert others == OF_SOME_RUNTIMES


DEEPEST = 6
"""Imports within imports from the app on: each takes of the stack, which is short on a chip."""


def _deepest(module: str, loaded: set[str], above: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Import a module as MicroPython does, in the order of its lines; the longest chain of imports."""
    loaded.add(module)
    chain = longest = (*above, module)
    for node in ast.parse(MODULES[module].read_text(encoding="utf-8")).body:
        if not isinstance(node, ast.ImportFrom) or not node.module:
            continue
        names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        parents = [".".join(name.split(".")[:end]) for name in names for end in range(1, name.count(".") + 2)]
        for name in parents:
            if name in MODULES and name not in loaded:
                longest = max(longest, _deepest(name, loaded, chain), key=len)
    return longest


def test_imports_within_imports_are_few():
    longest = _deepest("engram.app", set())
    assert len(longest) <= DEEPEST, "import the leaves of this chain before: " + " > ".join(longest)


# --- tests


_OF_A_TEST = re.compile(r"^\s*(?:from|import) (test_\w+)", re.MULTILINE)


def test_no_test_imports_another_test():
    found = [
        f"{path.relative_to(TESTS)} imports {module}"
        for path in sorted(TESTS.rglob("*.py"))
        for module in _OF_A_TEST.findall(path.read_text(encoding="utf-8"))
    ]
    assert found == [], "what tests share stands in a file of its own"
