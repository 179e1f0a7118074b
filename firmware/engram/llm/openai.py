"""The OpenAI API, as many services and local servers speak it (POST {base}/chat/completions).

An event of the stream, and with "message" for "delta" the whole answer of a server that does not stream:

    event      {"choices": [{"delta": {"content": "..", "tool_calls": [..]}, "finish_reason": null}], "usage": null}
    tool call  {"index": 0, "id": "..", "function": {"name": "..", "arguments": ".."}}, the first with id and name

The last event has the usage and no choices; "[DONE]" comes after it, or only the end of the stream.
"""

import json

from engram.llm.refusal import FORMS, Refusal
from engram.llm.reply import ReplyBuilder
from engram.llm.types import groups, kept_fields, sent_id, user, written
from engram.text import object_in, part

_GAP = "\n\n"  # between texts that become one
_MESSAGE = ("role", "content", "refusal", "tool_calls", "function_call")
_CALL = ("index", "id", "type", "function")
_TOOL = '{"type":"function","function":{"name":%s,"description":%s,"parameters":%s}}'
_SCHEMA = ',"response_format":{"type":"json_schema","json_schema":{"name":"answer","strict":true,"schema":%s}}'
_OBJECT = ',"response_format":{"type":"json_object"}'
_STOPS = {"length": "length", "content_filter": "filter"}
# Limits a reply: most services know "max_tokens" only, OpenAI itself wants the other one for its newer models.
_LIMITS = ("max_tokens", "max_completion_tokens")


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
        older = part(message, "function_call", dict)
        for piece in part(message, "tool_calls", list) or ([{"function": older}] if older else ()):
            self._take_call(piece, bool(whole))
        reason = part(choice, "finish_reason", str)
        if reason == "error":
            raise Refusal(502, part(part(choice, "error", dict), "message", str) or "the answer ended with an error")
        if reason or whole:
            self.stop = _STOPS.get(reason, "end")
        return self.add_text(_text(message) or part(message, "refusal", str) or part(choice, "text", str))

    def _take_call(self, piece, is_whole):
        if not isinstance(piece, dict):
            return
        key, ref = piece.get("index"), part(piece, "id", str)
        function = part(piece, "function", dict)
        name = part(function, "name", str)
        arguments = function.get("arguments")
        if isinstance(arguments, dict):
            arguments = json.dumps(arguments)
        call = None if is_whole else self._call_of(key, ref, name, arguments)
        if call is None:
            call = self.open_call(key, ref, name)
        call.name = call.name or name
        self.kept.add(call.fields, piece, _CALL)
        if isinstance(arguments, str):
            call.add(arguments)

    def _call_of(self, key, ref, name, arguments):
        """Return the call that a piece continues, or None; servers disagree on ids, names and indexes."""
        call = self.call(key) or (None if name or ref else self.call(None))
        is_other = call and ref and ref != call.ref
        if not call or not call.name:
            return None if is_other and name else call
        if not name:
            return None if is_other and call.is_whole() else call
        if is_other or name != call.name or (arguments and call.is_whole()):
            return None
        return call


class OpenAI:
    draft = _Draft
    optional = ("stream_options", "stream", "ids", "content", "system", "tools") + FORMS + _LIMITS

    def path(self, prefix: str) -> str:
        return "/chat/completions"

    def headers(self, key: str) -> list:
        headers = [("Content-Type", "application/json"), ("Accept", "text/event-stream")]
        if key:
            headers.append(("Authorization", "Bearer " + key))
        return headers

    def body(self, request, model: str, without=()):
        fields: dict = {"model": model}
        if "stream" not in without:
            fields["stream"] = True
            if "stream_options" not in without:
                fields["stream_options"] = {"include_usage": True}
        limits = [name for name in _LIMITS if name not in without]
        if request.max_tokens and limits:
            fields[limits[0]] = request.max_tokens
        form = _OBJECT if "json_schema" in without else _SCHEMA.replace("%s", request.schema)
        form = form if request.schema and "json_object" not in without else ""
        return written(fields, form, _TOOL, request, without, _messages(request, without))


def _messages(request, without):
    """Yield all messages; the system text becomes a user message if the service refuses it."""
    blocks = [] if "system" in without else list(request.system())
    if blocks:
        yield {"role": "system", "content": _GAP.join(blocks)}
    for role, group in groups(_told(request, without), "tool"):
        if role == "tool":
            for message in group:
                ref = sent_id(message.call.id, without)
                yield {"role": role, "tool_call_id": ref, "content": message.text}
        else:
            yield _message(role, group, without)


def _told(request, without):
    if "system" in without:
        for block in request.system():
            yield user(block)
    yield from request.messages()


def _message(role, group, without) -> dict:
    content = _GAP.join([message.text for message in group if message.text])
    sent = {"role": role, "content": content or ("" if "content" in without else None)}
    calls = [_call(call, without) for message in group for call in message.calls]
    if calls:
        sent["tool_calls"] = calls
    for message in group:
        sent.update(kept_fields(message.kept, without))
    return sent


def _call(call, without) -> dict:
    arguments = call.arguments if object_in(call.arguments) else "{}"
    function = {"name": call.name, "arguments": arguments}
    sent = {"type": "function", "id": sent_id(call.id, without), "function": function}
    sent.update(kept_fields(call.kept, without))
    return sent


def _text(message) -> str:
    """Return the text of a message, without parts of other types."""
    parts = part(message, "content", list)
    texts = [part(each, "text", str) for each in parts if part(each, "type", str) == "text"]
    return part(message, "content", str) or "".join(texts)
