"""How an answer is sent: in pieces when it is over, plain where marks are refused, marked where it may have come before."""

import asyncio
from collections import namedtuple

from engram import diag
from engram.channels.deliveries import FAILED, MAYBE_DELIVERED, QUEUED, Delivery, SavedReply
from engram.channels.telegram.bot_api import BotError, Destination, destination_of, message_id, room_of
from engram.channels.telegram.reply import AGAIN, Reply
from engram.channels.telegram.sender import Sender
from support import wait_until

ANN = Destination(7, 0, 5, False)
GROUP = Destination(-100, 12, 5, True)
WHOLE = "First sentence here. " * 300  # two messages

Outcome = namedtuple("Outcome", "turn reply problem")
diag.level = diag.ERROR + 1


def unknown(code=0):
    return BotError(code, "cut", is_unknown=True)


def lost():
    return BotError(0, "no network")


def flood(seconds):
    return BotError(429, "Too Many Requests", retry_after=seconds)


def refusal(words, **more):
    return BotError(400, "Telegram answers 400: Bad Request: " + words, **more)


class Channel:
    """Stands for the channel of a Reply: its service takes calls, or raises the next of `errors`; None stands for none."""

    def __init__(self, *errors):
        self.errors = list(errors)
        self.calls = []
        self.texts = []
        self.answering = []
        self.confirmed = []
        self.moved = {}
        self.poller = self
        self.confirm = self.confirmed.append
        self.sender = Sender(self, self._move)

    def _move(self, chat, new):
        self.moved[chat] = new

    async def call(self, method, fields, is_repeatable=True):
        self.calls.append((method, dict(fields)))
        error = self.errors.pop(0) if self.errors else None
        if error:
            raise error
        if method == "sendMessage":
            self.texts.append(fields["text"])

    def methods(self):
        return [method for method, _ in self.calls]


async def say(channel, *pieces, where=ANN):
    """(what became of an answer, its Delivery)."""
    reply = Reply(channel, where)
    reply.delivery = Delivery(3)
    for piece in pieces:
        await reply.text(piece)
    return await _attempt(reply), reply.delivery


async def _attempt(reply):
    return await reply.delivery.attempt(reply, Outcome("t3", "", ""))


async def give(channel, delivery, text="Hello.", age="", is_cut=False):
    """Give the reply of a Delivery again; what became of it."""
    reply = Reply(channel, ANN)
    reply.delivery = delivery
    await reply.on_saved_reply(SavedReply("t3", text, age, is_cut, False))
    return await _attempt(reply)


def test_destinations_rooms_and_messages_are_written_alike():
    assert room_of(ANN) == "telegram 7" and room_of(GROUP) == "telegram -100 12"
    assert message_id(ANN) == "telegram:7:5" and message_id(GROUP) == "telegram:-100:5:12"
    assert message_id(ANN, 9) == "telegram:7:5.9"
    for where in (ANN, GROUP):
        assert destination_of(message_id(where)) == destination_of(message_id(where, 9)) == where
        assert destination_of(room_of(where)) == Destination(where.chat, where.topic, 0, where.is_group)


# --- what is sent


async def test_the_typing_sign_is_shown_until_then():
    channel = Channel()
    reply = Reply(channel, ANN, "a message")
    channel.answering.append("a message")
    typing = asyncio.create_task(reply.show_typing())
    await wait_until("the typing sign", lambda: channel.calls)
    await reply.text("Hi")
    assert channel.methods() == ["sendChatAction"]
    await reply.end(None)
    await typing
    assert channel.methods() == ["sendChatAction", "sendMessage"]


async def test_what_is_said_beside_a_reply_comes_after_it_without_marks():
    channel = Channel()
    reply = Reply(channel, ANN)
    await reply.notice("reminder: buy **milk** (i1)")
    await reply.text("*Hello.*")
    await reply.problem("it broke off")
    assert await _attempt(reply)
    assert channel.texts == ["<i>Hello.</i>", "· reminder: buy **milk** (i1)\n! it broke off"]


async def test_the_lines_of_a_command_are_bounded():
    channel = Channel()
    reply = Reply(channel, ANN)
    for number in range(3000):
        await reply.line("line %d has some words" % number)
    assert await _attempt(reply)
    assert len(channel.texts) == 9 and channel.texts[0].startswith("line 0 has") and "left out" in channel.texts[-1]


async def test_marks_that_are_refused_are_left_out():
    channel = Channel(refusal("can't parse entities: x"))
    assert (await say(channel, "**Hi**"))[0]
    assert [fields["text"] for _, fields in channel.calls] == ["<b>Hi</b>", "**Hi**"]
    assert "parse_mode" not in channel.calls[1][1]


async def test_a_reply_in_a_group_answers_its_message_in_its_topic():
    channel = Channel()
    assert (await say(channel, "Hi", where=GROUP))[0]
    fields = channel.calls[0][1]
    assert fields["chat_id"] == -100 and fields["message_thread_id"] == 12
    assert fields["reply_parameters"] == {"message_id": 5, "allow_sending_without_reply": True}


# --- what becomes of it


