"""`make heap`: the three ways in which a board has its code, and the figures that are taken from what it prints."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import debian
import frozen_build
import get_micropython
import heap_bench
import heap_builds
import heap_flash
import heap_uses
from engram_host.boards import profile
from heap_bench import START, TOOLS, Bench, BoardFailed, Figures
from heap_tables import tables, use_tables

FIRMWARE = heap_builds.ROOT / "firmware"

needs_32 = pytest.mark.skipif(
    not get_micropython.usable(get_micropython.HOME / "32", 32), reason="there is no 32-bit MicroPython"
)


@pytest.fixture(scope="module")
def flash(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A flash with a few records and turns."""
    image, turns, records = heap_flash.filled(profile.load_profile("ESP32_GENERIC"), 12)
    assert (turns, records) == (12, 12)
    path = tmp_path_factory.mktemp("heap") / "flash.bin"
    path.write_bytes(image)
    return path


@pytest.fixture
def bench(flash: Path) -> Bench:
    return Bench(heap_builds.romfs(), flash, profile.load_profile("ESP32_GENERIC").settings)


# --- builds


@needs_32
def test_a_module_of_a_romfs_is_imported_with_its_arguments(tmp_path: Path):
    code = tmp_path / "code"
    (code / "package").mkdir(parents=True)
    (code / "package" / "__init__.py").write_text("WORD = 'deep'")
    (code / "speaks.py").write_text("import sys, package\nprint(sys.argv[1:], package.WORD, __file__)")
    image = tmp_path / "image"
    image.write_bytes(heap_builds.romfs_image([code]))
    build = heap_builds.romfs()
    command = [word if not word.endswith(".romfs") else str(image) for word in build.command(100, "speaks", "a", "b")]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "MICROPYPATH": build.path})
    assert done.stdout == "['a', 'b'] deep /rom/speaks.py\n", done.stderr


def test_of_two_files_of_a_name_a_romfs_has_the_first(tmp_path: Path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "main.py").write_text(f"from folder {name}")
    image = heap_builds.romfs_image([tmp_path / "one", tmp_path / "two"])
    assert b"from folder one" in image and b"from folder two" not in image


