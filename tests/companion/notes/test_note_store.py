"""The notes of boards in both databases: what a board says once, twice or late, and what is found then."""

import contextlib
import random
from collections.abc import Callable

import pytest

from engram.link import messages
from engram.memory.access import Caller
from engram_host.companion.errors import Refused, Stale
from engram_host.companion.store import CompanionStore, board_notes
from engram_host.companion.types import LEFT_NOTES, NOTES, LineQuota, NoteEntry, NoteSpan, RetentionLimits
from extent import extent, with_more
from noting_board import NoAnswer, NotingBoard, found_notes, shown
from one_case import in_one_case

DAY = 86400
OWNER = Caller("owner", "http", False, "")
ANN = Caller("ann", "http", False, "")
ROOM = Caller("ann", "http", True, "")


@pytest.fixture
def board(store: CompanionStore) -> NotingBoard:
    return NotingBoard(store)


def note_sources(store: CompanionStore, *prefixes: str) -> list[str]:
    """Names of the kitchen's notes that a search looks through."""
    return [device.name for device in store.boards.search_sources(["kitchen"], prefixes)[1:]]


def with_notes(board: NotingBoard) -> NotingBoard:
    board.notes = {
        "2026-09-20.md": b"# Tea\n- 08:15 green tea\n\n- 09:00 black tea\n",
        "2026-09-20~ann.md": "- 10:00 喜欢绿茶, and tea\n".encode(),
        "MEMORY.md": b"tea at four\n",
    }
    board.sync_notes()
    return board


def test_lines_are_found_by_who_wrote_them_and_cited_with_their_day(store: CompanionStore, board: NotingBoard):
    with_notes(board)
    assert found_notes(store, "tea", OWNER) == [
        ("2026-09-20.md#2", "- 08:15 green tea"),
        ("2026-09-20.md#4", "- 09:00 black tea"),
        ("MEMORY.md#1", "tea at four"),
    ]
    assert found_notes(store, "tea", ANN) == [("2026-09-20.md#1", "- 10:00 喜欢绿茶, and tea")]
    assert found_notes(store, "tea", ROOM) == [] == found_notes(store, "tea", Caller("bob", "http", False, "ann"))
    assert len(found_notes(store, "20 September 2026", OWNER)) == 2


@pytest.mark.both_databases
def test_what_was_cleared_goes_and_what_left_stays(store: CompanionStore, board: NotingBoard):
    with_notes(board)
    del board.notes["2026-09-20.md"], board.notes["2026-09-20~ann.md"]
    board.left = {"2026-09-20~ann.md"}
    board.sync_notes()
    assert set(shown(store)) == {"MEMORY.md", "left 2026-09-20~ann.md"}
    assert note_sources(store, LEFT_NOTES) == ["folder:left notes:kitchen"]
    assert found_notes(store, "tea", ANN) == [("2026-09-20.md#1", "- 10:00 喜欢绿茶, and tea")]
    assert store.notes.note_lines("kitchen", "2026-09-20.md", "ann") == ["- 10:00 喜欢绿茶, and tea", ""]
    assert store.notes.note_lines("kitchen", "2026-09-20.md", "owner") is None
    board.sync_notes()
    assert set(shown(store)) == {"MEMORY.md", "left 2026-09-20~ann.md"}


@pytest.mark.both_databases
def test_the_state_is_another_one_once_anything_is_missing(store: CompanionStore, board: NotingBoard):
    with_notes(board)
    told = board.state
    assert board.hello().notes == told
    store.database.write(lambda rows: rows.run("UPDATE files SET stamp = ''"))  # as where a line was found damaged
    assert board.hello().notes != told
    board.sync_notes()
    assert board.hello().notes == board.state == told
    store.database.write(lambda rows: rows.run("DELETE FROM note_files WHERE file = 'MEMORY.md'"))
    assert board.hello().notes != told


