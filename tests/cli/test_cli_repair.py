"""`engram repair`: the newest backup replaces a damaged database; boards send what it lacks."""

import getpass
from pathlib import Path

import pytest

from archiving_board import ArchivingBoard, archive, board_of_six
from cli_case import audit_log, engram, fine
from damaging import harm_line, overwrite_page, tree_pages
from engram import log_line
from engram_host.companion.auth import tokens
from engram_host.companion.lockfile import lock_home
from engram_host.companion.store import CompanionStore, choose_store, recovery
from engram_host.companion.store.recovery import daily_backup, kept_files, save_backup
from engram_host.companion.types import AuditEntry, LogName, SeqRange
from killed_at import STEP, killed_at
from plain_board import PlainBoard

JOURNAL: LogName = "journal"
LINES = 300


class Home:
    """A companion's folder with a board of many turns, a token, and a board with an archive."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.path = folder / "companion.db"
        store = self.open()
        self.board = PlainBoard(store, "hall", "board-2")
        self.board.logs[JOURNAL].append(LINES)
        self.board.sync()
        self.archiving: ArchivingBoard = board_of_six(store)
        archive(self.archiving, 2, 4)
        self.archiving.sync()
        self.archiving.compact_records()
        self.archiving.sync()
        store.tokens.add_token(tokens.stored_token("hall", tokens.new_token()))
        store.close()

    def open(self) -> CompanionStore:
        """The store, which the boards use from now on."""
        store = choose_store(f"sqlite:///{self.folder}/companion.db")
        store.open()
        for board in ("board", "archiving"):
            if hasattr(self, board):
                getattr(self, board).store = store
        return store

    def save(self) -> Path:
        """The newest daily backup, made now."""
        file = daily_backup(self.folder)
        file.parent.mkdir(exist_ok=True)
        save_backup(self.path, file, keep=3)
        return file

    def say(self, count: int) -> None:
        """Copy some more turns of the board."""
        store = self.open()
        self.board.logs[JOURNAL].append(count)
        self.board.sync()
        store.close()

    def damage(self) -> None:
        overwrite_page(self.path, tree_pages(self.path)["lines"][0])

    def lines(self, store: CompanionStore) -> dict[int, bytes]:
        span = SeqRange("hall", JOURNAL, self.board.logs[JOURNAL].epoch, 0, log_line.MAX_SEQ)
        return dict(store.boards.lines(span))


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


def test_a_whole_database_is_left_alone(home: Home):
    before = home.path.read_bytes()
    assert "nothing to repair" in fine("repair", "--home", home.folder).out
    assert home.path.read_bytes() == before and not list(home.folder.glob("*damaged*"))


def test_a_damaged_database_is_replaced_by_the_newest_backup(home: Home):
    home.save()
    home.say(5)
    newest = home.save()
    home.damage()
    assert fine("repair", "--home", home.folder, "--json").json["backup"] == str(newest)
    store = home.open()
    assert len(home.lines(store)) == LINES + 5
    assert [token.device for token in store.tokens.tokens()] == ["hall"]
    store.close()


def test_the_archive_comes_back_from_the_backup(home: Home):
    home.save()
    home.damage()
    fine("repair", "--home", home.folder)
    store = home.open()
    home.archiving.sync()
    assert [log_line.decode(line)["id"] for _, line in store.boards.archived("kitchen")] == ["m2", "m4"]
    store.close()


def test_a_damaged_backup_is_passed_over_for_an_older_one(home: Home):
    home.save()
    overwrite_page(home.save(), 1)
    home.damage()
    older = kept_files(daily_backup(home.folder), 2)[1]
    assert fine("repair", "--home", home.folder, "--json").json["backup"] == str(older)


def test_without_a_backup_boards_fill_a_new_database(home: Home):
    overwrite_page(home.path, 1)
    assert "In its place is a new database" in fine("repair", "--home", home.folder).out
    store = home.open()
    assert home.lines(store) == {}
    home.board.sync()
    assert home.lines(store) == home.board.logs[JOURNAL].lines
    store.close()


def test_what_stands_in_the_log_beside_the_damaged_file_is_kept(home: Home):
    overwrite_page(home.path, 1)
    log = home.path.with_name("companion.db-wal")
    log.write_bytes(b"what was written last")
    kept = Path(fine("repair", "--home", home.folder, "--json").json["kept"])
    assert kept.with_name(kept.name + "-wal").read_bytes() == b"what was written last"
    assert home.open().tokens.tokens() == []


@pytest.mark.shortened
def test_a_repair_that_is_killed_leaves_the_damaged_database_or_the_new_one(home: Home):
    backup = home.save()
    home.damage()
    damaged = home.path.read_bytes()
    kept = home.path.with_name("kept.db")

    def repair() -> None:
        note = AuditEntry(1, "ann", "repair", "done")
        recovery.replace_damaged(home.path, kept=kept, backups=[backup], note=note)

    line = 1
    while killed_at(line, recovery, repair) and home.path.read_bytes() == damaged:
        line += STEP
    assert line > 40 and kept.read_bytes() == damaged
    recovery.check_backup(home.path)


def test_lines_that_no_board_can_send_again_are_set_aside(home: Home):
    store = home.open()
    home.board.logs[JOURNAL].epoch += 1_000_000
    home.board.sync()
    former = home.board.logs[JOURNAL].epoch - 1_000_000
    harm_line(store, "hall", JOURNAL, 7, epoch=former)
    store.close()
    assert fine("repair", "--home", home.folder, "--json").json["lines_set_aside"] == 1
    store = home.open()
    (left,) = store.boards.set_aside_lines("hall")
    assert (left.epoch, left.seq) == (former, 7) and "damaged" in left.why
    store.health.check()
    assert store.boards.damaged() == []
    store.close()


def test_a_damaged_line_that_its_board_still_has_is_not_set_aside(home: Home):
    store = home.open()
    harm_line(store, "hall", JOURNAL, 200)
    store.close()
    assert fine("repair", "--home", home.folder, "--json").json["lines_set_aside"] == 0
    store = home.open()
    home.board.sync()
    assert home.lines(store) == home.board.logs[JOURNAL].lines and store.boards.damaged() == []
    store.close()


def test_a_repair_is_in_the_audit_log(home: Home):
    overwrite_page(home.path, 1)
    fine("repair", "--home", home.folder)
    (entry,) = audit_log(home.folder)
    assert entry.action.startswith("repair, the damaged database is kept as companion.db.damaged-")
    assert entry.who == f"command of {getpass.getuser()}"


def test_nothing_is_repaired_while_a_companion_runs(home: Home):
    with lock_home(home.folder, alone=False):
        ran = engram("repair", "--home", home.folder)
    assert ran.status == 1 and "end it first" in ran.err


def test_postgres_is_not_repaired_and_the_sentence_says_what_to_do(tmp_path: Path):
    ran = engram("repair", "--home", tmp_path, ENGRAM_STORE_URL="postgresql://nobody@127.0.0.1:1/x")
    assert ran.status == 1 and "pg_restore" in ran.err
