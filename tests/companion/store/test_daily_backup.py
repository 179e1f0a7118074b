"""The daily backup: when it is made, what a kill or an error leaves of the former one."""

import os
from pathlib import Path

import pytest

from companion_store import opened_store
from damaging import overwrite_page
from engram_host.companion.store import recovery
from engram_host.companion.store.recovery import DailyBackup, check_backup, daily_backup, kept_files
from killed_at import STEP, killed_at

DAY = 86400


class Home:
    """A companion's folder, whose database says how often it was changed."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.path = folder / "companion.db"
        self.saving = DailyBackup(folder, self.path, keep=3)
        self.change(0)

    def change(self, number: int) -> None:
        with opened_store(self.folder) as store:
            store.values.put("said", str(number))

    def let_a_day_pass(self) -> None:
        file = daily_backup(self.folder)
        os.utime(file, (file.stat().st_mtime - DAY, file.stat().st_mtime - DAY))

    def saved(self) -> list[str]:
        """What the daily backups say, newest first; each has to be whole."""
        found: list[str] = []
        for file in kept_files(daily_backup(self.folder), 9):
            if file.exists():
                check_backup(file)
                found.append(_said(file))
        return found


def _said(path: Path) -> str:
    with opened_store(path.parent, path.name) as store:
        return store.values.get("said")


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def test_a_day_gets_one_backup(home: Home):
    for number in range(3):
        home.change(number)
        home.saving.save_if_due()
    assert home.saved() == ["0"]


def test_the_newest_backups_are_kept(home: Home):
    for number in range(5):
        home.change(number)
        home.saving.save_if_due()
        home.let_a_day_pass()
    assert home.saved() == ["4", "3", "2"]


def test_a_backup_of_the_future_is_replaced(home: Home):
    home.saving.save_if_due()
    os.utime(daily_backup(home.folder), (1e10, 1e10))
    home.change(1)
    home.saving.save_if_due()
    assert home.saved() == ["1", "0"]


def test_a_backup_is_for_its_owner_alone(home: Home):
    home.saving.save_if_due()
    file = daily_backup(home.folder)
    assert (file.stat().st_mode | file.parent.stat().st_mode) & 0o077 == 0


def test_a_damaged_database_replaces_no_backup_and_is_reported(home: Home):
    home.saving.save_if_due()
    home.let_a_day_pass()
    overwrite_page(home.path, 2)
    home.saving.save_if_due()
    assert home.saved() == ["0"]
    assert "the daily backup failed" in home.saving.problem and "engram repair" in home.saving.problem


def test_a_failure_is_forgotten_after_a_success(home: Home):
    (home.folder / recovery.DAILY_FOLDER).write_text("a thesis")
    home.saving.save_if_due()
    assert "cannot be made" in home.saving.problem
    (home.folder / recovery.DAILY_FOLDER).unlink()
    home.saving.save_if_due()
    assert home.saving.problem == "" and home.saved() == ["0"]


@pytest.mark.shortened
def test_a_kill_leaves_the_former_backup_or_the_new_one(home: Home):
    home.saving.save_if_due()
    home.change(1)
    line, is_killed = 0, True
    while is_killed:
        line += STEP
        home.let_a_day_pass()
        is_killed = killed_at(line, recovery, home.saving.save_if_due)
        assert home.saved()[0] in ("0", "1")
    assert line > 40
    home.let_a_day_pass()
    home.saving.save_if_due()
    assert home.saved()[0] == "1"
    assert not list(daily_backup(home.folder).parent.glob("*.part"))
