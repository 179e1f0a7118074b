"""OpenAI's Chat Completions as a service speaks it.

    POST /v1/chat/completions
    {"model", "messages": [{"role": "system" | "developer" | "user" | "assistant" | "tool", "content",
        "tool_calls": [{"id", "type": "function", "function": {"name", "arguments": JSON text}}],
        "tool_call_id"}], "tools": [{"type": "function", "function": {"name", ...}}],
     "stream", "stream_options": {"include_usage"}}

    streamed:   data: {"choices": [{"index": 0, "delta": {...}, "finish_reason"}], ...}
                data: {"choices": [], "usage": {...}}           with include_usage
                data: [DONE]                                    an empty line after each

It refuses what OpenAI refuses: above all a tool's result without its call and a call without its result.
"""

import time
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

NAME: str = "openai"
PATH: str = "/v1/chat/completions"
BROKEN_EVENT: bytes = b'data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"brok\n\n'

_SYSTEM = ("system", "developer")
_FINISH = {"end": "stop", "tools": "tool_calls"}


def read(headers: Mapping[str, str], body: Mapping[str, object]) -> ModelRequest:
    """What a request asks; raises RequestRejected where OpenAI would answer 400."""
    messages = objects(body.get("messages"), "messages")
    if not messages:
        raise RequestRejected(400, "messages: at least one message is required")
    last, recalled = split_recalled(_last_user_text(messages))
    options = body.get("stream_options")
    return ModelRequest(
        api=NAME,
        model=text_field(body, "model"),
        stream=body.get("stream") is True,
        wants_usage=isinstance(options, dict) and options.get("include_usage") is True,
        system=_system_text(messages),
        last=last,
        recalled=recalled,
        results=_results(messages),
        tools=tuple(_tool_name(tool) for tool in _optional(body, "tools")),
    )


def whole(asked: ModelRequest, answer: ModelAnswer, number: int) -> dict[str, object]:
    """The answer as one JSON object."""
    message: dict[str, object] = {"role": "assistant", "content": answer.text or None, "refusal": None}
    if answer.calls:
        message["tool_calls"] = [_call(call, call.arguments) for call in answer.calls]
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _FINISH[answer.stop]}
    return {**_frame(asked, number, "chat.completion"), "choices": [choice], "usage": _usage(answer.usage)}


def events(asked: ModelRequest, answer: ModelAnswer, number: int) -> Iterator[StreamEvent]:
    """The answer as the events of a stream."""
    frame = _frame(asked, number, "chat.completion.chunk")
    if asked.wants_usage:
        frame["usage"] = None

    def chunk(delta: dict[str, object], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return _event({**frame, "choices": [choice]})

    yield StreamEvent(chunk({"role": "assistant", "content": "", "refusal": None}))
    for piece in answer.pieces:
        yield StreamEvent(chunk({"content": piece.text}), piece.delay)
    for index, call in enumerate(answer.calls):
        yield StreamEvent(chunk({"tool_calls": [{"index": index, **_call(call, "")}]}))
        for fragment in call.fragments():
            yield StreamEvent(chunk({"tool_calls": [{"index": index, "function": {"arguments": fragment}}]}))
    yield StreamEvent(chunk({}, _FINISH[answer.stop]), closing=True)
    if asked.wants_usage:
        last = {**frame, "choices": [], "usage": _usage(answer.usage)}
        yield StreamEvent(_event(last), closing=True)
    yield StreamEvent(b"data: [DONE]\n\n", closing=True)


def error(status: int, message: str) -> dict[str, object]:
    """A refusal or a failure as one JSON object."""
    kind = "invalid_request_error" if status < 500 else "server_error"
    return {"error": {"message": message, "type": kind, "param": None, "code": None}}


def error_event(message: str) -> bytes:
    """A failure in the middle of a stream."""
    return _event(error(500, message))


def models(model: str) -> dict[str, object]:
    """The answer to GET /v1/models."""
    return {"object": "list", "data": [{"id": model, "object": "model", "created": 0, "owned_by": "script"}]}


def _frame(asked: ModelRequest, number: int, kind: str) -> dict[str, object]:
    return {"id": f"chatcmpl-{number}", "object": kind, "created": int(time.time()), "model": asked.model}


def _event(value: dict[str, object]) -> bytes:
    return b"data: " + json_bytes(value) + b"\n\n"


def _call(call: ToolCall, arguments: str) -> dict[str, object]:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}}


def _usage(usage: TokenUsage) -> dict[str, object]:
    return {
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cached},
    }


def _optional(body: Mapping[str, object], name: str, where: str = "") -> list[dict[str, object]]:
    """A list that may be absent but not empty, as OpenAI has it."""
    if name not in body:
        return []
    found = objects(body[name], where + name)
    if not found:
        raise RequestRejected(400, f"{where}{name}: [] is too short; leave the field out")
    return found


def _tool_name(tool: dict[str, object]) -> str:
    function = tool.get("function")
    if tool.get("type") != "function" or not isinstance(function, dict):
        raise RequestRejected(400, "tools: each tool has to be of type function and to have a function")
    return text_field(function, "name", "tools.function.")


def _system_text(messages: list[dict[str, object]]) -> str:
    found = (message for message in messages if message.get("role") in _SYSTEM)
    return "\n\n".join(text_of(message.get("content")) for message in found)


def _last_user_text(messages: list[dict[str, object]]) -> str:
    return next((text_of(m.get("content")) for m in reversed(messages) if m.get("role") == "user"), "")


def _results(messages: list[dict[str, object]]) -> tuple[ToolResult, ...]:
    """The results since the person's last message; on the way, that each call has its result."""
    results: list[ToolResult] = []
    open_calls: dict[str, str] = {}
    for place, message in enumerate(messages):
        where = f"messages[{place}]"
        role = message.get("role")
        if role == "tool":
            ident = text_field(message, "tool_call_id", f"{where}.")
            if ident not in open_calls:
                raise RequestRejected(400, f"{where}: tool_call_id {ident} answers no open tool call")
            results.append(ToolResult(open_calls.pop(ident), text_of(message.get("content"))))
            continue
        if open_calls:
            raise RequestRejected(400, f"{where}: the tool calls {', '.join(open_calls)} have no result before it")
        if role == "assistant":
            open_calls = _calls_of(message, where)
        elif role == "user":
            results = []
        elif role not in _SYSTEM:
            raise RequestRejected(400, f"{where}.role: this is no role: {role}")
    if open_calls:
        raise RequestRejected(400, f"messages: the tool calls {', '.join(open_calls)} have no result")
    return tuple(results)


def _calls_of(message: dict[str, object], where: str) -> dict[str, str]:
    """The id and the tool of each call of an assistant's message."""
    calls: dict[str, str] = {}
    place = f"{where}.tool_calls"
    for call in _optional(message, "tool_calls", f"{where}."):
        function = call.get("function")
        if not isinstance(function, dict) or not isinstance(function.get("arguments"), str):
            raise RequestRejected(400, f"{place}: a call has a function with its arguments as a text")
        calls[text_field(call, "id", f"{place}.")] = text_field(function, "name", f"{place}.")
    if not calls and not isinstance(message.get("content"), (str, list)):
        raise RequestRejected(400, f"{where}.content: a text is required when there are no tool_calls")
    return calls
