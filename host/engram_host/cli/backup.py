"""`engram backup`, `restore` and `repair`: a companion's database, photos and sounds."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from engram_host.boards.progress import Progress
from engram_host.cli import output
from engram_host.cli.access import command_entry, note_command
from engram_host.cli.exit_status import CommandError, NotFound
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
    is refused. The companion makes a daily backup by itself, in its folder `backups`, without
    photos and sounds.

    Example: engram backup companion-2026-11-22.db

    Example: engram backup companion.db --keep 7
    """
    from engram_host.companion.media.backup import folder_of, prune_media, save_media
    from engram_host.companion.metrics import note_backup
    from engram_host.companion.store.recovery import kept_files, save_backup

    settings = context.read_settings()
    path = _sqlite(settings)
    if not file.parent.is_dir():
        raise NotFound(f"there is no folder {file.parent} to write {file.name} to.")
    if file.exists() and not (replace or keep):
        raise CommandError(f"{file} exists: name another file, or give --replace to overwrite it, or --keep.")
    if not path.exists():
        raise NotFound(f"there is no database {path}: no companion has run in this folder yet.")
    keep = max(keep, 1)
    progress = Progress()
    save_media(settings.home, file)
    damaged = save_backup(
        path, file, keep=keep, report=lambda done, total: progress.step("Saving the database", done, total)
    )
    media = save_media(settings.home, file)  # files that arrived during the backup
    prune_media(kept_files(file, keep))
    note_backup(settings.home)
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
    from engram_host.companion.settings import make_folder
    from engram_host.companion.store.recovery import restore_backup

    settings = context.read_settings()
    if not file.is_file():
        raise NotFound(f"there is no file {file}.")
    path = _sqlite(settings)
    make_folder(settings.home)
    if not replace and path.exists():
        raise CommandError("there is a database already: save it with `engram backup`, then restore with --replace.")
    with lock_home(settings.home, alone=True):
        media = restore_media(file, settings.home)
        restore_backup(file, path, command_entry(f"restore from {file}"))
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
    """Replace a damaged database by the newest daily backup, or a new one. Stop the companion first.

    The damaged one is kept beside it, under a name with the date. Boards send again what the
    backup lacks. Damaged lines that no board can send again are set aside, if all else is whole.

    Example: engram repair
    """
    from engram_host.companion.errors import StoreDamaged
    from engram_host.companion.lockfile import lock_home
    from engram_host.companion.store.recovery import MOST_KEPT, daily_backup, kept_files, replace_damaged

    settings = context.read_settings()
    path = _sqlite(settings)
    if not path.exists():
        raise NotFound(f"there is no database {path}: `engram restore` puts a backup there.")
    kept = path.with_name(f"{path.name}.damaged-{time.strftime('%Y%m%d-%H%M%S')}")
    with lock_home(settings.home, alone=True):
        try:
            lines = _set_lost_lines_aside(settings)
        except StoreDamaged:
            taken = replace_damaged(
                path,
                kept=kept,
                backups=kept_files(daily_backup(settings.home), MOST_KEPT),
                note=command_entry(f"repair, the damaged database is kept as {kept.name}"),
            )
        else:
            _report_whole(context, path, lines)
            return
    if context.json:
        backup_taken = str(taken) if taken else None
        output.print_json({"kept": str(kept), "backup": backup_taken, "lines_set_aside": 0})
        return
    source = f"the daily backup {taken}" if taken else "a new database, as no daily backup is whole"
    output.print_line(f"{path} was damaged. In its place is {source}.")
    output.print_line("Start the companion: boards send again what it lacks.")
    output.print_line(f"The damaged one is kept as {kept}: remove it once all boards have connected.")


def _set_lost_lines_aside(settings: "Settings") -> int:
    """Check the database, and set aside damaged lines that no board has; raises StoreDamaged."""
    from engram_host.companion.settings import store_url
    from engram_host.companion.store import choose_store

    store = choose_store(store_url(settings.store, settings.home))
    try:
        store.open()
        store.health.check()
        lines = store.health.set_lost_aside(int(time.time()))
        if lines:
            count = counted(lines, "damaged line", "damaged lines")
            note_command(store.audit, f"repair, {count} set aside")
    finally:
        store.close()
    return lines


def _report_whole(context: Context, path: Path, lines: int) -> None:
    if context.json:
        output.print_json({"kept": None, "backup": None, "lines_set_aside": lines})
    elif lines:
        count = counted(lines, "line", "lines")
        output.print_line(f"{path}: {count} that no board can send again set aside.")
    else:
        output.print_line(f"{path} is whole: there is nothing to repair.")


def note_quietly(settings: "Settings", action: str) -> None:
    """Write to the audit log, or print why not; the schema stays as it is."""
    from engram_host.companion.errors import StoreUnavailable
    from engram_host.companion.settings import store_url
    from engram_host.companion.store import choose_store

    store = choose_store(store_url(settings.store, settings.home))
    try:
        store.database.connect()
        note_command(store.audit, action)
    except StoreUnavailable as problem:
        typer.echo(f"not in the audit log: {problem}", err=True)
    finally:
        store.close()


def _sqlite(settings: "Settings") -> Path:
    """Return the file of the database; raises CommandError for PostgreSQL."""
    from engram_host.companion.settings import database_file

    path = database_file(settings)
    if path is None:
        raise CommandError(
            "the database is PostgreSQL: save it with pg_dump and restore it with pg_restore; "
            f"photos and sounds are the folder {settings.home / 'media'}."
        )
    return path
