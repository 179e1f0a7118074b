"""The model's tools: names, purposes, and arguments as JSON Schema."""

from engram import tables
from engram.compat import const

NOTE_LINES = const(20)
"""Lines of a note that is read by its citation."""

_TOOLS = "\n\n" + tables.read("agent/tools")
"""Three lines a tool: its name and the arguments that it requires, its purpose, its arguments."""

_SHARED = (
    ("<text>", '{"type":"string"}'),
    ("<flag>", '{"type":"boolean"}'),
    ("<from 1>", '{"type":"integer","minimum":1}'),
    ("<limit>", '{"type":"integer","minimum":1,"maximum":20}'),
    ("<tags>", '{"type":"array","items":{"type":"string"},"minItems":1,"maxItems":3}'),
    ("<ids>", '{"type":"array","items":{"type":"string"},"minItems":1,"maxItems":8}'),
    ("<keywords>", '{"type":"array","items":{"type":"string"},"maxItems":8}'),
    (
        "<type>",
        '{"type":"string","enum":["fact","decision","preference","convention","code_context","pattern","event","device"]}',
    ),
    ("<importance>", '{"type":"number","minimum":0,"maximum":1}'),
    ("<day>", '{"type":"string","description":"a day such as 2026-01-31"}'),
    ("<file>", '{"type":"string","description":"MEMORY.md or a day such as 2026-01-31.md"}'),
    ("<profile file>", '{"type":"string","enum":["user.md","task.md","soul.md","identity.md","agent.md"]}'),
)


MODES = (
    (("full",), "memory_store memory_search memory_list memory_update memory_forget note_add memory_get"),
    (("lightweight",), "file_read file_write file_append file_edit"),
    (("full", "lightweight"), "profile_edit"),
)


def describe(name: str) -> tuple:
    """Return (purpose of a tool, its arguments as JSON Schema)."""
    head, description, properties = _TOOLS[_TOOLS.find("\n\n" + name + " ") + 2 :].split("\n", 3)[:3]
    for short, rule in _SHARED:
        properties = properties.replace(short, rule)
    schema = '{"type":"object","properties":{%s},"required":%s,"additionalProperties":false}'
    return description, schema % (properties, head[len(name) + 1 :])
