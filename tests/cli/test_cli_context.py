"""The context of a command: what its shared options say, from the command line, the environment or their defaults."""

from pathlib import Path

import pytest

from engram_host.cli.options import DEFAULT_HOME, Context, read_context

NAMED = {"ENGRAM_COMPANION_HOME": "/named/home", "ENGRAM_COMPANION_API": "http://named:1"}


def test_an_option_of_the_command_line_comes_before_the_environment():
    given = {"json": True, "home": Path("/given"), "url": "http://given:1", "device": "kitchen", "port": "/dev/tty0"}
    assert read_context(given, NAMED) == Context(
        json=True, home=Path("/given"), url="http://given:1", device="kitchen", port="/dev/tty0"
    )


def test_an_empty_address_on_the_command_line_is_not_replaced_by_the_environment():
    assert read_context({"url": ""}, NAMED).url == ""


def test_an_option_that_is_not_given_comes_from_the_environment():
    context = read_context({"home": None}, NAMED)
    assert (context.home, context.url) == (Path("/named/home"), "http://named:1")


def test_an_option_that_nobody_gives_has_its_default():
    assert read_context({}, {}) == Context(json=False, home=DEFAULT_HOME.expanduser(), url="", device="", port="")


def test_the_folder_is_an_absolute_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.chdir(tmp_path)
    assert read_context({"home": Path("companion")}, {}).home == tmp_path / "companion"
