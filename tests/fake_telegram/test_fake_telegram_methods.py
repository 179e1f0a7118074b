"""Each method of the fake Bot API: what it takes, and what it refuses where the service would, or stricter."""

import httpx
import pytest

from bot_api import BotApi, as_json, with_bot
from fake_telegram import TOKEN
from one_case import in_one_case

NOT_MODIFIED = (
    "Bad Request: message is not modified: specified new message content and reply markup are exactly the same as a"
    " current content and reply markup of the message"
)
PATCH_OF_SMILE = "\\ud83d\\ude00"


def chatting(server):
    """A person who has written to the bot; their id is the chat's."""
    ann = server.people.add_user("Ann", username="ann_b", language_code="de")
    server.people.write(ann, "/start")
    return ann.id


def test_get_me_has_all_required_fields_and_names_are_of_any_case():
    async def talk(bot: BotApi):
        me = await bot.result("GETME")
        assert me["id"] == 7000000001 and me["is_bot"] is True and me["username"] == "engram_fake_bot"
        for name in ("can_join_groups", "can_read_all_group_messages", "supports_inline_queries"):
            assert isinstance(me[name], bool)
        assert (await bot.query("getme"))["result"] == me

    with_bot(talk)


def test_a_wrong_token_and_an_unknown_method_are_refused():
    async def talk(bot: BotApi):
        response = await bot.client.get(f"{bot.server.url}/bot1:wrong/getMe")
        assert (response.status_code, response.json()) == (
            401,
            {"ok": False, "error_code": 401, "description": "Unauthorized"},
        )
        assert (await bot.call("getNothing"))["description"] == "Not Found: method not found"
        assert (await bot.client.get(f"{bot.server.url}/elsewhere")).status_code == 404
        assert (await bot.client.put(f"{bot.base}/getMe")).status_code == 405

    with_bot(talk)


def test_arguments_come_as_query_form_multipart_and_json():
    async def talk(bot: BotApi):
        chat = str(chatting(bot.server))
        assert (await bot.query("sendMessage", chat_id=chat, text="a & b"))["result"]["text"] == "a & b"
        options = as_json({"is_disabled": True})
        sent = await bot.form("sendMessage", chat_id=chat, text="ü", link_preview_options=options)
        assert sent["result"]["link_preview_options"] == {"is_disabled": True}
        parts = {"chat_id": (None, chat), "text": (None, "c"), "disable_notification": (None, "true")}
        sent = (await bot.client.post(f"{bot.base}/sendMessage", files=parts)).json()
        assert sent["result"]["text"] == "c"
        assert (await bot.result("sendMessage", chat_id=int(chat), text="d"))["message_id"] == 5

    with_bot(talk)


