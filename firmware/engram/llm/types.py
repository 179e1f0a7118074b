"""Requests to a remote model and its replies, the same for every API.

Message   role "user": text · role "assistant": text, calls and kept · role "tool": text is the result, call its Call
Call      a tool call: id, name, arguments (JSON text of an object, or what the model wrote if it cannot be read as one)
Tool      name, description, schema (JSON text of a JSON Schema object)
Request   system() and messages() are called more than once (to count bytes, then to send them) and must
          yield the same each time; model is another one's name, "" for the usual
Reply     text, calls, stop, usage (input, output, cached tokens; -1 unknown); stop is "end", "tools", "length", "filter", or
          "as_text" if the model wrote a call as text that could not be run

`kept` are (name, value) pairs of fields that the adapter does not know: they go back to the service within the turn, unchanged.
"""

from collections import namedtuple

from engram.text import loads

Message = namedtuple("Message", "role text calls call kept")
Tool = namedtuple("Tool", "name description schema")
Request = namedtuple("Request", "system messages tools max_tokens model")


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


def object_in(written):
    """Return the JSON object in a text, or None."""
    try:
        found = loads(written)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
