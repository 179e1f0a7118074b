"""`engram backup` and `engram restore`: the companion's database."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from engram_host.boards.progress import Progress
from engram_host.cli import output
from engram_host.cli.exit_status import CommandError, NotFound, NotInstalled
from engram_host.cli.options import DEFAULT_HOME, AsJson, Home

if TYPE_CHECKING:
    from engram_host.companion.home import Settings


def backup(
    file: Annotated[Path, typer.Argument(help="the file to write")],
    home: Home = DEFAULT_HOME,
    replace: Annotated[bool, typer.Option("--replace", help="the file that is there may be lost")] = False,
    as_json: AsJson = False,
) -> None:
    """Save the companion's database to a file, while a companion runs or not: all boards' copies, tokens, vectors.

    Works on the database itself. Settings and the operator's token are files in the companion's folder, and not in it.

    Example: engram backup companion-2026-11-22.db
    """
    from engram_host.companion.store.backup import ToolMissing, save_postgres, save_sqlite

    settings = _settings(home)
    if not file.parent.is_dir():
        raise NotFound(f"there is no folder {file.parent} to write {file.name} to.")
    if file.exists() and not replace:
        raise CommandError(f"there is a file {file} already: name another one, or say --replace if it may be lost.")
    progress = Progress()
    try:
        if path := _sqlite(settings):
            if not path.exists():
                raise NotFound(f"there is no database {path}: no companion has run there yet.")
            save_sqlite(path, file, lambda done, total: progress.step("Saving the database", done, total))
        else:
            progress.step("Saving the database")
            save_postgres(settings.store.url, file)
    except ToolMissing as missing:
        raise NotInstalled(str(missing)) from None
    size = file.stat().st_size
    progress.say(f"{file}: {output.size(size)}")
    if as_json:
        output.document({"file": str(file), "bytes": size})


def restore(
    file: Annotated[Path, typer.Argument(help="what `engram backup` wrote")],
    home: Home = DEFAULT_HOME,
    replace: Annotated[bool, typer.Option("--replace", help="the database that is there may be lost")] = False,
    as_json: AsJson = False,
) -> None:
    """Put a saved database back; no companion may run on it meanwhile. Boards then send what it does not have.

    Example: engram restore companion-2026-11-22.db --replace
    """
    from engram_host.companion.home import make_folder
    from engram_host.companion.lockfile import lock_home
    from engram_host.companion.store.backup import ToolMissing, restore_postgres, restore_sqlite

    settings = _settings(home)
    if not file.is_file():
        raise NotFound(f"there is no file {file}.")
    make_folder(settings.home)
    path = _sqlite(settings)
    if not replace and (path is None or path.exists()):
        raise CommandError("there is a database already: save it with `engram backup`, then restore with --replace.")
    with lock_home(settings.home, alone=True):
        try:
            if path:
                restore_sqlite(file, path)
            else:
                restore_postgres(file, settings.store.url)
        except ToolMissing as missing:
            raise NotInstalled(str(missing)) from None
    if as_json:
        output.document({"restored": str(file)})
    else:
        output.say(f"{file} is the companion's database now.")


def _settings(home: Path) -> "Settings":
    from engram_host.companion.home import read_settings

    return read_settings(home.expanduser().absolute(), {})


def _sqlite(settings: "Settings") -> Path | None:
    """The file of the database, None if it is PostgreSQL."""
    from engram_host.companion.home import database_file

    return database_file(settings)
