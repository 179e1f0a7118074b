"""`engram export` and `engram import`: memories as files."""

import contextlib
import json
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from engram.transfer import jsonl
from engram_host.boards import port as ports
from engram_host.boards.errors import BoardFailed, NoPort
from engram_host.boards.json_lines import JsonConsole, open_console
from engram_host.boards.progress import Progress
from engram_host.cli import output
from engram_host.cli.chat import BoardTalk, LinkConsole
from engram_host.cli.exit_status import CommandError, WrongUsage
from engram_host.cli.options import DEVICE, HOME, JSON, PORT, URL, Context, takes
from engram_host.companion.auth.tokens import write_atomically
from engram_host.companion.lockfile import running_addresses
from engram_host.transfer.formats import Fields
from engram_host.transfer.markdown import write_page
from engram_host.transfer.reader import MemoryFile
from engram_host.transfer.report import ImportReport, import_command, read_reports
from engram_host.wording import counted

BoardConsole = JsonConsole | LinkConsole


@contextlib.contextmanager
def open_board(context: Context) -> Iterator[BoardConsole]:
    """Open the board that a command is for, or the only one; raises BoardError or CommandError."""
    if context.device and context.port:
        raise WrongUsage("--device names a board of the companion: leave --port out.")
    if context.device or (not context.port and _is_only_on_link(context)):
        with context.open_companion() as companion:
            yield LinkConsole(BoardTalk(companion, companion.device(context.device)))
    else:
        with open_console(context.port) as board:
            yield board


def _is_only_on_link(context: Context) -> bool:
    """True if no board is plugged in and one can be asked through a companion."""
    if not context.url and not running_addresses(context.home):
        return False
    try:
        ports.choose_port("")
    except (NoPort, ModuleNotFoundError):
        return True
    return False


class BoardImport(ImportReport):
    def __init__(self, board: BoardConsole):
        super().__init__("stored")
        self._board = board

    def send(self, number: int, fields: Fields | str) -> None:
        """Send a line; a text is why it is refused. Raises BoardError if the board is gone."""
        if isinstance(fields, str):
            self.refuse(number, fields)
            return
        try:
            outcome, refused = read_reports(self._reports(fields))
        except (CommandError, BoardFailed) as problem:
            self.refuse(number, str(problem))
            return
        if outcome is None:
            self.refuse(number, "the board's report was damaged on its way: do it again, nothing is stored twice.")
        else:
            self.add(number, outcome, refused)

    def _reports(self, fields: Fields) -> list[Mapping[str, Any]]:
        found: list[Mapping[str, Any]] = []
        for answer in self._board.ask(command=import_command(fields)):
            if "error" in answer:
                raise CommandError(f"the board says: {answer['error']}")
            if "report" in answer:
                found.append(answer["report"])
        return found


class FileImport(ImportReport):
    def __init__(self, out: Path):
        super().__init__("written")
        self._out = out
        self._lines: list[str] = []

    def send(self, number: int, fields: Fields | str) -> None:
        """Write a line; a text is why it is refused."""
        if isinstance(fields, str):
            self.refuse(number, fields)
            return
        self._lines.append(jsonl.line(fields.items()))
        self.count("written", 1)

    def end(self, source: MemoryFile) -> None:
        super().end(source)
        write_atomically(self._out, "".join(line + "\n" for line in self._lines).encode())


# --- commands


