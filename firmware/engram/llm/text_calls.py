"""Tool calls that a model has written as JSON in its text, since its service did not recognise them.

{"name": "..", "arguments": {..}} or a list of them, also with parameters, or inside "function" or "tool_calls"

All marks around them are passed over; one word more, and the text is no call.
"""

from engram.compat import const
from engram.llm.types import plain_name
from engram.text import dumps, encode, lenient_json, strict_json

_NAMES = const(("name", "function", "tool", "tool_name"))
_ARGUMENTS = const(("arguments", "parameters", "args", "input"))
_FENCE = const(b"```json")
# Marks of a tool's result, which is never a call.
_RESULTS = const((b"result", b"response", b"output", b"observation"))
# Marks of calls in a message.
_CALL_LIKE = const(('"name"', "'name'", '"function"', "arguments"))
_SPACE = const(b" \t\r\n`,;")


def read(written: str, names):
    """Return (name, JSON arguments) of each call; None unless the text is only calls of `names`."""
    data, at = encode(written), 0
    calls, has_mark = [], False
    try:
        while at < len(data):
            if data[at] in _SPACE:
                at += len(_FENCE) if data.startswith(_FENCE, at) else 1
            elif data[at : at + 1] == b"<" or (data[at : at + 1] == b"[" and data[at + 1 : at + 2].isupper()):
                at = _skip_mark(data, at)
                has_mark = True
            else:
                value, at = strict_json.read_lenient(data, at)
                calls += _calls_in(value, names, has_mark)
    except ValueError:
        return None
    return calls or None


def is_quoted(calls, text: str) -> bool:
    """True if a message has a call and names its tool."""
    return any(mark in text for mark in _CALL_LIKE) and any(name in text for name, _ in calls)


def _skip_mark(data: bytes, at: int) -> int:
    """Return the end of the mark at `at`; ValueError if it has none, or is that of a result."""
    end = data.find(b">" if data[at] == 0x3C else b"]", at) + 1
    if not end or any(word in data[at:end].lower() for word in _RESULTS):
        raise ValueError
    return end


def _calls_in(value, names, has_mark: bool) -> list:
    """Return the (name, JSON arguments) of a JSON value; ValueError if it is no call."""
    if isinstance(value, list):
        return [call for each in value for call in _calls_in(each, names, has_mark)]
    if not isinstance(value, dict):
        raise ValueError
    inner = value.get("tool_calls") or value.get("function")
    if isinstance(inner, (list, dict)):
        return _calls_in(inner, names, has_mark)
    name, arguments = _first(value, _NAMES), _first(value, _ARGUMENTS)
    if not isinstance(name, str) or plain_name(name) not in names:
        raise ValueError
    if (len(value) > 1 or not has_mark) and not any(key in value for key in _ARGUMENTS):
        raise ValueError  # an answer that has a name in it
    if isinstance(arguments, str):
        arguments = lenient_json.loads(arguments, dict)
    if arguments and (not isinstance(arguments, dict) or arguments.get("type") == "object"):
        raise ValueError  # the latter is the definition of a tool
    return [(plain_name(name), dumps(arguments or {}))]


def _first(value: dict, keys):
    return next((value[key] for key in keys if key in value), None)
