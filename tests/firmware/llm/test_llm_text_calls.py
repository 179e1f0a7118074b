"""Tool calls that a model writes as text: run if they are the whole reply, and shown to nobody."""

import json

from engram.llm.reply import ReplyBuilder

NAMES = ("memory_store", "memory_list")
STORED = {"content": "The bike is green", "tags": ["bike"]}
JSON = json.dumps(STORED)
CALL = '{"name": "memory_store", "arguments": ' + JSON + "}"
PARAMETERS = CALL.replace("arguments", "parameters")
DSML = (
    '<｜DSML｜function_calls>\n<｜DSML｜invoke name="memory_store">\n<｜DSML｜parameter name="content" string="true">'
    'The bike is green</｜DSML｜parameter>\n<｜DSML｜parameter name="tags" string="false">["bike"]</｜DSML｜parameter>\n'
    "</｜DSML｜invoke>\n</｜DSML｜function_calls>"
)
WHOLE = (
    "<tool_call>\n" + CALL + "\n</tool_call>",
    "<tool_call>\n" + CALL + "\n",
    "<think>I store it.</think>\n\n<tool_call>" + CALL + "</tool_call>",
    "I store it.\n</think>\n\n<tool_call>" + CALL + "</tool_call>",
    "<tool_call>" + CALL.replace('"', "'") + "</tool_call>",
    CALL,
    PARAMETERS,
    "[" + PARAMETERS + "]",
    "```json\n" + CALL + "\n```",
    '{"type": "function", "function": ' + CALL + "}",
    '{"function": "memory_store", "arguments": ' + JSON + "}",
    '{"function": ' + CALL + "}",
    '{"tool_calls": [{"function": {"name": "memory_store", "arguments": ' + json.dumps(JSON) + "}}]}",
    "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>memory_store\n```json\n"
    + JSON
    + "\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
    "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>memory_store<｜tool▁sep｜>"
    + JSON
    + "<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
    "<|tool_calls_section_begin|><|tool_call_begin|>functions.memory_store:0<|tool_call_argument_begin|>"
    + JSON
    + "<|tool_call_end|><|tool_calls_section_end|>",
    "<|python_tag|>" + PARAMETERS,
    "<function=memory_store>" + JSON + "</function>",
    "[TOOL_CALLS][" + CALL + "]",
    "[TOOL_CALLS]memory_store[CALL_ID]abcdefghi[ARGS]" + JSON,
    "[TOOL_REQUEST]" + CALL + "[END_TOOL_REQUEST]",
    "<|channel|>analysis<|message|>I store it.<|end|><|start|>assistant<|channel|>commentary to=functions.memory_store "
    "<|constrain|>json<|message|>" + JSON + "<|call|>",
)
AS_TEXT = (
    DSML,
    "<tool_call>\n<function=memory_store>\n<parameter=content>\nThe bike is green\n</parameter>\n<parameter=tags>\n"
    '["bike"]\n</parameter>\n</function>\n</tool_call>',
    "<tool_call>memory_store\n<arg_key>content</arg_key>\n<arg_value>The bike is green</arg_value>\n<arg_key>tags</arg_key>\n"
    '<arg_value>["bike"]</arg_value>\n</tool_call>',
    '<minimax:tool_call>\n<invoke name="memory_store">\n<parameter name="content">The bike is green</parameter>\n'
    '<parameter name="tags">["bike"]</parameter>\n</invoke>\n</minimax:tool_call>',
)
"""Forms in which each argument is a text."""
NOT_RUN = (
    "<tool_call>" + CALL.replace("memory_store", "get_weather") + "</tool_call>",
    "<tool_call>" + CALL + "</tool_call> This stores the colour.",
    "<tool_call>" + CALL[:-9],
    "<tool_call> is a mark.",
    "<|python_tag|>memory_store.call(content='The bike is green')",
    '<|python_tag|>memory_list(what="tags")',
    "I store it.\n<tool_call>" + CALL + "</tool_call>",
    "I store it.\n[TOOL_CALLS][" + CALL + "]",
)
ANSWERS = (
    CALL.replace("memory_store", "get_weather"),
    '{"name": "Ann", "age": 5}',
    '{"name": "memory_list", "age": 5}',
    '[{"name": "Ann"}, {"name": "Bob"}]',
    '{"name": "memory_list"}',
    '```json\n[{"name": "memory_list"}, {"name": "memory_store"}]\n```',
    '{"type": "function", "function": {"name": "memory_list", "description": "Lists", "parameters": {"type": "object"}}}',
    '{"name": "memory_store", "parameters": {"type": "object", "properties": {"content": {"type": "string"}}}}',
    CALL + " is how a call looks.",
    CALL + CALL.replace("memory_store", "get_weather"),
    "A call has the form <tool_call>{..}</tool_call>, as you see.",
    "```json\n" + CALL.replace("memory_store", "x") + "\n```",
)