@pytest.mark.both_databases
def test_a_damaged_text_is_told_and_sent_again(store: CompanionStore, board: NotingBoard):
    with_notes(board)
    told = board.state
    sql = "UPDATE note_files SET content = ? WHERE file = 'MEMORY.md'"
    store.database.write(lambda rows: rows.run(sql, (b"something else",)))
    assert store.notes.note_lines("kitchen", "MEMORY.md", "owner") is None
    store.health.check()
    assert "1 note of a board is damaged" in " ".join(store.health.found_notes)
    assert board.hello().notes != told
    board.sync_notes()
    assert store.notes.note_lines("kitchen", "MEMORY.md", "owner") == ["tea at four", ""]
    store.health.check()
    assert not store.health.found_notes and board.hello().notes == told


def test_the_notes_of_a_board_that_was_reset_are_kept_apart_until_they_expire(
    store: CompanionStore, board: NotingBoard
):
    with_notes(board)
    former = board.epoch
    del board.notes["2026-09-20~ann.md"]
    board.left = {"2026-09-20~ann.md"}
    board.sync_notes()
    before = set(shown(store))
    kept, board.notes = board.notes, {"MEMORY.md": b"another owner likes tea\n"}
    board.logs["records"].epoch += 1_000_000
    board.hello()
    assert note_sources(store, NOTES, LEFT_NOTES) == []  # before the first list too
    board.sync_notes()
    assert found_notes(store, "tea", OWNER) == [("MEMORY.md#1", "another owner likes tea")]
    assert found_notes(store, "tea", ANN) == []
    board.notes, board.logs["records"].epoch = kept, former
    board.sync_notes()
    assert set(shown(store)) == before
    assert found_notes(store, "tea", ANN) == [("2026-09-20.md#1", "- 10:00 喜欢绿茶, and tea")]
    assert ("MEMORY.md#1", "tea at four") in found_notes(store, "tea", OWNER)
    count = "SELECT count(*) FROM note_files"
    assert store.database.read(lambda rows: rows.run(count)) == [(4,)]
    store.removal.expire(RetentionLimits(former_days=1), board.now + 2 * DAY)
    assert store.database.read(lambda rows: rows.run(count)) == [(3,)] and len(shown(store)) == 3


def test_an_erased_board_leaves_no_note(store: CompanionStore, board: NotingBoard):
    with_notes(board)
    del board.notes["2026-09-20.md"]
    board.left = {"2026-09-20.md"}
    board.sync_notes()
    other = with_notes(NotingBoard(store, "hall", "board-2"))
    assert store.removal.board_contents("kitchen").notes == 3
    store.removal.erase_board("kitchen")
    assert shown(store) == {}
    assert [device.name for device in store.boards.sources()] == ["folder:notes:hall", "hall"]
    assert len(shown(store, other.name)) == 3


# --- bounds, and what is no note


@in_one_case("file", ["", "user.md", "2026-13-01.md", "../MEMORY.md", "MEMORY~_zz.md", "records.jsonl"])
def test_a_file_that_is_no_note_is_refused(store: CompanionStore, board: NotingBoard, file: str):
    with_notes(board)
    board.notes[file] = b"text"
    for say in (lambda: board.send_note(file), lambda: board.list_notes("", "", [file])):
        with pytest.raises(Refused, match="no note"):
            say()
    assert len(shown(store)) == 3


