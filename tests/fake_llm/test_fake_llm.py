"""The promises of the scripted model: the meaning of a script, refusals of each API, and what goes over the wire.

That the official clients understand it is seen in tests/companion/gateway, where they ask it through the gateway.
"""

import json
import re
import socket
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

import fake_llm
from fake_llm import ScriptError, Serving, load, read_rule, serving
from fake_llm.rules import DEFAULT_REPLY, Script
from fake_llm.script import FAULTS, RULE, WHEN
from fake_llm.types import ModelRequest, ToolResult, split_recalled
from one_case import in_one_case
from waiting import SECONDS

DOCS = Path(fake_llm.__file__).parent / "README.md"
PATHS = {"openai": "/v1/chat/completions", "anthropic": "/v1/messages"}
RECALLED = ("- [m12 2026-01-31] The user's name is Ada", "- [m7 2026-01-30] Ada likes tea")
TOOLS = ("memory_store", "memory_recall")
ODD_TEXT = 'Grüße, 你好 "quoted" \\ back\n\n  two  spaces 😀 \t end '


def asked(last: str = "hello", **rest: Any) -> ModelRequest:
    fields = {"api": "openai", "model": "m", "stream": False, "wants_usage": False, "system": ""}
    return ModelRequest(**{**fields, "last": last, "recalled": (), "results": (), "tools": (), **rest})


STORED = asked(results=(ToolResult("memory_list", "[]"), ToolResult("memory_store", '{"id": "m12", "n": 2}')))


@in_one_case(
    "when, request_, expected",
    [
        ({}, asked(), True),
        ({"contains": ["milk", "TEA"]}, asked("I like tea."), True),
        ({"contains": "tea"}, asked("coffee"), False),
        ({"equals": "hello"}, asked("Hello"), True),
        ({"equals": "hello"}, asked("hello you"), False),
        ({"system": "json"}, asked(system="Answer in JSON."), True),
        ({"system": "json"}, asked("json"), False),
        ({"api": "anthropic"}, asked(), False),
        ({"request": [1, 2]}, asked(), True),
        ({"request": 2}, asked(), False),
        ({"result": True}, STORED, True),
        ({"result": True}, asked(), False),
        ({"result": False}, STORED, False),
        ({"result": "memory_store"}, STORED, True),
        ({"result": "memory_list"}, STORED, False),
        ({"result_has": "id"}, STORED, True),
        ({"result_has": "error"}, STORED, False),
        ({"result_has": "id"}, asked(results=(ToolResult("memory_store", "no JSON"),)), False),
        ({"recalled": False}, asked(recalled=RECALLED), False),
        ({"offers": "memory_store"}, asked(tools=TOOLS), True),
        ({"offers": "profile_edit"}, asked(tools=TOOLS), False),
        ({"offers": False}, asked(), True),
    ],
)
def test_a_condition_fits_or_not(when: dict[str, Any], request_: ModelRequest, expected: bool):
    assert read_rule({"when": when}).when.fits(request_, 1) is expected


@in_one_case(
    "text, request_, expected",
    [
        ("you said {last}", asked("tea?"), "you said tea?"),
        ("{rest}", asked("Hi, MY name is Ada."), "Ada"),
        ("{rest}", asked("my name is 小明。"), "小明"),
        ("{rest}", asked("hello"), ""),
        ("{recalled}", asked(recalled=RECALLED), "\n".join(RECALLED)),
        ("{result} {result.id} {result.n} {result.none}.", STORED, '{"id": "m12", "n": 2} m12 2 .'),
        ("{result}{result.id}", asked(), ""),
        ("number {request}", asked(), "number 3"),
        ("{last} {unknown} {last.id}", asked("{result.id}"), "{result.id} {unknown} {last.id}"),
    ],
)
def test_a_placeholder_is_filled_once(text: str, request_: ModelRequest, expected: str):
    rule = read_rule({"when": {"contains": "my name is "}, "reply": text})
    assert rule.answer(request_, 3, 100).text == expected


def test_arguments_are_filled_at_every_depth_and_a_text_is_sent_as_it_is():
    calls = [{"name": "t", "arguments": {"a": ["{last}", 1, {"b": "<{last}>"}]}}, {"name": "t", "arguments": "{last}"}]
    first, second = read_rule({"calls": calls}).answer(asked('"quoted" \\ {'), 1, 1).calls
    assert json.loads(first.arguments) == {"a": ['"quoted" \\ {', 1, {"b": '<"quoted" \\ {>'}]}
    assert second.arguments == "{last}"


def test_the_first_rule_that_fits_and_is_left_answers():
    rules = ({"reply": "a", "times": 2}, {"when": {"equals": "x"}, "reply": "x"}, {"reply": "b", "times": 1})
    script = Script(read_rule(rule) for rule in rules)
    script.add(read_rule({"reply": "c", "times": 1}), first=True)
    replies = [script.choose_rule(asked("hello"), n).reply for n in range(1, 6)]
    assert replies == ["c", "a", "a", "b", DEFAULT_REPLY]


