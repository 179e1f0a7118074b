"""Photos and sounds in backups, and when their board is erased."""

import os
from pathlib import Path

import media_samples as samples
from cli_case import engram, fine
from companion_store import media_of
from engram.memory.access import OWNER
from engram_host.companion.media.backup import folder_of
from engram_host.companion.media.service import MediaFiles
from engram_host.companion.store import open_store
from engram_host.companion.store.media import StoredMedia
from one_case import in_one_case
from plain_board import PlainBoard

LONG_AGO = 1_000_000_000


def keep(home: Path, *photos: bytes, board: str = "kitchen") -> list[StoredMedia]:
    home.mkdir(parents=True, exist_ok=True)
    store = open_store(f"sqlite:///{home}/companion.db")
    try:
        PlainBoard(store, board, f"id-of-{board}").hello()
        service = media_of(store, home)
        return [service.keep_now(board, photo, OWNER) for photo in photos]
    finally:
        store.close()


def test_a_backup_brings_photos_back_to_another_folder(tmp_path: Path):
    home, there, file = tmp_path / "home", tmp_path / "there", tmp_path / "saved.db"
    kept = keep(home, samples.JPEG, samples.GIF)
    assert fine("backup", file, "--home", home, "--json").json["media"] == 2
    assert (folder_of(file).stat().st_mode & 0o777, folder_of(file).name) == (0o700, "saved.db.media")
    assert fine("restore", file, "--home", there, "--json").json["media"] == 2
    assert MediaFiles(there).read(kept[0].sha) == samples.JPEG
    store = open_store(f"sqlite:///{there}/companion.db")
    assert store.media.media_files() == set(MediaFiles(there).names()) == {each.sha for each in kept}
    store.close()


def test_older_backups_share_the_folder_and_what_none_needs_leaves_it(tmp_path: Path):
    home, file = tmp_path / "home", tmp_path / "saved.db"
    first, second = keep(home, samples.JPEG, samples.GIF)
    fine("backup", file, "--home", home, "--keep", "2")
    MediaFiles(home).remove([first.sha])
    fine("backup", file, "--home", home, "--keep", "2")
    assert fine("restore", f"{file}.1", "--home", tmp_path / "there", "--json").json["media"] == 2
    os.utime(folder_of(file) / first.sha, (LONG_AGO, LONG_AGO))  # it was needed by backups that are gone
    fine("backup", file, "--home", home, "--keep", "2")
    assert [path.name for path in folder_of(file).iterdir()] == [second.sha]


def test_a_damaged_photo_takes_the_place_of_none_that_was_saved(tmp_path: Path):
    home, file = tmp_path / "home", tmp_path / "saved.db"
    first, second = keep(home, samples.JPEG, samples.GIF)
    (home / "media" / second.sha).write_bytes(b"x")
    assert fine("backup", file, "--home", home, "--json").json["damaged_media"] == 1
    (home / "media" / first.sha).write_bytes(b"x")
    fine("backup", file, "--home", home, "--replace")
    (folder_of(file) / ("0" * 64)).write_bytes(b"<script>")
    assert fine("restore", file, "--home", home, "--replace", "--json").json["damaged_media"] == 1
    assert MediaFiles(home).read(first.sha) == samples.JPEG and len(MediaFiles(home).names()) == 2


@in_one_case("words", [["--yes"], []])
def test_an_erased_board_leaves_no_file_and_others_keep_theirs(tmp_path: Path, words: list[str]):
    home = tmp_path / "home"
    mine, shared = keep(home, samples.JPEG, samples.GIF)
    keep(home, samples.GIF, board="garden")
    engram("board", "erase", "kitchen", *words, "--home", home)
    assert set(MediaFiles(home).names()) == ({shared.sha} if words else {mine.sha, shared.sha})
