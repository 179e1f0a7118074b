"""All commands alike: help with examples, statuses, errors in JSON, Ctrl-C, a reader that goes, completion."""

import http.server
import json
import os
import platform
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

import eval_samples
from cli_case import EACH, TALKS, engram, fine
from engram_host import __version__
from engram_host.cli import exit_status, output
from engram_host.companion.lockfile import LISTENING, lock_home, publish_addresses, running_addresses
from engram_host.simulator import board
from one_case import in_one_case
from peers import ROOT
from waiting import wait_until

VARIABLES = {
    **{name: value for name, value in os.environ.items() if not name.startswith(("ENGRAM_", "EMBEDDING_"))},
    "PYTHONPATH": f"{ROOT / 'host'}:{ROOT / 'firmware'}",
    "EMBEDDING_PROVIDER": "none",
}
COMMAND = [sys.executable, "-m", "engram_host"]


@in_one_case("name", EACH)
def test_help_says_what_a_command_does_and_gives_an_example_that_is_one(name: str):
    told = EACH[name].help
    examples = [line.strip() for line in told.splitlines() if "engram " + name in line]
    assert any(line.startswith("Example: ") for line in examples), told
    words = [option for each in EACH[name].params for option in (*each.opts, *each.secondary_opts)]
    for example in examples:
        assert {word for word in example.split() if word.startswith("--")} <= set(words), example
    assert fine(*name.split(), "--help").out


def test_the_version_is_that_of_the_package():
    assert fine("--version").out == f"engram {__version__}\n"


def test_all_commands_but_the_conversations_have_an_option_for_json():
    assert {name for name, one in EACH.items() if not any("--json" in each.opts for each in one.params)} == TALKS


def test_what_is_not_installed_has_a_status_of_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    def find_none() -> Path:
        raise board.NoMicroPython("there is none.")

    monkeypatch.setattr(board, "find_micropython", find_none)
    assert engram("run", "--home", tmp_path).status == 3
    known = exit_status.status_and_sentence(ModuleNotFoundError(name="cat"))
    assert known and known[0] == 3


