"""The host's layers: each imports from those that the page names, without a cycle, and nothing of tools/ or tests/."""

import sys
from functools import cache

from import_graph import cycles, graph, imports
from one_case import in_one_case
from pages import ROOT, in_backticks, plain, read, rows, section

PAGE = "docs/design/README.md"
HOST = ROOT / "host" / "engram_host"
COMPANION = "companion"
WIRING = ("serving", "cli")
"""They wire all others together, so they may import everything."""

OWN_LAYERS = ("app", "board_settings", "mqtt", "search_service", "serving")
"""Modules beside the companion's folders that are layers of their own; the others are its ground."""

MOST_LINES = 400
MOST_MODULES = 16
"""Of one folder: more is looked for in vain."""

FILES = {
    ".".join(("engram_host", *path.relative_to(HOST).with_suffix("").parts)).removesuffix(".__init__"): path
    for path in sorted(HOST.rglob("*.py"))
}
"""The file of each module."""
FOLDERS = {path.parent for path in FILES.values()}
"""Not those that hold only caches of modules that have moved."""
STARTER = "engram_host.__main__"
"""It only starts the command, and is part of no layer."""


@cache
def _imported() -> dict[str, set[str]]:
    return graph({module: path.read_text(encoding="utf-8") for module, path in FILES.items()})


def _layer(module: str) -> str:
    """The layer of a module: its folder, below the companion with the companion's name; `base` for what is beside these."""
    parts = module.split(".")[1:]
    if not parts or HOST / parts[0] not in FOLDERS:
        return "base"
    if parts[0] != COMPANION:
        return parts[0]
    if len(parts) > 1 and HOST / COMPANION / parts[1] in FOLDERS:
        return f"{COMPANION}/{parts[1]}"
    return parts[1] if len(parts) > 1 and parts[1] in OWN_LAYERS else COMPANION


def _named() -> dict[str, set[str]]:
    return {plain(row[0]): set(in_backticks(row[2])) for row in rows(section(read(PAGE), "## Layers of the host"))}


@cache
def _of_code() -> dict[str, set[str]]:
    """The layers that each layer imports from."""
    found: dict[str, set[str]] = {}
    for module, targets in _imported().items():
        if module == STARTER:
            continue
        own = _layer(module)
        found.setdefault(own, set()).update(_layer(target) for target in targets)
    return {layer: layers - {layer} for layer, layers in found.items()}


def test_every_layer_is_named():
    assert set(_named()) == set(_of_code())


@in_one_case("layer", sorted({_layer(module) for module in FILES if module != STARTER}))
def test_a_layer_imports_from_those_that_are_named(layer: str):
    assert layer in WIRING or _of_code()[layer] == _named()[layer]


def test_layers_do_not_import_each_other_in_a_circle():
    drawn = {layer: layers for layer, layers in _named().items() if layer not in WIRING}
    below: set[str] = set()
    while len(below) < len(drawn):
        ready = {layer for layer, layers in drawn.items() if layers <= below} - below
        assert ready, f"in a circle: {sorted(set(drawn) - below)}"
        below |= ready


def test_no_import_cycle_between_files():
    assert cycles(_imported()) == set()


def test_the_package_imports_nothing_of_the_tools_or_the_tests():
    paths = [path for folder in ("tools", "tests") for path in (ROOT / folder).rglob("*.py")]
    foreign = {path.stem for path in paths} | {"tools", "tests"}
    found = {
        (module, name)
        for module, path in FILES.items()
        for name in imports(path.read_text(encoding="utf-8"), module)
        if name.partition(".")[0] in foreign - sys.stdlib_module_names
    }
    assert found == set()


def test_files_and_folders_have_a_size_that_can_be_read():
    lengths = {module: path.read_text(encoding="utf-8").count("\n") for module, path in FILES.items()}
    assert {module: lines for module, lines in lengths.items() if lines > MOST_LINES} == {}
    folders = {path.parent for path in HOST.rglob("*.py")}
    sizes = {folder.relative_to(ROOT).as_posix(): len(list(folder.glob("*.py"))) for folder in folders}
    assert {folder: count for folder, count in sizes.items() if count > MOST_MODULES} == {}