def test_what_the_board_puts_before_a_message_is_not_the_persons_words():
    memories = "\n".join(["<senses>", "warm", "</senses>", "<recalled-memories>", "As data:", *RECALLED])
    reminders = "<standing-reminders>\nA rule.\n- [i1] buy brushes\n</standing-reminders>"
    message = f"{memories}\n</recalled-memories>\n{reminders}\n(now: 2026-01-31 14:05)\nwhat is\n\nmy name?"
    assert split_recalled(message) == ("what is\n\nmy name?", RECALLED)
    assert split_recalled(" - [ ] a task\n<b>\n") == ("- [ ] a task\n<b>", ())


def test_the_first_characters_of_an_answer_are_its_texts_then_its_arguments():
    rule = read_rule({"reply": ["ab", "", "cd"], "calls": [{"name": "t", "arguments": "efg"}]})
    parts = [rule.answer(asked(), 1, 1).first(count) for count in range(8)]
    assert [part.text + "".join(call.arguments for call in part.calls) for part in parts] == [
        "abcdefg"[:count] for count in range(8)
    ]


@in_one_case(
    "rule, message",
    [
        ([], "rule: this has to be an object"),
        ({"wen": {}}, "rule: there is no field wen; the fields are note, when, "),
        ({"when": {"contians": "x"}}, "rule: when: there is no field contians"),
        ({"when": {"contains": [""]}}, "rule: when: contains: this has to be a text"),
        ({"when": {"api": "other"}}, "rule: when: api: this has to be one of openai, anthropic"),
        ({"when": {"request": 0}}, "rule: when: request: this has to be a whole number from 1"),
        ({"when": {"recalled": "yes"}}, "rule: when: recalled: this has to be true or false"),
        ({"reply": 3}, "rule: reply: this has to be a text or a list of pieces"),
        ({"reply": [{"delay": -1}]}, "rule: reply, piece: delay: this has to be seconds"),
        ({"calls": [{}]}, "rule: calls: name: a tool's name is required"),
        ({"calls": [{"name": "t", "arguments": []}]}, "rule: calls: arguments: this has to be an object"),
        ({"times": True}, "rule: times: this has to be a whole number"),
        ({"usage": {"total": 1}}, "rule: usage: there is no field total"),
        ({"fault": "200"}, "rule: fault: kind: this is cut, stall, "),
        ({"fault": {"kind": "slow", "after": 3}}, "rule: fault: there is no field after; the fields are delay"),
        ({"fault": {"kind": "huge", "size": 1 << 40}}, "rule: fault: size: this has to be a whole number"),
    ],
)
def test_a_wrong_rule_is_refused_with_its_place(rule: Any, message: str):
    with pytest.raises(ScriptError) as caught:
        read_rule(rule)
    assert str(caught.value).startswith(message)


@in_one_case("text, message", [("{", "cannot be read"), ("3", "a list of rules"), ('[{"x": 1}]', "rule 1: ")])
def test_a_wrong_script_is_refused_with_its_file(tmp_path: Path, text: str, message: str):
    path = tmp_path / "script.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ScriptError, match=re.escape(message)) as caught:
        load(path)
    assert str(caught.value).startswith(str(path))


def test_each_field_and_fault_is_documented_and_each_script_of_the_documentation_is_one():
    text = DOCS.read_text(encoding="utf-8")
    names = {*RULE, *WHEN, *FAULTS, *(field for fields in FAULTS.values() for field in fields)}
    assert not {name for name in names if f"`{name}`" not in text}
    for block in re.findall(r"```json\n(.*?)```", text, re.DOTALL):
        value = json.loads(block)
        for rule in value if isinstance(value, list) else [value]:
            read_rule(rule)


# --- over the wire


def exchange(server: Serving, api: str, messages: list[dict[str, Any]], head: str = "", **body: Any) -> bytes:
    """Everything that the server answers to a request until it closes the connection."""
    whole = {"model": "m", "max_tokens": 9, "messages": messages, **body}
    data = json.dumps(whole, ensure_ascii=False).encode("utf-8", "surrogatepass")
    headers = f"Host: h\r\nanthropic-version: 1\r\nConnection: close\r\nContent-Length: {len(data)}\r\n{head}"
    return send(server, f"POST {PATHS[api]} HTTP/1.1\r\n{headers}\r\n".encode() + data)


def send(server: Serving, sent: bytes) -> bytes:
    address = urlsplit(server.url)
    with socket.create_connection((address.hostname, address.port), SECONDS) as connection:
        connection.sendall(sent)
        return b"".join(iter(lambda: connection.recv(65536), b""))


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


CALL = {"id": "c9", "type": "function", "function": {"name": "memory_list", "arguments": "{}"}}
CALLED = {"role": "assistant", "content": None, "tool_calls": [CALL]}
USED = {"role": "assistant", "content": [{"type": "tool_use", "id": "c9", "name": "memory_list", "input": {}}]}
RESULT = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c9", "content": "{}"}]}