async def test_what_each_error_says_of_the_piece_that_was_sent():
    for error, has_arrived, state in (
        (None, True, MAYBE_DELIVERED),
        (lost(), False, QUEUED),
        (unknown(), None, MAYBE_DELIVERED),
        (unknown(502), None, MAYBE_DELIVERED),
        (flood(40), False, QUEUED),
        (BotError(401, "Unauthorized"), False, QUEUED),
        (BotError(403, "Forbidden: bot was blocked by the user"), True, MAYBE_DELIVERED),
    ):
        channel = Channel(error)
        found, delivery = await say(channel, "Hi")
        assert (found, delivery.state) == (has_arrived, state), error
        assert channel.methods() == ["sendMessage"]


async def test_a_piece_is_sent_again_with_the_mark_only_if_it_may_have_arrived():
    for error, texts in (
        (unknown(), [AGAIN + "Hello."]),
        (unknown(500), [AGAIN + "Hello."]),
        (lost(), ["Hello."]),
        (flood(40), ["Hello."]),
    ):
        channel = Channel(error)
        _, delivery = await say(channel, "Hello.")
        again = Channel()  # which has no chat that waits
        assert await give(again, delivery) and again.texts == texts, error


async def test_a_piece_that_may_have_arrived_twice_is_not_sent_again():
    channel = Channel(unknown(), unknown())
    _, delivery = await say(channel, "Hello.")
    assert await give(channel, delivery) is None and delivery.state == FAILED
    assert not await give(channel, delivery) and len(channel.calls) == 2


async def test_an_answer_goes_on_with_its_first_piece_that_has_not_arrived():
    for is_restarted in (False, True):
        channel = Channel(None, unknown())
        has_arrived, delivery = await say(channel, WHOLE)
        assert (has_arrived, delivery.arrived, delivery.state) == (None, 1, MAYBE_DELIVERED)
        if is_restarted:
            delivery = Delivery(3, delivery.arrived, delivery.state)
        assert await give(channel, delivery, WHOLE, "3 h")
        first, second = channel.texts
        assert second.startswith(AGAIN) and len(first + second) == len(WHOLE) + len(AGAIN) - 2


async def test_what_was_said_beside_a_kept_reply_comes_with_it_until_a_restart():
    for is_restarted in (False, True):
        channel = Channel(lost())
        reply = Reply(channel, ANN)
        reply.delivery = Delivery(3)
        await reply.text("Hello.")
        await reply.notice("remembered that the bike is green (m5)")
        assert await _attempt(reply) is False
        delivery = Delivery(3) if is_restarted else reply.delivery
        assert await give(channel, delivery)
        assert channel.texts == ["Hello.", "· remembered that the bike is green (m5)"][: 2 - is_restarted]


async def test_a_late_reply_tells_its_age_and_that_it_broke_off():
    channel = Channel()
    assert await give(channel, Delivery(3), "Hello", "3 h", True)
    assert channel.texts == ["(An answer from 3 h ago.)\nHello", "(It broke off here.)"]


async def test_only_a_chat_that_has_gone_counts_as_delivered():
    for words in ("chat not found", "PEER_ID_INVALID", "user is deactivated", "have no rights to send a message",
                  "not enough rights to send text messages to the chat", "CHAT_WRITE_FORBIDDEN", "TOPIC_CLOSED"):  # fmt: skip
        channel = Channel(refusal(words))
        assert (await say(channel, "Hi"))[0], words
        assert channel.methods() == ["sendMessage"]


async def test_an_answer_that_is_refused_without_marks_too_is_told_to_the_chat():
    channel = Channel(refusal("message is too long"), refusal("message is too long"))
    assert (await say(channel, "**Hi**"))[0]
    assert [fields["text"] for _, fields in channel.calls][:2] == ["<b>Hi</b>", "**Hi**"]
    [told] = channel.texts
    assert told.startswith("(Telegram does not take this answer")


async def test_an_answer_to_a_topic_that_has_gone_goes_to_the_chat():
    for words in ("message thread not found", "TOPIC_DELETED"):
        channel = Channel(refusal(words))
        assert (await say(channel, "Hi", where=GROUP))[0]
        assert len(channel.calls) == 2 and "message_thread_id" not in channel.calls[1][1]


async def test_an_answer_follows_its_group_to_the_supergroup():
    channel = Channel(refusal("group chat was upgraded to a supergroup chat", moved_to=-1007))
    for _ in range(2):
        assert (await say(channel, "Hi", where=GROUP))[0]
    assert [fields["chat_id"] for _, fields in channel.calls] == [-100, -1007, -1007]
    # In the supergroup another message has the number of the one that is answered.
    assert ["reply_parameters" in fields for _, fields in channel.calls] == [True, False, False]


# --- Telegram's waits


async def test_a_chat_that_has_to_wait_is_left_alone_and_holds_up_no_other_one():
    channel = Channel(flood(61))
    for _ in range(2):
        assert (await say(channel, "Hi"))[0] is False
    await channel.sender.show_typing(ANN)
    assert channel.methods() == ["sendMessage"]
    assert (await say(channel, "Hi", where=GROUP))[0]
    assert channel.sender.wait_ms(ANN.chat) > 59_000 and not channel.sender.wait_ms(GROUP.chat)


def test_the_chats_that_have_to_wait_are_bounded():
    sender = Channel().sender
    for chat in range(1, 40):
        sender.pause(chat, 10**9)
    assert len(sender._pauses) == 17 and sender.wait_ms(39) > 86_000_000
