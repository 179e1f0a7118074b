"""How an answer is shown: one message that grows, plain where marks are refused, marked where it may have come before."""

import asyncio
from collections import namedtuple

from engram import text  # noqa: F401 leaves first: the stack is short
from engram.channels.deliveries import Kept
from engram.channels.telegram import reply as replies
from engram.channels.telegram.bot_api import BotError
from engram.channels.telegram.reply import UNDER_WAY, Reply, _Stream
from engram.channels.telegram.sender import Place, Sender, message_of, place_of, room_of
from support import wait_until

ANN = Place(7, 0, 5, False, 0)
GROUP = Place(-100, 12, 5, True, 0)
AGAIN = "(Sent again: this may have arrived before.)\n"

Outcome = namedtuple("Outcome", "turn reply problem")

replies.EDIT_MS = 40
replies._AGAIN_MS = 1


class Api:
    """Takes calls; the next of `errors` is raised in place of an answer, None stands for none."""

    def __init__(self, *errors):
        self.calls = []
        self.errors = list(errors)
        self.messages = {}

    async def send(self, method, **fields):
        self.calls.append((method, fields))
        error = self.errors.pop(0) if self.errors else None
        if error:
            raise error
        if method == "sendMessage":
            self.messages[len(self.messages) + 1] = fields["text"]
            return len(self.messages)
        if method == "editMessageText":
            assert self.messages[fields["message_id"]] != fields["text"], "an edit must change something"
            self.messages[fields["message_id"]] = fields["text"]
        return 0

    def texts(self):
        return [self.messages[number] for number in sorted(self.messages)]

    def methods(self):
        return [method for method, _ in self.calls]


class Channel:
    """Stands for the channel of a Reply."""

    def __init__(self, *errors):
        self.api = Api(*errors)
        self.failed = []
        self.moved = []
        self.refused = []
        self.note_refused = self.refused.append
        self.may_wait = [True]  # the last one stays
        self.has_kept = False
        self.sender = Sender(self.api, self._may_wait, self.failed.append, self._move)
        self.noted = []
        self.undelivered = []
        self.said = {}
        self.confirmed = []
        self.copies = 0
        self.given_up = []
        self.note_given_up = self.given_up.append

    def _may_wait(self, _chat):
        return self.may_wait.pop(0) if len(self.may_wait) > 1 else self.may_wait[0]

    def is_behind(self, _chat):
        return self.has_kept

    def _move(self, chat, new):
        self.moved.append((chat, new))

    def confirm(self, place):
        self.confirmed.append(place)

    def note_progress(self, turn, part, message):
        self.noted.append((turn, part, message))

    def note_copy(self, _key, _part):
        self.copies += 1
        return self.copies

    def note_undelivered(self, turn, _place, said):
        self.undelivered.append(turn)
        self.said[turn] = said


async def said(channel, *pieces, place=ANN, is_live=False):
    """A reply that is over; whether it was delivered."""
    reply = Reply(channel, place, is_live)
    await reply.taken("t1")
    for piece in pieces:
        await reply.text(piece)
    return await reply.end(Outcome("t1", "".join(pieces).strip(), ""))


def unknown(code=0):
    return BotError(code, "cut", is_unknown=True)


def test_places_rooms_and_messages_are_written_alike():
    assert room_of(ANN) == "telegram 7" and room_of(GROUP) == "telegram -100 12"
    assert message_of(ANN) == "telegram:7:5" and message_of(GROUP) == "telegram:-100:5:12"
    for place in (ANN, GROUP):
        assert place_of(message_of(place)) == place
        assert place_of(room_of(place)) == Place(place.chat, place.topic, 0, place.is_group, 0)


async def test_a_reply_is_sent_at_the_end_where_links_take_turns():
    channel = Channel()
    assert await said(channel, "\n**Hi** ", "Ann")
    assert channel.api.texts() == ["<b>Hi</b> Ann"]
    assert channel.api.methods() == ["sendMessage"]
    assert channel.confirmed == [ANN] and not channel.undelivered
    assert channel.noted == [("t1", 0, 0), ("t1", 0, 1)]


