"""The model's tools of tools.txt: names, purposes, and arguments as JSON Schema."""

from engram import tables
from engram.compat import const

NOTE_LINES = const(20)
"""Lines of a note that is read by its citation."""

_TOOLS = tables.read("tools/tools")

MODES = (
    (("full",), "memory_store memory_search memory_list memory_update memory_forget note_add memory_get"),
    (("lightweight",), "file_read file_write file_append file_edit"),
    (("full", "lightweight"), "profile_edit"),
)


def describe(name: str) -> "tuple[str, str]":
    """Return (purpose of a tool, its arguments as JSON Schema)."""
    head, description, properties = _TOOLS[_TOOLS.find("\n\n" + name + " ") + 2 :].split("\n", 3)[:3]
    for line in _TOOLS[_TOOLS.find("\n<") + 1 :].split("\n"):
        short, _, rule = line.partition("> ")
        properties = properties.replace(short + ">", rule) if rule else properties
    schema = '{"type":"object","properties":{%s},"required":%s,"additionalProperties":false}'
    return description, schema % (properties, head[len(name) + 1 :])
