"""`engram backup`, `restore` and `repair`: save a companion's database with its photos and sounds, and put it back."""

import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from engram_host.boards.progress import Progress
from engram_host.cli import output
from engram_host.cli.access import command_entry, note_command, opened_store
from engram_host.cli.exit_status import CommandError, NotFound, NotInstalled
from engram_host.cli.options import HOME, JSON, Context, takes
from engram_host.wording import counted

if TYPE_CHECKING:
    from engram_host.companion.settings import Settings


@takes(HOME, JSON)
def backup(
    context: Context,
    file: Annotated[Path, typer.Argument(help="output file")],
    replace: Annotated[bool, typer.Option("--replace", help="overwrite an existing file")] = False,
    keep: Annotated[
        int, typer.Option(min=0, max=1000, help="number of backups to keep: FILE, FILE.1, FILE.2 and so on")
    ] = 0,
) -> None:
    """Save the companion's database to a file: copies of all boards, tokens and vectors.

    Photos and sounds are copied to a folder FILE.media beside it. The companion may keep running. Settings and the operator's
    token are not included: they are files in its folder. The backup is checked before it replaces anything; a damaged database
    is refused.

    Example: engram backup companion-2026-11-22.db

    Example: engram backup companion.db --keep 7
    """
    from engram_host.companion.media.backup import folder_of, prune_media, save_media
    from engram_host.companion.recovery.backup import kept_files, save_sqlite
    from engram_host.companion.recovery.backup_postgres import ToolMissing, save_postgres

    settings = _settings(context.home)
    if not file.parent.is_dir():
        raise NotFound(f"there is no folder {file.parent} to write {file.name} to.")
    if file.exists() and not (replace or keep):
        raise CommandError(f"{file} exists: name another file, or give --replace to overwrite it, or --keep.")
    damaged, keep = 0, max(keep, 1)
    progress = Progress()
    save_media(settings.home, file)
    try:
        if path := _sqlite(settings):
            if not path.exists():
                raise NotFound(f"there is no database {path}: no companion has run in this folder yet.")
            damaged = save_sqlite(
                path, file, lambda done, total: progress.step("Saving the database", done, total), keep
            )
        else:
            progress.step("Saving the database")
            damaged = save_postgres(settings.store.url, file, keep)
    except ToolMissing as missing:
        raise NotInstalled(str(missing)) from None
    media = save_media(settings.home, file)  # what came while the database was saved
    prune_media(kept_files(file, keep))
    note_quietly(settings, f"backup to {file}")
    size = file.stat().st_size
    progress.say(f"{file}: {output.format_size(size)}")
    if damaged:
        progress.say(
            f"{damaged} of its lines are damaged: `engram serve` asks their boards for them, as far as these have them."
        )
    if media.count:
        progress.say(f"{folder_of(file)}: {counted(media.count, 'photo or sound', 'photos and sounds')}")
    if media.damaged:
        progress.say(
            f"{len(media.damaged)} photos or sounds are damaged, and not saved: put them back from an earlier backup."
        )
    if context.json:
        found = {"damaged_lines": damaged, "media": media.count, "damaged_media": len(media.damaged)}
        output.print_json({"file": str(file), "bytes": size, **found})


@takes(HOME, JSON)
def restore(
    context: Context,
    file: Annotated[Path, typer.Argument(help="file written by `engram backup`")],
    replace: Annotated[bool, typer.Option("--replace", help="overwrite the existing database")] = False,
) -> None:
    """Restore a saved database. Stop the companion first; once it runs again, boards send what is newer.

    Example: engram restore companion-2026-11-22.db --replace
    """
    from engram_host.companion.lockfile import lock_home
    from engram_host.companion.media.backup import restore_media
    from engram_host.companion.recovery.backup import restore_sqlite
    from engram_host.companion.recovery.backup_postgres import ToolMissing, restore_postgres
    from engram_host.companion.settings import make_folder

    settings = _settings(context.home)
    if not file.is_file():
        raise NotFound(f"there is no file {file}.")
    make_folder(settings.home)
    path = _sqlite(settings)
    if not replace and (path is None or path.exists()):
        raise CommandError("there is a database already: save it with `engram backup`, then restore with --replace.")
    with lock_home(settings.home, alone=True):
        media = restore_media(file, settings.home)
        try:
            if path:
                restore_sqlite(file, path, command_entry(f"restore from {file}"))
            else:
                restore_postgres(file, settings.store.url)
                with opened_store(context.home) as (store, _):
                    note_command(store, f"restore from {file}")
        except ToolMissing as missing:
            raise NotInstalled(str(missing)) from None
    if context.json:
        output.print_json({"restored": str(file), "media": media.count, "damaged_media": len(media.damaged)})
        return
    output.print_line(f"{file} is the companion's database now.")
    if media.count:
        output.print_line(f"{counted(media.count, 'photo or sound', 'photos and sounds')} came back with it.")
    if media.damaged:
        output.print_line(f"{len(media.damaged)} files beside it are damaged, and were left out.")


@takes(HOME, JSON)
def repair(context: Context) -> None:
    """Save what can be read of a damaged database, in its place. Stop the companion first. The damaged one is kept beside it.

    Restore a backup instead if you have a recent one. Boards send again what they still have; what was archived is kept where
    it can be read.

    Example: engram repair
    """
    from engram_host.companion.lockfile import lock_home
    from engram_host.companion.recovery.repair import repair_sqlite

    settings = _settings(context.home)
    path = _sqlite(settings)
    if path is None:
        raise CommandError(
            "only an SQLite database can be repaired: restore a backup with `engram restore`, or ask PostgreSQL's own tools."
        )
    if not path.exists():
        raise NotFound(f"there is no database {path}: `engram restore` puts a backup there.")
    kept = path.with_name(f"{path.name}.damaged-{time.strftime('%Y%m%d-%H%M%S')}")
    with lock_home(settings.home, alone=True):
        done = repair_sqlite(path, kept, command_entry(f"repair, the damaged database is kept as {kept.name}"))
    if context.json:
        boards = {name: asdict(board) for name, board in sorted(done.boards.items())}
        output.print_json({"kept": str(kept), "boards": boards, "tables": done.tables})
        return
    for sentence in done.sentences:
        output.print_line(sentence)
    output.print_line(f"The damaged database is kept as {kept}: remove it once all boards have connected.")


def _settings(home: Path) -> "Settings":
    from engram_host.companion.settings import read_settings

    return read_settings(home, {})


def note_quietly(settings: "Settings", action: str) -> None:
    """Keep in the audit log what a command did; a sentence where that cannot be. The database's schema stays as it is."""
    from engram_host.companion.errors import StoreUnavailable
    from engram_host.companion.settings import store_url
    from engram_host.companion.store import choose_store

    store = choose_store(store_url(settings.store, settings.home))
    try:
        store.database.connect()
        note_command(store, action)
    except StoreUnavailable as problem:
        typer.echo(f"not in the audit log: {problem}", err=True)
    finally:
        store.close()


def _sqlite(settings: "Settings") -> Path | None:
    """The file of the database, None if it is PostgreSQL."""
    from engram_host.companion.settings import database_file

    return database_file(settings)
