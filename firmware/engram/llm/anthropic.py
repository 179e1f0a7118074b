"""The Anthropic API (POST {base}/v1/messages).

The events of a stream; each names its type in its data as well:

    message_start         message.usage: input tokens
    content_block_start   index, content_block: text, tool_use with id and name; others (thinking) are kept
    content_block_delta   index, delta: text_delta with text, input_json_delta with partial_json; others belong to kept blocks
    content_block_stop, ping
    message_delta         delta.stop_reason, usage: output tokens
    message_stop
    error                 error: type, message
"""

from engram.llm.reply import ReplyBuilder, plain
from engram.llm.types import groups, kept_fields, sent_id, written
from engram.text import object_in, part

_VERSION = const("2023-06-01")
# The API demands a bound; this one is for a request that has none.
_MAX_TOKENS = const(1024)
_CACHED = {"type": "ephemeral"}
_TOOL = '{"name":%s,"description":%s,"input_schema":%s}'
_CALL = ("type", "id", "name", "input")
_STOPS = {"max_tokens": "length", "model_context_window_exceeded": "length", "refusal": "filter"}


class _Draft(ReplyBuilder):
    def __init__(self, expects_thought: bool = False):
        super().__init__(expects_thought)
        self._blocks = {}  # those that are kept, by index

    def reply(self):
        reply = super().reply()
        if self.kept.is_whole:
            blocks = [self._blocks[index] for index in sorted(self._blocks)]
            reply.kept = tuple([(block["type"], plain(block)) for block in blocks])
        return reply

    def take(self, event):
        kind, index = event.get("type"), part(event, "index", int)
        if kind == "content_block_start":
            return self._take_block(index, part(event, "content_block", dict))
        if kind == "content_block_delta":
            return self._take_delta(index, part(event, "delta", dict))
        if kind == "message_start":
            self._take_usage(part(event, "message", dict))
        elif kind == "message_delta":
            reason = part(part(event, "delta", dict), "stop_reason", str)
            self.stop = _STOPS.get(reason, "end") if reason else self.stop
            self._take_usage(event)
        elif kind == "message_stop":
            self.stop = self.stop or "end"
            self.done = True
        return ""

    def _take_block(self, index, block):
        kind = part(block, "type", str)
        if kind == "text":
            return self.add_text(part(block, "text", str))
        if kind == "tool_use":
            call = self.open_call(index, part(block, "id", str), part(block, "name", str))
            self.kept.add(call.fields, block, _CALL)
        elif kind:
            self._blocks[index] = {}
            self.kept.add(self._blocks[index], block)
        return ""

    def _take_delta(self, index, delta):
        kind = delta.get("type")
        if kind == "text_delta":
            return self.add_text(part(delta, "text", str))
        if kind == "input_json_delta" and self.call(index):
            self.call(index).add(part(delta, "partial_json", str))
        elif index in self._blocks:
            self.kept.add(self._blocks[index], delta, ("type",))
        return ""

    def _take_usage(self, holder):
        usage = part(holder, "usage", dict)
        self.count(usage, "input_tokens", "output_tokens", "cache_read_input_tokens")
        if "input_tokens" in usage:
            # This API counts cache reads and writes separately.
            self.usage[0] += part(usage, "cache_read_input_tokens", int)
            self.usage[0] += part(usage, "cache_creation_input_tokens", int)


class Anthropic:
    draft = _Draft
    optional = ("cache_control", "temperature", "ids", "tools")

    def path(self, prefix: str) -> str:
        return "/messages" if prefix.endswith("/v1") else "/v1/messages"

    def headers(self, key: str) -> list:
        headers = [("Content-Type", "application/json"), ("anthropic-version", _VERSION)]
        if key:
            headers.append(("x-api-key", key))
        return headers

    def body(self, request, model: str, without=()):
        fields: dict = {"model": model, "max_tokens": request.max_tokens or _MAX_TOKENS, "stream": True}
        system = [{"type": "text", "text": block} for block in request.system() if block.strip()]
        if system:
            _mark(system, without)
            fields["system"] = system
        return written(fields, "", _TOOL, request, without, _messages(request, without))


def _mark(blocks, without) -> None:
    """Let the service cache everything up to the last of these blocks."""
    if "cache_control" not in without:
        blocks[-1]["cache_control"] = _CACHED


def _messages(request, without):
    """Yield all messages, marking the last but one: the last one's memories change each turn."""
    held = []
    for role, group in groups(request.messages(), "user"):
        if len(held) == 2:
            yield held.pop(0)
        held.append({"role": role, "content": _content(group, without)})
    if len(held) == 2:
        _mark(held[0]["content"], without)
    yield from held


def _content(group, without) -> list:
    blocks = []
    for message in group:
        # Thoughts go before what came of them: the service wants it so.
        blocks += [block for kind, block in message.kept if kind not in without]
        if message.role == "tool":
            ref = sent_id(message.call.id, without)
            blocks.append({"type": "tool_result", "tool_use_id": ref, "content": message.text})
        elif message.text.strip():
            blocks.append({"type": "text", "text": message.text})
        for call in message.calls:
            ref, arguments = sent_id(call.id, without), object_in(call.arguments) or {}
            block = {"type": "tool_use", "id": ref, "name": call.name, "input": arguments}
            block.update(kept_fields(call.kept, without))
            blocks.append(block)
    return blocks
