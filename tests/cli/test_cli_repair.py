"""`engram repair`: what can be read of a damaged database is saved, and the boards send the rest again."""

import getpass
import sqlite3
from pathlib import Path

import pytest

from archiving_board import ArchivingBoard, archive, board_of_six
from cli_case import audit_log, engram, fine
from damaging import PAGE, harm_line, overwrite_page, tree_pages
from engram import log_line
from engram_host.companion.auth import tokens
from engram_host.companion.lockfile import lock_home
from engram_host.companion.store import CompanionStore, choose_store
from engram_host.companion.store.row_types import LogRow
from engram_host.companion.types import LogName, SeqRange
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
        store.add_token(tokens.stored_token("hall", tokens.new_token()))
        store.put("note", "kept")
        store.close()

    def open(self) -> CompanionStore:
        """The store, which the boards use from now on."""
        store = choose_store("auto", "", self.folder)
        store.open()
        for board in ("board", "archiving"):
            if hasattr(self, board):
                getattr(self, board).store = store
        return store

    def lines(self, store: CompanionStore) -> dict[int, bytes]:
        span = SeqRange("hall", JOURNAL, self.board.logs[JOURNAL].epoch, 0, log_line.MAX_SEQ)
        return dict(store.lines(span))


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


def test_a_repair_of_a_sound_database_loses_nothing(home: Home):
    before = _dump(home.path)
    fine("repair", "--home", home.folder)
    assert _dump(home.path) == before


def _dump(path: Path) -> dict[str, list]:
    with sqlite3.connect(path) as database:
        tables = {
            "lines": "device, log, epoch, seq, version, received, crc, line",
            "logs": "device, log, epoch, is_present, have, oldest, next",
            "devices": "*",
            "events": "*",
            "device_tokens": "*",
            "notes": "*",
        }
        return {
            name: database.execute(f"SELECT {columns} FROM {name} ORDER BY 1, 2, 3, 4").fetchall()
            if name == "lines"
            else sorted(database.execute(f"SELECT {columns} FROM {name}").fetchall())
            for name, columns in tables.items()
        }


