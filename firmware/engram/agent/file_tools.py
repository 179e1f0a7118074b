"""The tools over the caller's notes, and memory_get: a memory, a turn with neighbours, or lines of a file."""

from engram import text
from engram.compat import const
from engram.memory import ids
from engram.memory.line_meaning import attributed_text
from engram.memory.recall import snippet
from engram.tools.schemas import NOTE_LINES

_NEIGHBOURS = const(1000)  # characters of all neighbouring turns together
_PORTION = const(3500)  # characters of the JSON of a text that is read piece by piece


def file_read(notes, arguments: dict) -> tuple:
    first = arguments.get("first", 1)
    answer = {"file": arguments["file"], "first": first, "lines": []}
    room = _PORTION
    for line in notes.lines(arguments["file"], first, arguments.get("count", 100)):
        shown = _portion(line)
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


def _portion(content: str) -> str:
    """Return the beginning of a text that takes at most _PORTION characters as JSON."""
    part = content[:_PORTION]
    while len(text.dumps(part)) > _PORTION:
        part = text.cut(part, len(part) * 3 // 4)
    return part


def memory_get(tools, arguments: dict, turn, more) -> tuple:
    """Return (result, line for the person); `more` comes from the companion, None if not asked."""
    if "file" in arguments:
        return file_read(tools.notes.for_caller(turn.caller), arguments)
    ref = arguments.get("id", "")
    if more:
        return _from_companion(tools, more, arguments, turn.caller), ""
    if ".md#" in ref:
        name, _, line = ref.partition("#")
        first = int(line) if line.encode().isdigit() else 1
        wanted = {"file": name, "first": first, "count": NOTE_LINES}
        return file_read(tools.notes.for_caller(turn.caller), wanted)
    if ref.strip()[:1].lower() == "t":
        turns = tools.journal.get(ref, turn.caller, arguments.get("around", 1))
        return _shown_turns(tools.clock, turns, ids.number("id", ref, "t"), arguments.get("first", 1)), ""
    return _shown_memory(tools, tools.records.get(ref, turn.caller), turn.caller), ""


def _from_companion(tools, more: tuple, arguments: dict, caller) -> dict:
    line, why = more
    if line is None:
        return {"memory": None, "reason": why}
    if "lines" in line:
        answer = line
    elif "text" in line:
        answer = _shown_turns(tools.clock, [line], line["seq"], arguments.get("first", 1))
    else:
        answer = _shown_memory(tools, line, caller)
    answer["from"] = "the companion"
    return answer


def _shown_memory(tools, record: dict, caller) -> dict:
    return {"memory": tools.shown(tools.forgetting.seen(record, caller), whole=True)}


def _shown_turns(clock, turns: list, wanted: int, first: int) -> dict:
    """Return a turn from character `first` on, as far as it fits, with its neighbours shortened."""
    answer: dict = {"turns": []}
    for turn in turns:
        shown = {"id": "t%d" % turn["seq"], "who": turn["who"], "date": clock.minute(turn["at"])}
        if turn["seq"] == wanted:
            rest = attributed_text(turn)[first - 1 :]
            shown["text"] = _portion(rest)
            if len(shown["text"]) < len(rest):
                answer["next_first"] = first + len(shown["text"])
        else:
            shown["text"] = snippet(attributed_text(turn), _NEIGHBOURS // len(turns))
        answer["turns"].append(shown)
    return answer