def reply(*pieces):
    """The reply of a text in pieces, and what of it was passed on."""
    draft = ReplyBuilder()
    draft.stop = "end"
    passed = [draft.add_text(piece) for piece in pieces]
    passed.append(draft.finish(NAMES))
    return draft.reply(), "".join(passed)


def in_pieces(text, size):
    return [text[at : at + size] for at in range(0, len(text), size)]


def called(text):
    """The arguments of the one call in a text, which is not shown, however it is split."""
    for size in (1, 7, 1000):
        found, passed = reply(*in_pieces(text, size))
        assert (found.text, found.stop) == ("", "tools") and "tool" not in passed, (text, found)
        assert [call.name for call in found.calls] == ["memory_store"] and found.calls[0].id
        arguments = json.loads(found.calls[0].arguments)
    return arguments


def test_a_call_in_any_form_is_run():
    for text in WHOLE:
        assert called(text) == STORED, text


def test_arguments_that_are_written_between_marks_are_texts():
    for text in AS_TEXT:
        assert called(text) == {"content": "The bike is green", "tags": '["bike"]'}, text


def test_several_calls_are_run_in_their_order():
    red = CALL.replace("green", "red")
    for text in (
        "<tool_call>" + CALL + "</tool_call>\n<tool_call>" + red + "</tool_call>",
        "[TOOL_CALLS][" + CALL + "," + red + "]",
        CALL + "\n" + red,
        CALL + "; " + red,
        "<function=memory_store>"
        + JSON
        + "</function><function=memory_store>"
        + JSON.replace("green", "red")
        + "</function>",
    ):
        found, _ = reply(text)
        contents = [json.loads(call.arguments)["content"] for call in found.calls]
        assert contents == ["The bike is green", "The bike is red"], text
        assert found.calls[0].id != found.calls[1].id


def test_a_call_that_is_not_run_is_not_shown_either():
    for text in NOT_RUN:
        for size in (1, 1000):
            found, passed = reply(*in_pieces(text, size))
            assert (found.stop, found.calls) == ("as_text", ()), text
            assert found.text.strip() == passed.strip() == ("I store it." if text[0] == "I" else "")


def test_the_result_of_a_tool_is_no_call():
    for text in (
        "<tool_response>" + CALL + "</tool_response>",
        "<tool_result><function=memory_store>" + JSON + "</function></tool_result>",
        "<｜tool▁outputs▁begin｜><｜tool▁output▁begin｜>" + CALL + "<｜tool▁output▁end｜><｜tool▁outputs▁end｜>",
        "[TOOL_RESULTS]" + CALL + "[/TOOL_RESULTS]",
        "<tool_call>" + CALL + "</tool_call><|observation|>" + CALL,
        DSML.replace("function_calls", "function_results"),
    ):
        found, passed = reply(text)
        assert (found.calls, found.stop, passed) == ((), "as_text", ""), text


def test_an_answer_that_looks_like_a_call_is_shown():
    for text in ANSWERS:
        for size in (1, 1000):
            found, passed = reply(*in_pieces(text, size))
            assert (found.text, found.stop, passed) == (text, "end", text)


def test_a_call_that_comes_as_text_too_is_run_once():
    draft = ReplyBuilder()
    draft.stop = "end"
    draft.open_call(0, "a", "memory_store").add(JSON)
    assert draft.add_text("<tool_call>" + CALL + "</tool_call>") + draft.finish(NAMES) == ""
    assert [call.id for call in draft.reply().calls] == ["a"]


def test_half_a_call_is_not_run():
    draft = ReplyBuilder()
    draft.add_text("<tool_call>" + CALL + "\n<tool_call>{")
    draft.stop = "length"
    assert (draft.finish(NAMES), draft.reply()[:3]) == ("", ("", (), "length"))