async def test_a_reply_streams_into_one_message():
    channel = Channel()
    reply = Reply(channel, ANN, True)
    await reply.taken("t1")
    await wait_until("the typing sign", lambda: channel.api.calls)
    await reply.text("One ")
    await wait_until("the first piece", lambda: channel.api.texts() == ["One"])
    await reply.text("two ")
    await reply.text("three ")
    await wait_until("an edit", lambda: channel.api.texts() == ["One two three"])
    await reply.text("four")
    assert await reply.end(None)
    assert channel.api.texts() == ["One two three four"]
    assert channel.api.methods() == ["sendChatAction", "sendMessage", "editMessageText", "editMessageText"]


async def test_notices_stand_before_or_after_the_reply():
    channel = Channel()
    reply = Reply(channel, ANN, True)
    await reply.notice("reminder: buy milk (i1)")
    await reply.text("Hello.")
    await reply.notice("remembered m1")
    await reply.problem("it broke off")
    assert await reply.end(None)
    assert channel.api.texts() == ["· reminder: buy milk (i1)", "Hello.", "· remembered m1\n! it broke off"]


async def test_the_lines_of_a_command_are_bounded():
    channel = Channel()
    reply = Reply(channel, ANN, True)
    for number in range(2000):
        await reply.line("line %d has some words" % number)
    assert await reply.end(None)
    texts = channel.api.texts()
    assert len(texts) == 9 + 1 and texts[0].startswith("line 0 has") and "left out" in texts[-1]


async def test_marks_that_are_refused_are_left_out():
    channel = Channel(BotError(400, "Telegram answers 400: Bad Request: can't parse entities: x"))
    assert await said(channel, "**Hi**")
    assert [fields["text"] for _, fields in channel.api.calls] == ["<b>Hi</b>", "**Hi**"]
    assert "parse_mode" not in channel.api.calls[1][1]


async def test_a_reply_in_a_group_answers_its_message_in_its_topic():
    channel = Channel()
    assert await said(channel, "Hi", place=GROUP)
    fields = channel.api.calls[0][1]
    assert fields["chat_id"] == -100 and fields["message_thread_id"] == 12
    assert fields["reply_parameters"] == {"message_id": 5, "allow_sending_without_reply": True}


async def test_an_unknown_outcome_is_sent_again_with_a_mark():
    channel = Channel(unknown())
    assert await said(channel, "Hi")
    assert channel.api.texts() == [AGAIN + "Hi"]


async def test_what_did_not_go_out_is_sent_again_without_a_mark():
    channel = Channel(BotError(0, "no network"))
    assert await said(channel, "Hi")
    assert channel.api.texts() == ["Hi"]


async def test_a_command_that_is_done_again_is_marked():
    channel = Channel()
    reply = Reply(channel, ANN, False, is_repeat=True)
    await reply.line("full mode")
    assert await reply.end(None)
    assert channel.api.texts() == [AGAIN + "full mode"]


async def test_it_is_known_whether_an_answer_may_have_arrived():
    for error, may_have_arrived in ((BotError(0, "no network"), False), (unknown(), True)):
        channel = Channel(error, error)
        reply = Reply(channel, ANN, False)
        await reply.line("full mode")
        assert not await reply.end(None) and reply.may_have_arrived is may_have_arrived


async def test_an_answer_that_fails_twice_is_kept_with_its_doubt():
    channel = Channel(unknown(), unknown(502))
    assert await said(channel, "Hi") is None
    assert channel.undelivered == ["t1"]
    channel = Channel(BotError(0, "no network"), BotError(0, "no network"))
    assert await said(channel, "Hi") is False


async def test_an_answer_that_may_have_arrived_three_times_is_given_up_over_its_rounds():
    channel = Channel(*[unknown()] * 9)
    assert await said(channel, "Hi") is None and not channel.given_up
    reply = Reply(channel, ANN, False)
    await reply.kept(Kept("t1", "Hi", "", False, True, 0, 0))
    assert await reply.end(None) is True
    assert channel.given_up == ["t1"] and channel.api.methods() == ["sendMessage"] * 3


