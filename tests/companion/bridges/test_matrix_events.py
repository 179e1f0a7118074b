"""What a bridge reads in events of Matrix' rooms, which are JSON of strangers."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from engram_host.companion.bridges.matrix import events as matrix_events
from engram_host.companion.bridges.matrix.client import MatrixClient
from engram_host.companion.bridges.matrix.events import Account
from engram_host.companion.bridges.network import Attachment
from one_case import in_one_case

ACCOUNT = Account("@kitchen:engram.test", "Kitchen")

_FIELDS = (
    "body", "filename", "formatted_body", "info", "size", "m.mentions", "user_ids", "m.relates_to", "rel_type", "event_id",
    "m.in_reply_to", "is_falling_back", "msgtype", "membership", "prev_content", "displayname", "m.forwarded",
    "m.new_content", "sender",
)  # fmt: skip
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
    | st.sampled_from(["m.text", "m.image", "m.thread", "m.replace", "join", ACCOUNT.id, "> <@a:b> x", "Kitchen: hello"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(_FIELDS), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


def message(body: str = "", **content: Any) -> dict[str, Any]:
    return {"type": "m.room.message", "content": {"msgtype": "m.text", "body": body, **content}}


def reply(body: str, to: str = "$said") -> dict[str, Any]:
    return message(body, **{"m.relates_to": {"m.in_reply_to": {"event_id": to}}})


@settings(max_examples=300)
@given(content=_VALUES, unsigned=_VALUES, kind=st.sampled_from(matrix_events.TYPES))
def test_an_event_of_any_content_is_read_without_an_error(content, unsigned, kind):
    event = {"type": kind, "state_key": ACCOUNT.id, "content": content, "unsigned": unsigned}
    assert matrix_events.is_spoken(event) is False
    del event["state_key"]
    matrix_events.is_spoken(event)
    edited, edits = matrix_events.as_edited(event)
    texts = (matrix_events.thread_of(event), matrix_events.replied_to(event), matrix_events.words_of(event), edits)
    texts += (matrix_events.quoted_in(event), matrix_events.forwarded_from(event), matrix_events.shown_in(edited))
    assert all(isinstance(text, str) for text in texts)
    assert isinstance(matrix_events.names(event, ACCOUNT), bool)
    event["state_key"] = content
    assert isinstance(matrix_events.lets_in_another(event, ACCOUNT.id), bool)
    del event["state_key"]
    assert all(
        isinstance(each.name, str) and each.size >= 0
        for each in matrix_events.attachments_of(event, lambda address: None)
    )
    changed = {**event, "state_key": ACCOUNT.id}
    assert not (matrix_events.begins_membership(changed, ACCOUNT.id) and kind != "m.room.member")
    matrix_events.joins(changed, ACCOUNT.id)


@in_one_case(
    "body, words",
    [
        ("> <@ann:engram.test> one\n> two\n\nthree\n\n> four", "three\n\n> four"),
        ("> * <@ann:engram.test> waves\n\nhello", "hello"),
        ("> a quotation of my own\n\nhello", "> a quotation of my own\n\nhello"),
        ("> <@ann:engram.test> only quoted", ""),
    ],
)
def test_of_a_reply_only_the_quotation_that_a_client_put_before_it_is_left_out(body, words):
    assert matrix_events.words_of(reply(body)) == words
    assert matrix_events.words_of(message(body)) == body


@in_one_case("named", ["x", "..", "$", "$\0a", "$" + "a" * 20_000])
def test_what_is_no_id_of_an_event_is_not_replied_to(named: str):
    assert matrix_events.replied_to(reply("hello", to=named)) == ""


@in_one_case("kind", ["m.notice", "m.key.verification.request", "m.unknown", None, ["m.text"]])
def test_what_a_bot_or_a_client_says_by_itself_is_no_message(kind):
    assert not matrix_events.is_spoken(message("hello", msgtype=kind))


def edit(of: str, body: str, **content: Any) -> dict[str, Any]:
    new = {"msgtype": "m.text", "body": body, **content}
    return message(f"* {body}", **{"m.new_content": new, "m.relates_to": {"rel_type": "m.replace", "event_id": of}})


@in_one_case(
    "event, words, quoted, forwarded",
    [
        (message("hello"), "hello", "", ""),
        (reply("> <@ann:engram.test> /new\n> yes\n\nno"), "no", "/new\nyes", ""),
        (reply("> * <@ann:engram.test> waves\n\nhello"), "hello", "waves", ""),
        (message("/new", **{"m.forwarded": {"sender": "@bob:engram.test"}}), "/new", "", "@bob:engram.test"),
        (message("yes", **{"com.famedly.app.forwarded": {"sender": 5}}), "yes", "", "somebody"),
        (message("yes", **{"moe.sable.message.forward": {"is_forwarded": True}}), "yes", "", "somebody"),
        (message("yes", **{"m.forwarded": True}), "yes", "", "somebody"),
        (message("yes", **{"m.forwarded": None, "forwarding": True}), "yes", "", ""),
        (edit("$one", "on Tuesday"), "on Tuesday", "", ""),
    ],
)
def test_others_words_are_told_from_those_of_the_sender(event, words, quoted, forwarded):
    event, _ = matrix_events.as_edited(event)
    assert (matrix_events.words_of(event), matrix_events.quoted_in(event), matrix_events.forwarded_from(event)) == (
        words,
        quoted,
        forwarded,
    )


def test_an_edit_is_the_message_that_it_makes_of_another():
    edited, of = matrix_events.as_edited(edit("$one", "on Tuesday"))
    assert of == "$one" and matrix_events.is_spoken(edited)
    photo, _ = matrix_events.as_edited(edit("$one", "my bike", msgtype="m.image", filename="a.jpg"))
    assert matrix_events.shown_in(photo) == "[photo] my bike"
    forged, of = matrix_events.as_edited(edit("nothing", "x"))
    assert of == "" and matrix_events.is_spoken(forged)


def test_of_a_redacted_message_nothing_is_left_to_answer():
    assert not matrix_events.is_spoken({"type": "m.room.message", "content": {}})


@in_one_case(
    "content, caption, name",
    [
        ({"body": "my bike", "filename": "a.jpg"}, "my bike", "a.jpg"),
        ({"body": "a.jpg", "filename": "a.jpg"}, "", "a.jpg"),
        ({"body": "a.jpg"}, "", "a.jpg"),
    ],
)
def test_the_body_of_a_file_is_its_caption_only_beside_another_file_name(content, caption, name):
    event = message(**{"msgtype": "m.image", **content, "info": {"size": 9}})
    assert matrix_events.words_of(event) == caption
    assert matrix_events.attachments_of(event, lambda address: None) == (Attachment("photo", name, 9),)


@in_one_case(
    "event, is_named",
    [
        (message("hello", **{"m.mentions": {"user_ids": [ACCOUNT.id]}}), True),
        (message("kitchen, hello", **{"m.mentions": {}}), False),
        (message("hello", **{"m.mentions": {"room": True}}), False),
        (message("is KITCHEN there?"), True),
        (message("kitchens are warm"), False),
        (message(f"ask {ACCOUNT.id}"), True),
        (reply(f"> <{ACCOUNT.id}> hello\n\nnot you"), False),
    ],
)
def test_whom_a_message_mentions_is_what_its_client_says_else_what_its_words_say(event, is_named):
    assert matrix_events.names(event, ACCOUNT) is is_named


@in_one_case("is_marked", [True, False])
@in_one_case(
    "body",
    [
        "hello",
        "Kitchen: hello",
        "kitchen, hello",
        f"{ACCOUNT.id} hello",
        f" {ACCOUNT.id}:\nhello",
        f"[Kitchen](https://matrix.to/#/{ACCOUNT.id}): hello",
    ],
)
def test_the_mention_at_the_beginning_is_taken_off(body, is_marked):
    mentions = {"m.mentions": {"user_ids": [ACCOUNT.id]}} if is_marked else {}
    assert matrix_events.words_to(message(body, **mentions), ACCOUNT) == "hello"


@in_one_case("body", ["@kitchen hello", "Kitchen hello"])
def test_a_bare_name_is_taken_off_only_where_the_client_marks_it_as_a_mention(body):
    assert matrix_events.words_to(message(body, **{"m.mentions": {"user_ids": [ACCOUNT.id]}}), ACCOUNT) == "hello"
    assert matrix_events.words_to(message(body), ACCOUNT) == body


@in_one_case("body", ["kitchens are warm", "the Kitchen: hello", "@kitchenette hello"])
def test_a_name_within_a_text_stays(body):
    assert matrix_events.words_to(message(body, **{"m.mentions": {"user_ids": [ACCOUNT.id]}}), ACCOUNT) == body


@in_one_case(
    "membership, before, begins, joins",
    [
        ("invite", None, True, False),
        ("join", None, True, True),
        ("join", "leave", True, True),
        ("join", "invite", False, True),
        ("join", "join", False, False),
    ],
)
def test_a_time_in_a_room_begins_with_the_invitation_or_with_joining_without_one(membership, before, begins, joins):
    unsigned = {"prev_content": {"membership": before}} if before else {}
    event = {
        "type": "m.room.member",
        "state_key": ACCOUNT.id,
        "content": {"membership": membership},
        "unsigned": unsigned,
    }
    assert matrix_events.begins_membership(event, ACCOUNT.id) is begins
    assert matrix_events.joins(event, ACCOUNT.id) is joins
    assert not matrix_events.begins_membership({**event, "state_key": "@ann:engram.test"}, ACCOUNT.id)


@in_one_case(
    "named, thread",
    [("$root", "$root"), ("$" + "x" * 254, "$" + "x" * 254), ("$" + "x" * 255, ""), ("$\0x", ""), ("root", "")],
)
def test_a_thread_is_the_id_of_an_event_and_nothing_else_that_a_client_names(named, thread):
    relation = {"m.relates_to": {"rel_type": "m.thread", "event_id": named}}
    assert matrix_events.thread_of(message("hi", **relation)) == thread


@in_one_case(
    "address", ["", "https://a/b", "mxc://a/../../secret", "mxc://a/b/c", "mxc://a/b?c", "mxc://a b/c", "mxc:///b"]
)
def test_what_is_no_files_address_is_not_fetched(address: str):
    client = MatrixClient("https://matrix.example.org", "@kitchen:example.org", "")
    assert client.fetch_of(address) is None
    assert client.fetch_of("mxc://example.org:8448/AbC_d-9=") is not None