@in_one_case(
    "api, messages, body",
    [
        ("openai", [], {}),
        ("openai", [{"role": "robot", "content": "x"}], {}),
        ("openai", [user("x"), {"role": "tool", "tool_call_id": "none", "content": "x"}], {}),
        ("openai", [user("x"), CALLED], {}),
        ("openai", [user("x"), CALLED, user("y")], {}),
        ("openai", [user("x"), {"role": "assistant", "content": None}], {}),
        ("openai", [user("x"), {"role": "assistant", "content": "y", "tool_calls": []}], {}),
        ("openai", [user("x")], {"tools": []}),
        ("openai", [user("\ud83d")], {}),
        ("anthropic", [], {}),
        ("anthropic", [{"role": "system", "content": "x"}], {}),
        ("anthropic", [user("")], {}),
        ("anthropic", [user("x")], {"max_tokens": 0}),
        ("anthropic", [user("x"), RESULT], {}),
        ("anthropic", [user("x"), USED], {}),
        ("anthropic", [user("x"), USED, user("y")], {}),
    ],
)
def test_a_request_that_the_service_refuses_is_refused_and_recorded(
    api: str, messages: list[dict[str, Any]], body: dict[str, Any]
):
    with serving() as server:
        assert exchange(server, api, messages, **body).startswith(b"HTTP/1.1 400 ")
        assert [request.api for request in server.requests] == [api]


@in_one_case("api, stop", [("openai", b'"finish_reason":"length"'), ("anthropic", b'"stop_reason":"max_tokens"')])
def test_a_reply_goes_out_piece_by_piece_with_its_stop_and_escaped_where_that_is_asked_for(api: str, stop: bytes):
    rule = {"reply": ["a b", "", ODD_TEXT], "stop": "length", "ascii": True}
    with serving([rule]) as server:
        streamed, whole = (exchange(server, api, [user("x")], stream=stream) for stream in (True, False))
    assert streamed.isascii() and whole.isascii() and stop in streamed and stop in whole
    found = [json.loads(line[6:]) for line in streamed.decode().splitlines() if line.startswith("data: {")]
    if api == "openai":
        texts = [one["choices"][0]["delta"].get("content") for one in found][1:-1]
        text = json.loads(whole.partition(b"\r\n\r\n")[2])["choices"][0]["message"]["content"]
    else:
        texts = [one["delta"]["text"] for one in found if one["type"] == "content_block_delta"]
        text = json.loads(whole.partition(b"\r\n\r\n")[2])["content"][0]["text"]
    assert texts == ["a b", "", ODD_TEXT] and text == "a b" + ODD_TEXT


def test_a_recorded_request_is_the_bytes_that_came_and_comes_in_its_order():
    with serving() as server:
        for text in ("one", "Grüße"):
            exchange(server, "openai", [user(text)], "X-Odd: Value\r\n")
        first, second = server.wait_for_requests(2)
        with pytest.raises(TimeoutError, match="2 of 3 requests"):
            server.wait_for_requests(3, timeout=0.05)
    assert (first.order, second.order, second.headers["x-odd"]) == (1, 2, "Value")
    assert second.body == json.loads(second.raw) and second.head.startswith(b"POST /v1/chat/completions HTTP/1.1\r\n")


@in_one_case(
    "sent, status",
    [
        (b"nonsense\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", 404),
        (b"GET /v1/messages HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", 405),
        (b"POST / HTTP/1.1\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nHost: h\r\nno colon\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: -1\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999999\r\n\r\n", 413),
        (b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nX: " + b"x" * 70_000, 431),
    ],
)
def test_what_is_not_a_request_is_refused(sent: bytes, status: int):
    with serving() as server:
        assert send(server, sent).startswith(b"HTTP/1.1 %d " % status)


# --- the demo


@in_one_case(
    "text, content", [("Hi, my name is Ada.", "The user's name is Ada"), ("remember I like tea!", "I like tea")]
)
def test_the_demo_stores_what_it_is_told(text: str, content: str):
    (call,) = _demo(asked(text, tools=TOOLS)).calls
    assert (call.name, json.loads(call.arguments)["content"]) == ("memory_store", content)


@in_one_case(
    "request_, part",
    [
        (asked("What is my name?", recalled=RECALLED), RECALLED[0]),
        (asked("What is my name?"), "I do not know"),
        (asked("my name is Ada"), "I am a script"),
        (asked("my name is Ada", system="Answer with JSON."), "[]"),
        (STORED, "m12"),
        (asked(results=(ToolResult("memory_store", '{"error": "full"}'),)), "It was not stored."),
    ],
)
def test_the_demo_answers_from_what_came_back(request_: ModelRequest, part: str):
    assert part in _demo(request_).text


def _demo(request: ModelRequest) -> Any:
    return Script(load("demo.json")).choose_rule(request, 1).answer(request, 1, 1)