async def test_what_may_have_arrived_is_not_shown_again_before_the_answer_is_over():
    channel = Channel(None, unknown())  # the typing sign comes first
    reply = Reply(channel, ANN, True)
    await reply.taken("t1")
    await wait_until("the typing sign", lambda: channel.api.calls)
    await reply.text("One ")
    await wait_until("the first piece", lambda: reply.copies)
    await reply.text("two")
    assert not reply._may_show()
    assert await reply.end(None) and channel.api.texts() == [AGAIN + "One two"]
    assert channel.api.methods().count("sendMessage") == 2


async def test_an_edit_of_unknown_outcome_counts_as_no_copy():
    channel = Channel(unknown(), unknown())
    channel.api.messages[33] = "Hel"
    reply = Reply(channel, ANN, False)
    await reply.kept(Kept("t1", "Hello", "", False, False, 0, 33))
    assert not await reply.end(None)
    assert not channel.copies and not channel.given_up


async def test_who_has_blocked_the_bot_is_not_tried_again():
    channel = Channel(BotError(403, "Telegram answers 403: Forbidden: bot was blocked by the user"))
    assert await said(channel, "Hi")
    assert not channel.undelivered


def refusal(words, **more):
    return BotError(400, "Telegram answers 400: Bad Request: " + words, **more)


async def test_only_a_chat_that_has_gone_counts_as_delivered():
    for words in ("chat not found", "PEER_ID_INVALID", "user is deactivated", "have no rights to send a message",
                  "not enough rights to send text messages to the chat", "CHAT_WRITE_FORBIDDEN", "TOPIC_CLOSED"):  # fmt: skip
        channel = Channel(refusal(words))
        assert await said(channel, "Hi"), words
        assert channel.api.methods() == ["sendMessage"] and not channel.refused


async def test_an_answer_that_is_refused_without_marks_too_is_told_to_the_chat_and_the_owner():
    channel = Channel(refusal("message is too long"), refusal("message is too long"))
    assert await said(channel, "**Hi**")
    assert [fields["text"] for _, fields in channel.api.calls][:2] == ["<b>Hi</b>", "**Hi**"]
    [told] = channel.api.texts()
    assert told.startswith("(Telegram does not take this answer") and len(channel.refused) == 1


async def test_that_an_answer_was_refused_is_told_once_even_if_the_chat_cannot_be_told():
    channel = Channel(*[refusal("strange")] * 3)
    assert await said(channel, "Hi")
    assert len(channel.refused) == 1 and len(channel.api.calls) == 3


async def test_an_answer_to_a_topic_that_has_gone_goes_to_the_chat():
    for words in ("message thread not found", "TOPIC_DELETED"):
        channel = Channel(refusal(words))
        assert await said(channel, "Hi", place=GROUP)
        first, second = [fields for _, fields in channel.api.calls]
        assert "message_thread_id" in first and "message_thread_id" not in second


async def test_an_answer_follows_its_group_to_the_supergroup():
    channel = Channel(refusal("group chat was upgraded to a supergroup chat", moved_to=-1007))
    for _ in range(2):
        assert await said(channel, "Hi", place=GROUP)
    assert [fields["chat_id"] for _, fields in channel.api.calls] == [-100, -1007, -1007]
    # In the supergroup another message has the number of the one that is answered.
    assert ["reply_parameters" in fields for _, fields in channel.api.calls] == [True, False, False]
    assert channel.moved == [(-100, -1007)]


async def test_a_message_that_stays_behind_in_a_former_group_is_written_again_with_a_mark():
    channel = Channel(refusal("group chat was upgraded to a supergroup chat", moved_to=-1007))
    reply = Reply(channel, GROUP, False)
    await reply.kept(Kept("t1", "Hello", "", False, False, 0, 33))
    assert await reply.end(None)
    assert channel.api.texts() == [AGAIN + "Hello"] and channel.noted[-1] == ("t1", 0, 1)


