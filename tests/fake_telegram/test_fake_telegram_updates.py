"""Updates of the fake Bot API: offsets, long polls, two pollers, and what a bot gets of its groups."""

import asyncio
import json

from bot_api import BotApi, until, with_bot
from engram_host.fake_telegram import ManualClock

CONFLICT = "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"


def clock_of(bot: BotApi) -> ManualClock:
    assert isinstance(bot.server.clock, ManualClock)
    return bot.server.clock


def texts(updates):
    return [update["message"]["text"] for update in updates if "text" in update.get("message", {})]


def write_all(bot: BotApi, *words: str):
    ann = bot.server.people.add_user("Ann")
    for word in words:
        bot.server.people.write(ann, word)
    return ann


def test_updates_come_again_until_an_offset_confirms_them():
    async def talk(bot: BotApi):
        write_all(bot, "a", "b", "c")
        first = await bot.result("getUpdates", limit=2)
        assert texts(first) == ["a", "b"] and texts(await bot.result("getUpdates")) == ["a", "b", "c"]
        assert [update["update_id"] - first[0]["update_id"] for update in first] == [0, 1]
        assert texts(await bot.result("getUpdates", offset=first[1]["update_id"])) == ["b", "c"]
        assert texts(await bot.result("getUpdates", offset=first[1]["update_id"] + 1)) == ["c"]
        assert texts(await bot.result("getUpdates", offset=1)) == ["c"]

    with_bot(talk)


def test_a_negative_offset_keeps_the_last_updates_and_forgets_the_others():
    async def talk(bot: BotApi):
        write_all(bot, "a", "b", "c")
        assert texts(await bot.result("getUpdates", offset=-2)) == ["b", "c"]
        assert texts(await bot.result("getUpdates")) == ["b", "c"]

    with_bot(talk)


def test_an_offset_far_in_the_future_confirms_nothing():
    async def talk(bot: BotApi):
        write_all(bot, "a")
        assert texts(await bot.result("getUpdates", offset=800_000_000)) == ["a"]

    with_bot(talk)


def test_an_update_is_forgotten_after_a_day():
    async def talk(bot: BotApi):
        write_all(bot, "a")
        clock_of(bot).advance(24 * 3600 + 1)
        assert await bot.result("getUpdates") == []

    with_bot(talk)


def test_a_long_poll_ends_with_an_update_or_with_its_timeout():
    async def talk(bot: BotApi):
        ann = write_all(bot)
        poll = asyncio.ensure_future(bot.result("getUpdates", timeout=30))
        await bot.polled()
        bot.server.people.write(ann, "now")
        (update,) = await poll
        poll = asyncio.ensure_future(bot.result("getUpdates", offset=update["update_id"] + 1, timeout=30))
        await bot.polled()
        clock_of(bot).advance(29)
        await asyncio.sleep(0)
        assert not poll.done()
        clock_of(bot).advance(1)
        assert await poll == []

    with_bot(talk)


def test_a_poll_lasts_fifty_seconds_at_most():
    async def talk(bot: BotApi):
        poll = asyncio.ensure_future(bot.result("getUpdates", timeout=600))
        await bot.polled()
        clock_of(bot).advance(50)
        assert await poll == []

    with_bot(talk)


def test_the_older_of_two_polls_ends_with_a_conflict():
    async def talk(bot: BotApi):
        ann = write_all(bot)
        older = asyncio.ensure_future(bot.call("getUpdates", timeout=30))
        await bot.polled()
        newer = asyncio.ensure_future(bot.call("getUpdates", timeout=30))
        assert await older == {"ok": False, "error_code": 409, "description": CONFLICT}
        await bot.polled()
        bot.server.people.write(ann, "a")
        assert texts((await newer)["result"]) == ["a"]

    with_bot(talk)


def test_the_kinds_of_updates_that_a_bot_asks_for_are_remembered():
    async def talk(bot: BotApi):
        assert await bot.result("getUpdates", allowed_updates=["message"]) == []
        ann = write_all(bot, "a")
        bot.server.people.edit(bot.server.people.write(ann, "b"), "c")
        assert texts(await bot.result("getUpdates")) == ["a", "b"]
        await bot.result("getUpdates", allowed_updates=[])
        bot.server.people.edit(bot.server.people.write(ann, "d"), "e")
        assert (await bot.result("getUpdates"))[-1]["edited_message"]["text"] == "e"

    with_bot(talk)


def test_an_update_is_repeated_under_its_id_though_it_is_confirmed_or_as_a_new_one():
    async def talk(bot: BotApi):
        write_all(bot, "a")
        (update,) = await bot.result("getUpdates")
        after = update["update_id"] + 1
        assert await bot.result("getUpdates", offset=after) == []
        bot.server.people.repeat_update(update["update_id"])
        assert await bot.result("getUpdates", offset=after) == [update]
        bot.server.people.repeat_update(update["update_id"], same_id=False)
        (again,) = await bot.result("getUpdates", offset=after)
        assert again == {**update, "update_id": after}

    with_bot(talk)


def test_with_privacy_a_bot_gets_commands_replies_and_mentions_of_a_group():
    async def talk(bot: BotApi):
        people = bot.server.people
        ann, other = people.add_user("Ann"), people.add_user("Other", username="other_bot", is_bot=True)
        group = people.group("Kitchen", [ann, other])
        own = await bot.result("sendMessage", chat_id=group.id, text="here I am")
        message = bot.server.state.find_message(group, own["message_id"], "message")
        for text in (
            "plain",
            "/stats",
            "/stats@Engram_Fake_Bot",
            "/stats@other_bot",
            "hi @engram_fake_bot",
            "@engram_fake_bots",
        ):
            people.write(ann, text, chat=group)
        people.write(ann, "a reply", chat=group, reply_to=message)
        people.write(other, "/stats", chat=group)
        expected = ["/stats", "/stats@Engram_Fake_Bot", "hi @engram_fake_bot", "a reply"]
        assert texts(await bot.result("getUpdates")) == expected
        bot.server.state.reads_all_group_messages = True
        people.write(ann, "all", chat=group)
        assert texts(await bot.result("getUpdates"))[-1] == "all"

    with_bot(talk)


