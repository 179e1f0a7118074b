"""Saves a board's memory, journal, profile, settings and own.py in one file, and restores them.

The file is a tar.gz. Its first member, backup.json, is its index: {"format": 1, "board", "version",
"made", "files": {path: sha256}}. Files that the firmware can rebuild are left out: indexes,
reserves, drafts, code.
"""

import io
import json
import random
import re
import tarfile
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from engram_host.boards import deploy, file_set, profile
from engram_host.boards.errors import (
    BadRequest,
    BoardFailed,
    Garbled,
    MemoryAtRisk,
    NoFile,
    WrongBoard,
    command_name,
    option_name,
)
from engram_host.boards.file_set import CODE_JSON, OWN_CODE, Files
from engram_host.boards.progress import Meter, Progress
from engram_host.boards.session import BoardFile, BoardSession, open_session
from engram_host.wording import counted, kilobytes

LOG_FOLDERS = ("memory", "journal")
FOLDERS = (*LOG_FOLDERS, "profile")
SETTINGS, SECRETS, ROOTS = "config.json", "secrets.json", "roots.pem"
LARGEST = 64 << 20
"""Bytes; a damaged header may claim more than any flash holds."""

_LIST = "backup.json"
_FORMAT = 1
_REBUILT = re.compile(r"\.(index|x\d+|new)$|/reserve\.bin$")
_TRIES = 3


@dataclass(frozen=True)
class SavedBoard:
    board: str
    made: str
    files: Files


def backup(named_port: str, out: Path, progress: Progress, *, with_secrets: bool = False) -> None:
    """Save memory, journal, profile, settings and own code of a board, and its secrets if asked
    for."""
    if not out.parent.is_dir():
        raise NoFile(f"there is no folder {out.parent} to write {out.name} to.")
    with open_session(named_port, progress) as session:
        present = session.list_around((f"{folder}/" for folder in FOLDERS), Meter(progress, "Looking what there is"))
        wanted = _wanted(present, with_secrets)
        if not wanted:
            raise BoardFailed("there is nothing of Engram's on this board to save.")
        meter = Meter(
            progress, f"Saving {counted(len(wanted), 'file', 'files')}", sum(entry.size for entry in wanted.values())
        )
        _write(out, _description(session, present, wanted), lambda path: _fetch(session, path, wanted[path], meter))
    size = kilobytes(out.stat().st_size)
    without = "" if with_secrets or SECRETS not in present else " Networks and keys are not in it."
    progress.say(f"{out}: {counted(len(wanted), 'file', 'files')}, {size}, each compared by its hash.{without}")


def read_backup(path: Path) -> SavedBoard:
    """Read a file written by backup(); raises NoFile, or BadRequest if it is no backup or damaged."""
    try:
        with tarfile.open(path, "r:gz") as tar:
            members = iter(tar)
            description = json.loads(_member(tar, next(members)))
            files = {member.name: _member(tar, member) for member in members}
    except OSError as error:
        kind = NoFile if isinstance(error, FileNotFoundError) else BadRequest
        raise kind(f"{path} cannot be read: {error.strerror or error}.") from None
    except (tarfile.TarError, ValueError, EOFError, StopIteration) as problem:
        raise BadRequest(f"{path} is no backup of a board, or is damaged: {problem}.") from None
    if not isinstance(description, dict) or description.get("format") != _FORMAT:
        raise BadRequest(f"{path} is no backup that this version can read.")
    if {name: sha256(content).hexdigest() for name, content in files.items()} != description.get("files"):
        raise BadRequest(f"{path} is damaged: what is in it is not what was saved.")
    if not all(_is_ours(name) for name in files):
        raise BadRequest(f"{path} has files in it that a backup does not have.")
    return SavedBoard(str(description.get("board", "")), str(description.get("made", "")), files)


def _wanted(present: dict[str, BoardFile], with_secrets: bool) -> dict[str, BoardFile]:
    return {
        path: entry
        for path, entry in sorted(present.items())
        if not entry.is_folder and _is_ours(path) and (path != SECRETS or with_secrets)
    }


def _is_ours(path: str) -> bool:
    if path in (SETTINGS, SECRETS, ROOTS, OWN_CODE):
        return True
    folder, _, rest = path.partition("/")
    return folder in FOLDERS and bool(rest) and ".." not in rest.split("/") and not _REBUILT.search(path)


def _description(session: BoardSession, present: dict[str, BoardFile], wanted: dict[str, BoardFile]) -> dict[str, Any]:
    code_json = file_set.parse_code_json(session.get_file(CODE_JSON)) if CODE_JSON in present else {}
    return {
        "format": _FORMAT,
        "board": code_json.get("board", ""),
        "version": code_json.get("version", ""),
        "made": time.strftime("%Y-%m-%d %H:%M:%S %z"),
        "files": {path: entry.sha256 for path, entry in wanted.items()},
    }


