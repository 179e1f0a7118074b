"""`make setup`: a network, a model, its key and a bot for a board; secrets are seen by nobody on the way."""

import contextlib
import io
import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from board_files import BOOT, ENVIRONMENT, files_on, flash_with
from board_stand_in import StandIn
from engram_host.boards import setup
from engram_host.boards.errors import BadRequest
from engram_host.boards.file_set import Files
from engram_host.boards.progress import Progress
from engram_host.boards.setup import SetupAnswers
from one_case import in_one_case
from skips import needs_32_bit

PASSWORD, KEY, TOKEN = "correct horse", "sk-secret-0123456789", "123456:AAsecret-of-a-bot"


def typed(monkeypatch: pytest.MonkeyPatch, *lines: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))


def secrets_after(flash: Path, monkeypatch: pytest.MonkeyPatch, *lines: str) -> dict:
    typed(monkeypatch, *lines)
    with StandIn(flash) as board:
        setup.setup(board.port, Progress())
    assert board.resets == 1
    return json.loads(files_on(flash)["secrets.json"])


def board_with(tmp_path: Path, **files: bytes) -> Path:
    content: Files = {"boot.py": BOOT, **{f"{name}.json": data for name, data in files.items()}}
    return flash_with(tmp_path, content)


def board_in_memory(monkeypatch: pytest.MonkeyPatch, config: bytes) -> dict[str, bytes]:
    """Let setup find a board with a key and that config.json; return its files."""
    there = {"secrets.json": b'{"llm": {"key": "old"}}', "config.json": config}
    board = SimpleNamespace(list_tree=lambda *_, **__: there, get_file=there.__getitem__, replace=there.__setitem__)
    monkeypatch.setattr(setup, "open_session", lambda *_: contextlib.nullcontext(board))
    return there


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_service_is_named_its_model_tested_and_the_key_of_another_one_removed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    tested = []
    there = board_in_memory(monkeypatch, b'{"extract": {"model": "old"}}')
    monkeypatch.setattr(setup.terminal, "run_command", lambda *asked: tested.append(asked))
    monkeypatch.setattr(sys, "stdin", Terminal())
    typed = iter(["", "ollama", "192.168.1.20", "", "y"])
    monkeypatch.setattr(setup, "input", lambda _: next(typed), raising=False)
    monkeypatch.setattr(setup.getpass, "getpass", lambda _: "")
    setup.setup("/dev/ttyACM0", Progress())
    config = json.loads(there["config.json"])
    assert config["llm"] == {"url": "http://192.168.1.20:11434/v1", "api": "openai", "model": "qwen2.5:7b"}
    assert config["extract"] == {}
    assert json.loads(there["secrets.json"])["llm"] == {}
    assert tested == [("/dev/ttyACM0", "/model test")]
    assert "OLLAMA_HOST=0.0.0.0" in capsys.readouterr().err


