"""Copying the notes: whatever the way does to the messages, in the end the companion's notes are the board's."""

from board import ANN, DAY, Board
from engram import files
from engram.compat import finish
from engram.link import messages
from engram.memory.access import OWNER
from engram.memory.principal_files import file_name_of
from linked import Linked
from samples import Numbers
from support import rounds


def _note(board, text, caller=OWNER):
    board.notes.for_caller(caller).note(text)


def _outgrow(board):
    """Write a note on the next day, so that the one before has no room any more."""
    board.now += DAY
    _note(board, "the plumber came")
    finish(board.note_retention.tidying())


async def test_the_notes_of_all_principals_are_copied_and_nothing_is_said_when_nothing_changed():
    board = Board()
    _note(board, "the plumber comes on Friday")
    _note(board, "喜欢绿茶", ANN)
    board.notes.for_caller(ANN).write("MEMORY.md", "# Tea\nAnn likes green tea\n")
    linked = Linked(board)
    await linked.copy_all(linked.notes)
    assert sorted(linked.companion.notes) == ["2026-09-21.md", "2026-09-21~ann.md", "MEMORY~ann.md"]
    assert linked.companion.counts == {"hello": 1, "notes": 1, "note": 3}
    linked.companion.counts.clear()
    linked.exchange.open(linked.known.begin())  # a new link
    await linked.copy_all(linked.notes)
    assert linked.companion.counts == {"hello": 1}
    _note(board, "and brings a tap")
    await linked.copy_all(linked.notes)
    assert linked.companion.counts == {"hello": 2, "note": 1}
    linked.check_notes()


async def test_after_a_start_a_list_is_all_that_is_said():
    board = Board()
    for number in range(40):
        files.write(
            board.notes.folder + "/2026-0%d-%02d.md" % (number // 20 + 7, number % 20 + 1), "- note %d\n" % number
        )
    linked = Linked(board)
    await linked.copy_all(linked.notes)
    linked.check_notes()
    assert linked.companion.counts == {"hello": 1, "notes": 2, "note": 40}
    linked.companion.counts.clear()
    linked.connect()
    await linked.copy_all(linked.notes)
    assert linked.companion.counts == {"hello": 1, "notes": 2}
    assert linked.way.largest < 1600


async def test_a_note_that_left_without_a_link_stays_though_the_board_was_started_anew():
    board = Board(notes_bytes=4096)
    _note(board, "the plumber comes on Friday")
    linked = Linked(board)
    await linked.copy_all(linked.notes)
    _outgrow(board)
    board.restart()
    linked.connect()
    await linked.copy_all(linked.notes)
    assert list(linked.companion.left) == ["2026-09-21.md"] and board.note_retention.left() == []


async def test_a_note_that_is_too_long_is_not_copied_and_a_former_copy_goes():
    board = Board()
    _note(board, "the plumber comes on Friday")
    linked = Linked(board)
    await linked.copy_all(linked.notes)
    files.write(board.notes.folder + "/2026-09-21.md", "x" * (messages.NOTE_BYTES + 1))
    board.notes._changed(board.notes.folder + "/2026-09-21.md", False)
    await linked.copy_all(linked.notes)
    assert linked.companion.notes == {}
    files.write(board.notes.folder + "/2026-09-21.md", "x" * messages.NOTE_BYTES)
    board.notes._changed(board.notes.folder + "/2026-09-21.md", False)
    await linked.copy_all(linked.notes)
    linked.check_notes()
    assert linked.way.largest <= messages.MOST_BYTES


async def test_a_note_that_changes_while_it_is_sent_is_sent_again():
    board = Board()
    _note(board, "the plumber comes on Friday " * 60)
    linked = Linked(board)
    pieces = [0]

    def change():
        pieces[0] += 1
        if pieces[0] == 1:
            _note(board, "and brings a tap")

    linked.way.each = change
    await linked.copy_all(linked.notes)
    linked.check_notes()


async def test_whatever_the_way_does_the_notes_are_the_same_in_the_end():
    for seed in range(rounds(12, 3)):
        numbers = Numbers(seed)
        board = Board(notes_bytes=8192)
        linked = Linked(board, numbers=numbers)
        linked.way.numbers = numbers
        cleared = set()
        for step in range(25):
            notes = board.notes.for_caller(numbers.pick((OWNER, ANN)))
            what = numbers.below(6)
            file = file_name_of(notes.today(), notes._principal)
            if what < 3:
                notes.note("step %d of seed %d" % (step, seed))
                cleared.discard(file)
            elif what == 3:
                notes.clear()
                cleared.add(file)
            elif what == 4:
                board.now += DAY
                finish(board.note_retention.tidying())
            elif numbers.below(2):
                board.restart()
                linked.connect()
            if numbers.below(3) == 0:
                await linked.copy_all(linked.notes)
        linked.way.numbers = None
        await linked.copy_all(linked.notes)
        linked.check_notes()
        assert board.note_retention.left() == [] and not board.notes.uncopied
        assert not cleared.intersection(linked.companion.left), seed
