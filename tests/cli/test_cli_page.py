"""The examples of docs/reference/cli.md, played on a real companion and a board that was told what the page says."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli_case import engram
from one_case import in_one_case
from peers import ROOT, BoardProcess, Companion
from waiting import wait_until

PAGE = (ROOT / "docs" / "reference" / "cli.md").read_text(encoding="utf-8")
_FENCE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?: \d\d:\d\d(?!:))?")


def _examples() -> list[tuple[str, str]]:
    """(command, what the page says it prints) of all examples."""
    parts = "".join(_FENCE.findall(PAGE)).split("$ engram ")[1:]
    return [(part.partition("\n")[0], part.partition("\n")[2]) for part in parts]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("page")
    with Companion(folder / "home") as companion, BoardProcess(folder / "board", companion.url, "kitchen") as board:
        for telling in ("remember that my bike is green", "remember that Ada drinks tea"):
            board.say(telling)
        for log, lines in (("records", 2), ("journal", 4)):
            wait_until(f"the copy has all {log}", lambda log=log, lines=lines: companion.have("kitchen", log) == lines)
        yield companion.home


@in_one_case("command, wanted", _examples())
def test_an_example_prints_what_the_page_says(home: Path, command: str, wanted: str):
    ran = engram(*shlex.split(command), "--home", home)
    pattern = re.escape(_DATE.sub("DATE", wanted)).replace(re.escape("..."), ".*")
    assert re.fullmatch(pattern, _DATE.sub("DATE", ran.out + ran.err), re.DOTALL), ran
