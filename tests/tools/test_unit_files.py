"""The lists of unit files that run in more ways than the others name files that exist."""

import ast
from pathlib import Path

from one_case import in_one_case

TESTS = Path(__file__).resolve().parents[1]
UNIT = TESTS / "firmware"


def _list(name: str) -> tuple[str, ...]:
    """A list of tests/conftest.py, read from its source: the name `conftest` is taken by other folders' files."""
    tree = ast.parse((TESTS / "conftest.py").read_text(encoding="utf-8"))
    values = {
        target.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    return ast.literal_eval(values[name])


@in_one_case("begin", [*_list("SHARED_WITH_HOST"), *_list("AS_ON_A_CHIP"), *_list("AS_ON_A_CHIP_IN_SOAK")])
def test_a_listed_name_begins_that_of_a_unit_file(begin):
    assert list(UNIT.rglob(f"{begin}*.py"))
