"""Messages with their network's id: each is answered once, again from the journal, or late; and commands never run twice."""

import asyncio

from board import ROOM, Board, Script
from channel import Network, PowerFailure, cut, message, restarted
from engram.errors import ModelError
from engram.memory.access import Caller

NET = Caller("ann", "net 1", False, "")


def _board(*steps, **settings):
    return Board().serve(Script(*steps), **settings)


def _turns(board):
    return [(line.get("role"), line.get("mid"), line.get("re")) for line in reversed(_lines(board)) if "role" in line]


def _lines(board):
    return list(board.journal.entries.lines_backwards())


async def _cut_off(board, said):
    """Let the power fail while a message is answered, once it is on flash."""
    try:
        await Network(board.inbox).offer(said)
        raise AssertionError("no power failure")
    except PowerFailure:
        pass


async def test_a_message_that_comes_twice_is_answered_once_and_its_reply_is_given_again():
    board = _board("Hello, Ann.")
    network = Network(board.inbox, is_confirming=False)
    first = await network.offer(message("net:1:1", "hi", NET))
    again = await network.offer(message("net:1:1", "hi", NET))
    assert first.told == ["taken t3", "Hello, Ann.", "end"]
    assert again.told == ["taken t3", "kept", "Hello, Ann.", "end"]
    assert board.model.asked == 1 and _turns(board) == [("user", "net:1:1", None), ("assistant", None, None)]


async def test_what_a_confirming_channel_has_delivered_is_not_given_again():
    board = _board("Hello, Ann.")
    network = Network(board.inbox)
    await network.offer(message("net:1:1", "hi", NET))
    assert (await network.offer(message("net:1:1", "hi", NET))).told == ["taken t3", "end"]
    board = restarted(board)
    assert (await Network(board.inbox).offer(message("net:1:1", "hi", NET))).told == ["taken t3", "end"]


async def test_a_message_whose_answer_the_power_took_is_answered_late_without_a_second_turn():
    board = _board(cut)
    await _cut_off(board, message("net:1:1", "hi", NET))
    board = restarted(board, "Hello at last.")
    board.now += 7200
    late = await Network(board.inbox).offer(message("net:1:1", "hi", NET))
    assert late.told[1:] == ["notice this answers a message from 2 h ago", "taken t3", "Hello at last.", "end"]
    assert _turns(board) == [("user", "net:1:1", None), ("assistant", None, None)]


async def test_a_message_that_comes_by_two_ways_at_once_is_answered_once():
    board = _board("Once.")
    network = Network(board.inbox, is_confirming=False)
    said = message("net:1:1", "hi", NET)
    chats = await asyncio.gather(network.offer(said), network.offer(said))
    assert sorted("kept" in chat.told for chat in chats) == [False, True] and board.model.asked == 1


async def test_a_command_that_changes_something_leaves_its_line_first_and_is_not_run_again():
    board = _board()
    network = Network(board.inbox)
    first = await network.offer(message("net:1:7", "/note the bike is green", NET))
    assert first.told[0] == "taken t1" and first.told[1].startswith("line noted in")
    assert _lines(board)[0] == {"seq": 1, "op": "command", "mid": "net:1:7", "at": board.clock.now()}
    for _ in range(2):
        assert (await network.offer(message("net:1:7", "/note the bike is green", NET))).told == ["taken t1", "end"]
        network = Network(restarted(board).inbox)
        again = await Network(board.inbox, False).offer(message("net:1:7", "/note the bike is green", NET))
        assert again.told[0] == "taken t1" and "not carried out again" in again.told[1], again.told
    assert board.notes.for_caller(NET).text(board.notes.for_caller(NET).today()).count("green") == 1


