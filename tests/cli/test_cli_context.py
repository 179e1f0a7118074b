"""The context of a command: what its shared options say, from the command line, the environment or their defaults."""

from pathlib import Path

import pytest
import typer

from cli_case import engram
from engram_host.cli import options
from engram_host.cli.commands import app
from engram_host.cli.options import DEFAULT_HOME, BoardAddress, Context, asks_for_json, read_context

NAMED = {"ENGRAM_COMPANION_HOME": "/named/home", "ENGRAM_COMPANION_API": "http://named:1"}


def test_an_option_of_the_command_line_comes_before_the_environment():
    given = {"json": True, "home": Path("/given"), "url": "http://given:1", "device": "kitchen", "port": "/dev/tty0"}
    assert read_context(given, NAMED) == Context(
        json=True,
        home=Path("/given"),
        url="http://given:1",
        device="kitchen",
        board=BoardAddress("/dev/tty0"),
    )


def test_an_empty_address_on_the_command_line_is_not_replaced_by_the_environment():
    assert read_context({"url": ""}, NAMED).url == ""


def test_an_option_that_is_not_given_comes_from_the_environment():
    context = read_context({"home": None}, NAMED)
    assert (context.home, context.url) == (Path("/named/home"), "http://named:1")


def test_an_option_that_nobody_gives_has_its_default():
    assert read_context({}, {}) == Context(
        json=False, home=DEFAULT_HOME.expanduser(), url="", device="", board=BoardAddress()
    )


def test_folders_are_absolute_paths(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.chdir(tmp_path)
    context = read_context({"home": Path("companion"), "sim": Path("board")}, {})
    assert (context.home, context.board.sim) == (tmp_path / "companion", tmp_path / "board")


@pytest.mark.parametrize(("words", "asks"), [(["list", "--json"], True), (["list"], False)])
def test_a_command_line_asks_for_json(words: list[str], asks: bool):
    assert asks_for_json(words) is asks


def test_a_command_has_the_shared_options_that_it_takes_and_no_others(monkeypatch: pytest.MonkeyPatch):
    seen: list[tuple[Context, str]] = []

    @options.takes(options.HOME, options.JSON)
    def probe(context: Context, word: str = "") -> None:
        """Example: engram probe"""
        seen.append((context, word))

    monkeypatch.setattr(app, "registered_commands", [*app.registered_commands])
    monkeypatch.setattr("cli_case.commands.get_command", typer.main.get_command)
    app.command("probe")(probe)
    assert engram("probe", "--word", "tea", "--json", ENGRAM_COMPANION_HOME="/named").status == 0
    assert engram("probe", "--port", "/dev/tty0").status == 2
    assert seen == [(read_context({"json": True, "home": "/named"}, {}), "tea")]
