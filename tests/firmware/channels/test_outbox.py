"""Answers that were not delivered: kept on flash by their turns, given when the link is back, with their age; bounded."""

from board import Board, Script, say
from channel import Chat, Network, message, push, restarted
from engram import files
from engram.channels.deliveries import Outbox
from engram.errors import StoreError
from engram.memory.access import Caller
from support import let_others_run, raises

NET = Caller("ann", "net 1", False, "")


def _board(*steps):
    return Board().serve(Script(*steps))


async def _undelivered(board, count=1):
    network = Network(board.inbox)
    network.is_up = False
    for number in range(count):
        await network.offer(message("net:1:%d" % number, "message %d" % number, NET))
    network.is_up = True
    return network


def _given(network):
    """(address, what was told) of each answer that the board has sent by itself."""
    given = [(address, chat.told) for address, chat in network.chats if chat.told]
    network.chats.clear()
    return given


async def test_a_reply_that_was_not_delivered_is_given_when_the_link_is_back_with_its_age():
    board = _board("Hello.")
    network = await _undelivered(board)
    assert board.model.asked == 1
    board.now += 7200
    assert await board.inbox.deliveries.redeliver("net") == 0
    assert _given(network) == [("net:1:0", ["taken t3", "kept", "(from 2 h ago) Hello.", "end"])]
    assert await board.inbox.deliveries.redeliver("net") == 0 and _given(network) == [] and board.model.asked == 1


async def test_a_message_whose_answer_the_power_took_is_answered_without_being_offered_again():
    board = _board()
    board.journal.add(NET, "user", "ann", "hi", mid="net:1:9")
    Outbox(board.place + "/memory").add(3, NET.room)
    board = restarted(board, "At last.")
    network = Network(board.inbox)
    await board.inbox.deliveries.redeliver("net")
    assert _given(network) == [("net:1:9", ["taken t3", "taken t3", "At last.", "end"])]
    line = board.journal.turn(4)
    assert (line["role"], line["prev"], line["scope"]) == ("assistant", 3, "user:ann")


async def test_while_the_link_goes_down_again_the_rest_waits():
    board = _board("One.", "Two.", "Three.")
    network = await _undelivered(board, 3)
    network.is_up = False
    assert await board.inbox.deliveries.redeliver("net") == 3 and len(_given(network)) == 1
    network.is_up = True
    assert await board.inbox.deliveries.redeliver("net") == 0
    assert [told[2] for _, told in _given(network)] == ["One.", "Two.", "Three."]


async def test_a_room_that_can_take_nothing_for_a_while_is_passed_over():
    board = _board("One.", "Two.")
    network = Network(board.inbox)
    network.is_up = False
    for chat in (1, 2):
        await network.offer(message("net:%d:1" % chat, "hi", Caller("ann", "net %d" % chat, False, "")))
    network.is_up, network.is_full = True, ["net 1"]
    assert await board.inbox.deliveries.redeliver("net") == 1
    assert await push(board.inbox, NET, "The paint has come.") is False
    assert [address for address, _ in _given(network)] == ["net:2:1"]
    network.is_full = []
    assert await board.inbox.deliveries.redeliver("net") == 0
    assert [address for address, _ in _given(network)] == ["net:1:1", "net 1"]


async def test_the_oldest_gives_way():
    board = _board()
    network = await _undelivered(board, 16)
    assert files.size(board.place + "/memory/outbox.bin") == 82
    board = restarted(board)
    network = Network(board.inbox)
    await board.inbox.deliveries.redeliver("net")
    given = _given(network)
    assert len(given) == 13 and given[0][0] == "net:1:3"


async def test_what_the_board_begins_goes_to_the_room_and_is_a_turn_of_its_session():
    board = _board()
    network = Network(board.inbox)
    await network.offer(message("net:1:1", "hi", NET))
    assert await push(board.inbox, NET, "The paint has come.") is True
    assert _given(network) == [("net 1", ["kept", "The paint has come.", "end"])]
    line = board.journal.turn(5)
    assert (line["role"], line["to"], line["sid"]) == ("assistant", "net 1", board.journal.current(NET))
    network.is_up = False
    assert await push(board.inbox, NET, "More paint.") is False
    board = restarted(board)
    network = Network(board.inbox)
    assert await board.inbox.deliveries.redeliver("net") == 0
    assert _given(network) == [("net 1", ["kept", "More paint.", "end"])]