async def test_a_compaction_keeps_the_newest_commands_and_what_turns_say_of_their_ids():
    board = _board("Hello.")
    network = Network(board.inbox, is_confirming=False)
    await network.offer(message("net:1:7", "/note the bike is green", NET))
    await network.offer(message("net:1:8", "hi", NET))
    board.compact()
    network = Network(restarted(board).inbox, is_confirming=False)
    assert "not carried out again" in (await network.offer(message("net:1:7", "/note the bike is green", NET))).told[1]
    assert (await network.offer(message("net:1:8", "hi", NET))).told[1:] == ["kept", "Hello.", "end"]
    for _ in range(128):
        board.journal.add(NET, "user", "ann", "one")
        board.journal.add(NET, "assistant", "engram", "two")
    board.compact()
    assert "command" not in [line.get("op") for line in _lines(board)]


async def test_a_command_that_only_reads_leaves_no_line_and_runs_again():
    board = _board()
    network = Network(board.inbox)
    for _ in range(2):
        told = (await network.offer(message("net:1:8", "/memory", NET))).told
        assert told[0].startswith("line 0 memories") and told[-1] == "end"
    assert board.journal.newest == 0


async def test_without_a_model_the_answer_to_a_message_with_an_id_is_kept_and_no_search_finds_it():
    board = Board().serve()
    network = Network(board.inbox, is_confirming=False)
    await network.offer(message("net:1:1", "remember that my bike is green", NET))
    again = await network.offer(message("net:1:1", "remember that my bike is green", NET))
    assert again.told[1:] == ["kept", "Remembered as m1: my bike is green", "end"]
    assert board.records.count(NET) == 1
    assert [hit.seq for hit, _ in board.search_turns("bike green", 5, NET)] == []


async def test_a_plain_command_without_a_reply_is_not_carried_out_again():
    board = Board().serve()
    board.journal.add(NET, "user", "ann", "remember that my bike is green", command=True, mid="net:1:1")
    told = (await Network(board.inbox).offer(message("net:1:1", "remember that my bike is green", NET))).told
    assert "not carried out again" in told[1] and not board.records.count(NET)


async def test_a_message_whose_model_failed_is_answered_when_it_comes_again():
    board = _board(ModelError("the link is down."), "Now.")
    network = Network(board.inbox)
    assert (await network.offer(message("net:1:1", "hi", NET))).told[1:] == ["problem the link is down.", "end"]
    assert (await network.offer(message("net:1:1", "hi", NET))).told[1:] == ["taken t3", "Now.", "end"]


async def test_a_message_that_was_forgotten_is_not_answered_again():
    board = _board("Hello.")
    network = Network(board.inbox, is_confirming=False)
    await network.offer(message("net:1:1", "my secret", NET))
    board.journal.redact("t3", NET)
    for _ in range(2):
        told = (await network.offer(message("net:1:1", "my secret", NET))).told
        assert told == ["taken t3", "refused there is no turn t3; it was forgotten.", "end"]
        board.compact()
    assert board.model.asked == 1


async def test_a_reply_that_was_forgotten_is_not_given_again():
    board = _board("Your secret is safe.")
    network = Network(board.inbox, is_confirming=False)
    await network.offer(message("net:1:1", "hi", NET))
    board.journal.redact("t4", NET)
    told = (await network.offer(message("net:1:1", "hi", NET))).told
    assert told == ["taken t3", "refused there is no turn t4; it was forgotten.", "end"]


async def test_ids_are_checked():
    board = _board()
    for mid in ("net:" + "1" * 61, "net:\n", "net:é"):
        told = (await Network(board.inbox).offer(message(mid, "hi", NET))).told
        assert told == ["refused mid: must have 1 to 64 printable ASCII characters.", "end"]
    assert board.journal.newest == 0


async def test_a_reply_that_is_not_near_is_told_rather_than_asked_for_again():
    board = _board("Hello.")
    board.journal.add(NET, "user", "ann", "hi", mid="net:1:1")
    for number in range(260):
        board.journal.add(ROOM, "user", "ann", "message %d" % number)
    network = Network(board.inbox)
    board.journal.seen.note("net:1:1", 3)
    told = (await network.offer(message("net:1:1", "hi", NET))).told
    assert told[1] == "refused this message came before, as t3; its answer is not near: ask again."
    assert not board.model.asked