def test_a_key_goes_to_no_other_service(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    for url, keeps in (("https://a.example/v2", True), ("http://a.example/v1", False), ("https://b.example", False)):
        there = board_in_memory(monkeypatch, b'{"llm.url": "https://a.example/v1"}')
        typed(monkeypatch, "", url)
        setup.setup("/dev/ttyACM0", Progress())
        assert json.loads(there["secrets.json"])["llm"] == ({"key": "old"} if keeps else {}), url
        assert ("key of the service before was removed" in capsys.readouterr().err) != keeps


@needs_32_bit
def test_what_the_board_knows_already_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    old = {"wifi": [{"ssid": "Home", "password": "an old one"}, {"ssid": "Cafe"}], "llm": {"key": "old"}}
    flash = board_with(tmp_path, secrets=json.dumps(old).encode())
    assert secrets_after(flash, monkeypatch, "Home", PASSWORD) == {
        "wifi": [{"ssid": "Home", "password": PASSWORD}, {"ssid": "Cafe"}],
        "llm": {"key": "old"},
    }


@needs_32_bit
def test_a_network_a_key_and_a_token_are_written_and_not_shown(tmp_path: Path):
    flash = board_with(tmp_path)
    with StandIn(flash) as board:
        done = subprocess.run(
            [sys.executable, "-m", "engram_host", "board", "setup", "--port", board.port],
            input=f"Home\n{PASSWORD}\n\n\n{KEY}\n{TOKEN}\n",
            capture_output=True,
            text=True,
            env=ENVIRONMENT,
            timeout=60,
        )
    assert done.returncode == 0, done.stderr
    assert not [secret for secret in (PASSWORD, KEY, TOKEN) if secret in done.stdout + done.stderr]
    assert "the network Home, the key and the bot's token" in done.stderr
    assert json.loads(files_on(flash)["secrets.json"]) == {
        "wifi": [{"ssid": "Home", "password": PASSWORD}],
        "llm": {"key": KEY},
        "telegram": {"token": TOKEN},
    }


@in_one_case(
    ("lines", "problem"),
    [
        (("Home", "short", ""), "password 8 to 63 ASCII"),
        (("Home", "é" * 9, ""), "password 8 to 63 ASCII"),
        (("x" * 33, "", ""), "1 to 32 bytes"),
        (("Home", "", "", "", "k e y"), "printable ASCII"),
        (("Home", "", "", "", "k" * 501), "at most 500"),
        (("", "", "", "", "t o k e n"), "printable ASCII"),
        (("", "http://" + "u" * 201), "0 to 200 characters"),
        (("", "opnai"), "no service opnai in the table"),
        (("", "ollama", "http://192.168.1.7"), "url: must be http"),
    ],
)
def test_what_the_firmware_would_not_take_is_reported_before_the_board_is_touched(
    lines: tuple[str, ...], problem: str, monkeypatch: pytest.MonkeyPatch
):
    typed(monkeypatch, *lines)
    with pytest.raises(BadRequest, match=problem):
        setup.setup("/dev/ttyNONE", Progress())


def test_nothing_typed_touches_no_board(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    typed(monkeypatch, "", "")
    setup.setup("/dev/ttyNONE", Progress())
    assert "Nothing to change" in capsys.readouterr().err


def test_a_service_and_a_model_are_settings():
    old = {
        "mode": "full",
        "llm": {"retries": 1, "url": "https://old.example/v1", "api": "anthropic"},
        "llm.model": "old",
    }
    new = json.loads(setup.with_settings(old, SetupAnswers(url="https://api.openai.com/v1", model="m")))
    assert new["llm"] == {"retries": 1, "url": "https://api.openai.com/v1", "api": "openai", "model": "m"}
    assert new["mode"] == "full" and "llm.model" not in new
    new = json.loads(setup.with_settings({}, SetupAnswers(url="https://api.anthropic.com", model="m")))
    assert new["llm"]["api"] == "anthropic"
    assert json.loads(setup.with_settings(old, SetupAnswers("Home", key="k"))) == old


@needs_32_bit
@pytest.mark.parametrize(
    ("config", "expected"), [(b"{}", "CET-1CEST,M3.5.0,M10.5.0/3"), (b'{"timezone": "-03:00"}', "-03:00")]
)
def test_a_board_without_a_time_zone_gets_this_computers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, config: bytes, expected: str
):
    monkeypatch.setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3")
    flash = board_with(tmp_path, config=config)
    typed(monkeypatch, "Home")
    with StandIn(flash) as board:
        setup.setup(board.port, Progress())
    assert json.loads(files_on(flash)["config.json"]).get("timezone") == expected


@needs_32_bit
@pytest.mark.parametrize("damaged", [b"{", b"[]", b'{"wifi": 1}'])
def test_damaged_secrets_are_reported_and_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damaged: bytes):
    flash = board_with(tmp_path, secrets=damaged)
    typed(monkeypatch, "Home", "", "")
    with StandIn(flash) as board, pytest.raises(BadRequest, match=r"secrets.json|wifi"):
        setup.setup(board.port, Progress())
    assert files_on(flash)["secrets.json"] == damaged