def test_lines_of_other_pages_are_saved_and_the_board_sends_the_rest(home: Home):
    pages = tree_pages(home.path)["lines"]
    overwrite_page(home.path, pages[len(pages) // 2])
    ran = fine("repair", "--home", home.folder, "--json").json
    counts = ran["boards"]["hall"]
    assert 0 < counts["sent_again"] < LINES and counts["saved"] + counts["sent_again"] >= LINES and counts["lost"] == 0
    store = home.open()
    assert len(home.lines(store)) == LINES - counts["sent_again"]
    home.board.sync()
    assert home.lines(store) == home.board.logs[JOURNAL].lines
    store.close()


def test_lines_are_saved_though_nothing_leads_to_their_pages(home: Home):
    overwrite_page(home.path, tree_pages(home.path)["lines"][0])  # the root
    fine("repair", "--home", home.folder)
    store = home.open()
    assert len(home.lines(store)) > LINES * 0.9
    store.close()


def test_the_first_page_may_be_gone(home: Home):
    overwrite_page(home.path, 1)
    assert "cannot" not in fine("repair", "--home", home.folder).out
    store = home.open()
    assert home.lines(store) == home.board.logs[JOURNAL].lines
    assert [token.device for token in store.tokens()] == ["hall"] and store.get("note") == "kept"
    store.close()


def test_the_archive_is_kept(home: Home):
    overwrite_page(home.path, tree_pages(home.path)["lines"][1])  # of the turns of hall: what kitchen has comes last
    fine("repair", "--home", home.folder)
    store = home.open()
    home.archiving.sync()
    assert home.archiving.tell() == 2
    assert sorted(home.archiving.archived) == [2, 4]
    assert [log_line.decode(line)["id"] for _, line in store.archived("kitchen")] == ["m2", "m4"]
    store.close()


def test_what_stands_in_the_log_beside_the_file_is_saved(home: Home):
    store = home.open()
    home.board.logs[JOURNAL].append(5)
    home.board.sync()
    data = {ending: home.path.with_name(home.path.name + ending).read_bytes() for ending in ("", "-wal")}
    store.close()
    for ending, content in data.items():  # as a companion that was killed leaves them
        home.path.with_name(home.path.name + ending).write_bytes(content)
    overwrite_page(home.path, 1)
    fine("repair", "--home", home.folder)
    store = home.open()
    assert home.lines(store) == home.board.logs[JOURNAL].lines
    store.close()


def test_a_damaged_line_is_left_out_and_counted_by_what_its_board_still_has(home: Home):
    store = home.open()
    harm_line(store, "hall", JOURNAL, 7)
    harm_line(store, "hall", JOURNAL, 200)
    home.board.logs[JOURNAL].drop_oldest(100)
    home.board.sync()
    store.close()
    ran = fine("repair", "--home", home.folder)
    assert f"hall: {LINES - 2} lines saved; it has to send 1 again" in ran.out
    assert "1 lost that the board has no more: only a backup has them" in ran.out
    store = home.open()
    home.board.sync()
    lines = home.lines(store)
    assert 7 not in lines and 200 in lines and store.damaged() == []
    store.close()


def test_a_damaged_line_of_a_former_epoch_is_set_aside_and_counted(home: Home):
    store = home.open()
    home.board.logs[JOURNAL].epoch += 1_000_000
    home.board.sync()
    former = home.board.logs[JOURNAL].epoch - 1_000_000
    harm_line(store, "hall", JOURNAL, 7, epoch=former)
    store.close()
    ran = fine("repair", "--home", home.folder)
    assert "hall: 599 lines saved; 1 lost that the board has no more" in ran.out
    assert "what is left of 1 is set aside" in ran.out
    store = home.open()
    (left,) = store.set_aside_lines("hall")
    assert (left.epoch, left.seq) == (former, 7) and "damaged" in left.why
    assert home.lines(store) == home.board.logs[JOURNAL].lines
    store.check()
    assert store.damaged() == []
    store.close()


def test_what_is_left_of_a_damaged_line_goes_when_a_line_of_its_number_is_forgotten(home: Home):
    store = home.open()
    home.board.logs[JOURNAL].epoch += 1_000_000
    home.board.sync()
    harm_line(store, "hall", JOURNAL, 7, epoch=home.board.logs[JOURNAL].epoch - 1_000_000)
    store.close()
    fine("repair", "--home", home.folder)
    store = home.open()
    copy = LogRow("hall", JOURNAL, home.board.logs[JOURNAL].epoch)
    store.database.write(lambda rows: rows.forget_equals(copy, [(7, home.board.logs[JOURNAL].lines[7])]))
    assert store.set_aside_lines("hall") == []
    store.close()


def test_a_repair_is_in_the_audit_log(home: Home):
    overwrite_page(home.path, 1)
    fine("repair", "--home", home.folder)
    (entry,) = audit_log(home.folder)
    assert entry.action.startswith("repair, the damaged database is kept as companion.db.damaged-")
    assert entry.who == f"command of {getpass.getuser()}"


def test_overlong_lines_are_saved(home: Home):
    store = home.open()
    log = home.board.logs[JOURNAL]
    log.lines[log.next] = log_line.encode([("seq", log.next), ("text", "long " * 3000)])
    log.next += 1
    home.board.sync()
    store.close()
    overwrite_page(home.path, 1)
    fine("repair", "--home", home.folder)
    store = home.open()
    assert home.lines(store) == log.lines
    store.close()


def test_the_damaged_database_is_kept(home: Home):
    overwrite_page(home.path, 1)
    damaged = home.path.read_bytes()
    kept = Path(fine("repair", "--home", home.folder, "--json").json["kept"])
    assert kept.read_bytes() == damaged and kept.parent == home.folder
    assert kept.stat().st_mode & 0o077 == 0


def test_a_repaired_database_is_saved_by_a_backup(home: Home, tmp_path: Path):
    overwrite_page(home.path, tree_pages(home.path)["lines_by_version"][-1])
    fine("repair", "--home", home.folder)
    fine("backup", tmp_path / "saved.db", "--home", home.folder)


def test_tokens_that_cannot_be_read_are_told_of(home: Home):
    overwrite_page(home.path, tree_pages(home.path)["device_tokens"][0])
    assert "Not all tokens could be read" in fine("repair", "--home", home.folder).out


def test_nothing_is_repaired_while_a_companion_runs(home: Home):
    with lock_home(home.folder, alone=False):
        ran = engram("repair", "--home", home.folder)
    assert ran.status == 1 and "end it first" in ran.err


def test_a_database_that_is_not_there_is_not_repaired(tmp_path: Path):
    (tmp_path / "home").mkdir()
    assert engram("repair", "--home", tmp_path / "home").status == 4


def test_postgres_is_not_repaired_and_the_sentence_says_what_to_do(tmp_path: Path):
    ran = engram("repair", "--home", tmp_path, ENGRAM_STORE_URL="postgresql://nobody@127.0.0.1:1/x")
    assert ran.status == 1 and "engram restore" in ran.err


def test_a_file_of_nonsense_gives_an_empty_database_and_says_so(home: Home):
    home.path.write_bytes(b"\x0a" * PAGE * 3)
    ran = fine("repair", "--home", home.folder, "--json").json
    assert ran["boards"] == {} and "device_tokens" in ran["tables"]
