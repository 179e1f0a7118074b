"""Anthropic's Messages as a service speaks it.

    POST /v1/messages            with the header anthropic-version
    {"model", "max_tokens", "system", "messages": [{"role": "user" | "assistant", "content": text or
        [{"type": "text", "text"} | {"type": "tool_use", "id", "name", "input": object} |
         {"type": "tool_result", "tool_use_id", "content"}]}], "tools": [{"name", "input_schema"}], "stream"}

    streamed, each as   event: TYPE, data: {"type": TYPE, ...}, an empty line:
    message_start · ping · for each block: content_block_start, content_block_delta ..., content_block_stop ·
    message_delta (stop_reason, usage) · message_stop

It refuses what Anthropic refuses: above all an empty text, a tool's result without its call and a call
without its result in the next message.
"""

import json
from collections.abc import Iterator, Mapping

from .types import (
    ModelAnswer,
    ModelRequest,
    RequestRejected,
    StreamEvent,
    TokenUsage,
    ToolCall,
    ToolResult,
    json_bytes,
    objects,
    split_recalled,
    text_field,
    text_of,
)

NAME: str = "anthropic"
PATH: str = "/v1/messages"
BROKEN_EVENT: bytes = b'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"ty\n\n'

_STOP = {"end": "end_turn", "tools": "tool_use"}


def read(headers: Mapping[str, str], body: Mapping[str, object]) -> ModelRequest:
    """What a request asks; raises RequestRejected where Anthropic would answer 400."""
    if "anthropic-version" not in headers:
        raise RequestRejected(400, "anthropic-version: header is required")
    limit = body.get("max_tokens")
    if not isinstance(limit, int) or limit < 1:
        raise RequestRejected(400, "max_tokens: a number from 1 is required")
    messages = objects(body.get("messages"), "messages")
    if not messages:
        raise RequestRejected(400, "messages: at least one message is required")
    results = _results(messages)
    last, recalled = split_recalled(_last_user_text(messages))
    return ModelRequest(
        api=NAME,
        model=text_field(body, "model"),
        stream=body.get("stream") is True,
        wants_usage=True,
        system=text_of(body.get("system", "")),
        last=last,
        recalled=recalled,
        results=results,
        tools=tuple(_tool_name(tool) for tool in objects(body.get("tools", []), "tools")),
    )


def whole(asked: ModelRequest, answer: ModelAnswer, number: int) -> dict[str, object]:
    """The answer as one JSON object."""
    content: list[dict[str, object]] = [{"type": "text", "text": answer.text}] if answer.text else []
    content += [_block(call, _input(call.arguments)) for call in answer.calls]
    message = _message(asked, number, _usage(answer.usage))
    return {**message, "content": content, "stop_reason": _STOP[answer.stop]}


def events(asked: ModelRequest, answer: ModelAnswer, number: int) -> Iterator[StreamEvent]:
    """The answer as the events of a stream."""

    def event(kind: str, **rest: object) -> bytes:
        return _event(kind, **rest)

    usage = {**_usage(answer.usage), "output_tokens": 1}
    yield StreamEvent(event("message_start", message=_message(asked, number, usage)))
    yield StreamEvent(event("ping"))
    blocks: list[ToolCall | None] = [None, *answer.calls] if answer.pieces else [*answer.calls]
    for index, call in enumerate(blocks):
        start = _block(call, {}) if call else {"type": "text", "text": ""}
        yield StreamEvent(event("content_block_start", index=index, content_block=start))
        for delta, delay in _deltas(answer, call):
            yield StreamEvent(event("content_block_delta", index=index, delta=delta), delay)
        yield StreamEvent(event("content_block_stop", index=index), closing=index == len(blocks) - 1)
    delta = {"stop_reason": _STOP[answer.stop], "stop_sequence": None}
    usage = {"output_tokens": answer.usage.output}
    yield StreamEvent(event("message_delta", delta=delta, usage=usage), closing=True)
    yield StreamEvent(event("message_stop"), closing=True)


def error(status: int, message: str) -> dict[str, object]:
    """A refusal or a failure as one JSON object."""
    kind = "invalid_request_error" if status < 500 else "api_error"
    return {"type": "error", "error": {"type": kind, "message": message}}