def test_a_note_has_at_most_so_many_bytes_and_lines_that_are_found(store: CompanionStore, board: NotingBoard):
    board.hello()
    board.notes = {"MEMORY.md": b"x" * (messages.NOTE_BYTES + 1)}
    with pytest.raises(Refused, match="64001 bytes"):
        board.send_note("MEMORY.md")
    board.notes = {"MEMORY.md": b"a\n" * (messages.NOTE_BYTES // 2), "2026-09-20.md": b"y" * messages.NOTE_BYTES}
    board.sync_notes()
    assert len(shown(store)["MEMORY.md"]) == board_notes.MOST_LINES and len(shown(store)["2026-09-20.md"]) == 1
    lines = store.notes.note_lines("kitchen", "MEMORY.md", "owner")
    assert lines and len(lines) == messages.NOTE_BYTES // 2 + 1


def test_of_too_many_notes_the_oldest_that_left_go(
    store: CompanionStore, board: NotingBoard, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(board_notes, "MOST_FILES", 4)
    days = [f"2026-09-{day:02}.md" for day in range(1, 8)]
    for day in days:
        board.notes = {day: b"- tea\n"}
        board.sync_notes()
        board.left = {day}
    assert set(shown(store)) == {"2026-09-07.md", *(f"left {day}" for day in days[3:6])}
    board.notes = dict.fromkeys(days[:5], b"- tea\n")
    with pytest.raises(Refused, match="more than 4 notes"):
        board.sync_notes()


def test_notes_count_for_the_quota_of_lines(store: CompanionStore, board: NotingBoard):
    with_notes(board)
    board.quota = LineQuota(lines=4)
    board.notes["MEMORY.md"] += b"and cake\n"
    with pytest.raises(Refused, match=r"store\.device_lines"):
        board.sync_notes()
    assert store.notes.note_lines("kitchen", "MEMORY.md", "owner") == ["tea at four", ""]
    board.now += DAY
    board.sync_notes()
    assert store.notes.note_lines("kitchen", "MEMORY.md", "owner") == ["tea at four", "and cake", ""]


def test_a_note_before_a_hello_or_of_another_epoch_is_refused(store: CompanionStore, board: NotingBoard):
    span = NoteSpan("kitchen", 1, "", "", (NoteEntry("MEMORY.md", 1),))
    with pytest.raises(Refused, match="hello"):
        store.notes.compare_notes(board.sender(), span, 0)
    with_notes(board)
    with pytest.raises(Refused, match="hello"):
        store.notes.put_note(board.sender(), "kitchen", board.epoch + 1, "MEMORY.md", b"x", 0, LineQuota())


# --- faults


def faulty(chance: random.Random, late: list[Callable[[], object]]) -> Callable[[Callable[[], object]], object]:
    """Deliver a message, or lose it, or its answer, or deliver it twice, or once more when another one has come."""

    def deliver(call: Callable[[], object]) -> object:
        kind = chance.randrange(8)
        if kind == 0:
            raise NoAnswer
        answer = call()
        for each in late:
            _quietly(each)
        late.clear()
        if kind == 1:
            raise NoAnswer
        if kind == 2:
            _quietly(call)
        if kind == 3:
            late.append(call)
        return answer

    return deliver


def _quietly(call: Callable[[], object]) -> None:
    """What comes twice or late is passed over."""
    with contextlib.suppress(Refused, Stale):
        call()


def change(chance: random.Random, board: NotingBoard) -> None:
    """Write, clear or lose a note, as a board's people and its days do."""
    file = chance.choice([f"2026-09-{chance.randrange(1, 7):02}{who}.md" for who in ("", "~ann")] + ["MEMORY.md"])
    kind = chance.randrange(4)
    if kind < 2:
        board.left.discard(file)
        board.notes[file] = board.notes.get(file, b"") + f"- tea {chance.randrange(9)}\n".encode()
    elif board.notes.pop(file, None) is not None and kind == 3 and file[0] == "2":
        board.left.add(file)


@pytest.mark.parametrize("seed", with_more(range(2), range(2, 40)))
def test_whatever_becomes_of_messages_the_copy_is_the_boards_in_the_end(store: CompanionStore, seed: int):
    chance = random.Random(seed)
    board = NotingBoard(store)
    board.deliver = faulty(chance, [])
    for _ in range(extent(30, 12)):
        for _ in range(chance.randrange(1, 4)):
            change(chance, board)
        try:
            board.sync_notes() if chance.randrange(2) else board.send_note(chance.choice([*board.notes, "MEMORY.md"]))
        except NoAnswer:
            continue
        except Refused:
            assert board.link == 0  # no hello has come through yet
    board.deliver = lambda call: call()
    board.now += 1000
    board.sync_notes()
    found = {file: store.notes.note_lines("kitchen", *_named(file)) for file in board.notes}
    assert found == {file: content.decode().split("\n") for file, content in board.notes.items()}
    assert {file for file in shown(store) if not file.startswith("left ")} == set(board.notes)
    assert not {f"left {file}" for file in board.notes} & set(shown(store))
    assert board.hello().notes == board.state


def _named(file: str) -> tuple[str, str]:
    name = board_notes.note_name(file)
    return name.name, name.principal
