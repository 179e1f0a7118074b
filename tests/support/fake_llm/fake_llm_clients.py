"""The official clients of both APIs, asked in the same way, for the tests of the scripted server."""

import json
import socket
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from official_clients import anthropic, openai
from waiting import SECONDS

APIS = ("openai", "anthropic")
SCHEMA = {"type": "object", "properties": {"content": {"type": "string"}}}


@dataclass
class Got:
    """What a client took from an answer."""

    text: str
    calls: list[tuple[str, str, Any]]
    stop: str | None
    tokens: tuple[int, int, int]


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def round_of(api: str, question: str, tool: str, result: str, ident: str = "call_9") -> list[dict[str, Any]]:
    """The messages of a round in which `tool` was called and has answered."""
    if api == "openai":
        call = {"id": ident, "type": "function", "function": {"name": tool, "arguments": "{}"}}
        answered = {"role": "tool", "tool_call_id": ident, "content": result}
        return [user(question), {"role": "assistant", "content": None, "tool_calls": [call]}, answered]
    use = {"type": "tool_use", "id": ident, "name": tool, "input": {}}
    answered = {"type": "tool_result", "tool_use_id": ident, "content": result}
    return [user(question), {"role": "assistant", "content": [use]}, {"role": "user", "content": [answered]}]


def ask(
    url: str,
    api: str,
    messages: str | list[dict[str, Any]],
    *,
    stream: bool = False,
    tools: tuple[str, ...] = (),
    system: str = "Be brief.",
    timeout: float = SECONDS,
) -> Got:
    """Ask through the official client of `api`; its errors come through."""
    conversation = [user(messages)] if isinstance(messages, str) else messages
    one = _ask_openai if api == "openai" else _ask_anthropic
    return one(url, conversation, stream, tools, system, timeout)


def openai_client(url: str, timeout: float = SECONDS) -> "openai.OpenAI":
    return openai.OpenAI(base_url=url + "/v1", api_key="a-key", max_retries=0, timeout=timeout)


def anthropic_client(url: str, timeout: float = SECONDS) -> "anthropic.Anthropic":
    return anthropic.Anthropic(base_url=url, api_key="a-key", max_retries=0, timeout=timeout)


def _ask_openai(url, messages, stream, tools, system, timeout) -> Got:
    arguments: dict[str, Any] = {"model": "m", "messages": [{"role": "system", "content": system}, *messages]}
    if tools:
        functions = [{"name": tool, "parameters": SCHEMA} for tool in tools]
        arguments["tools"] = [{"type": "function", "function": function} for function in functions]
    with openai_client(url, timeout) as client:
        if stream:
            with client.chat.completions.stream(**arguments, stream_options={"include_usage": True}) as events:
                whole = events.get_final_completion()
        else:
            whole = client.chat.completions.create(**arguments)
    message = whole.choices[0].message
    calls = [(c.id, c.function.name, json.loads(c.function.arguments)) for c in message.tool_calls or []]
    usage = whole.usage
    assert usage and usage.prompt_tokens_details
    cached = usage.prompt_tokens_details.cached_tokens
    assert cached is not None
    tokens = (usage.prompt_tokens, cached, usage.completion_tokens)
    return Got(message.content or "", calls, whole.choices[0].finish_reason, tokens)


def _ask_anthropic(url, messages, stream, tools, system, timeout) -> Got:
    arguments: dict[str, Any] = {"model": "m", "max_tokens": 100, "system": system, "messages": messages}
    if tools:
        arguments["tools"] = [{"name": tool, "input_schema": SCHEMA} for tool in tools]
    with anthropic_client(url, timeout) as client:
        if stream:
            with client.messages.stream(**arguments) as events:
                whole = events.get_final_message()
        else:
            whole = client.messages.create(**arguments)
    text = "".join(block.text for block in whole.content if block.type == "text")
    calls = [(block.id, block.name, block.input) for block in whole.content if block.type == "tool_use"]
    cached = whole.usage.cache_read_input_tokens or 0
    return Got(text, calls, whole.stop_reason, (whole.usage.input_tokens + cached, cached, whole.usage.output_tokens))


def request_bytes(api: str, text: str = "hello", *, stream: bool = True, headers: str = "") -> bytes:
    """A request as it goes over the wire."""
    path = "/v1/chat/completions" if api == "openai" else "/v1/messages"
    body = json.dumps({"model": "m", "max_tokens": 9, "stream": stream, "messages": [user(text)]}).encode()
    version = "anthropic-version: 2023-06-01\r\n"
    head = f"POST {path} HTTP/1.1\r\nHost: here\r\n{version}Content-Length: {len(body)}\r\n"
    return f"{head}{headers}\r\n".encode() + body


def exchange(url: str, sent: bytes) -> bytes:
    """Everything that the server answers to `sent` until it closes the connection."""
    address = urlsplit(url)
    with socket.create_connection((address.hostname, address.port), SECONDS) as connection:
        connection.sendall(sent)
        parts = []
        while part := connection.recv(65536):
            parts.append(part)
        return b"".join(parts)