def _fetch(session: BoardSession, path: str, entry: BoardFile, meter: Meter) -> bytes:
    for _ in range(_TRIES):
        try:
            content = session.get_file(path, meter)
        except Garbled:
            continue
        if sha256(content).hexdigest() == entry.sha256:
            return content
    raise Garbled(f"{path} does not arrive as the board has it: try another cable or port.")


def _write(out: Path, described: dict[str, Any], fetch: Callable[[str], bytes]) -> None:
    draft = out.with_name(out.name + ".part")
    try:
        # Only the owner may read the backup.
        draft.unlink(missing_ok=True)
        draft.touch(mode=0o600)
        with tarfile.open(draft, "w:gz", format=tarfile.PAX_FORMAT) as tar:
            _add(tar, _LIST, (json.dumps(described, indent=1) + "\n").encode())
            for path in described["files"]:
                _add(tar, path, fetch(path))
        draft.replace(out)
    except OSError as error:
        raise BadRequest(f"{out} cannot be written: {error.strerror}.") from None
    finally:
        draft.unlink(missing_ok=True)


def _add(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size = len(content)
    member.mode = 0o600
    member.mtime = int(time.time())
    tar.addfile(member, io.BytesIO(content))


def _member(tar: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    file = tar.extractfile(member)
    if file is None or member.size > LARGEST:
        raise ValueError(f"{member.name} is no file of a backup")
    return file.read()


# --- restore


_ADVICE = f"save it with {command_name('backup')}, then restore with {option_name('ERASE_MEMORY')}."
_EPOCH = re.compile(rb'"epoch":(\d+)')
_CRC = b',"crc":"'
_LARGEST_EPOCH = (1 << 30) - 1


def restore(named_port: str, path: Path, progress: Progress, *, may_erase: bool = False) -> None:
    """Restore a backup; raises MemoryAtRisk if the board has a memory of its own."""
    saved = read_backup(path)
    with open_session(named_port, progress) as session:
        present = session.list_around((f"{folder}/" for folder in FOLDERS), Meter(progress, "Looking what there is"))
        if CODE_JSON not in present:
            raise WrongBoard(f"there is no Engram on this board: put it there with {command_name('deploy')} first.")
        old = [path for path, entry in present.items() if path.split("/")[0] in LOG_FOLDERS and not entry.is_folder]
        if not may_erase:
            _check_holdings(session, present)
        files = with_new_epoch(saved.files) | _settings(session, saved)
        removals = [path for path in old if path not in files]
        deploy.install_files(session, files, progress, removals)
    size = kilobytes(sum(len(content) for content in files.values()))
    gone = counted(len(old), "file of the memory that it had is", "files of the memory that it had are")
    went = f" {gone} gone." if old and may_erase else ""
    restored = counted(len(files), "file", "files")
    progress.say(f"Restored: {restored} ({size}) of the backup made {saved.made}.{went} The board restarts.")


def with_new_epoch(files: Files) -> Files:
    """Return the files with a new epoch in each log, since a restore uses seqs again."""
    renewed: Files = {}
    epochs: dict[str, bytes] = {}
    for path, content in files.items():
        log = path.partition(".")[0]
        head, newline, rest = content.partition(b"\n")
        found = _EPOCH.search(head)
        if path.endswith(".jsonl") and path.split("/")[0] in LOG_FOLDERS and found and newline and _CRC in head:
            epoch = epochs.setdefault(log, _other_epoch(found[1]))
            body = head[: head.rindex(_CRC)]
            body = body[: found.start(1)] + epoch + body[found.end(1) :]
            head = body + _CRC + f'{zlib.crc32(body):08x}"}}'.encode()
        renewed[path] = head + newline + rest
    return renewed


def _other_epoch(old: bytes) -> bytes:
    """Return a random odd number of as many digits: headers give the lengths of other segments."""
    low = 10 ** (len(old) - 1)
    high = min(10 ** len(old) - 1, _LARGEST_EPOCH)
    while True:
        new = str(random.randint(low, high) | 1).encode()
        if new != old and len(new) == len(old):
            return new


def _check_holdings(session: BoardSession, present: dict[str, BoardFile]) -> None:
    sizes = {path: entry.size for path, entry in present.items() if not entry.is_folder and path != SECRETS}
    holds = file_set.find_user_data(sizes, session.get_file)
    if holds:
        raise MemoryAtRisk(holds, _ADVICE)


def _settings(session: BoardSession, saved: SavedBoard) -> Files:
    if SETTINGS not in saved.files:
        return {}
    here = file_set.parse_code_json(session.get_file(CODE_JSON)).get("board")
    if here == saved.board or here not in profile.profile_names():
        return {}
    old = profile.parse_settings(saved.files[SETTINGS].decode("utf-8", "replace"), "the backup's config.json")
    return {SETTINGS: profile.config_json(old, profile.load_profile(here).settings)}
