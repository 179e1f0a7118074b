"""The table of port differences: each row names a test that there is, or says that only a board shows it."""

import functools
import re

from one_case import in_one_case
from pages import ROOT, read, rows

PAGE = "tests/support/firmware/fakes/README.md"
OTHERWISE = {
    "only a board shows it",
    "each test of a link, over `chip_socket`",
    "`tests/store`, `tests/power`",
    "each unit test, as `32`",
    "each unit test, as `64` and `32`",
}


@functools.cache
def _tests() -> set[str]:
    sources = (path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    return {name for source in sources for name in re.findall(r"^(?:async )?def (test_\w+)", source, re.MULTILINE)}


@in_one_case("row", rows(read(PAGE)))
def test_a_difference_names_the_test_that_holds_the_code_to_it(row: list[str]):
    assert row[-1] in OTHERWISE or row[-1].strip("`") in _tests(), row[-1]
