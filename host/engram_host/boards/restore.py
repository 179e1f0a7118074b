"""Puts a backup back on a board: all of it, or nothing."""

import json
import random
import re
import zlib
from pathlib import Path

from engram_host.boards import backup, file_set, profile, settings, staging, user_data
from engram_host.boards.backup import FOLDERS, LOG_FOLDERS, SECRETS, SETTINGS, SavedBoard
from engram_host.boards.errors import MemoryAtRisk, WrongBoard, kilobytes
from engram_host.boards.file_set import CODE_JSON, Files, short_hash
from engram_host.boards.progress import Meter, Progress, Tally
from engram_host.boards.session import BoardFile, Session, open_session

RECORDS = "memory/memory_records.jsonl"
ARCHIVE = "memory/archive.jsonl"
_ADVICE = "save it with `make backup`, then restore with ERASE_MEMORY=1."
_EPOCH = re.compile(rb'"epoch":(\d+)')
_CRC = b',"crc":"'
_LARGEST_EPOCH = (1 << 30) - 1


def restore(named_port: str, path: Path, progress: Progress, *, may_erase: bool = False) -> None:
    """Put what a file holds on a board. MemoryAtRisk if that has a memory of its own."""
    saved = backup.read_backup(path)
    progress.step("Stopping the board")
    with open_session(named_port) as session:
        present = session.around((f"{folder}/" for folder in FOLDERS), Tally(progress, "Looking what there is"))
        if CODE_JSON not in present:
            raise WrongBoard("there is no Engram on this board: `make flash` or `make deploy` it first.")
        old = [path for path, entry in present.items() if path.split("/")[0] in LOG_FOLDERS and not entry.is_folder]
        if not may_erase:
            _check_holdings(session, present)
        files = with_new_epoch(saved.files, _seed(saved, present)) | _settings(session, saved)
        _make_room(session, files, old, progress)
        removals = [path for path in old if path not in files]
        staging.install(session, files, removals, progress)
    size = kilobytes(sum(len(content) for content in files.values()))
    went = f" {len(old)} files of the memory that it had are gone." if old and may_erase else ""
    progress.say(f"Restored: {len(files)} files ({size}) of the backup made {saved.made}.{went} The board starts anew.")


def _seed(saved: SavedBoard, present: dict[str, BoardFile]) -> str:
    """The same as long as the board has not changed: what a restore that was cut has sent need not be sent again."""
    there = {path: entry.sha256 for path, entry in present.items() if path.split("/")[0] in LOG_FOLDERS}
    return json.dumps([{path: short_hash(content) for path, content in saved.files.items()}, there], sort_keys=True)


def with_new_epoch(files: Files, seed: str) -> Files:
    """The same files, but each log has another epoch: seqs are used again after a restore, and who copies a log has to know."""
    numbers = random.Random(seed)
    renewed: Files = {}
    epochs: dict[str, bytes] = {}
    present = _EPOCH.search(files.get(RECORDS, b"").partition(b"\n")[0])
    for path, content in files.items():
        log = path.partition(".")[0]
        head, newline, rest = content.partition(b"\n")
        found = _EPOCH.search(head)
        if path == ARCHIVE and found and present and found[1] == present[1]:
            # What it says of the companion is about this log.
            log = RECORDS.partition(".")[0]
        if path.endswith(".jsonl") and path.split("/")[0] in LOG_FOLDERS and found and newline and _CRC in head:
            epoch = epochs.setdefault(log, _other_epoch(found[1], numbers))
            body = head[: head.rindex(_CRC)]
            body = body[: found.start(1)] + epoch + body[found.end(1) :]
            head = body + _CRC + f'{zlib.crc32(body):08x}"}}'.encode()
        renewed[path] = head + newline + rest
    return renewed


def _other_epoch(old: bytes, numbers: random.Random) -> bytes:
    """A random odd number of as many digits: headers tell the lengths of other segments, which must not change."""
    low = 10 ** (len(old) - 1)
    high = min(10 ** len(old) - 1, _LARGEST_EPOCH)
    while True:
        new = str(numbers.randint(low, high) | 1).encode()
        if new != old and len(new) == len(old):
            return new


def _check_holdings(session: Session, present: dict[str, BoardFile]) -> None:
    sizes = {path: entry.size for path, entry in present.items() if not entry.is_folder and path != SECRETS}
    holds = user_data.find_user_data(sizes, session.get)
    if holds:
        raise MemoryAtRisk(holds, _ADVICE)


def _settings(session: Session, saved: SavedBoard) -> Files:
    """The backup's settings; of another board's its limits are left out, since they are that board's."""
    if SETTINGS not in saved.files:
        return {}
    here = file_set.parse_code_json(session.get(CODE_JSON)).get("board")
    if here == saved.board or here not in profile.names():
        return {}
    old = settings.parse_settings(saved.files[SETTINGS].decode("utf-8", "replace"), "the backup's config.json")
    return {SETTINGS: settings.config_json(old, profile.load(here).settings)}


def _make_room(session: Session, files: Files, old: list[str], progress: Progress) -> None:
    """Remove the old memory first where the flash cannot hold both; what an earlier attempt has sent counts as room."""
    staged = {f"{staging.NEXT}/{path}": content for path, content in files.items()}
    unsent = staging.missing_files(staged, session.tree(staging.NEXT, Tally(progress, "Looking what was sent before")))
    if old and session.free_flash() < staging.room_for(unsent):
        progress.say("The flash has no room for both memories: the old one is removed first.")
        meter = Meter(progress, f"Removing {len(old)} files", len(old))
        for path in old:
            session.drop(path)
            meter(1)
