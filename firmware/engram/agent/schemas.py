"""The tools that the model may call: names, what they are for, and their arguments as JSON Schema.

Kept as JSON text, since that is how they travel; it is parsed for the moment in which a call is checked.
"""

from engram.llm.types import Tool

_TAGS = '{"type":"array","items":{"type":"string"},"minItems":1,"maxItems":3}'
_KEYWORDS = '{"type":"array","items":{"type":"string"},"maxItems":8}'
_TYPE = (
    '{"type":"string","enum":["fact","decision","preference","convention","code_context","pattern","event","device"]}'
)
_IMPORTANCE = '{"type":"number","minimum":0,"maximum":1}'
_DAY = '{"type":"string","description":"a day such as 2026-01-31"}'
_FILE = '{"type":"string","description":"MEMORY.md or a day such as 2026-01-31.md"}'
_PROFILE_FILE = '{"type":"string","enum":["user.md","soul.md","identity.md"]}'


def _schema(properties: str, required: str = "") -> str:
    return '{"type":"object","properties":{%s},"required":[%s],"additionalProperties":false}' % (properties, required)


FULL = (
    Tool(
        "memory_store",
        "Keep one fact for good. It is saved only if the result has an id.",
        _schema(
            '"content":{"type":"string","description":"one self-contained sentence"},"tags":%s,"keywords":%s,"type":%s,'
            '"importance":%s,"expires":%s,"pinned":{"type":"boolean"},'
            '"supersedes":{"type":"string","description":"id of the memory that this one replaces"}'
            % (_TAGS, _KEYWORDS, _TYPE, _IMPORTANCE, _DAY),
            '"content","tags"',
        ),
    ),
    Tool(
        "memory_recall",
        "Find memories by tags, by query, or both.",
        _schema(
            '"tags":%s,"query":{"type":"string"},"since":%s,"until":%s,"limit":{"type":"integer","minimum":1,"maximum":20}'
            % (_TAGS, _DAY, _DAY)
        ),
    ),
    Tool(
        "memory_search",
        "Search memories and all past turns of conversation.",
        _schema(
            '"query":{"type":"string"},"since":%s,"until":%s,"limit":{"type":"integer","minimum":1,"maximum":20}'
            % (_DAY, _DAY),
            '"query"',
        ),
    ),
    Tool(
        "memory_list",
        "List memories, newest first, or all tags; ten a page.",
        _schema(
            '"what":{"type":"string","enum":["memories","tags"]},"tags":%s,"page":{"type":"integer","minimum":1}'
            % _TAGS
        ),
    ),
    Tool(
        "memory_update",
        "Change fields of a memory; null clears keywords or expires.",
        _schema(
            '"id":{"type":"string"},"content":{"type":"string"},"tags":%s,"keywords":{"anyOf":[%s,{"type":"null"}]},'
            '"type":%s,"importance":%s,"pinned":{"type":"boolean"},"expires":{"anyOf":[%s,{"type":"null"}]}'
            % (_TAGS, _KEYWORDS, _TYPE, _IMPORTANCE, _DAY),
            '"id"',
        ),
    ),
    Tool(
        "memory_forget",
        "Forget a memory by id; or find candidates by query, ask the person, and call again with confirm.",
        _schema(
            '"id":{"type":"string"},"query":{"type":"string"},"confirm":{"type":"string"},'
            '"turns":{"type":"boolean","description":"also forget the messages that it came from"}'
        ),
    ),
    Tool(
        "memory_get",
        "Read a memory, a turn with its neighbours (a long one from the character first on), or lines of a note.",
        _schema(
            '"id":{"type":"string","description":"m12 or t12"},"around":{"type":"integer","minimum":0,"maximum":5},'
            '"file":%s,"first":{"type":"integer","minimum":1},"count":{"type":"integer","minimum":1,"maximum":100}'
            % _FILE
        ),
    ),
)

LIGHTWEIGHT = (
    Tool(
        "file_read",
        "Read lines of MEMORY.md or of a day's note.",
        _schema(
            '"file":%s,"first":{"type":"integer","minimum":1},"count":{"type":"integer","minimum":1,"maximum":100}'
            % _FILE,
            '"file"',
        ),
    ),
    Tool(
        "file_write",
        "Give MEMORY.md or a note of today or yesterday a new text.",
        _schema('"file":%s,"text":{"type":"string"}' % _FILE, '"file","text"'),
    ),
    Tool(
        "file_append",
        "Add a line to MEMORY.md or to a note of today or yesterday.",
        _schema('"file":%s,"text":{"type":"string"}' % _FILE, '"file","text"'),
    ),
    Tool(
        "file_edit",
        "Replace a piece of text that stands exactly once in MEMORY.md or in a note of today or yesterday.",
        _schema('"file":%s,"old":{"type":"string"},"text":{"type":"string"}' % _FILE, '"file","old","text"'),
    ),
)

BOTH = (
    Tool(
        "profile_edit",
        "Change the profile: append a line, replace a piece of text (old), or write a file anew.",
        _schema(
            '"file":%s,"action":{"type":"string","enum":["append","replace","write"]},"text":{"type":"string"},'
            '"old":{"type":"string"}' % _PROFILE_FILE,
            '"file","action","text"',
        ),
    ),
)


def tools(mode: str) -> tuple:
    """The tools of a memory mode."""
    return (FULL if mode == "full" else LIGHTWEIGHT) + BOTH
