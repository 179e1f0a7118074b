"""The tools that the model may call: names, what they are for, and their arguments as JSON Schema.

A schema travels as JSON text and is parsed for the moment in which a call is checked. Its text is put together when it is
asked for: those of all tools would take 5 KB of heap.
"""

_SHARED = (
    ("<text>", '{"type":"string"}'),
    ("<flag>", '{"type":"boolean"}'),
    ("<from 1>", '{"type":"integer","minimum":1}'),
    ("<limit>", '{"type":"integer","minimum":1,"maximum":20}'),
    ("<tags>", '{"type":"array","items":{"type":"string"},"minItems":1,"maxItems":3}'),
    ("<keywords>", '{"type":"array","items":{"type":"string"},"maxItems":8}'),
    (
        "<type>",
        '{"type":"string","enum":["fact","decision","preference","convention","code_context","pattern","event","device"]}',
    ),
    ("<importance>", '{"type":"number","minimum":0,"maximum":1}'),
    ("<day>", '{"type":"string","description":"a day such as 2026-01-31"}'),
    ("<file>", '{"type":"string","description":"MEMORY.md or a day such as 2026-01-31.md"}'),
    ("<profile file>", '{"type":"string","enum":["user.md","soul.md","identity.md"]}'),
)
"""Texts that stand in more than one place, or would make a line long."""


class Tool:
    """One tool; `properties` and `required` are what stands between the brackets of its schema."""

    def __init__(self, name: str, description: str, properties: str, required: str = ""):
        self.name = name
        self.description = description
        self._properties = properties
        self._required = required

    @property
    def schema(self) -> str:
        """The arguments as JSON Schema."""
        properties = self._properties
        for name, text in _SHARED:
            properties = properties.replace(name, text)
        return '{"type":"object","properties":{%s},"required":[%s],"additionalProperties":false}' % (
            properties,
            self._required,
        )


FULL = (
    Tool(
        "memory_store",
        "Keep one fact for good. It is saved only if the result has an id.",
        '"content":{"type":"string","description":"one self-contained sentence"},"tags":<tags>,"keywords":<keywords>,'
        '"type":<type>,"importance":<importance>,"expires":<day>,"pinned":<flag>,'
        '"supersedes":{"type":"string","description":"id of the memory that this one replaces"}',
        '"content","tags"',
    ),
    Tool(
        "memory_recall",
        "Find memories by tags, by query, or both.",
        '"tags":<tags>,"query":<text>,"since":<day>,"until":<day>,"limit":<limit>',
    ),
    Tool(
        "memory_search",
        "Search memories and all past turns of conversation.",
        '"query":<text>,"since":<day>,"until":<day>,"limit":<limit>',
        '"query"',
    ),
    Tool(
        "memory_list",
        "List memories, newest first, or all tags; ten a page.",
        '"what":{"type":"string","enum":["memories","tags"]},"tags":<tags>,"page":<from 1>',
    ),
    Tool(
        "memory_update",
        "Change fields of a memory; null clears keywords or expires.",
        '"id":<text>,"content":<text>,"tags":<tags>,"keywords":{"anyOf":[<keywords>,{"type":"null"}]},'
        '"type":<type>,"importance":<importance>,"pinned":<flag>,"expires":{"anyOf":[<day>,{"type":"null"}]}',
        '"id"',
    ),
    Tool(
        "memory_forget",
        "Forget a memory by id; or find candidates by query, ask the person, and call again with confirm.",
        '"id":<text>,"query":<text>,"confirm":<text>,'
        '"turns":{"type":"boolean","description":"also forget the messages that it came from"}',
    ),
    Tool("note_add", "Add a line to today's note: what matters for some days only.", '"text":<text>', '"text"'),
    Tool(
        "memory_get",
        "Read a memory, a turn with its neighbours (a long one from the character first on), or lines of a note.",
        '"id":{"type":"string","description":"m12 or t12"},"around":{"type":"integer","minimum":0,"maximum":5},'
        '"file":<file>,"first":<from 1>,"count":{"type":"integer","minimum":1,"maximum":100}',
    ),
)

LIGHTWEIGHT = (
    Tool(
        "file_read",
        "Read lines of MEMORY.md or of a day's note.",
        '"file":<file>,"first":<from 1>,"count":{"type":"integer","minimum":1,"maximum":100}',
        '"file"',
    ),
    Tool(
        "file_write",
        "Give MEMORY.md or a note of today or yesterday a new text.",
        '"file":<file>,"text":<text>',
        '"file","text"',
    ),
    Tool(
        "file_append",
        "Add a line to MEMORY.md or to a note of today or yesterday.",
        '"file":<file>,"text":<text>',
        '"file","text"',
    ),
    Tool(
        "file_edit",
        "Replace a piece of text that stands exactly once in MEMORY.md or in a note of today or yesterday.",
        '"file":<file>,"old":<text>,"text":<text>',
        '"file","old","text"',
    ),
)

BOTH = (
    Tool(
        "profile_edit",
        "Change the profile: append a line, replace a piece of text (old), or write a file anew.",
        '"file":<profile file>,"action":{"type":"string","enum":["append","replace","write"]},"text":<text>,'
        '"old":<text>',
        '"file","action","text"',
    ),
    Tool(
        "memory_intent",
        "Standing reminder: a message that has all words of when reminds the person.",
        '"action":{"type":"string","enum":["add","list","remove"]},"when":<text>,"remind":<text>,'
        '"days":<from 1>,"id":<text>',
        '"action"',
    ),
)


def tools(mode: str) -> tuple:
    """The tools of a memory mode."""
    return (FULL if mode == "full" else LIGHTWEIGHT) + BOTH