@pytest.mark.parametrize("missing", ["gcc", "make", "dpkg-source"])
def test_a_missing_tool_of_the_frozen_build_is_named_with_what_to_install(
    missing: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(debian, "is_debian", lambda: True)
    monkeypatch.setattr(debian, "native_architecture", lambda: "amd64")
    monkeypatch.setattr(shutil, "which", lambda command: None if command == missing else "/bin/" + command)
    with pytest.raises(debian.Unavailable, match=f"needs {missing}: install the package build-essential"):
        frozen_build.ensure()


def test_the_frozen_build_is_for_debian(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(debian, "is_debian", lambda: False)
    with pytest.raises(debian.Unavailable, match="Debian for amd64"):
        frozen_build.ensure()


# --- modules


def test_each_module_comes_after_those_that_it_imports():
    ordered = heap_bench.modules_in_order()
    for at, name in enumerate(ordered):
        path = FIRMWARE.joinpath(*name.split("."))
        source = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        later = ordered[at + 1 :]
        assert not [imported for imported in heap_bench.imports_of(source) if imported in later], name


def test_the_modules_are_all_of_the_firmware():
    assert len(heap_bench.modules_in_order()) == len(list((FIRMWARE / "engram").rglob("*.py")))


def test_the_table_of_names_is_charged_to_no_module():
    printed = """qstr pool: n_pool=1, n_qstr=18, n_str_data_bytes=227, n_total_bytes=403
engram 544
qstr pool: n_pool=2, n_qstr=21, n_str_data_bytes=306, n_total_bytes=786
engram.diag 880
qstr pool: n_pool=2, n_qstr=36, n_str_data_bytes=490, n_total_bytes=970
"""
    assert heap_bench.modules_told(printed) == {"engram": 240, "engram.diag": 880, heap_bench.NAMES: 304}


@needs_32
def test_all_modules_together_take_less_from_a_romfs_than_from_mpy_files(flash: Path):
    modules = heap_bench.modules_in_order()
    sums = [sum(Bench(build(), flash, {}).modules(modules).values()) for build in (heap_builds.mpy, heap_builds.romfs)]
    assert 0 < sums[1] < sums[0]


# --- the start, and turns


@needs_32
def test_the_steps_of_the_start_are_all_that_is_in_use_after_it(bench: Bench):
    steps, _ = bench.opening()
    in_use = bench.talk(START, heap_bench.ROOMY_KILOBYTES)["used"]
    assert abs(sum(steps.values()) - in_use) < 4096
    assert {"Store of the records", "Store of the journal", "Records", "Agent"} <= set(steps)


@needs_32
def test_the_start_loads_the_app_and_not_what_is_seldom_needed(bench: Bench):
    _, loaded = bench.opening()
    assert "engram.app" in loaded and "engram.repl" not in loaded


@needs_32
def test_a_turn_with_tools_passes_in_a_roomy_heap(bench: Bench):
    told = bench.talk(TOOLS, heap_bench.ROOMY_KILOBYTES)
    assert told["used"] + told["free"] < heap_bench.ROOMY_KILOBYTES << 10
    assert told["largest_block"] <= told["free"]


@needs_32
@pytest.mark.parametrize("use", heap_uses.USES, ids=lambda use: use.case.name)
def test_hands_and_senses_are_used_in_a_roomy_heap(use: heap_uses.Use, bench: Bench):
    using = bench.with_settings(use.settings)
    assert (
        using.talk(use.case, heap_bench.ROOMY_KILOBYTES)["used"] > using.talk(START, heap_bench.ROOMY_KILOBYTES)["used"]
    )


@needs_32
def test_a_heap_that_does_not_hold_the_code_is_a_failure(bench: Bench):
    with pytest.raises(BoardFailed, match="MemoryError"):
        bench.talk(START, 40)


@given(need=st.integers(25, 512))
def test_the_smallest_heap_is_found(need: int):
    class Needs(Bench):
        def talk(self, case: heap_bench.Case, heap_kilobytes: int, rest_seconds: int = 0) -> dict[str, int]:
            if heap_kilobytes < need:
                raise BoardFailed
            return {"used": 1000, "free": heap_kilobytes}

    build = heap_builds.Build("none", Path(), "")
    assert Needs(build, Path(), {}).smallest(START) == (need, 1000 + need)


def test_the_heap_is_read_from_what_micropython_prints():
    printed = """Yes.
used 112 free 336
mem: total=1, current=1, peak=1
GC: total: 448, used: 112, free: 336
 No. of 1-blocks: 3, 2-blocks: 2, max blk sz: 3, max free sz: 20
"""
    assert heap_bench.heap_told(printed) == {"used": 112, "free": 336, "largest_block": 320}


def test_a_run_that_printed_nothing_of_the_heap_is_a_failure():
    with pytest.raises(BoardFailed, match="so far"):
        heap_bench.heap_told("so far")


def test_the_page_explains_each_build_and_each_case():
    page = (heap_builds.ROOT / "docs" / "design" / "heap.md").read_text(encoding="utf-8")
    names = [*heap_builds.BUILDS, *(case.name for case in heap_bench.CASES)]
    assert not [name for name in names if f"`{name}`" not in page]
    rows = [*heap_uses.PACKAGES, *(use.case.name for use in heap_uses.USES)]
    assert not [name for name in rows if f"| {name} |" not in page]


def test_a_build_that_does_not_fit_a_chip_has_no_figures_there():
    each: dict[str, int] = dict.fromkeys(("start", "turn", "tools"), 1)
    fits = {"used": 7, "free": 8, "largest_block": 9}
    modules = {heap_bench.NAMES: 3, "engram.app": 4, "engram.repl": 5}

    def figures(after_tools: dict[str, int] | None) -> Figures:
        return Figures(modules, {"code": 2}, ["engram.app"], each, each, each, after_tools, after_tools)

    printed = tables({"mpy": figures(None), "frozen": figures(fits)})
    assert [line.split() for line in printed.splitlines()][-3:] == [
        ["used", "-", "7"],
        ["free", "-", "8"],
        ["largest_block", "-", "9"],
    ]


def test_what_is_used_has_a_row_in_each_table_and_a_package_its_bytes():
    names = [use.case.name for use in heap_uses.USES]
    figures = heap_uses.UseFigures(*({name: at + first for at, name in enumerate(names)} for first in (10, 20, 30)))
    printed = use_tables({"mpy": figures, "frozen": figures}, {"senses": 77})
    assert [line.split()[-2:] for line in printed.splitlines() if line.startswith("a sense")] == [
        ["13", "13"],
        ["23", "23"],
        ["33", "33"],
    ]
    assert printed.splitlines()[-1].split() == ["senses", "77"]