def error_event(message: str) -> bytes:
    """A failure in the middle of a stream."""
    return _event("error", error=error(529, message)["error"])


def models(model: str) -> dict[str, object]:
    """The answer to GET /v1/models."""
    entry = {"type": "model", "id": model, "display_name": "A script", "created_at": "1970-01-01T00:00:00Z"}
    return {"data": [entry], "has_more": False, "first_id": model, "last_id": model}


def _deltas(answer: ModelAnswer, call: ToolCall | None) -> Iterator[tuple[dict[str, object], float]]:
    """The deltas of one block, of `call` or (None) of the text, and how long each waits."""
    if call is None:
        for piece in answer.pieces:
            yield {"type": "text_delta", "text": piece.text}, piece.delay
        return
    yield {"type": "input_json_delta", "partial_json": ""}, 0
    for fragment in call.fragments():
        yield {"type": "input_json_delta", "partial_json": fragment}, 0


def _message(asked: ModelRequest, number: int, usage: dict[str, object]) -> dict[str, object]:
    return {
        "id": f"msg_{number}", "type": "message", "role": "assistant", "model": asked.model, "content": [],
        "stop_reason": None, "stop_sequence": None, "usage": usage,
    }  # fmt: skip


def _event(kind: str, **rest: object) -> bytes:
    data = json_bytes({"type": kind, **rest})
    return b"event: " + kind.encode() + b"\ndata: " + data + b"\n\n"


def _block(call: ToolCall, arguments: object) -> dict[str, object]:
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": arguments}


def _input(arguments: str) -> object:
    """Arguments as an object; what is no JSON stays the text that the script asked for."""
    try:
        return json.loads(arguments)
    except ValueError:
        return arguments


def _usage(usage: TokenUsage) -> dict[str, object]:
    return {
        "input_tokens": usage.input - usage.cached,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": usage.cached,
        "output_tokens": usage.output,
    }


def _tool_name(tool: dict[str, object]) -> str:
    if not isinstance(tool.get("input_schema"), dict):
        raise RequestRejected(400, "tools: each tool has to have an input_schema")
    return text_field(tool, "name", "tools.")


def _last_user_text(messages: list[dict[str, object]]) -> str:
    """The person's last message: a user message that only brings tool results is not the person's."""
    spoken = (message for message in reversed(messages) if message.get("role") == "user")
    return next((text for message in spoken if (text := text_of(message.get("content")))), "")


def _results(messages: list[dict[str, object]]) -> tuple[ToolResult, ...]:
    """The results since the person's last message; on the way, that the next message answers each call."""
    results: list[ToolResult] = []
    calls: dict[str, str] = {}
    for place, message in enumerate(messages):
        where = f"messages.{place}"
        blocks = _blocks(message, where)
        if message.get("role") == "assistant":
            if calls:
                raise RequestRejected(400, f"{where}: the tool_use ids {', '.join(calls)} have no tool_result")
            uses = _of(blocks, "tool_use")
            calls = {text_field(use, "id", where): text_field(use, "name", where) for use in uses}
            continue
        if message.get("role") != "user":
            raise RequestRejected(400, f"{where}.role: this is user or assistant, not {message.get('role')}")
        if any(block.get("type") == "text" for block in blocks):
            results = []
        for block in _of(blocks, "tool_result"):
            ident = text_field(block, "tool_use_id", where)
            if ident not in calls:
                raise RequestRejected(400, f"{where}: tool_use_id {ident} answers no tool_use before it")
            results.append(ToolResult(calls.pop(ident), text_of(block.get("content", ""))))
        if calls:
            raise RequestRejected(400, f"{where}: the tool_use ids {', '.join(calls)} have no tool_result in it")
    if calls:
        raise RequestRejected(400, f"messages: the tool_use ids {', '.join(calls)} have no tool_result")
    return tuple(results)


def _blocks(message: dict[str, object], where: str) -> list[dict[str, object]]:
    content = message.get("content")
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    blocks = objects(content, f"{where}.content")
    if not blocks or any(block.get("type") == "text" and not block.get("text") for block in blocks):
        raise RequestRejected(400, f"{where}: text content blocks must be non-empty")
    return blocks


def _of(blocks: list[dict[str, object]], kind: str) -> list[dict[str, object]]:
    return [block for block in blocks if block.get("type") == kind]
