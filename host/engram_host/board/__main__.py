"""`python -m engram_host.board COMMAND`: what `make image`, `make flash` and the others for a board call.

The exit status is 0, or that of the error (see errors.py), or 130 if a person interrupted it.
"""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from engram_host.board.errors import BadRequest, BoardError
from engram_host.board.progress import Progress

INTERRUPTED = 130

Arguments = argparse.Namespace


class Command(NamedTuple):
    """One command: what it does in a line, which options it takes, and what runs it; its status if it gives one."""

    summary: str
    options: tuple[str, ...]
    run: Callable[[Arguments, Progress], int | None]


def _image(given: Arguments, progress: Progress) -> None:
    from engram_host.board import flash

    flash.make_image(given.board, given.config, given.out or Path("build/images") / f"{given.board}.bin", progress)


def _flash(given: Arguments, progress: Progress) -> None:
    from engram_host.board import flash

    if given.firmware is None:
        raise BadRequest("say which MicroPython to flash (FIRMWARE=...): a .bin from MicroPython's download page.")
    flash.flash(
        given.board,
        given.port,
        given.firmware,
        given.config,
        may_erase=given.erase_memory,
        baud=given.baud,
        progress=progress,
    )


def _deploy(given: Arguments, progress: Progress) -> None:
    from engram_host.board import deploy

    deploy.deploy(given.port, given.board, given.config, progress)


def _monitor(given: Arguments, progress: Progress) -> None:
    from engram_host.board import monitor

    monitor.monitor(given.port, progress)


def _backup(given: Arguments, progress: Progress) -> None:
    from engram_host.board import backup

    backup.backup(given.port, _file(given), progress, with_secrets=given.secrets)


def _restore(given: Arguments, progress: Progress) -> None:
    from engram_host.board import restore

    restore.restore(given.port, _file(given), progress, may_erase=given.erase_memory)


def _wifi(given: Arguments, progress: Progress) -> None:
    from engram_host.board import wifi

    wifi.wifi(given.port, progress)


def _chat(given: Arguments, _: Progress) -> int:
    from engram_host.board import chat, port

    return chat.main(port.choose(given.port))


def _file(given: Arguments) -> Path:
    if given.file is None:
        raise BadRequest("name the file of the backup (FILE=...).")
    return given.file


COMMANDS = {
    "image": Command("make the file system of a board as one file", ("board", "config", "out"), _image),
    "flash": Command(
        "write MicroPython and Engram to a board", ("board", "port", "firmware", "config", "erase", "baud"), _flash
    ),
    "deploy": Command("bring the code on a board up to date", ("port", "board", "config"), _deploy),
    "monitor": Command("show what a board prints, and type to it", ("port",), _monitor),
    "backup": Command("save memory, journal, profile and settings", ("port", "file", "secrets"), _backup),
    "restore": Command("put a backup back on a board", ("port", "file", "erase"), _restore),
    "wifi": Command("ask for a network and a key, and give them to a board", ("port",), _wifi),
    "chat": Command("chat with a board", ("port",), _chat),
}


def _path(text: str) -> Path | None:
    return Path(text) if text else None


def _add_option(parser: argparse.ArgumentParser, name: str) -> None:
    """One of the options; an empty value counts as none, so that the Makefile can pass on what it was not given."""
    if name in ("board", "port"):
        parser.add_argument(f"--{name}", default="")
    elif name == "baud":
        parser.add_argument("--baud", type=int, default=460800, help="speed while flashing")
    elif name == "erase":
        parser.add_argument("--erase-memory", action="store_true", help="what the board holds may be lost")
    elif name == "secrets":
        parser.add_argument("--secrets", action="store_true", help="networks and keys too")
    else:
        parser.add_argument(f"--{name}", type=_path, default=None)


def main(arguments: list[str]) -> int:
    """Run a command; the exit status."""
    parser = argparse.ArgumentParser(prog="engram board", description="Boards: image, flash, code, memory.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, command in COMMANDS.items():
        one = commands.add_parser(name, help=command.summary, description=command.summary)
        for option in command.options:
            _add_option(one, option)
    given = parser.parse_args(arguments)
    progress = Progress()
    try:
        return COMMANDS[given.command].run(given, progress) or 0
    except BoardError as problem:
        progress.say(f"{given.command}: {problem}")
        return problem.status
    except (KeyboardInterrupt, EOFError):
        progress.say(f"{given.command}: interrupted; do the same again to finish it.")
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
