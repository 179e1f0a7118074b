"""Tool calls that a model has written as text, since its service does not know the model's form.

They are JSON, {"name": "..", "arguments": {..}} or a list of them, also with parameters, or inside "function" or
"tool_calls", between any marks such as <tool_call> and [TOOL_CALLS]. One word more, and the text is no call.
"""

from engram.compat import const
from engram.llm.types import plain_name
from engram.text import dumps, encode, lenient_json, strict_json

_NAMES = const(("name", "function", "tool", "tool_name"))
_ARGUMENTS = const(("arguments", "parameters", "args", "input"))
# Marks of a tool's result, which is never a call.
_RESULTS = const((b"result", b"response", b"output", b"observation"))
# Marks of calls in a message.
_CALL_LIKE = const(('"name"', "'name'", '"function"', "arguments", "<tool_", "<|tool", "[TOOL_"))
_SPACE = const(b" \t\r\n`,;")


def read(written: str, names):
    """Return (name, JSON arguments) of each call; None unless the text is only calls of `names`."""
    calls = []
    try:
        for value, is_marked in _values(encode(written.replace("```json", ""))):
            _take(calls, value, is_marked, names)
    except ValueError:
        return None
    return [(name, dumps(arguments)) for name, arguments in calls] or None


def is_quoted(calls, text: str) -> bool:
    """True if a message has a call and names its tool."""
    return any(mark in text for mark in _CALL_LIKE) and any(name in text for name, _ in calls)


def _values(data: bytes):
    """Yield (JSON value, True behind a mark) of a text that has nothing else; ValueError."""
    at, is_marked = 0, False
    while at < len(data):
        byte = data[at : at + 1]
        if byte in _SPACE:
            at += 1
        elif byte == b"<" or (byte == b"[" and data[at + 1 : at + 2].isupper()):
            end = data.find(b">" if byte == b"<" else b"]", at)
            if end < 0 or any(word in data[at:end].lower() for word in _RESULTS):
                raise ValueError
            at, is_marked = end + 1, True
        else:
            value, at = strict_json.read_lenient(data, at)
            yield value, is_marked


def _take(calls: list, value, is_marked: bool, names) -> None:
    """Append the calls in a value; ValueError if it is something else."""
    if isinstance(value, list):
        for each in value:
            _take(calls, each, is_marked, names)
        return
    if not isinstance(value, dict):
        raise ValueError
    inside = value.get("tool_calls") or value.get("function")
    if isinstance(inside, (list, dict)):
        _take(calls, inside, is_marked, names)
        return
    name, arguments = _first(value, _NAMES), _first(value, _ARGUMENTS)
    if not isinstance(name, str) or plain_name(name) not in names:
        raise ValueError
    if (len(value) > 1 or not is_marked) and not any(key in value for key in _ARGUMENTS):
        raise ValueError  # an answer that has a name in it
    if isinstance(arguments, str):
        arguments = lenient_json.loads(arguments, dict)
    if not isinstance(arguments or {}, dict) or (arguments and arguments.get("type") == "object"):
        raise ValueError  # no arguments, or the definition of a tool
    calls.append((plain_name(name), arguments or {}))


def _first(value: dict, keys):
    for key in keys:
        if key in value:
            return value[key]
    return None
