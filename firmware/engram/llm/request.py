"""The adapters' common part of a request: its JSON a message at a time, and how messages go together.

An adapter (openai.OpenAI, anthropic.Anthropic) knows one API:

    path(prefix)             the path of the call, after a base URL whose own path is `prefix`
    headers(key)             (name, value) pairs
    optional                 what a request may do without, see refusal.py
    body(request, model, without=())    the request's bytes, piece by piece
    draft(expects_thought)   a ReplyBuilder that understands the API's events
"""

import json
from binascii import crc32

from engram.compat import const

_ID_BYTES = const(9)
_LETTERS = const(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")


def written(fields: dict, tool_form: str, tools, messages):
    """Yield a request's JSON; only one message of it is on the heap at a time."""
    yield json.dumps(fields)[:-1].encode()
    opening = ',"tools":['
    for tool in tools:
        yield (opening + tool_form % (json.dumps(tool.name), json.dumps(tool.description), tool.schema)).encode()
        opening = ","
    opening = '],"messages":[' if tools else ',"messages":['
    for message in messages:
        yield opening.encode()
        yield json.dumps(message).encode()
        opening = ","
    yield b"]}"


def kept_fields(pairs, without) -> dict:
    return {name: value for name, value in pairs if name not in without}


def sent_id(ref: str, without) -> str:
    """Return a call's id, or nine letters and digits if the service takes no others."""
    if "ids" not in without or (len(ref) == _ID_BYTES and all(byte in _LETTERS for byte in ref.encode())):
        return ref
    return "%09x" % (crc32(ref.encode()) & 0xFFFFFFFF)


def groups(messages, tool_role: str):
    """Yield (role, messages) of neighbours with one role, without empty messages."""
    last = ""
    group = []
    for message in messages:
        if message.role == "tool":
            role = tool_role
        elif message.calls or message.text.strip():
            role = message.role
        else:
            continue
        if role != last and group:
            yield last, group
            group = []
        last = role
        group.append(message)
    if group:
        yield last, group
