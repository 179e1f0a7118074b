"""Messages that a companion offers until it has the end of the answer: each is answered once, however many came after it."""

from board import Board, Script
from channel import LinkNetwork, Network, message
from engram import files
from engram.channels.outbox import OFFERED
from engram.memory.access import Caller

ANN = Caller("ann", "phone", False, "")
CHAT = Caller("ann", "net 1", False, "")


def _board(*steps, **limits):
    return Board(**limits).serve(Script(*steps))


def _again(board, *steps):
    """The board after a restart."""
    board.restart()
    return board.serve(Script(*steps))


async def _lose_the_end(board, said):
    """Have a message answered over a link that is down: the companion does not have the end."""
    network = LinkNetwork(board.inbox)
    network.is_up = False
    await network.offer(said)
    return network


def _forget_newest_ids(board):
    """As many messages with ids as the board holds in RAM."""
    for number in range(256):
        board.journal.seen.note("net:1:%d" % number, 1)


def _talk(board, lines):
    """So much is said elsewhere."""
    for number in range(lines):
        board.journal.add(CHAT, "user", "ann", "number %d" % number)


def _taken(board):
    return (files.size(board.place + "/memory" + OFFERED) - 5) // 8


async def test_it_is_answered_once_when_it_is_offered_again_after_more_ids_than_are_held():
    board = _board("Hello, Ann.")
    network = await _lose_the_end(board, message("m1", "hi", ANN))
    _forget_newest_ids(board)
    network.is_up = True
    assert (await network.offer(message("m1", "hi", ANN))).told == ["Hello, Ann.", "t3"]
    assert board.model.asked == 1


async def test_it_is_answered_once_after_a_restart_and_more_lines_than_are_read():
    board = _board("Hello, Ann.")
    await _lose_the_end(board, message("m1", "hi", ANN))
    _talk(board, 300)
    board = _again(board)
    network = LinkNetwork(board.inbox)
    assert (await network.offer(message("m1", "hi", ANN))).told == ["Hello, Ann.", "t3"]
    assert not board.model.asked


async def test_a_command_is_not_run_twice_after_a_restart_and_more_lines_than_are_read():
    board = _board()
    await _lose_the_end(board, message("m1", "/note the bike is green", ANN))
    _talk(board, 300)
    network = LinkNetwork(_again(board).inbox)
    told = (await network.offer(message("m1", "/note the bike is green", ANN))).told
    assert "not carried out again" in told[0] and _taken(board) == 0
    notes = board.notes.for_caller(ANN)
    assert notes.text(notes.today()).count("green") == 1


async def test_nothing_is_kept_of_it_once_the_companion_has_the_end():
    board = _board("Hello, Ann.")
    network = await _lose_the_end(board, message("m1", "hi", ANN))
    assert _taken(board) == 1
    network.is_up = True
    await network.offer(message("m1", "hi", ANN))
    assert _taken(board) == 0


async def test_its_turn_that_has_left_the_journal_is_told_and_not_answered_anew():
    board = _board("Hello, Ann.", segment_bytes=4096, journal_bytes=16384)
    await _lose_the_end(board, message("m1", "hi", ANN))
    _talk(board, 300)
    assert board.journal.entries.line(3) is None
    board = _again(board)
    network = LinkNetwork(board.inbox)
    told = (await network.offer(message("m1", "hi", ANN))).told
    assert told[0] == "there is no turn t3; this came before, and has left the journal: say it again."
    assert not board.model.asked and _taken(board) == 0


async def test_a_line_that_a_power_failure_took_leaves_its_place_to_another_message():
    board = _board("Hello.", "Hello again.")
    network = await _lose_the_end(board, message("m1", "/note one", ANN))
    handler = board.inbox._handler
    (row,) = handler._offered.rows
    row[0] = board.journal.newest + 3  # the line that the next message makes
    network.is_up = True
    assert (await network.offer(message("m2", "hi", ANN))).told[0] == "Hello."
    board.journal.seen._seqs[0] = 0
    await network.offer(message("m1", "/note one", ANN))
    assert handler._offered.rows == []
    assert board.notes.for_caller(ANN).text(board.notes.for_caller(ANN).today()).count("one") == 2


async def test_what_a_companion_never_asks_for_again_drives_out_no_answer_of_another_channel():
    board = _board()
    chat = Network(board.inbox)
    chat.is_up = False
    for number in range(13):
        await chat.offer(message("net:1:%d" % number, "hi", CHAT))
    for number in range(20):
        await _lose_the_end(board, message("m%d" % number, "hi", ANN))
    chat.is_up = True
    assert await board.inbox.redeliver("net") == 0
    assert [address for address, _ in chat.chats] == ["net:1:%d" % number for number in range(13)]
    assert _taken(board) == 13


async def test_a_start_pushes_nothing_for_it():
    board = _board("Hello, Ann.")
    await _lose_the_end(board, message("m1", "hi", ANN))
    board = _again(board)
    board.inbox.add_channel("link", None)
    assert await board.inbox.redeliver("link") == 0
