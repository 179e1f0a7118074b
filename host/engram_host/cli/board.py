"""`engram board`: the board targets of the Makefile, and the erasure of a board; `engram run`: a simulated board."""

from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from engram_host.boards.errors import option_name, under_make
from engram_host.boards.progress import Progress
from engram_host.cli import output
from engram_host.cli.access import note_command, opened_store
from engram_host.cli.exit_status import CommandError, CommandInterrupted, NotFound, NotInstalled, WrongUsage
from engram_host.cli.options import HOME, JSON, PORT, Context, takes

if TYPE_CHECKING:
    from engram_host.companion.store.database import Database
    from engram_host.companion.store.removal import BoardContents


app = typer.Typer(help="Manage a board on a serial port, or erase one at the companion.", no_args_is_help=True)

Kind = Annotated[str, typer.Option("--board", help="kind of board, such as ESP32_GENERIC_S3_OCT")]
Config = Annotated[Path | None, typer.Option(help="config.json with your settings")]
File = Annotated[Path | None, typer.Argument(help="backup file, such as board.tar.gz; required")]
Erase = Annotated[bool, typer.Option("--erase-memory", help="overwrite the memories and keys on the board")]


class RecordedProgress(Progress):
    """Progress that keeps its sentences for an answer in JSON."""

    def __init__(self) -> None:
        super().__init__()
        self.sentences: list[str] = []

    def say(self, sentence: str) -> None:
        self.sentences.append(sentence)
        super().say(sentence)


@app.command()
@takes(JSON)
def image(
    context: Context,
    board: Kind,
    out: Annotated[Path | None, typer.Option(help="output file; default: build/images/BOARD.bin")] = None,
    config: Config = None,
) -> None:
    """Build a file-system image with Engram, without a board.

    Example: engram board image --board ESP32_GENERIC_S3_OCT --out fs.bin
    """
    from engram_host.boards import flash as flashing

    path = out or Path("build/images") / f"{board}.bin"
    _do(lambda progress: flashing.make_image(board, config, path, progress), context)


@app.command()
@takes(PORT, JSON)
def flash(
    context: Context,
    board: Kind,
    firmware: Annotated[
        Path | None, typer.Option(help="the .bin file from MicroPython's download page; required")
    ] = None,
    config: Config = None,
    erase_memory: Erase = False,
    baud: Annotated[int, typer.Option(help="baud rate for flashing")] = 460800,
) -> None:
    """Write MicroPython and Engram to a board.

    Example: engram board flash --board ESP32_GENERIC_S3_OCT --firmware micropython.bin --port /dev/ttyACM0
    """
    from engram_host.boards import flash as flashing

    if firmware is None:
        raise WrongUsage(
            f"name the MicroPython to flash ({option_name('FIRMWARE')}): a .bin from MicroPython's download page."
        )

    def work(progress: Progress) -> None:
        flashing.flash(board, context.port, firmware, config, may_erase=erase_memory, baud=baud, progress=progress)

    _do(work, context)


@app.command()
@takes(PORT, JSON)
def deploy(
    context: Context,
    board: Annotated[str, typer.Option("--board", help="kind of board; required the first time")] = "",
    config: Config = None,
) -> None:
    """Update the code on a board; everything else stays.

    Example: engram board deploy --port /dev/ttyACM0
    """
    from engram_host.boards import deploy as deploying

    _do(lambda progress: deploying.deploy(context.port, board, config, progress), context)


@app.command()
@takes(PORT)
def monitor(context: Context) -> None:
    """Show what a board prints and send what you type; Ctrl-] ends.

    Example: engram board monitor --port /dev/ttyACM0
    """
    from engram_host.boards import terminal

    _do(lambda progress: terminal.monitor(context.port, progress), context)


@app.command()
@takes(PORT)
def chat(context: Context) -> None:
    """Chat with the agent of a board; Ctrl-D ends.

    Example: engram board chat --port /dev/ttyACM0
    """
    from engram_host.boards import port as ports
    from engram_host.boards import terminal

    terminal.chat(ports.choose_port(context.port))


@app.command()
@takes(PORT)
def setup(context: Context) -> None:
    """Set a board's Wi-Fi network, its model with the API key, and its Telegram bot.

    Example: engram board setup --port /dev/ttyACM0
    """
    from engram_host.boards import setup as asking

    _do(lambda progress: asking.setup(context.port, progress), context)


@app.command()
@takes(PORT, JSON)
def backup(
    context: Context,
    file: File = None,
    secrets: Annotated[bool, typer.Option("--secrets", help="include Wi-Fi passwords and keys")] = False,
) -> None:
    """Save a board's memory, journal, profile, settings and own.py.

    Example: engram board backup kitchen.tar.gz --port /dev/ttyACM0
    """
    from engram_host.boards import backup as saving

    _do(lambda progress: saving.backup(context.port, _named(file), progress, with_secrets=secrets), context)


