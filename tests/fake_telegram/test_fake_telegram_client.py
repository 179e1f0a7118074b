"""aiogram's own client and dispatcher against the fake: polling, replies, edits, files, floods and failures."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

import pytest

from fake_telegram import FakeTelegram, FloodLimits

if TYPE_CHECKING:
    from aiogram import Bot, Dispatcher

Talk = Callable[["Bot", FakeTelegram], Coroutine[Any, Any, None]]


def with_client(talk: Talk, **options: Any) -> None:
    """Run a talk with aiogram's client and a server of its own."""
    from aiogram import Bot  # loads for a second, so only where it is used
    from aiogram.client.session.aiohttp import AiohttpSession
    from aiogram.client.telegram import TelegramAPIServer

    async def run() -> None:
        async with FakeTelegram(limits=FloodLimits(enabled=False), **options) as server:
            session = AiohttpSession(api=TelegramAPIServer.from_base(server.url))
            async with Bot(server.token, session=session) as bot:
                await talk(bot, server)

    asyncio.run(run())


async def polling(bot: "Bot", dispatcher: "Dispatcher", server: FakeTelegram, until: Callable[[], object]) -> None:
    """Let the dispatcher poll until something is so."""
    work = asyncio.ensure_future(dispatcher.start_polling(bot, handle_signals=False, close_bot_session=False))
    await server.wait_until(until)
    await dispatcher.stop_polling()
    await work


def test_the_dispatcher_answers_edits_sends_and_fetches():
    async def talk(bot: "Bot", server: FakeTelegram):
        from aiogram import Dispatcher, F
        from aiogram.filters import Command
        from aiogram.types import BufferedInputFile, Message

        dispatcher, fetched = Dispatcher(), []

        @dispatcher.message(Command("stats"))
        async def on_command(message: Message):
            await bot.send_chat_action(message.chat.id, "typing")
            sent = await message.reply("<b>one</b> 😀", parse_mode="HTML")
            await sent.edit_text("one two")

        @dispatcher.message(F.document)
        async def on_document(message: Message):
            assert message.document is not None
            data = await bot.download(message.document)
            assert data is not None
            fetched.append(data.read())
            await message.answer_document(
                BufferedInputFile(b"a\r\n--", "out.md"), caption="<b>here</b>", parse_mode="HTML"
            )

        ann = server.people.add_user("Ann", username="ann")
        chat = server.people.private_chat(ann)
        asked = server.people.write(ann, "/stats")
        server.people.send_document(ann, "in.md", b"\x00\xff\r\n", mime="text/markdown")
        await polling(bot, dispatcher, server, lambda: len(server.people.from_bot(chat)) == 2)
        answer, document = server.people.from_bot(chat)
        assert [version.text for version in answer.versions] == ["one 😀", "one two"]
        assert answer.versions[0].entities[0].type == "bold" and answer.reply_to is asked
        assert document.document is not None and document.document.data == b"a\r\n--" and document.text == "here"
        assert fetched == [b"\x00\xff\r\n"] and server.ledger.by_method["sendChatAction"] == 1

    with_client(talk)


def test_groups_topics_and_members_are_read():
    async def talk(bot: "Bot", server: FakeTelegram):
        from aiogram import Dispatcher
        from aiogram.types import ChatMemberUpdated, Message

        dispatcher, seen = Dispatcher(), []

        @dispatcher.my_chat_member()
        async def on_member(event: ChatMemberUpdated):
            seen.append(event.new_chat_member.status)

        @dispatcher.message()
        async def on_message(message: Message):
            seen.append((message.content_type, message.message_thread_id))

        @dispatcher.edited_message()
        async def on_edit(message: Message):
            seen.append(message.text)

        ann = server.people.add_user("Ann")
        forum = server.people.supergroup("House", [ann], is_forum=True)
        topic = server.people.topic(forum, "Garden", ann)
        server.people.edit(server.people.write(ann, "/a", chat=forum, thread_id=topic), "/b")
        server.people.send_photo(ann, b"photo", caption="look")
        server.people.add_bot(forum, ann, as_administrator=True)
        server.people.block_bot(ann)
        await polling(bot, dispatcher, server, lambda: len(seen) == 8)
        assert {"member", "administrator", "kicked", "/b", ("forum_topic_created", topic), ("text", topic)} < set(seen)
        full = await bot.get_chat(forum.id)
        assert full.is_forum and (await bot.get_chat_member(forum.id, ann.id)).status == "administrator"

    with_client(talk)


def test_errors_are_those_that_the_client_knows():
    async def talk(bot: "Bot", server: FakeTelegram):
        from aiogram import exceptions
        from aiogram.types import BotCommand

        ann = server.people.add_user("Ann")
        server.people.write(ann, "hello")
        sent = await bot.send_message(ann.id, "a")
        with pytest.raises(exceptions.TelegramBadRequest, match="message is not modified"):
            await bot.edit_message_text("a", chat_id=ann.id, message_id=sent.message_id)
        server.faults.flood(17)
        with pytest.raises(exceptions.TelegramRetryAfter) as caught:
            await bot.send_message(ann.id, "b")
        assert caught.value.retry_after == 17
        server.faults.fail(502)
        with pytest.raises(exceptions.ClientDecodeError):
            await bot.get_me()
        server.faults.cut_after(method="sendMessage")
        with pytest.raises(exceptions.TelegramNetworkError):
            await bot.send_message(ann.id, "c")
        server.faults.is_token_refused = True
        with pytest.raises(exceptions.TelegramUnauthorizedError):
            await bot.get_updates()
        server.faults.clear()
        with pytest.raises(exceptions.TelegramForbiddenError):
            await bot.send_message(server.people.add_user("Bob").id, "a")
        await bot.set_my_commands([BotCommand(command="stats", description="How it is")])
        assert [command.command for command in await bot.get_my_commands()] == ["stats"]
        assert (await bot.me()).username == "engram_fake_bot" and await bot.delete_message(ann.id, sent.message_id)

    with_client(talk)


def test_the_dispatcher_goes_on_after_a_conflict_and_a_flood():
    async def talk(bot: "Bot", server: FakeTelegram):
        from aiogram import Dispatcher
        from aiogram.types import Message
        from aiogram.utils.backoff import BackoffConfig

        dispatcher = Dispatcher()

        @dispatcher.message()
        async def on_message(message: Message):
            await message.answer("here")

        ann = server.people.add_user("Ann")
        server.people.write(ann, "hello")
        server.faults.conflict()
        server.faults.fail(500, method="getUpdates")
        backoff = BackoffConfig(min_delay=0.001, max_delay=0.002, factor=1.1, jitter=0)
        work = asyncio.ensure_future(
            dispatcher.start_polling(bot, handle_signals=False, close_bot_session=False, backoff_config=backoff)
        )
        chat = server.people.private_chat(ann)
        await server.wait_until(lambda: server.people.from_bot(chat))
        await dispatcher.stop_polling()
        await work
        assert server.ledger.by_status[409] == server.ledger.by_status[500] == 1

    with_client(talk)
