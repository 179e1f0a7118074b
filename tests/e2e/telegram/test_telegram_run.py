"""`make run TELEGRAM=fake`: a person chats in the terminal with a board that talks over the fake of Telegram."""

import subprocess
import sys
from pathlib import Path

from driving import AS_TYPED, Home, talking


def test_a_person_chats_through_the_fake(tmp_path: Path):
    home = Home(tmp_path / "home").knowing(TELEGRAM="fake", LLM="script")
    with talking(home, command=AS_TYPED) as talk:
        talk.heard("Ann owns the board")
        talk.say("my name is Ann")
        talk.heard("Engram: ")
        talk.say("/stats")
        talk.heard("connected as @engram_fake_bot since")
        talk.say("/as Bob")
        talk.say("hello")
        code = talk.heard("ask the owner").partition("Your code is ")[2][:8]
        talk.say("/as Ann")
        talk.say("/pair " + code)
        talk.heard("Bob")
        talk.say("/quit")
        assert talk.status() == 0
    assert "owner: telegram:" in (tmp_path / "home" / "console.txt").read_text()


def test_a_board_that_does_not_start_tells_why(tmp_path: Path):
    home = Home(tmp_path / "home").knowing(TELEGRAM="fake").having(no_such__setting=1)
    done = subprocess.run(AS_TYPED, input=b"", env=home.variables(), capture_output=True, timeout=60)
    assert done.returncode == 2 and b"there is no such setting" in done.stderr, done


def test_another_word_is_refused(tmp_path: Path):
    done = subprocess.run(
        [sys.executable, "-m", "engram_host.simulator"],
        env=Home(tmp_path / "home").knowing(TELEGRAM="yes").variables(),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 2 and "TELEGRAM takes only fake" in done.stderr
