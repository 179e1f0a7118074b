"""Reminders that were asked for in a chat are told there, wherever the person brings them up."""

from board import Board, Script
from channel import Network
from engram.errors import StoreError
from engram.memory.access import OWNER, Caller
from support import wait_until
from turns import say

CHAT = Caller("owner", "net 1", False, "")
GROUP = Caller("owner", "net 2", True, "")
HEARD = "reminder: buy brushes (i1)"


def _board(asked_in=CHAT):
    """A board with a network, and a reminder that was asked for there."""
    board = Board().serve(Script())
    board.reminders.add(asked_in, "paint shop", "buy brushes")
    return board, Network(board.inbox)


def _told(network):
    """What was said in chats of the network by the board's own initiative."""
    return [(address, chat.told) for address, chat in network.chats]


async def test_what_was_asked_for_in_a_chat_and_comes_up_on_the_console_is_told_in_both():
    board, network = _board()
    _, ear = await say(board, "I was at the paint shop")
    assert ear.notices == [HEARD]
    await wait_until("it is told in the chat", lambda: network.chats and "end" in network.chats[0][1].told)
    assert _told(network) == [("net 1", ["kept", HEARD, "end"])]
    turn = board.journal.turn(int(network.chats[0][1].reply.turn[1:]))
    assert (turn["to"], turn["text"], turn["scope"]) == ("net 1", HEARD, "user:owner")


async def test_a_chat_that_cannot_be_reached_gets_it_later():
    board, network = _board()
    network.is_up = False
    await say(board, "I was at the paint shop")
    await wait_until("it was tried", lambda: network.chats and "end" in network.chats[0][1].told)
    board.restart()
    board.serve(Script())
    network = Network(board.inbox)
    assert await board.inbox.redeliver("net") == 0
    assert _told(network) == [("net 1", ["kept", HEARD, "end"])]


async def test_in_the_chat_itself_it_is_told_once():
    board, network = _board()
    _, ear = await say(board, "I was at the paint shop", CHAT)
    assert ear.notices == [HEARD] and _told(network) == []


async def test_what_was_asked_for_on_the_console_is_told_where_it_comes_up():
    board, network = _board(OWNER)
    _, ear = await say(board, "I was at the paint shop", CHAT)
    assert ear.notices == [HEARD] and _told(network) == []


async def test_a_groups_reminder_stays_in_its_group():
    board, network = _board(GROUP)
    for caller, notices in ((OWNER, []), (GROUP, [HEARD])):
        assert (await say(board, "I was at the paint shop", caller))[1].notices == notices
    assert _told(network) == []


async def test_a_chat_whose_network_is_gone_is_passed_over():
    board, _ = _board()
    del board.inbox.channels["net"]
    _, ear = await say(board, "I was at the paint shop")
    assert ear.notices == [HEARD]


async def test_a_full_flash_does_not_keep_the_reminder_from_being_told_and_noted():
    board, _ = _board()

    def fail(caller, content):
        raise StoreError("there is no room.")

    board.inbox.push = fail
    _, ear = await say(board, "I was at the paint shop")
    assert ear.notices == [HEARD]
    assert [fields["fired"] for fields in board.reminders.owned_by(OWNER)] == [1]