@in_one_case(
    "method, arguments, problem",
    [
        ("sendMessage", {"chat_id": 0, "text": "a", "colour": "red"}, "sendMessage has no argument colour"),
        ("sendMessage", {"chat_id": 0, "text": 5}, "text must be a String"),
        ("sendMessage", {"chat_id": 1.5, "text": "a"}, "chat_id must be an Integer or @username"),
        ("sendMessage", {"chat_id": 0, "text": "a", "disable_notification": "true"}, "must be a Boolean"),
        ("sendMessage", {"text": "a"}, "Bad Request: chat_id is empty"),
        ("sendMessage", {"chat_id": 12, "text": "a"}, "Bad Request: chat not found"),
        ("sendMessage", {"chat_id": 0}, "Bad Request: message text is empty"),
        ("sendMessage", {"chat_id": 0, "text": " \n "}, "Bad Request: text must be non-empty"),
        ("sendMessage", {"chat_id": 0, "text": "a" * 4097}, "Bad Request: message is too long"),
        ("sendMessage", {"chat_id": 0, "text": "😀" * 2049}, "Bad Request: message is too long"),
        ("sendMessage", {"chat_id": 0, "text": "a", "parse_mode": "Markdown"}, "unsupported parse_mode"),
        (
            "sendMessage",
            {"chat_id": 0, "text": "<b>a", "parse_mode": "HTML"},
            "can't parse entities: Can't find end tag",
        ),
        ("sendMessage", {"chat_id": 0, "text": "a", "parse_mode": "HTML", "entities": []}, "exclude each other"),
        ("sendMessage", {"chat_id": 0, "text": "a", "message_thread_id": 9}, "Bad Request: message thread not found"),
        ("sendMessage", {"chat_id": 0, "text": "a", "reply_parameters": {"message_id": 99}}, "to be replied not found"),
        ("sendMessage", {"chat_id": 0, "text": "a", "link_preview_options": {"big": True}}, "has no field big"),
        ("editMessageText", {"chat_id": 0, "message_id": 99, "text": "a"}, "Bad Request: message to edit not found"),
        ("editMessageText", {"chat_id": 0, "message_id": 1, "text": "a"}, "Bad Request: message can't be edited"),
        ("editMessageText", {"chat_id": 0, "text": "a"}, "Bad Request: message identifier is not specified"),
        ("deleteMessage", {"chat_id": 0, "message_id": 99}, "Bad Request: message to delete not found"),
        ("sendChatAction", {"chat_id": 0, "action": "thinking"}, "wrong parameter action in request"),
        ("getUpdates", {"limit": 101}, "limit must be from 1 to 100"),
        ("getUpdates", {"timeout": -1}, "timeout must be from 0"),
        ("getUpdates", {"allowed_updates": ["messages"]}, "there is no update type 'messages'"),
        ("getFile", {"file_id": "nothing"}, "wrong file_id or the file is temporarily unavailable"),
        ("sendDocument", {"chat_id": 0}, "there is no document in the request"),
        (
            "sendDocument",
            {"chat_id": 0, "document": "https://example.com/a"},
            "wrong file identifier/HTTP URL specified",
        ),
        ("setMyCommands", {"commands": [{"command": "Stats", "description": "a"}]}, "BOT_COMMAND_INVALID"),
        ("setMyCommands", {"commands": [{"command": "/a", "description": "a"}]}, "BOT_COMMAND_INVALID"),
        ("setMyCommands", {"commands": [{"command": "a" * 33, "description": "a"}]}, "BOT_COMMAND_INVALID"),
        ("setMyCommands", {"commands": [{"command": "a", "description": ""}]}, "BOT_COMMAND_DESCRIPTION_INVALID"),
        ("setMyCommands", {"commands": [{"command": "a", "description": "a" * 257}]}, "BOT_COMMAND_DESCRIPTION"),
        ("setMyCommands", {"commands": [{"command": "a"}]}, 'can\'t find field "description"'),
        ("setMyCommands", {"commands": [{"command": "a", "description": "a"}] * 101}, "BOT_COMMANDS_TOO_MUCH"),
        ("setMyCommands", {"commands": [], "scope": {"type": "everyone"}}, "unsupported type specified"),
        ("getChat", {"chat_id": "@nobody"}, "Bad Request: chat not found"),
    ],
)
def test_a_wrong_call_is_refused_with_the_reason(method: str, arguments: dict, problem: str):
    async def talk(bot: BotApi):
        chat = chatting(bot.server)
        given = {name: chat if name == "chat_id" and value == 0 else value for name, value in arguments.items()}
        assert problem in await bot.problem(method, **given)
        assert bot.server.people.from_bot(bot.server.people.chat(chat)) == []

    with_bot(talk)


def test_numbers_of_a_form_and_json_in_a_field_have_to_be_such():
    async def talk(bot: BotApi):
        assert "limit must be an Integer" in (await bot.form("getUpdates", limit="many"))["description"]
        assert "JSON" in (await bot.form("getUpdates", allowed_updates="[message"))["description"]
        response = await bot.client.post(
            f"{bot.base}/getMe", content=b"{", headers={"content-type": "application/json"}
        )
        assert response.status_code == 400

    with_bot(talk)


def test_an_emoji_counts_two_units_and_comes_as_a_surrogate_pair():
    async def talk(bot: BotApi):
        chat = chatting(bot.server)
        arguments = {"chat_id": chat, "text": "😀" * 2048}
        response = await bot.client.post(f"{bot.base}/sendMessage", json=arguments)
        assert response.status_code == 200 and response.content.isascii()
        assert response.text.count(PATCH_OF_SMILE) == 2048

    with_bot(talk)


def test_half_of_a_surrogate_pair_is_refused():
    async def talk(bot: BotApi):
        body = b'{"chat_id":%d,"text":"\\ud83d"}' % chatting(bot.server)
        headers = {"content-type": "application/json"}
        answer = (await bot.client.post(f"{bot.base}/sendMessage", content=body, headers=headers)).json()
        assert answer["description"] == "Bad Request: strings must be encoded in UTF-8"

    with_bot(talk)


