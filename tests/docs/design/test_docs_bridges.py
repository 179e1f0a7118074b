"""The page on bridges: its table of what is proven is that of the tests."""

from engram_host.companion.bridges.kinds import KINDS
from network_cells import CELLS, MISSING
from pages import plain, read, rows, section

HEADING = "## What is proven of each network"


def _section() -> str:
    return section(read("docs/design/bridges.md"), HEADING)


def test_the_table_of_networks_has_the_cells_of_the_tests():
    told = {plain(row[0]): [plain(cell) for cell in row[1:]] for row in rows(_section())}
    expected = {cell: ["no" if (kind, cell) in MISSING else "yes" for kind in KINDS] for cell in CELLS}
    assert told == expected and list(told) == list(CELLS)


def test_each_cell_that_is_missing_says_why():
    text = " ".join(_section().split())
    assert [reason for reason in MISSING.values() if reason not in text] == []
