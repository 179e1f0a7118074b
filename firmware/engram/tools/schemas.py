"""The model's tools of tools.txt: names, purposes, and arguments as JSON Schema."""

from engram import tables

_TOOLS = tables.read("tools/tools")

ALL = "memory_store memory_search memory_update memory_forget file_read file_edit"
MODES = {
    "full": "memory_store memory_search memory_update memory_forget file_edit",
    "small": "memory_store memory_search",
    "lightweight": "file_read file_edit",
}
"""Names of the memory's tools by mode; in a small window full mode has few."""
SMALL = const(4096)
"""Tokens of the model's window, below which it is small."""


def describe(name: str) -> "tuple[str, str]":
    """Return (purpose of a tool, its schemas by line: as sent, as sent in full, and as checked)."""
    head, description, arguments = _TOOLS[_TOOLS.find("\n\n" + name + " ") + 2 :].split("\n", 3)[:3]
    groups = (arguments + " |  | ").split(" | ")
    required = ',"required":%s}' % head[len(name) + 1 :]
    lists = [(" ".join(groups[:count]).split(), form) for count, form in ((1, 0), (2, 0), (3, -1))]
    return description, "\n".join([_object(names, form) + required for names, form in lists])


def _object(arguments: list, form: int) -> str:
    """Return the beginning of the schema of NAME:KIND pairs, in a form of their kinds."""
    properties = []
    for argument in arguments:
        name, _, kind = argument.partition(":")
        at = _TOOLS.find("\n:" + kind + " ") + len(kind) + 3
        forms = _TOOLS[at : _TOOLS.find("\n", at)].split(" / ")
        properties.append('"%s":%s' % (name, forms[form]))
    return '{"type":"object","properties":{%s}' % ",".join(properties)