def test_the_length_counts_after_the_marks_are_parsed():
    async def talk(bot: BotApi):
        text = f"<b>{'&amp;' * 4096}</b>"
        sent = await bot.result("sendMessage", chat_id=chatting(bot.server), text=text, parse_mode="HTML")
        assert sent["text"] == "&" * 4096
        assert sent["entities"] == [{"type": "bold", "offset": 0, "length": 4096}]

    with_bot(talk)


def test_an_edit_changes_the_text_and_the_person_sees_all_versions():
    async def talk(bot: BotApi):
        chat = chatting(bot.server)
        sent = await bot.result("sendMessage", chat_id=chat, text="one")
        edited = await bot.result("editMessageText", chat_id=chat, message_id=sent["message_id"], text="one two")
        assert edited["edit_date"] and edited["text"] == "one two"
        (message,) = bot.server.people.from_bot(bot.server.people.chat(chat))
        assert [version.text for version in message.versions] == ["one", "one two"]

    with_bot(talk)


@pytest.mark.parametrize("text", ["same", " same \n", "same\r"])
def test_an_edit_that_changes_nothing_is_refused_also_if_only_spaces_differ(text: str):
    async def talk(bot: BotApi):
        chat = chatting(bot.server)
        sent = await bot.result("sendMessage", chat_id=chat, text="same")
        place = {"chat_id": chat, "message_id": sent["message_id"]}
        assert await bot.problem("editMessageText", **place, text=text) == NOT_MODIFIED
        await bot.result("editMessageText", **place, text="<b>same</b>", parse_mode="HTML")

    with_bot(talk)


def test_a_message_is_deleted_once_and_only_where_the_bot_may():
    async def talk(bot: BotApi):
        people = bot.server.people
        ann = people.add_user("Ann")
        group = people.group("Kitchen", [ann])
        theirs = people.write(ann, "hello", chat=group)
        sent = await bot.result("sendMessage", chat_id=group.id, text="a")
        assert await bot.result("deleteMessage", chat_id=group.id, message_id=sent["message_id"]) is True
        assert "message to delete not found" in await bot.problem(
            "deleteMessage", chat_id=group.id, message_id=sent["message_id"]
        )
        arguments = {"chat_id": group.id, "message_id": theirs.id}
        assert await bot.problem("deleteMessage", **arguments) == "Bad Request: message can't be deleted"
        people.add_bot(group, ann, as_administrator=True)
        assert await bot.result("deleteMessage", **arguments) is True

    with_bot(talk)


def test_typing_is_shown_for_five_seconds_or_until_the_message():
    async def talk(bot: BotApi):
        chat = chatting(bot.server)
        place = bot.server.people.chat(chat)
        await bot.result("sendChatAction", chat_id=chat, action="typing")
        assert bot.server.people.action(place) == "typing"
        bot.server.clock.advance(5)  # pyright: ignore[reportAttributeAccessIssue]
        assert bot.server.people.action(place) == ""
        await bot.result("sendChatAction", chat_id=chat, action="typing")
        await bot.result("sendMessage", chat_id=chat, text="a")
        assert bot.server.people.action(place) == ""

    with_bot(talk)


def test_the_command_menu_is_kept_by_scope_and_language():
    async def talk(bot: BotApi):
        menu = [{"command": "stats", "description": "How it is"}]
        await bot.result("setMyCommands", commands=menu)
        await bot.result("setMyCommands", commands=[], scope={"type": "all_group_chats"}, language_code="de")
        assert await bot.result("getMyCommands") == menu == bot.server.people.menu()
        assert await bot.result("getMyCommands", scope={"type": "all_group_chats"}) == []
        assert await bot.result("deleteMyCommands") is True
        assert await bot.result("getMyCommands") == []

    with_bot(talk)