async def test_a_message_that_was_under_way_as_its_group_moved_is_written_again_too():
    channel = Channel()
    sent = channel.api.send

    async def send(method, **fields):
        channel.sender.move(-100, -1007)
        return await sent(method, **fields)

    reply = Reply(channel, GROUP, True)
    await reply.taken("t1")
    await wait_until("the typing sign", lambda: channel.api.calls)
    channel.api.send = send
    await reply.text("One ")
    await wait_until("the first piece", lambda: channel.api.texts() == ["One"])
    await reply.text("two")
    assert await reply.end(None)
    assert channel.api.texts() == ["One", AGAIN + "One two"]
    assert [fields["chat_id"] for _, fields in channel.api.calls][1:] == [-100, -1007]


async def test_a_group_that_moves_in_a_ring_ends():
    errors = [refusal("upgraded", moved_to=-number) for number in (8, 7, 8, 7, 8, 7, 8, 7)]
    channel = Channel(*errors)
    await said(channel, "Hi")
    assert len(channel.api.calls) <= 6


def test_the_groups_that_moved_are_bounded():
    sender = Channel().sender
    for chat in range(1, 30):
        sender.move(-chat, -1000 - chat)
    assert len(sender._moved) == 8


async def test_telegrams_wait_is_kept():
    channel = Channel(BotError(429, "Too Many Requests", retry_after=1))
    assert await said(channel, "Hi")
    assert channel.api.methods() == ["sendMessage"] * 2


async def test_an_answer_whose_place_is_needed_waits_for_seconds_and_is_kept_if_it_takes_longer():
    for seconds, is_sent in ((2, True), (40, False)):
        channel = Channel(BotError(429, "Too Many Requests", retry_after=seconds))
        channel.may_wait = [False]
        assert await said(channel, "Hi") is is_sent
        assert channel.undelivered == [] if is_sent else ["t1"]


async def test_an_answer_that_waits_is_kept_as_soon_as_its_place_is_needed():
    channel = Channel(BotError(429, "Too Many Requests", retry_after=40))
    channel.may_wait = [True, True, False]
    assert await said(channel, "Hi") is False and channel.may_wait == [False]


async def test_an_answer_overtakes_no_earlier_ones_that_are_kept():
    channel = Channel()
    channel.has_kept = True
    assert await said(channel, "Hi") is False
    assert channel.undelivered == ["t1"] and not channel.api.calls
    reply = Reply(channel, ANN, False, longest_ms=0)  # one of those that are kept
    await reply.kept(Kept("t1", "Hi", "", False, False, 0, 0))
    assert await reply.end(None) and channel.api.texts() == ["Hi"]


async def test_an_answer_that_has_to_wait_for_more_than_a_minute_is_kept():
    channel = Channel(BotError(429, "Too Many Requests", retry_after=61))
    for _ in range(2):  # the next one of that chat waits no longer
        assert not await said(channel, "Hi")
        assert channel.api.methods() == ["sendMessage"]
    await channel.sender.show_typing(ANN)
    assert channel.api.methods() == ["sendMessage"]


async def test_a_chat_that_has_to_wait_holds_up_no_other_one():
    channel = Channel(BotError(429, "Too Many Requests", retry_after=61))
    assert not await said(channel, "Hi")
    assert await said(channel, "Hi", place=GROUP)
    assert channel.sender.wait_ms(ANN.chat) > 59_000 and not channel.sender.wait_ms(GROUP.chat)


async def test_where_the_whole_bot_has_to_wait_every_chat_does():
    channel = Channel()
    channel.sender.pause(0, 61)
    assert not await said(channel, "Hi") and not channel.api.calls


def test_the_chats_that_have_to_wait_are_bounded():
    sender = Channel().sender
    for chat in range(1, 40):
        sender.pause(chat, 10**9)
    assert len(sender._pauses) == 17 and sender.wait_ms(39) > 86_000_000


def test_a_shorter_wait_ends_no_longer_one():
    sender = Channel().sender
    for seconds in (61, 1):
        sender.pause(7, seconds)
    assert sender.wait_ms(7) > 59_000


