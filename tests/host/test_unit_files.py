"""The lists of unit files that run in more ways than the others name files that exist."""

import ast
import re
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
UNIT = TESTS / "unit"
_TRIES_MORE = re.compile(r"\b(?:is_in_full|rounds)\(")


def _list(name: str) -> tuple[str, ...]:
    """A list of tests/conftest.py, read from its source: the name `conftest` is taken by other folders' files."""
    tree = ast.parse((TESTS / "conftest.py").read_text(encoding="utf-8"))
    values = {target.id: node.value for node in tree.body if isinstance(node, ast.Assign) for target in node.targets}
    return ast.literal_eval(values[name])


def _sources(path: Path) -> list[str]:
    """The source of a unit file and of the helpers beside it that it imports, but for support.py, which defines rounds()."""
    source = path.read_text(encoding="utf-8")
    names = set(re.findall(r"^(?:from|import) (\w+)", source, re.MULTILINE)) - {"support"}
    helpers = [UNIT / f"{name}.py" for name in sorted(names)]
    return [source, *(helper.read_text(encoding="utf-8") for helper in helpers if helper.exists())]


@pytest.mark.parametrize("begin", [*_list("AS_ON_A_CHIP"), *_list("IN_FULL")])
def test_a_listed_name_begins_that_of_a_unit_file(begin):
    assert list(UNIT.glob(f"{begin}*.py"))


@pytest.mark.parametrize("begin", _list("IN_FULL"))
def test_a_file_of_the_soak_tries_more_there(begin):
    for path in UNIT.glob(f"{begin}*.py"):
        assert any(_TRIES_MORE.search(source) for source in _sources(path)), path.name
