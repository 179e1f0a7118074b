"""Messages that a companion offers until it has the end of the answer: each is answered once, however many came after it."""

from board import Board, Script
from channel import LinkNetwork, message
from engram.memory.access import Caller

ANN = Caller("ann", "phone", False, "")
CHAT = Caller("ann", "net 1", False, "")


async def _offer_twice(text, *steps):
    """(the board after a restart and much that was said elsewhere, what is told of the second offer)."""
    board = Board().serve(Script(*steps))
    network = LinkNetwork(board.inbox)
    network.is_up = False
    await network.offer(message("m1", text, ANN))
    for number in range(300):
        board.journal.add(CHAT, "user", "ann", "number %d" % number)
    board.restart()
    board.serve(Script("Anew."))
    network.inbox, network.is_up = board.inbox, True
    return board, (await network.offer(message("m1", text, ANN))).told


async def test_a_message_is_answered_once_after_a_restart_and_more_lines_than_are_known():
    board, told = await _offer_twice("hi", "Hello, Ann.")
    assert told == ["Hello, Ann.", "t3"] and not board.model.asked


async def test_a_command_is_not_run_twice_after_a_restart_and_more_lines_than_are_known():
    board, told = await _offer_twice("/note the bike is green")
    assert "not carried out again" in told[0]
    notes = board.notes.for_caller(ANN)
    assert notes.text(notes.today()).count("green") == 1
