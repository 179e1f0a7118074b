"""Each tool with a command line prints its help, and does nothing else, without anything set up by `make`."""

import os
import subprocess
import sys
from pathlib import Path

from one_case import in_one_case

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ROOT / "tools"
MODULES = sorted(TOOLS.rglob("*.py"))
COMMANDS = [
    str(path.relative_to(TOOLS))
    for path in MODULES
    if path.parent.name != "board" and '__name__ == "__main__"' in path.read_text(encoding="utf-8")
]
BEFORE_A_VENV = ("bootstrap.py", "get_micropython.py", "get_mosquitto.py", "get_chat_servers.py", "get_environment.py")


def _help(command: str, *options: str) -> subprocess.CompletedProcess[str]:
    plain = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    line = [sys.executable, *options, TOOLS / command, "--help"]
    return subprocess.run(line, capture_output=True, text=True, env=plain, timeout=120, cwd=ROOT.parent)


@in_one_case("command", COMMANDS)
def test_a_tool_prints_its_help_and_does_nothing_else(command: str):
    done = _help(command)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"usage: {Path(command).name} ")
    assert "options:" in done.stdout


@in_one_case("name", BEFORE_A_VENV)
def test_the_set_up_needs_no_installed_package(name: str):
    assert _help(f"setup/{name}", "-S").returncode == 0
