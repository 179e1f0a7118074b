"""The layers: the arrows that the page draws are the imports that the code has."""

import ast
import re
from functools import cache

from engram.store.store import Store
from one_case import in_one_case
from pages import FIRMWARE, ROOT, in_backticks, plain, read, rows, section

PAGE = "docs/design/README.md"
COMPANION = ROOT / "host" / "engram_host" / "companion"
TOP = ("app",)
"""Modules beside the ground that are layers of their own."""
WIRING = ("build", "build_parts")
"""Modules that belong to the app: it may import everything."""
GROUND = ("text",)
"""Packages of the ground."""
FILES = sorted(FIRMWARE.rglob("*.py"))


def _layer(parts: tuple[str, ...]) -> str:
    """The layer of a module by its path below engram/."""
    is_own = (FIRMWARE / parts[0]).is_dir() and parts[0] not in GROUND
    if parts[0] in WIRING:
        return "app"
    return parts[0] if is_own or parts[0] in TOP else "ground"


def _drawn() -> dict[str, set[str]]:
    return {plain(row[0]): set(in_backticks(row[2])) for row in rows(section(read(PAGE), "## Layers"))}


@cache
def _imports() -> dict[str, set[str]]:
    """The layers that each layer imports from."""
    found: dict[str, set[str]] = {}
    for path in FILES:
        own = _layer(path.relative_to(FIRMWARE).with_suffix("").parts)
        taken = found.setdefault(own, set())
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "engram":
                inside = tuple(node.module.split(".")[1:])
                names = [inside] if inside else [(alias.name,) for alias in node.names if alias.name[0] != "_"]
                taken.update(_layer(name) for name in names)
        taken.discard(own)
    return found


def test_every_layer_is_drawn():
    assert set(_drawn()) == set(_imports())


@in_one_case("layer", sorted({_layer(path.relative_to(FIRMWARE).with_suffix("").parts) for path in FILES}))
def test_a_layer_imports_from_those_that_are_drawn(layer):
    assert layer == "app" or _imports()[layer] == _drawn()[layer]


def test_layers_do_not_import_each_other_in_a_circle():
    drawn = {layer: layers for layer, layers in _drawn().items() if layer != "app"}
    below: set[str] = set()
    while len(below) < len(drawn):
        ready = {layer for layer, layers in drawn.items() if layers - {"app"} <= below} - below
        assert ready, f"in a circle: {sorted(set(drawn) - below)}"
        below |= ready


def test_the_interface_of_the_store_is_the_codes():
    drawn = [
        call for row in rows(section(read(PAGE), "## The store")) if len(row) == 2 for call in in_backticks(row[1])
    ]
    assert sorted(call for call in drawn if "." not in call) == sorted(name for name in vars(Store) if name[0] != "_")


@in_one_case("heading, folder", [("## The store", FIRMWARE / "store"), ("## The companion", COMPANION)])
def test_a_file_that_is_drawn_is_there(heading, folder):
    named = [path for row in rows(section(read(PAGE), heading)) for path in in_backticks(row[0])]
    assert named and not [path for path in named if not (folder / path).exists()]


def test_every_file_of_the_store_is_drawn():
    drawn = {path for row in rows(section(read(PAGE), "## The store")) for path in in_backticks(row[0])}
    files = {path.relative_to(FIRMWARE / "store").as_posix() for path in (FIRMWARE / "store").rglob("*.py")}
    assert {file for file in files if not file.endswith("__init__.py")} == drawn


def test_the_number_of_files_of_the_host_is_the_pages():
    files = sorted((ROOT / "host" / "engram_host").rglob("*.py"))
    said = re.search(r"`engram_host` has some (\d+) files", read(PAGE))
    assert said and abs(int(said[1]) - len(files)) <= 25
