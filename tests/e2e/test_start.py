"""What keeps a board from starting: each is told in a sentence, with status 2, and nothing is changed."""

import ctypes
import os
from dataclasses import replace
from pathlib import Path

import pytest

from driving import COMMAND, Home, say, talking

PR_CAPBSET_DROP, CAP_DAC_OVERRIDE = 24, 1


def refused(home: Home, *, naming: str) -> str:
    """What is told by a board that does not start."""
    ended = say(home, "hello", command=COMMAND)
    assert ended.status == 2, ended
    assert naming in ended.problems, ended.problems
    assert "Traceback" not in ended.problems and len(ended.problems.strip().splitlines()) == 1
    return ended.problems


@pytest.mark.parametrize(
    ("config", "naming"),
    [
        ('{"llm": {"modle": "x"}}', "llm.modle: there is no such setting"),
        ('{"llm": {"url": "http://localhost"}}', "llm.model: is missing"),
        (b"\xff\xfe{}", "config.json: is not a valid JSON object"),
    ],
)
def test_a_wrong_setting_is_named(home: Home, config: str, naming: str):
    home.write("config.json", config)
    refused(home, naming=naming)


def test_a_wrong_secret_is_named_and_not_shown(home: Home):
    home.write("secrets.json", '{"llm": {"key": "sk-not for your eyes"}}')
    told = refused(home, naming="llm.key: must be a text")
    assert "eyes" not in told


def test_a_folder_that_is_a_file_is_named(tmp_path: Path):
    (tmp_path / "file").write_text("mine")
    refused(Home(tmp_path / "file"), naming=f"{tmp_path}/file")
    refused(Home(tmp_path / "file" / "below"), naming=f"{tmp_path}/file")
    assert (tmp_path / "file").read_text() == "mine"


def test_a_folder_that_may_not_be_written_to_is_named(tmp_path: Path):
    tmp_path.chmod(0o500)
    home = Home(tmp_path / "home", process={"preexec_fn": obey_permissions})
    assert "Permission denied; set ENGRAM_HOME" in refused(home, naming=f"{tmp_path}/home")


@pytest.mark.parametrize("folder", ["memory", "journal", "profile"])
def test_files_that_may_not_be_written_to_are_named(home: Home, folder: str):
    say(home, "hello")
    for path in (home.folder / folder, *(home.folder / folder).iterdir()):
        path.chmod(0o500)
    mortal = replace(home, process={"preexec_fn": obey_permissions})
    if folder == "profile":
        assert "cannot be written" in say(mortal, "/profile user.md add Likes tea.").printed
    else:
        refused(mortal, naming=f"/{folder}/")


def obey_permissions() -> None:
    """Take from root that it may write anywhere; what other users may do stays as it is."""
    if os.geteuid() == 0:
        assert ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, 0, 0, 0) == 0


def test_a_second_board_in_the_same_folder_is_kept_out(home: Home):
    with talking(home) as first:
        first.heard("Engram")
        refused(home, naming=f"a board runs in {home.folder} already")
        first.say("hello")
        first.heard("I am offline")
        assert first.end() == 0
    assert say(home, "hello", command=COMMAND).status == 0


def test_the_folder_is_free_when_its_board_was_killed(home: Home):
    with talking(home) as first:
        first.heard("Engram")
        first.kill()
    assert say(home, "hello", command=COMMAND).status == 0