def test_a_topic_of_a_forum_is_named_by_its_messages():
    async def talk(bot: BotApi):
        people = bot.server.people
        ann = people.add_user("Ann")
        forum = people.supergroup("House", [ann], is_forum=True)
        topic = people.topic(forum, "Garden", ann)
        people.write(ann, "/stats", chat=forum, thread_id=topic)
        message = (await bot.result("getUpdates"))[-1]["message"]
        assert message["message_thread_id"] == topic and message["is_topic_message"] is True
        assert message["chat"]["is_forum"] is True
        assert message["reply_to_message"]["forum_topic_created"]["name"] == "Garden"
        sent = await bot.result("sendMessage", chat_id=forum.id, text="a", message_thread_id=topic)
        assert sent["message_thread_id"] == topic
        assert [one.text for one in people.messages(forum, thread_id=topic)] == ["", "/stats", "a"]
        assert "thread not found" in await bot.problem("sendMessage", chat_id=forum.id, text="a", message_thread_id=1)

    with_bot(talk)


def test_a_reply_in_a_supergroup_names_a_thread_that_is_no_topic():
    async def talk(bot: BotApi):
        people = bot.server.people
        ann = people.add_user("Ann")
        place = people.supergroup("House", [ann])
        first = people.write(ann, "/a", chat=place)
        people.write(ann, "/b", chat=place, reply_to=first)
        message = (await bot.result("getUpdates"))[-1]["message"]
        assert message["message_thread_id"] == first.id and "is_topic_message" not in message
        assert message["reply_to_message"]["text"] == "/a"
        await bot.problem("sendMessage", chat_id=place.id, text="a", message_thread_id=first.id)

    with_bot(talk)


def test_ids_of_messages_are_those_of_a_supergroup_or_shared_by_all_other_chats():
    async def talk(bot: BotApi):
        people = bot.server.people
        ann, bob = people.add_user("Ann"), people.add_user("Bob")
        group, place = people.supergroup("House", [ann]), people.supergroup("Garden", [ann])
        ids = [
            people.write(user, "a", chat=chat).id
            for user, chat in ((ann, None), (bob, None), (ann, group), (ann, place))
        ]
        assert ids == [1, 2, 2, 2]
        assert ann.id > 2**32 and place.id < -(10**12)

    with_bot(talk)


def test_other_processes_play_people_over_http():
    async def talk(bot: BotApi):
        url = f"{bot.server.url}/people"

        async def post(path: str, **fields: object):
            return (await bot.client.post(f"{url}/{path}", json=fields)).json()

        ann = await post("users", first_name="Ann", username="ann")
        written = await post("messages", user_id=ann["id"], text="hello /stats")
        assert written["entities"] == [{"offset": 6, "length": 6, "type": "bot_command"}]
        group = await post("chats", title="House", members=[ann["id"]], type="supergroup", is_forum=True)
        topic = await post("topics", chat_id=group["id"], name="Garden", user_id=ann["id"])
        await post("documents", user_id=ann["id"], name="a.md", data="YWJj", caption="c", chat_id=ann["id"])
        await post("photos", user_id=ann["id"], data="YWJj")
        sent = await bot.result(
            "sendMessage", chat_id=group["id"], text="a", message_thread_id=topic["message_thread_id"]
        )
        await bot.result("editMessageText", chat_id=group["id"], message_id=sent["message_id"], text="b")
        seen = (await bot.client.get(f"{url}/messages?chat_id={group['id']}")).json()["messages"]
        assert [version["text"] for version in seen[-1]["versions"]] == ["a", "b"]
        await post("faults", kind="flood", retry_after=7, method="getMe")
        assert (await bot.call("getMe"))["parameters"] == {"retry_after": 7}
        ledger = (await bot.client.get(f"{url}/ledger?method=getMe")).json()
        assert [call["status"] for call in ledger["calls"]] == [429] and ledger["by_method"]["sendMessage"] == 1
        assert (await bot.client.get(f"{url}/state")).json()["users"] == [ann]
        assert await post("clock", seconds=5) == {"now": clock_of(bot).now()}

    with_bot(talk)


def test_a_wrong_call_of_the_peoples_side_says_what_is_wrong():
    async def talk(bot: BotApi):
        url = f"{bot.server.url}/people"
        for path, body in (("users", {}), ("messages", {"user_id": 1, "text": "a"}), ("faults", {"kind": "fire"})):
            response = await bot.client.post(f"{url}/{path}", json=body)
            assert response.status_code == 400 and response.json()["error"]
        assert (await bot.client.get(f"{url}/nothing")).status_code == 404
        plain = await bot.client.post(f"{url}/users", content=json.dumps({"first_name": "A"}))
        assert plain.status_code == 415

    with_bot(talk)


def test_a_poll_that_waits_ends_with_the_server():
    async def talk(bot: BotApi):
        poll = asyncio.ensure_future(bot.client.get(f"{bot.base}/getUpdates?timeout=30"))
        await bot.polled()
        await bot.server.close()
        await until(poll.done)
        assert poll.exception() is not None

    with_bot(talk)
