"""All commands of `engram`; each ends with a status, and with one sentence on an error."""

import json
import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from engram_host import __version__
from engram_host.cli import access, backup, board, chat, companion, device, doctor, memory, transfer
from engram_host.cli.bridges import alert, bridge, people
from engram_host.cli.exit_status import FAILED, INTERRUPTED, WRONG_USAGE, status_and_sentence
from engram_host.cli.options import asks_for_json
from engram_host.extras import DISTRIBUTION

app = typer.Typer(
    help="Lasting memory for agents on microcontrollers. Every command has --help with examples.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.command("run")(board.run)
app.command("serve")(companion.serve)
app.command("page")(companion.open_page)
app.command("boards")(companion.list_boards)
app.command("chat")(chat.chat)
app.command("search")(memory.search)
app.command("show")(memory.show)
app.command("list")(memory.list_entries)
app.command("export")(transfer.export)
app.command("import")(transfer.import_file)
app.command("backup")(backup.backup)
app.command("restore")(backup.restore)
app.command("repair")(backup.repair)
app.command("api")(companion.api)
app.command("eval")(memory.evaluate)
app.command("doctor")(doctor.doctor)
app.command("tls")(access.tls)
app.add_typer(device.app, name="device")
app.add_typer(access.app, name="token")
app.add_typer(board.app, name="board")
app.add_typer(bridge.app, name="bridge")
app.add_typer(people.app, name="people")
app.add_typer(alert.app, name="alert")


def _print_version(is_asked: bool) -> None:
    if is_asked:
        typer.echo(f"engram {__version__}")
        raise typer.Exit


@app.callback()
def about(
    version: Annotated[
        bool, typer.Option("--version", help="print the version", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Lasting memory for agents on microcontrollers."""


def main(words: list[str]) -> int:
    """Run a command and return its exit status (see exit_status.py)."""
    command = get_command(app)
    assert isinstance(command, TyperGroup)
    try:
        status = command.main(words, _called_as(), standalone_mode=False) or 0
        sys.stdout.flush()
        # Typer makes a status of Ctrl-C by itself.
        return _failed(KeyboardInterrupt(), words) if status == INTERRUPTED else status
    except BrokenPipeError:
        # The reader has closed the pipe, such as `head`; the rest of Python's buffer is dropped.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - what was not raised on purpose is raised again
        return _failed(error, words)


def _called_as() -> str:
    return DISTRIBUTION if Path(sys.argv[0]).name == DISTRIBUTION else "engram"


def _failed(error: BaseException, words: list[str]) -> int:
    """Report an expected error; a mistake in this program is raised."""
    if isinstance(error, typer.Abort):
        error = KeyboardInterrupt()
    if isinstance(error, typer.BadParameter.__mro__[1]):  # typer exports UsageError under no name of its own
        status, sentence = WRONG_USAGE, _usage(error)
    else:
        found = status_and_sentence(error)
        if found is None:
            raise error
        status, sentence = found
    if asks_for_json(words):
        sys.stdout.write(json.dumps({"problem": sentence}, ensure_ascii=False) + "\n")
    elif sentence:
        sys.stderr.write(f"engram{_name(words)}: {sentence}\n")
    return status


def _usage(error: Any) -> str:
    sentence = error.format_message().rstrip(".")
    where = error.ctx.command_path if error.ctx else "engram"
    return f"{sentence}; `{where} --help` shows how it is used." if sentence else ""


def _name(words: list[str]) -> str:
    if not words or words[0].startswith("-"):
        return ""
    groups = [group.name for group in app.registered_groups]
    is_below = words[0] in groups and len(words) > 1 and not words[1].startswith("-")
    return " " + " ".join(words[: 1 + is_below])
