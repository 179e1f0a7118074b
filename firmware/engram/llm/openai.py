"""The OpenAI API, as many services and local servers speak it (POST {base}/chat/completions).

An event of the stream, and with "message" for "delta" the whole answer of a server that does not stream:

    event      {"choices": [{"delta": {"content": "..", "tool_calls": [..]}, "finish_reason": null}], "usage": null}
    tool call  {"index": 0, "id": "..", "function": {"name": "..", "arguments": ".."}}, the first with id and name

The last event has the usage and no choices; "[DONE]" comes after it, or only the end of the stream.
"""

import json

from engram.llm.reply import (
    Refusal,
    ReplyBuilder,
    groups,
    inside_quotes,
    kept_fields,
    quoted,
    sendable,
    sent_id,
    string_field,
)
from engram.llm.types import user
from engram.text import part

_MESSAGE = ("role", "content", "refusal", "tool_calls", "function_call")
_CALL = ("index", "id", "type", "function")
_FUNCTION = ("name", "arguments")
_STOPS = {"length": "length", "content_filter": "filter"}


class OpenAI:
    """The adapter for the service at a base URL."""

    optional = (
        "stream_options", "stream", "max_tokens", "max_completion_tokens", "ids", "content", "system", "tools",
    )  # fmt: skip

    def __init__(self, url: str = ""):
        # What bounds a reply: OpenAI itself wants another field for its newer models, most others know "max_tokens" only.
        self._limits = ("max_tokens", "max_completion_tokens")
        if "//api.openai.com" in url.lower():
            self._limits = ("max_completion_tokens", "max_tokens")

    def path(self, prefix: str) -> str:
        """The path of the call, after the base URL."""
        return "/chat/completions"

    def headers(self, key: str) -> list:
        """The headers of the call; without a key (a local server) nothing is said about one."""
        headers = [("Content-Type", "application/json"), ("Accept", "text/event-stream")]
        if key:
            headers.append(("Authorization", "Bearer " + key))
        return headers

    def body(self, request, model: str, without=()):
        """The request's bytes, piece by piece."""
        yield b'{"model":' + quoted(model)
        if "stream" not in without:
            yield b',"stream":true'
            if "stream_options" not in without:
                yield b',"stream_options":{"include_usage":true}'
        limits = [name for name in self._limits if name not in without]
        if request.max_tokens and limits:
            yield b',"' + limits[0].encode() + b'":' + str(request.max_tokens).encode()
        yield b',"messages":['
        comma = b""
        if "system" not in without:
            comma = yield from _system(request.system())
        for role, group in groups(_told(request, without), "tool"):
            yield from _results(comma, group, without) if role == "tool" else _message(comma, role, group, without)
            comma = b","
        comma = b'],"tools":['
        for tool in () if "tools" in without else request.tools:
            yield comma + b'{"type":"function","function":{"name":' + quoted(tool.name)
            yield b',"description":' + quoted(tool.description)
            yield b',"parameters":' + tool.schema.encode() + b"}}"
            comma = b","
        yield b"]}"

    def draft(self) -> ReplyBuilder:
        """An empty reply."""
        return _Draft()


def _told(request, without):
    """The messages; the person tells the system text first if the service takes no other way."""
    if "system" in without:
        for block in request.system():
            yield user(block)
    yield from request.messages()


def _system(blocks):
    """All blocks as one message; what is to stand before the next message."""
    opening = b'{"role":"system","content":"'
    separator = opening
    for block in blocks:
        yield separator
        yield from inside_quotes(block)
        separator = b"\\n\\n"
    if separator is opening:
        return b""
    yield b'"}'
    return b","


def _results(comma, group, without):
    for message in group:
        head = comma + b'{"role":"tool","tool_call_id":' + quoted(sent_id(message.call.id, without)) + b',"content":'
        yield from string_field(head, message.text, b"}")
        comma = b","


def _message(comma, role, group, without):
    yield comma + b'{"role":"' + role.encode() + b'","content":'
    opening = b'"'
    for message in group:
        if message.text:
            yield opening
            yield from inside_quotes(message.text)
            opening = b"\\n\\n"
    if opening != b'"':
        yield b'"'
    else:
        yield b'""' if "content" in without else b"null"
    opening = b',"tool_calls":['
    for message in group:
        for call in message.calls:
            yield opening + b'{"type":"function","id":' + quoted(sent_id(call.id, without))
            yield from string_field(
                b',"function":{"name":' + quoted(call.name) + b',"arguments":', sendable(call.arguments)
            )
            yield from kept_fields(call.kept_inside, without)
            yield b"}"
            yield from kept_fields(call.kept, without)
            yield b"}"
            opening = b","
    if opening == b",":
        yield b"]"
    for message in group:
        yield from kept_fields(message.kept, without)
    yield b"}"


class _Draft(ReplyBuilder):
    def feed(self, data):
        if data.startswith(b"[DONE]"):
            self.done = True
            self.stop = self.stop or "end"
            return ""
        return super().feed(data)

    def take(self, event):
        usage = part(event, "usage", dict)
        usage.update(part(usage, "prompt_tokens_details", dict))
        self.count(usage, "prompt_tokens", "completion_tokens", "cached_tokens")
        choices = part(event, "choices", list)
        return self._take_choice(choices[0]) if choices else ""

    def _take_choice(self, choice):
        whole = part(choice, "message", dict)
        message = whole or part(choice, "delta", dict)
        self.kept.add(self.fields, message, _MESSAGE)
        for piece in part(message, "tool_calls", list):
            self._take_call(piece, bool(whole))
        if part(message, "function_call", dict):
            self._take_call({"function": message["function_call"]}, bool(whole))
        reason = part(choice, "finish_reason", str)
        if reason == "error":
            raise Refusal(502, part(part(choice, "error", dict), "message", str) or "the answer ended with an error")
        if reason or whole:
            self.stop = _STOPS.get(reason, "end")
        return self.add_text(_text(message) or part(message, "refusal", str) or part(choice, "text", str))

    def _take_call(self, piece, is_whole):
        key = piece.get("index") if isinstance(piece, dict) else None
        ref = part(piece, "id", str)
        function = part(piece, "function", dict)
        name = part(function, "name", str)
        arguments = function.get("arguments")
        if isinstance(arguments, dict):
            arguments = json.dumps(arguments)
        call = None if is_whole else self._call_of(key, ref, name, arguments)
        if call is None:
            call = self.open_call(key, ref, name)
        call.name = call.name or name
        if isinstance(piece, dict):
            self.kept.add(call.fields, piece, _CALL)
        self.kept.add(call.fields_inside, function, _FUNCTION)
        if isinstance(arguments, str):
            call.add(arguments)

    def _call_of(self, key, ref, name, arguments):
        """The call that a piece goes on with; None if it begins one.

        Some servers repeat the name or the id in each piece, or give each piece an id of its own; others give every call the
        index 0, or the same id, or neither.
        """
        call = self.call(key) or (None if name or ref else self.call(None))
        is_other = call and ref and ref != call.ref
        if not call or not call.name:
            return None if is_other and name else call
        if not name:
            return None if is_other and call.is_whole() else call
        if is_other or name != call.name or (arguments and call.is_whole()):
            return None
        return call


def _text(message) -> str:
    """The text of a message, which may come in parts; those of other types are thoughts."""
    content = message.get("content")
    if isinstance(content, list):
        return "".join(part(each, "text", str) for each in content if part(each, "type", str) == "text")
    return content if isinstance(content, str) else ""
