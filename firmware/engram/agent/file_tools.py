"""The tools of lightweight mode, over the caller's notes."""

from engram import text
from engram.compat import const
from engram.memory.recall import snippet

_PORTION = const(3500)  # characters of the JSON of a text that is read piece by piece


def file_read(notes, arguments: dict) -> tuple:
    first = arguments.get("first", 1)
    answer = {"file": arguments["file"], "first": first, "lines": []}
    room = _PORTION
    for line in notes.lines(arguments["file"], first, arguments.get("count", 100)):
        shown = portion(line)
        room -= len(text.dumps(shown)) + 1
        if room < 0 and answer["lines"]:
            answer["next_first"] = first + len(answer["lines"])
            break
        answer["lines"].append(shown if shown == line else shown + " … [cut]")
    return answer, ""


def file_write(notes, arguments: dict) -> tuple:
    notes.write(arguments["file"], arguments["text"])
    return {"written": arguments["file"]}, "wrote " + arguments["file"]


def file_append(notes, arguments: dict) -> tuple:
    notes.append(arguments["file"], arguments["text"])
    return {"appended": arguments["file"]}, "added to %s: %s" % (arguments["file"], snippet(arguments["text"], 80))


def file_edit(notes, arguments: dict) -> tuple:
    notes.replace(arguments["file"], arguments["old"], arguments["text"])
    return {"edited": arguments["file"]}, "edited " + arguments["file"]


def portion(content: str) -> str:
    """Return the beginning of a text that takes at most _PORTION characters as JSON."""
    part = content[:_PORTION]
    while len(text.dumps(part)) > _PORTION:
        part = text.cut(part, len(part) * 3 // 4)
    return part
