"""The command's page: its tables are the code's."""

from collections.abc import Iterator
from typing import Any

from typer.main import get_command

from engram_host.cli import exit_status
from engram_host.cli.commands import app
from engram_host.companion.metrics import GAUGES, Metrics
from pages import plain, read, rows, section

PAGE = "docs/reference/cli.md"


def _names(command: Any, name: str = "engram") -> Iterator[str]:
    below = getattr(command, "commands", None)
    if below is None:
        yield name
    for each, one in (below or {}).items():
        yield from _names(one, f"{name} {each}")


def test_the_table_of_commands_is_the_codes():
    told = [plain(row[0]) for row in rows(section(read(PAGE), "# The command `engram`", below=False))]
    assert sorted(told) == sorted(_names(get_command(app)))


def test_what_a_command_needs_is_what_its_help_says():
    commands = get_command(app)
    for name, _, needs in rows(section(read(PAGE), "# The command `engram`", below=False)):
        one: Any = commands
        for word in plain(name).split()[1:]:
            one = one.commands[word]
        assert ("Needs a running companion." in one.help) == (needs == "a companion"), name


def test_the_table_of_statuses_is_the_codes():
    told = {int(row[0]) for row in rows(section(read(PAGE), "## Output"))}
    known = {getattr(exit_status, name) for name in vars(exit_status) if name.isupper()}
    assert told == known


def test_the_table_of_metrics_is_the_codes():
    told = {plain(row[0]) for row in rows(section(read(PAGE), "## Metrics"))}
    lines = Metrics().render().decode().splitlines()
    types = [line.split()[2:] for line in lines if line.startswith("# TYPE ")]
    made = {name for name, kind in types if kind in ("counter", "histogram") and not name.endswith("_created")}
    assert told == made | set(GAUGES)
