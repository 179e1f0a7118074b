"""What a chip has not, no module of the firmware uses: read from the source, and from the compiled modules."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

from fakes import names
from one_case import in_one_case

ROOT = Path(__file__).resolve().parents[2]
FIRMWARE = ROOT / "firmware"
SOURCES = sorted(FIRMWARE.rglob("*.py"))
CHIP_HAS = {"os": names.OS, "sys": names.SYS, "time": names.TIME}


ONLY_FOR_OTHERS = {"engram/compat.py": {"time.monotonic_ns"}, "manifest.py": set()}
"""Names behind a test of whether there is another one, for CPython."""


BANNED = {
    "exc_info", "getsockopt", "getenv", "putenv", "unsetenv", "fsync", "truncate", "monotonic", "perf_counter", "casefold",
    "isalnum", "isidentifier", "zfill", "ljust", "rjust", "expandtabs", "removeprefix", "removesuffix", "maketrans",
    "TaskGroup", "Semaphore", "shield", "heapreplace", "dataclass", "pathlib", "typing", "contextlib", "functools",
}  # fmt: skip
"""Names that no runtime of a chip has."""


def named(source: Path) -> str:
    return source.relative_to(FIRMWARE).as_posix()


def tree(source: Path) -> ast.Module:
    return ast.parse(source.read_text(encoding="utf-8"))


def imported(source: Path) -> Iterator[str]:
    for node in ast.walk(tree(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def attributes(source: Path) -> Iterator[str]:
    """Names of modules that are used, as "os.stat"."""
    parsed = tree(source)
    bound = {}
    for node in ast.walk(parsed):
        if isinstance(node, ast.Import):
            bound.update({alias.asname or alias.name: alias.name for alias in node.names})
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
    for node in ast.walk(parsed):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in bound:
            yield f"{bound[node.value.id]}.{node.attr}"


@in_one_case("source", SOURCES)
def test_a_module_imports_only_what_a_chip_has(source: Path):
    outside = {name for name in imported(source) if name.split(".")[0] not in ("engram", "module_packs")}
    assert outside <= set(names.MODULES)


@in_one_case("source", SOURCES)
def test_a_module_uses_of_os_sys_and_time_only_what_a_chip_has(source: Path):
    for used in set(attributes(source)) - ONLY_FOR_OTHERS.get(named(source), set()):
        module, _, name = used.partition(".")
        assert name in CHIP_HAS.get(module, (name,)), used


@in_one_case("source", SOURCES)
def test_a_module_has_no_name_that_no_chip_knows(source: Path):
    found = {
        node.id if isinstance(node, ast.Name) else node.attr
        for node in ast.walk(tree(source))
        if isinstance(node, ast.Name | ast.Attribute)
    }
    assert not found & BANNED


def test_the_time_is_made_whole_where_it_is_read():
    for source in SOURCES:
        parsed = tree(source)
        whole = {
            id(node.args[0])
            for node in ast.walk(parsed)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "int" and node.args
        }
        for node in ast.walk(parsed):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "time.time":
                assert id(node) in whole, f"{named(source)}:{node.lineno}"


# --- the chip's ways, which unit files are run under too


def test_a_words_weight_is_the_same_in_single_floats():
    import math
    import struct

    sys.path.append(str(FIRMWARE))
    from engram.store.search.weights import inverse_frequency

    def single(value: float) -> float:
        return struct.unpack("f", struct.pack("f", value))[0]

    def on_chip(documents: int, having: int) -> int:
        share = single(single(documents - having + 0.5) / single(having + 0.5))
        return int(single(1024 * single(math.log(single(1 + share)))))

    for documents in (1, 2, 5, 10, 50, 100, 500, 1000, 2000, 10000):
        for having in range(0, documents + 1, max(1, documents // 300)):
            assert on_chip(documents, having) == inverse_frequency(documents, having), (documents, having)