async def _edited(words):
    """The channel of a kept answer whose message 33 Telegram does not edit."""
    channel = Channel(refusal(words))
    reply = Reply(channel, ANN, False)
    await reply.kept(Kept("t1", "Hello", "", False, False, 0, 33))
    assert await reply.end(None)
    return channel


async def test_an_edit_that_changes_nothing_is_done():
    channel = await _edited("message is not modified")
    assert channel.api.methods() == ["editMessageText"] and channel.api.calls[0][1]["message_id"] == 33


async def test_an_answer_whose_message_has_gone_is_sent_as_a_new_one_with_a_mark():
    for words in ("message to edit not found", "message can't be edited", "MESSAGE_ID_INVALID"):
        channel = await _edited(words)
        assert channel.api.methods() == ["editMessageText", "sendMessage"]
        assert channel.api.texts() == [AGAIN + "Hello"] and channel.noted[-1] == ("t1", 0, 1)


async def test_a_kept_reply_goes_on_where_it_was():
    whole = "First sentence here. " * 300
    channel = Channel()
    assert await said(channel, whole)
    parts = channel.api.texts()
    assert len(parts) == 2 and channel.noted == [("t1", 0, 0), ("t1", 0, 1), ("t1", 1, 0), ("t1", 1, 2)]
    # The power went after the first message, in the second one.
    channel = Channel()
    reply = Reply(channel, ANN, False)
    await reply.kept(Kept("t1", whole.strip(), "3 h", False, True, 1, 0))
    assert await reply.end(None)
    assert channel.api.texts() == [AGAIN + parts[1]]


async def _kept_with_notes(channel, *notes, is_live=False):
    """A reply with notes that is kept, since its chat has to wait."""
    reply = Reply(channel, ANN, is_live)
    await reply.taken("t1")
    for note in notes:
        await reply.notice(note)
    await reply.text("Hello.")
    await reply.notice("remembered that the bike is green (m5)")
    assert not await reply.end(Outcome("t1", "Hello.", ""))


async def _given(channel, is_cut=False):
    """Give the kept reply; whether it was delivered."""
    reply = Reply(channel, ANN, False, longest_ms=0)
    await reply.kept(Kept("t1", "Hello.", "", is_cut, False, 0, 0))
    return await reply.end(None)


async def test_a_reply_that_is_kept_comes_with_its_notes():
    channel = Channel(*[BotError(429, "Too Many Requests", retry_after=61)] * 2)
    await _kept_with_notes(channel, "reminder: take the key (i3)")
    channel.sender = Sender(channel.api, channel._may_wait, channel.failed.append, channel._move)
    assert not await _given(channel)  # its chat has to wait once more
    channel.sender = Sender(channel.api, channel._may_wait, channel.failed.append, channel._move)
    assert await _given(channel)
    notes = "· reminder: take the key (i3)\n· remembered that the bike is green (m5)"
    assert channel.api.texts() == [notes, "Hello."] and not channel.said


async def test_notes_that_were_shown_do_not_come_again_with_the_reply():
    channel = Channel(None, BotError(429, "Too Many Requests", retry_after=61))
    await _kept_with_notes(channel, "reminder: take the key (i3)", is_live=True)
    channel.sender = Sender(channel.api, channel._may_wait, channel.failed.append, channel._move)
    assert await _given(channel)
    notes = ["· reminder: take the key (i3)", "· remembered that the bike is green (m5)"]
    assert channel.api.texts() == [notes[0], "Hello.", notes[1]]


async def test_a_reply_that_broke_off_says_so_once():
    channel = Channel(BotError(429, "Too Many Requests", retry_after=61))
    assert not await _given(channel, is_cut=True)
    channel.sender = Sender(channel.api, channel._may_wait, channel.failed.append, channel._move)
    assert await _given(channel, is_cut=True)
    assert channel.api.texts() == ["Hello.", "(It broke off here.)"]


async def _made_again(part, place):
    """The channel of an answer that is made again after a power cut."""
    channel = Channel()
    channel.api.messages[33] = "Hel"
    reply = Reply(channel, ANN, False)
    await reply.taken("t1")
    await reply.begun(part, place)
    assert await reply.end(Outcome("t1", "Hello.", ""))
    return channel


