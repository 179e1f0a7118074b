"""What a script means, how it is read, and that the documentation names all of it."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

from fake_llm import ScriptError, load, read_rule, serving
from fake_llm.rules import DEFAULT_REPLY, Script
from fake_llm.script import FAULTS, RULE, WHEN
from fake_llm.types import ModelRequest, ToolResult, fragments, split_recalled
from fake_llm_clients import ask
from one_case import in_one_case

DOCS = Path(__file__).parent.parent / "support" / "servers" / "fake_llm" / "README.md"
RECALLED = ("- [m12 2026-01-31] The user's name is Ada", "- [m7 2026-01-30] Ada likes tea")
TOOLS = ("memory_store", "memory_recall")


def asked(last="hello", **rest) -> ModelRequest:
    fields = {"api": "openai", "model": "m", "stream": False, "wants_usage": False, "system": ""}
    return ModelRequest(**{**fields, "last": last, "recalled": (), "results": (), "tools": (), **rest})


def fits(when: dict, request: ModelRequest, number: int = 1) -> bool:
    return read_rule({"when": when}).when.fits(request, number)


def reply(text: str, request: ModelRequest, when: dict | None = None) -> str:
    return read_rule({"when": when or {}, "reply": text}).answer(request, 3, 100).text


STORED = asked(results=(ToolResult("memory_list", "[]"), ToolResult("memory_store", '{"id": "m12", "n": 2}')))


@in_one_case(
    "when, request_, expected",
    [
        ({}, asked(), True),
        ({"contains": "TEA"}, asked("I like tea."), True),
        ({"contains": ["milk", "tea"]}, asked("I like tea."), True),
        ({"contains": "tea"}, asked("coffee"), False),
        ({"equals": "hello"}, asked("Hello"), True),
        ({"equals": "hello"}, asked("hello you"), False),
        ({"system": "json"}, asked(system="Answer in JSON."), True),
        ({"system": "json"}, asked("json"), False),
        ({"api": "openai"}, asked(), True),
        ({"api": "anthropic"}, asked(), False),
        ({"request": 1}, asked(), True),
        ({"request": [2, 3]}, asked(), False),
        ({"result": True}, STORED, True),
        ({"result": True}, asked(), False),
        ({"result": False}, STORED, False),
        ({"result": "memory_store"}, STORED, True),
        ({"result": "memory_list"}, STORED, False),
        ({"result_has": "id"}, STORED, True),
        ({"result_has": "error"}, STORED, False),
        ({"result_has": "id"}, asked(results=(ToolResult("memory_store", "no JSON"),)), False),
        ({"recalled": True}, asked(recalled=RECALLED), True),
        ({"recalled": False}, asked(recalled=RECALLED), False),
        ({"offers": "memory_store"}, asked(tools=TOOLS), True),
        ({"offers": "profile_edit"}, asked(tools=TOOLS), False),
        ({"offers": False}, asked(), True),
        ({"contains": "tea", "api": "anthropic"}, asked("tea"), False),
    ],
)
def test_a_condition_fits_or_not(when, request_, expected):
    assert fits(when, request_) is expected


@in_one_case(
    "text, request_, expected",
    [
        ("you said {last}", asked("tea?"), "you said tea?"),
        ("{recalled}", asked(recalled=RECALLED), "\n".join(RECALLED)),
        ("{result}", STORED, '{"id": "m12", "n": 2}'),
        ("{result.id} {result.n} {result.none}.", STORED, "m12 2 ."),
        ("{result}{result.id}", asked(), ""),
        ("number {request}", asked(), "number 3"),
        ('{"last": {unknown} {last.id}}', asked(), '{"last": {unknown} {last.id}}'),
        ("{last}", asked("{result.id}"), "{result.id}"),
    ],
)
def test_a_placeholder_is_filled_once(text, request_, expected):
    assert reply(text, request_) == expected


@pytest.mark.parametrize(
    ("last", "rest"),
    [
        ("Hi, MY name is Ada.", "Ada"),
        ("my name is Zoë!", "Zoë"),
        ("hello", ""),
        ("my name is 小明。", "小明"),
    ],
)
def test_the_rest_is_what_follows_the_found_text(last, rest):
    assert reply("{rest}", asked(last), {"contains": "my name is "}) == rest


def test_arguments_are_filled_at_every_depth_and_stay_json():
    rule = read_rule({"calls": [{"name": "t", "arguments": {"a": ["{last}", 1, {"b": "<{last}>"}]}}]})
    (call,) = rule.answer(asked('"quoted" \\ {'), 1, 1).calls
    assert json.loads(call.arguments) == {"a": ['"quoted" \\ {', 1, {"b": '<"quoted" \\ {>'}]}


def test_arguments_given_as_text_are_sent_as_they_are():
    rule = read_rule({"calls": [{"name": "t", "arguments": '{"a": {last}'}]})
    assert rule.answer(asked(), 1, 1).calls[0].arguments == '{"a": {last}'


def test_the_first_rule_that_fits_and_is_left_answers():
    script = Script(
        read_rule(rule)
        for rule in (
            {"reply": "a", "times": 2},
            {"when": {"equals": "x"}, "reply": "x"},
            {"reply": "b", "times": 1},
        )
    )
    replies = [script.choose_rule(asked("hello"), n).reply for n in range(1, 5)]
    assert replies == ["a", "a", "b", DEFAULT_REPLY]


def test_a_rule_can_be_added_before_all_others():
    with serving([{"reply": "old"}]) as server:
        server.add({"reply": "behind"})
        server.add({"reply": "before", "times": 1}, first=True)
        assert [ask(server.url, "openai", "hello").text for _ in range(2)] == ["before", "old"]


@pytest.mark.parametrize(
    "message",
    [
        "\n".join(["<recalled>", *RECALLED, "</recalled>", "", "what is\n\nmy name?"]),
        "\n".join(["<recalled>", *RECALLED, "</recalled>", "what is\n\nmy name?"]),
        "\n".join(["what is\n\nmy name?", "", "Recalled, as data:", *RECALLED]),
        "\n".join(["Recalled memories:", "```", *RECALLED, "```", "", "what is\n\nmy name?"]),
        "\n".join(["what is\n\nmy name?", "<memory note='data'>", "About them:", *RECALLED, "</memory>"]),
    ],
)
def test_recalled_lines_are_distinguished_from_the_persons_words(message):
    assert split_recalled(message) == ("what is\n\nmy name?", RECALLED)


def test_reminders_are_distinguished_from_the_persons_words():
    block = "<standing-reminders>\nA rule.\n- [i1] buy brushes\n</standing-reminders>\n(now: 2026-01-31 14:05)\n"
    for before in ("", "\n".join(["<recalled>", *RECALLED, "</recalled>", ""])):
        assert split_recalled(before + block + "the paint shop")[0] == "the paint shop"


def test_a_message_without_recalled_lines_is_the_persons():
    assert split_recalled(" - [ ] a task\n<b>\n") == ("- [ ] a task\n<b>", ())


@given(some.text())
def test_fragments_are_the_text_in_parts(text):
    pieces = fragments(text)
    assert "".join(piece.text for piece in pieces) == text
    assert all(piece.text for piece in pieces)


@given(some.lists(some.text(), max_size=4), some.lists(some.text(), max_size=3), some.integers(0, 40))
def test_the_first_characters_of_an_answer_are_its_texts_then_its_arguments(texts, arguments, count):
    calls = [{"name": "t", "arguments": text} for text in arguments]
    answer = read_rule({"reply": texts, "calls": calls}).answer(asked(), 1, 1)
    whole = "".join(piece.text for piece in answer.pieces) + "".join(call.arguments for call in answer.calls)
    part = answer.first(count)
    assert part.text + "".join(call.arguments for call in part.calls) == whole[:count]


@in_one_case(
    "rule, message",
    [
        ([], "rule: this has to be an object"),
        ({"wen": {}}, "rule: there is no field wen; the fields are note, when, "),
        ({"when": {"contians": "x"}}, "rule: when: there is no field contians"),
        ({"when": {"contains": 3}}, "rule: when: contains: this has to be a text, or a list of texts"),
        ({"when": {"contains": ""}}, "rule: when: contains: this has to be a text"),
        ({"when": {"api": "other"}}, "rule: when: api: this has to be one of openai, anthropic"),
        ({"when": {"request": 0}}, "rule: when: request: this has to be a number from 1"),
        ({"when": {"recalled": "yes"}}, "rule: when: recalled: this has to be true or false"),
        ({"reply": 3}, "rule: reply: this has to be a text or a list of pieces"),
        ({"reply": [{"delay": -1}]}, "rule: reply, piece 1: delay: this has to be seconds"),
        ({"calls": [{}]}, "rule: calls: name: a tool's name is required"),
        ({"calls": [{"name": "t", "arguments": []}]}, "rule: calls: arguments: this has to be an object"),
        ({"stop": "now"}, "rule: stop: this has to be one of end, tools, length, filter"),
        ({"times": 0}, "rule: times: this has to be a whole number from 1"),
        ({"times": True}, "rule: times: this has to be a whole number"),
        ({"usage": {"total": 1}}, "rule: usage: there is no field total"),
        ({"fault": "flood"}, "rule: fault: kind: this is cut, stall, "),
        ({"fault": "200"}, "rule: fault: kind: this is cut, stall, "),
        (
            {"fault": {"kind": "slow", "after": 3}},
            "rule: fault: there is no field after; the fields are kind, delay",
        ),
        ({"fault": {"kind": "429", "retry_after": "1\r\nX: y"}}, "rule: fault: retry_after: a header has"),
        ({"fault": {"kind": "huge", "size": 1 << 40}}, "rule: fault: size: this has to be a whole number"),
    ],
)
def test_a_wrong_rule_is_refused_with_its_place(rule, message):
    with pytest.raises(ScriptError) as caught:
        read_rule(rule)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is not JSON"),
        ("3", "a list of rules"),
        ('{"rule": []}', "no field rule"),
        ('[{"x": 1}]', "rule 1: "),
    ],
)
def test_a_wrong_script_is_refused_with_its_file(tmp_path, text, message):
    path = tmp_path / "script.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ScriptError, match=re.escape(message)) as caught:
        load(path)
    assert str(caught.value).startswith(str(path))


def test_a_script_that_is_not_there_is_named():
    with pytest.raises(ScriptError, match=r"nowhere/demo\.json: the script cannot be read"):
        load("nowhere/demo.json")


def test_a_file_goes_before_the_shipped_script_of_its_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "demo.json").write_text("[]", encoding="utf-8")
    assert load("demo.json") == []


@in_one_case("name", [*RULE, *WHEN, *FAULTS, *sorted({field for fields in FAULTS.values() for field in fields})])
def test_each_field_and_fault_is_documented(name):
    assert f"`{name}`" in DOCS.read_text(encoding="utf-8")


def test_the_scripts_of_the_documentation_are_scripts():
    blocks = re.findall(r"```json\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
    assert blocks
    for block in blocks:
        value = json.loads(block)
        for rule in value if isinstance(value, list) else [value]:
            read_rule(rule)
