"""The model's tools: names, purposes, and arguments as JSON Schema."""

from engram.compat import const

NOTE_LINES = const(20)
"""Lines of a note that is read by its citation."""

_TOOLS = """

memory_store ["content","tags"]
Keep one fact for good, in a workspace for its members unless personal. It is saved only if the result has an id.
"content":{"type":"string","description":"one self-contained sentence"},"tags":<tags>,"keywords":<keywords>,\
"type":<type>,"importance":<importance>,"expires":<day>,"pinned":<flag>,"supersedes":{"type":"string",\
"description":"id of the memory that this one replaces"},"personal":<flag>

memory_search ["query"]
Search memories and all past turns of conversation; with tags only memories that have all of these.
"query":<text>,"tags":<tags>,"since":<day>,"until":<day>,"limit":<limit>

memory_list []
List memories, newest first, ten a page.
"tags":<tags>,"page":<from 1>

memory_update ["id"]
Change fields of a memory; null clears keywords or expires.
"id":<text>,"content":<text>,"tags":<tags>,"keywords":{"anyOf":[<keywords>,{"type":"null"}]},"type":<type>,\
"importance":<importance>,"pinned":<flag>,"expires":{"anyOf":[<day>,{"type":"null"}]}

memory_forget []
Forget a memory by id; or find candidates by query, ask the person, and call again with ids, which waits for their yes.
"id":<text>,"query":<text>,"ids":<ids>,"turns":{"type":"boolean",\
"description":"also forget the messages that it came from"}

note_add ["text"]
Add a line to today's note: what matters for some days only.
"text":<text>

memory_get []
Read a memory, a turn with its neighbours (a long one from the character first on), or lines of a note.
"id":{"type":"string","description":"m12, t12 or path#line"},"around":{"type":"integer","minimum":0,"maximum":5},\
"file":<file>,"first":<from 1>,"count":{"type":"integer","minimum":1,"maximum":100}

file_read ["file"]
Read lines of MEMORY.md or of a day's note.
"file":<file>,"first":<from 1>,"count":{"type":"integer","minimum":1,"maximum":100}

file_write ["file","text"]
Give MEMORY.md or a note of today or yesterday a new text.
"file":<file>,"text":<text>

file_append ["file","text"]
Add a line to MEMORY.md or to a note of today or yesterday.
"file":<file>,"text":<text>

file_edit ["file","old","text"]
Replace a piece of text that stands exactly once in MEMORY.md or in a note of today or yesterday.
"file":<file>,"old":<text>,"text":<text>

profile_edit ["file","action","text"]
Change the profile: append a line, replace a piece of text (old), or write a file anew.
"file":<profile file>,"action":{"type":"string","enum":["append","replace","write"]},"text":<text>,"old":<text>

"""
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