def test_a_document_goes_both_ways_and_is_fetched_within_an_hour():
    async def talk(bot: BotApi):
        people = bot.server.people
        ann = people.add_user("Ann")
        people.send_document(ann, "notes.md", b"# Notes\r\n--x\r\n", mime="text/markdown", caption="/import")
        (update,) = await bot.result("getUpdates")
        document = update["message"]["document"]
        assert update["message"]["caption_entities"] == [{"type": "bot_command", "offset": 0, "length": 7}]
        file = await bot.result("getFile", file_id=document["file_id"])
        assert file["file_size"] == 14
        url = f"{bot.server.url}/file/bot{TOKEN}/{file['file_path']}"
        assert (await bot.client.get(url)).content == b"# Notes\r\n--x\r\n"
        bot.server.clock.advance(3601)  # pyright: ignore[reportAttributeAccessIssue]
        assert (await bot.client.get(url)).status_code == 404

    with_bot(talk)


def test_a_document_is_uploaded_and_sent_again_by_its_id():
    async def talk(bot: BotApi):
        chat = chatting(bot.server)
        data = bytes(range(256)) + b"\r\n--boundary\r\n"
        files = {"document": ("all.jsonl", data, "application/jsonl")}
        fields = {"chat_id": str(chat), "caption": "<b>bold</b>", "parse_mode": "HTML"}
        answer = (await bot.client.post(f"{bot.base}/sendDocument", data=fields, files=files)).json()
        assert answer["result"]["document"]["file_name"] == "all.jsonl"
        assert answer["result"]["caption"] == "bold"
        await bot.result("sendDocument", chat_id=chat, document=answer["result"]["document"]["file_id"])
        sent = bot.server.people.from_bot(bot.server.people.chat(chat))
        assert [message.document and message.document.data for message in sent] == [data, data]
        empty = {"document": ("a.txt", b"", "text/plain")}
        answer = (await bot.client.post(f"{bot.base}/sendDocument", data={"chat_id": str(chat)}, files=empty)).json()
        assert answer["description"] == "Bad Request: file must be non-empty"

    with_bot(talk)


def test_a_bot_does_not_write_first_nor_to_who_blocked_it():
    async def talk(bot: BotApi):
        people = bot.server.people
        ann = people.add_user("Ann")
        first = await bot.call("sendMessage", chat_id=ann.id, text="a")
        assert (first["error_code"], first["description"]) == (
            403,
            "Forbidden: bot can't initiate conversation with a user",
        )
        people.write(ann, "hello")
        people.block_bot(ann)
        blocked = await bot.call("sendMessage", chat_id=ann.id, text="a")
        assert blocked["description"] == "Forbidden: bot was blocked by the user"
        kinds = [next(iter(update.keys() - {"update_id"})) for update in await bot.result("getUpdates")]
        assert kinds == ["message", "my_chat_member"]

    with_bot(talk)


def test_a_group_that_became_a_supergroup_names_its_new_id():
    async def talk(bot: BotApi):
        ann = bot.server.people.add_user("Ann")
        group = bot.server.people.group("Kitchen", [ann])
        new = bot.server.people.upgrade(group, ann)
        answer = await bot.call("sendMessage", chat_id=group.id, text="a")
        assert answer["parameters"] == {"migrate_to_chat_id": new.id}
        await bot.result("sendMessage", chat_id=new.id, text="a")

    with_bot(talk)


def test_chats_members_and_the_webhook_are_described():
    async def talk(bot: BotApi):
        chat = chatting(bot.server)
        found = await bot.result("getChat", chat_id=chat)
        assert found["type"] == "private" and {"accent_color_id", "max_reaction_count", "accepted_gift_types"} <= set(
            found
        )
        assert (await bot.result("getChatMember", chat_id=chat, user_id=chat))["status"] == "member"
        assert (await bot.result("getWebhookInfo"))["pending_update_count"] == 1
        assert await bot.result("deleteWebhook", drop_pending_updates=True) is True
        assert (await bot.result("getWebhookInfo"))["pending_update_count"] == 0

    with_bot(talk)


def test_it_speaks_tls(tmp_path):
    import trustme

    ca = trustme.CA()
    certificate = ca.issue_cert("127.0.0.1")
    file, roots = tmp_path / "server.pem", tmp_path / "roots.pem"
    certificate.private_key_and_cert_chain_pem.write_to_path(str(file))
    ca.cert_pem.write_to_path(str(roots))

    async def talk(bot: BotApi):
        assert bot.server.url.startswith("https://")
        import ssl

        async with httpx.AsyncClient(verify=ssl.create_default_context(cafile=str(roots))) as client:
            assert (await client.get(f"{bot.base}/getMe")).json()["ok"]

    with_bot(talk, certificate=file)