def test_a_mistake_in_the_program_is_not_hidden(monkeypatch: pytest.MonkeyPatch):
    def broken(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(output, "print_json", broken)
    with pytest.raises(ZeroDivisionError):
        engram("doctor", "--json")


def test_an_operators_token_goes_nowhere_but_to_its_own_companion(tmp_path: Path):
    (tmp_path / "operator.token").touch(mode=0o600)
    (tmp_path / "operator.token").write_text("t" * 43)
    from engram_host.cli.api_client import ApiClient

    def shown(url: str) -> str:
        with ApiClient(url, tmp_path) as companion:
            return companion._client.headers.get("Authorization", "")

    assert shown("") == shown("http://127.0.0.1:9") == shown("https://far.example") == "Bearer " + "t" * 43
    assert shown("http://far.example") == ""


class _Proxy(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.server.seen.append(self.headers.get("Authorization"))  # pyright: ignore[reportAttributeAccessIssue]
        self.send_error(502)

    def log_message(self, format: str, *_: Any) -> None:
        pass


@pytest.mark.parametrize("host", ["0.0.0.0", "[::]", "192.0.2.1"])
def test_no_proxy_is_shown_the_token_of_the_folder_in_the_clear(tmp_path: Path, host: str):
    (tmp_path / "operator.token").touch(mode=0o600)
    (tmp_path / "operator.token").write_text("t" * 43)
    proxy = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Proxy)
    proxy.seen = []  # pyright: ignore[reportAttributeAccessIssue]
    threading.Thread(target=proxy.serve_forever, daemon=True).start()
    from engram_host.cli.api_client import ApiClient

    address = f"http://127.0.0.1:{proxy.server_address[1]}"
    with (
        lock_home(tmp_path, alone=False),
        publish_addresses(tmp_path, {"http": f"http://{host}:9"}),
        mock.patch.dict(os.environ, {"http_proxy": address, "HTTP_PROXY": address, "no_proxy": "", "NO_PROXY": ""}),
        ApiClient("", tmp_path, seconds=0.3) as companion,
        pytest.raises(exit_status.CommandError, match="no companion answers"),
    ):
        companion.get("/v1/health")
    proxy.shutdown()
    proxy.server_close()
    assert proxy.seen == []  # pyright: ignore[reportAttributeAccessIssue]


@pytest.mark.parametrize(("host", "reached"), [("0.0.0.0", "127.0.0.1"), ("[::]", "[::1]"), ("10.1.2.3", "10.1.2.3")])
def test_a_companion_at_all_addresses_is_reached_at_this_computers_own(tmp_path: Path, host: str, reached: str):
    with (
        lock_home(tmp_path, alone=False),
        publish_addresses(tmp_path, {"http": f"http://{host}:9", "mqtt": f"mqtt://{host}:8"}),
    ):
        assert running_addresses(tmp_path) == {"http": f"http://{reached}:9", "mqtt": f"mqtt://{reached}:8"}
    assert not (tmp_path / LISTENING).exists()


READ = {"x86_64": "0", "aarch64": "63"}
"""The number of the system call that reads a file, by the machine."""


def _waits_for(path: Path, pid: int) -> bool:
    """Whether a process waits for what is in a file. A signal that comes while Python opens it may be lost."""
    number, *arguments = Path(f"/proc/{pid}/syscall").read_text().split()
    try:
        is_reading = number == READ[platform.machine()]
        return is_reading and os.readlink(f"/proc/{pid}/fd/{int(arguments[0], 16)}") == str(path)
    except OSError:
        return False


def test_ctrl_c_ends_a_command_cleanly(tmp_path: Path):
    fifo = tmp_path / "slow.jsonl"
    os.mkfifo(fifo)
    process = subprocess.Popen(
        [*COMMAND, "import", str(fifo)],
        env=VARIABLES,
        stderr=subprocess.PIPE,
        text=True,
        # A shell starts what runs in its background with Ctrl-C ignored, these tests as well.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    with fifo.open("w"):
        wait_until("it waits for the file's first line", lambda: _waits_for(fifo, process.pid))
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=30)
    assert (process.returncode, told) == (130, "engram import: interrupted.\n")


def test_a_reader_that_goes_is_no_error_worth_a_word(tmp_path: Path):
    reading, writing = os.pipe()
    os.close(reading)
    command, buffered = [*COMMAND, "device", "list", "--home", str(tmp_path)], {**VARIABLES, "PYTHONUNBUFFERED": ""}
    process = subprocess.Popen(command, env=buffered, stdout=writing, stderr=subprocess.PIPE)
    os.close(writing)
    _, told = process.communicate(timeout=30)
    assert told == b""


def test_a_shell_completes_the_commands():
    variables = {"_ENGRAM_COMPLETE": "complete_bash", "COMP_WORDS": "engram dev", "COMP_CWORD": "1"}
    done = subprocess.run(COMMAND, env={**VARIABLES, **variables}, capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == ["device"]


def test_the_evaluation_writes_what_it_prints(tmp_path: Path):
    sets = eval_samples.write(tmp_path / "sets", questions=eval_samples.QUESTIONS[:1])
    result = fine("eval", sets, "--out", tmp_path / "out", "--json").json
    assert result == json.loads((tmp_path / "out" / "figures.json").read_text()) and result["engine"] == "companion"
    assert json.loads((tmp_path / "out" / "one.jsonl").read_text())["ranked"][0] == "a1"


def test_run_is_the_simulated_board(tmp_path: Path):
    done = subprocess.run(
        [*COMMAND, "run", "--home", str(tmp_path / "board")],
        env=VARIABLES,
        input="remember that my bike is green\n",
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0 and "Remembered as m1" in done.stdout


def test_an_image_of_a_board_is_made(tmp_path: Path):
    out = tmp_path / "fs.bin"
    told = fine("board", "image", "--board", "ESP32_GENERIC_SPIRAM", "--out", out, "--json").json
    assert told["done"] and out.stat().st_size == 2 << 20


def test_serve_logs_one_object_a_line(tmp_path: Path):
    words = ["serve", "--home", str(tmp_path / "home"), "--http-port", "0", "--json"]
    process = subprocess.Popen(
        [*COMMAND, *words, "--log-level", "info", "--log-format", "json"],
        env=VARIABLES,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    listening = tmp_path / "home" / "listening.json"
    wait_until("it serves", listening.exists)
    assert fine("api", "GET", "/v1/health", "--home", tmp_path / "home").json["status"] == "well"
    process.terminate()
    shown, told = process.communicate(timeout=30)
    assert json.loads(shown)["http"].startswith("http://127.0.0.1:")
    assert process.returncode == 0
    lines = [json.loads(line) for line in told.splitlines()]
    assert lines and all(list(line)[:5] == ["time", "level", "logger", "message", "fields"] for line in lines)
    assert not listening.exists()