@app.command()
@takes(PORT, JSON)
def restore(context: Context, file: File = None, erase_memory: Erase = False) -> None:
    """Restore a backup to a board.

    Example: engram board restore kitchen.tar.gz --port /dev/ttyACM0
    """
    from engram_host.boards import backup as saving

    _do(lambda progress: saving.restore(context.port, _named(file), progress, may_erase=erase_memory), context)


def _named(file: Path | None) -> Path:
    if file is None:
        given = " (FILE=...)" if under_make() else ""
        raise WrongUsage(f"name the backup file, such as board.tar.gz{given}.")
    return file


def _do(work: Callable[[Progress], object], context: Context) -> None:
    """Do some work with progress on stderr; raises BoardError or CommandInterrupted."""
    progress = RecordedProgress()
    try:
        work(progress)
    except (KeyboardInterrupt, EOFError):
        raise CommandInterrupted("interrupted; do the same again to finish it.") from None
    finally:
        progress.close()
    if context.json:
        output.print_json({"done": True, "told": progress.sentences})


# --- engram board erase


_REMAINS = (
    "the audit log, which says who erased it and when, but nothing of its memory.",
    "the files companion.db.damaged-DATE that engram repair left in the companion's folder: delete them.",
    "backups and exports that were made before, also the daily ones in the companion's folder "
    "backups: delete them; restoring one brings the board back.",
    "the board itself: its flash, its own backups. If it connects again, the companion copies it again.",
    "the services that were sent texts of it: the one that makes vectors, and the LLM behind the gateway.",
)


@app.command()
@takes(HOME, JSON)
def erase(
    context: Context,
    name: Annotated[str, typer.Argument(help="the board's name at the companion")],
    yes: Annotated[bool, typer.Option("--yes", help="erase it; without this, only say what there is")] = False,
) -> None:
    """Erase a board at the companion: its lines, archive, vectors, events and token. This cannot be undone.

    The companion may keep running. Stop the board first, or it sends everything again.

    Example: engram board erase kitchen --yes
    """
    from engram_host.companion.media.service import MediaFiles

    _require_database(context)
    with opened_store(context.home) as (store, _):
        if not yes:
            raise CommandError(
                f"{name} has {_described(store.removal.board_contents(name))}: repeat with --yes to erase it for good."
            )
        erased = store.removal.erase_board(name)
        note_command(store.audit, f"board erase {name}")
        MediaFiles(context.home).sweep(store.media.media_files)
        remains = [*_scrubbed(store.database), *_REMAINS]
    if context.json:
        output.print_json({"erased": name, **asdict(erased), "remains": remains})
        return
    output.print_line(f"{name} is erased: {_described(erased)}.")
    output.print_line("Its memory may still be in")
    for place in remains:
        output.print_line(f"- {place}")


def _scrubbed(database: "Database") -> list[str]:
    """Scrub erased bytes from the database's files; return where some may be left."""
    from engram_host.companion.errors import StoreUnavailable

    try:
        return database.scrub()
    except StoreUnavailable as problem:
        return [
            f"the database's files, which could not be rewritten: {problem} Then run VACUUM FULL, with SQLite VACUUM."
        ]


def _described(contents: "BoardContents") -> str:
    from engram_host.wording import counted, listed

    archived = f" ({contents.archived} archived here only)" if contents.archived else ""
    return listed(
        [
            counted(contents.lines, "line", "lines") + archived,
            counted(contents.aside, "set-aside line", "set-aside lines"),
            counted(contents.vectors, "vector", "vectors"),
            counted(contents.notes, "note", "notes"),
            counted(contents.events, "event", "events"),
            "a token" if contents.has_token else "no token",
        ]
    )


def _require_database(context: Context) -> None:
    """Raise NotFound if no companion ever ran in a folder."""
    from engram_host.companion.settings import database_file

    file = database_file(context.read_settings())
    if file and not file.exists():
        raise NotFound(f"there is no database {file}: no companion has run in this folder yet.")


def run(
    home: Annotated[Path, typer.Option(envvar="ENGRAM_HOME", help="folder of the board's files")] = Path(
        "~/.engram/sim"
    ),
    companion: Annotated[bool, typer.Option("--companion", help="also start a companion")] = False,
    prompt: Annotated[bool, typer.Option("--repl", help="open the MicroPython prompt on Ctrl-C")] = False,
) -> None:
    """Chat with a simulated board in the terminal or over a pipe. Needs MicroPython's unix port, but no companion.

    Example: engram run --companion

    Example: echo "remember that my bike is green" | engram run --home ~/.engram/try
    """
    from engram_host.simulator import __main__ as simulator
    from engram_host.simulator import board

    try:
        board.find_micropython()
    except board.NoMicroPython as problem:
        raise NotInstalled(str(problem)) from None
    given = simulator.read_environment()
    wanted = {"companion": companion or given.companion, "prompt": prompt or given.prompt}
    raise typer.Exit(simulator.run_board(replace(given, home=home.expanduser().absolute(), **wanted)))