@takes(DEVICE, URL, HOME, JSON)
def export(
    context: Context,
    out: Annotated[Path | None, typer.Option(help="output file; default: stdout")] = None,
    archived: Annotated[
        bool, typer.Option("--archived/--no-archived", help="with the memories that the board has archived")
    ] = True,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="as a page to read and edit, without history and expired memories")
    ] = False,
) -> None:
    """Write all memories of a board's copy as JSON Lines, in the form that a board imports. Needs a running companion.

    With --markdown they are a list by day, each with its text and tags, which `engram import` reads.

    Profile and notes are not included, because the companion has no copy of them; `engram board backup` saves them.

    Example: engram export --device kitchen --out kitchen.jsonl

    Example: engram export --markdown --out kitchen.md
    """
    if context.json and out is None:
        raise WrongUsage(
            "--json describes what was written to a file: name it with --out. Without --out the memories are printed."
        )
    with context.open_companion() as companion:
        name = companion.device(context.device)
        lines = _whole(companion.lines(f"/v1/devices/{name}/export", archived=archived))
        count = _write(write_page(_current(lines)) if markdown else lines, out)
    summary = {"device": name, "file": str(out) if out else None, "lines": count}
    if context.json:
        output.print_json(summary)
    elif out:
        output.print_line(f"{out}: memory of {name}, lines: {count}")


@takes(PORT, DEVICE, URL, HOME, JSON)
def import_file(
    context: Context,
    file: Annotated[Path, typer.Argument(help="JSON Lines, Markdown (.md) or an export of another program (.json)")],
    out: Annotated[Path | None, typer.Option(help="write the converted lines to a file instead")] = None,
) -> None:
    """Import memories into a board: on a serial port, or over the link of a companion.

    Without --port and --device the board that is plugged in is meant; if there is none, that of the companion.

    Reads the files of `engram export` and of a board's /export, Markdown lists, ESP-Claw's memory_records.jsonl, and
    exports of CoClaw and ChatGPT. Memories that the board already has are not stored twice, so an import that was
    interrupted can be repeated.

    Example: engram import kitchen.jsonl --port /dev/ttyACM0

    Example: engram import notes.md --device kitchen

    Example: engram import memory_records.jsonl --out memory.jsonl
    """
    if out and (context.port or context.device):
        raise WrongUsage("--out writes a file and asks no board: leave --port and --device out.")
    source = MemoryFile(file.name, file.read_bytes())
    lines = list(source.lines())
    progress = Progress()
    with contextlib.ExitStack() as stack:
        sending = FileImport(out) if out else BoardImport(stack.enter_context(open_board(context)))
        for at, (number, fields) in enumerate(lines, 1):
            sending.send(number, fields)
            progress.step("Writing memories" if out else "Sending memories", at, len(lines))
    sending.end(source)
    progress.say(f"{counted(len(lines), 'line', 'lines')} {'written' if out else 'sent'}")
    if context.json:
        output.print_json({"file": str(file), **sending.counts, "problems": sending.problems + sending.notes})
    else:
        for line in (*sending.problems, sending.summary, *sending.notes):
            output.print_line(line)
    if sending.counts["refused"]:
        raise typer.Exit(1)


def _whole(lines: Iterator[str]) -> Iterator[str]:
    """Yield the lines of an export; raises CommandError if it has no end."""
    last = ""
    for last in lines:
        yield last
    if not last.startswith('{"engram_export_end"'):
        raise CommandError("the export is incomplete, its last line is missing: try again.")


def _current(lines: Iterator[str]) -> Iterator[Fields]:
    """Yield the memories of a whole export that are neither replaced nor expired."""
    now = time.time()
    for fields in map(json.loads, list(lines)):
        is_over = fields.get("superseded") or 0 < fields.get("expires", 0) <= now
        if "content" in fields and not is_over:
            yield fields


def _write(lines: Iterator[str], out: Path | None) -> int:
    """Write lines and return their number."""
    if out is None:
        count = 0
        for line in lines:
            sys.stdout.write(line + "\n")
            count += 1
        return count
    progress, written, total = Progress(), list[str](), 0
    for line in lines:
        written.append(line + "\n")
        total = total or _memories(line)
        progress.step("Writing memories", min(len(written), total), total)
    write_atomically(out, "".join(written).encode())
    progress.say(f"lines written: {len(written)}")
    return len(written)


def _memories(head: str) -> int:
    """Return the number of memories that an export's first line names, or 0."""
    with contextlib.suppress(ValueError, TypeError, KeyError):
        return max(0, int(json.loads(head)["records"]))
    return 0