async def test_a_push_with_an_id_is_said_once_also_after_a_restart():
    board = _board()
    for _ in range(2):
        Network(board.inbox)
        board.inbox.deliveries.push(NET, "The paint has come.", "event:e1")
        assert board.inbox.deliveries.push(NET, "The paint has come.", "event:e1") is None
        await let_others_run()
        board = restarted(board)
    assert len([line for line in board.journal.entries.lines_backwards() if line.get("to")]) == 1


async def test_what_was_forgotten_before_it_was_delivered_is_not_delivered():
    board = _board("Hello.")
    network = await _undelivered(board)
    network.is_up = False
    await push(board.inbox, NET, "The paint has come.")
    network.is_up = True
    network.chats.clear()
    for turn in ("t4", "t5"):
        board.journal.redact(turn, NET)
    assert await board.inbox.deliveries.redeliver("net") == 0
    assert _given(network) == [("net:1:0", ["taken t3", "refused there is no turn t4; it was forgotten.", "end"])]


async def test_what_the_board_begins_is_on_flash_at_once_and_is_delivered_once_though_the_link_comes_back_meanwhile():
    board = _board()
    network = Network(board.inbox)
    pushing = board.inbox.deliveries.push(NET, "The paint has come.")
    assert board.journal.turn(3)["text"] == "The paint has come." and Outbox(board.place + "/memory").find(3)
    await board.inbox.deliveries.redeliver("net")
    assert pushing and await pushing is True
    assert _given(network) == [("net 1", ["kept", "The paint has come.", "end"])]


async def test_what_could_not_be_read_while_it_was_delivered_is_kept():
    board = _board()
    network = Network(board.inbox)

    class Failing(Chat):
        async def on_saved_reply(self, reply):
            raise StoreError("the flash cannot be read.")

    board.inbox.deliveries.add_channel("net", lambda address: (Failing(network), "net 1"))
    assert await push(board.inbox, NET, "The paint has come.") is False
    network = Network(board.inbox)
    assert await board.inbox.deliveries.redeliver("net") == 0
    assert _given(network)[-1] == ("net 1", ["kept", "The paint has come.", "end"])


async def test_what_a_full_flash_did_not_take_leaves_nothing_to_deliver_in_the_place_of_the_next_line():
    board = _board()
    network = Network(board.inbox)
    network.is_up = False
    journal = board.journal
    for begin in ("add", "note_command"):
        setattr(journal, begin, _full)
    with raises(StoreError):
        board.inbox.deliveries.push(NET, "The paint has come.")
    await network.offer(message("net:1:0", "/remember tea", NET))
    for begin in ("add", "note_command"):
        delattr(journal, begin)
    assert not Outbox(board.place + "/memory").deliveries
    say(board, "the next line", caller=NET, mid="net:1:1")
    network.is_up = True
    assert await board.inbox.deliveries.redeliver("net") == 0 and not _given(network)


async def test_who_is_not_let_in_any_more_gets_nothing_that_was_kept_and_no_model_is_asked():
    script = Script("first", "second")
    board = Board().serve(script)
    network = await _undelivered(board)
    assert await push(board.inbox, NET, "The paint has come.") is False  # an earlier answer waits
    network.is_up = False
    assert await push(board.inbox, Caller("bob", "net 2", False, ""), "It rains.") is False
    say(board, "unanswered", caller=NET, mid="net:1:9")
    Outbox(board.place + "/memory").add(board.journal.newest, NET.room)
    board = restarted(board, script)
    network = Network(board.inbox)
    asked = []

    def is_let_in(caller):
        asked.append((caller.principal, caller.room))
        return caller.room == "net 2"

    board.inbox.deliveries.add_channel("net", network.open_sink, is_let_in)
    assert await board.inbox.deliveries.redeliver("net") == 0
    told = [told for _, told in _given(network)]
    assert len(told) == 1 and told[0][1] == "It rains." and script.asked == 1
    assert asked == [("ann", "net 1"), ("ann", "net 1"), ("bob", "net 2"), ("ann", "net 1")]
    newest = board.journal.newest
    assert board.inbox.deliveries.push(NET, "More paint.") is None and board.journal.newest == newest
    assert not Outbox(board.place + "/memory").deliveries


def _full(*_, **more):
    raise StoreError("the flash is full.")
