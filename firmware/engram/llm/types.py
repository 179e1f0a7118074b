"""Requests to a remote model and its replies, the same for every API.

Message   role "user": text · role "assistant": text, calls and kept · role "tool": text is the result, call its Call
Call      a tool call: id, name, arguments (JSON text of an object, or what the model wrote if it cannot be read as one)
Tool      name, description, schema (JSON text of a JSON Schema object)
Request   system() and messages() are called more than once (to count bytes, then to send them) and must
          yield the same each time; model is another one's name, "" for the usual; schema is the JSON Schema of the
          answer, which is then asked for at temperature 0, "" for free text
Reply     text, calls, stop, usage (input, output, cached tokens; -1 unknown); stop is "end", "tools", "length", "filter", or
          "as_text" if the model wrote a call as text that could not be run

`kept` are (name, value) pairs of fields that the adapter does not know: they go back to the service within the turn, unchanged.

An adapter (openai.OpenAI, anthropic.Anthropic) knows one API:

    path(prefix)             the path of the call, after a base URL whose own path is `prefix`
    headers(key)             (name, value) pairs
    optional                 what a request may do without, see refusal.py
    body(request, model, without=())    the request's bytes, piece by piece
    draft(expects_thought)   a ReplyBuilder that understands the API's events
"""

import json
from binascii import crc32
from collections import namedtuple

Message = namedtuple("Message", "role text calls call kept")
Tool = namedtuple("Tool", "name description schema")


class Request(namedtuple("Request", "system messages tools max_tokens model")):
    schema = ""


class Call(namedtuple("Call", "id name arguments")):
    kept: tuple = ()


class Reply(namedtuple("Reply", "text calls stop usage")):
    kept: tuple = ()


def user(text: str) -> Message:
    return Message("user", text, (), None, ())


def assistant(text: str, calls=(), kept=()) -> Message:
    return Message("assistant", text, calls, None, kept)


def result(call: Call, text: str) -> Message:
    """Return the result of a tool call, as JSON text."""
    return Message("tool", text, (), call, ())


def plain_name(name: str) -> str:
    """Return a tool's name without decoration: functions.NAME:0, NAME<|channel|>commentary."""
    for mark in "<:(":
        name = name.split(mark)[0]
    return name.split(".")[-1].strip()


# --- requests: their JSON a message at a time, and how messages go together

_ID_BYTES = const(9)
_LETTERS = const(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")


def written(fields: dict, more: str, tool_form: str, request, without, messages):
    """Yield a request's JSON, with `more` fields; only one message of it is on the heap at a time."""
    if request.schema and "temperature" not in without:
        fields["temperature"] = 0
    yield (json.dumps(fields)[:-1] + more).encode()
    tools = () if "tools" in without else request.tools
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