async def test_an_answer_that_is_made_again_goes_on_in_the_message_that_shows_its_beginning():
    channel = await _made_again(0, 33)
    assert channel.api.messages == {33: "Hello."} and channel.api.methods() == ["editMessageText"]


async def test_an_answer_that_is_made_again_behind_earlier_messages_is_marked_and_counted_from_its_start():
    channel = await _made_again(2, 33)
    assert channel.api.messages == {33: AGAIN + "Hello."} and channel.noted[0] == ("t1", 0, 33)


async def test_an_answer_that_is_made_again_is_marked_if_its_beginning_may_have_arrived():
    channel = await _made_again(0, UNDER_WAY)
    assert AGAIN + "Hello." in channel.api.texts() and channel.api.messages[33] == "Hel"


async def test_an_answer_of_which_nothing_was_sent_is_made_again_without_a_mark():
    channel = await _made_again(0, 0)
    assert "Hello." in channel.api.texts()


async def test_while_an_answer_streams_flash_tells_whether_its_first_message_may_have_arrived():
    assert await _noted_while_it_streams(None) == [UNDER_WAY, 1]
    assert await _noted_while_it_streams(unknown()) == [UNDER_WAY]
    assert await _noted_while_it_streams(BotError(0, "no network")) == [UNDER_WAY, 0]


async def _noted_while_it_streams(error) -> list:
    """What is noted of the first message, as it is sent once."""
    channel = Channel(None, error)  # the typing sign comes first
    reply = Reply(channel, ANN, True)
    await reply.taken("t1")
    await wait_until("the typing sign", lambda: channel.api.calls)
    await reply.text("Hello")
    reply._pause_ms = 100_000
    await wait_until("the first piece", lambda: not channel.api.errors)
    await asyncio.sleep(0)
    noted = [message for _, _, message in channel.noted]
    await reply.end(None)
    return noted


async def test_a_late_reply_tells_its_age():
    channel = Channel()
    reply = Reply(channel, ANN, False)
    await reply.kept(Kept("t1", "Hello", "3 h", True, False, 0, 0))
    assert await reply.end(None)
    assert channel.api.texts() == ["(An answer from 3 h ago.)\nHello", "(It broke off here.)"]


async def test_a_kept_answer_that_may_have_arrived_is_marked():
    channel = Channel()
    reply = Reply(channel, ANN, False)
    await reply.kept(Kept("t1", "Hello", "", False, True, 0, 0))
    assert await reply.end(None)
    assert channel.api.texts() == [AGAIN + "Hello"]


async def test_a_refused_token_is_told_to_the_channel():
    channel = Channel(BotError(401, "Unauthorized"), BotError(401, "Unauthorized"))
    assert not await said(channel, "Hi")
    assert channel.failed and channel.failed[0].code == 401


async def test_a_reply_that_is_over_leaves_no_task():
    channel = Channel()
    reply = Reply(channel, ANN, True)
    await reply.text("Half")
    assert await reply.end(None)
    assert reply._task.done()
    await asyncio.sleep(0)


async def test_a_notice_before_a_kept_reply_is_shown_with_what_was_said_beside_it():
    channel = Channel()
    before, after = _Stream(False), _Stream(False)
    after.feed("remembered (m1)\n")
    channel.said["t1"] = before, after
    reply = Reply(channel, ANN, False)
    await reply.notice("older answers were dropped: 3")
    await reply.kept(Kept("t1", "Hello", "", False, False, 0, 0))
    assert await reply.end(None)
    assert channel.api.texts() == ["Hello", "remembered (m1)\n· older answers were dropped: 3"]


async def test_what_a_command_says_is_not_kept_beside_a_reply():
    channel = Channel(unknown())
    channel.may_wait = [False]
    channel.has_kept = True
    reply = Reply(channel, ANN, False)
    await reply.taken("t1")
    await reply.line("done")
    assert not await reply.end(None)
    assert not channel.said["t1"]
