"""The tool memory_get: a memory, a turn with neighbours, or lines of a file, also of the companion."""

from engram.agent import file_tools
from engram.agent.schemas import NOTE_LINES
from engram.compat import const
from engram.memory import ids
from engram.memory.line_meaning import attributed_text
from engram.memory.recall import snippet

_NEIGHBOURS = const(1000)  # characters of all neighbouring turns together


def run(tools, arguments: dict, turn, more) -> tuple:
    """Return (result, line for the person); `more` comes from the companion, None if not asked."""
    if "file" in arguments:
        return file_tools.file_read(tools.notes.for_caller(turn.caller), arguments)
    ref = arguments.get("id", "")
    if more:
        return _from_companion(tools, more, arguments, turn.caller), ""
    if ".md#" in ref:
        name, _, line = ref.partition("#")
        first = int(line) if line.encode().isdigit() else 1
        wanted = {"file": name, "first": first, "count": NOTE_LINES}
        return file_tools.file_read(tools.notes.for_caller(turn.caller), wanted)
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
            shown["text"] = file_tools.portion(rest)
            if len(shown["text"]) < len(rest):
                answer["next_first"] = first + len(shown["text"])
        else:
            shown["text"] = snippet(attributed_text(turn), _NEIGHBOURS // len(turns))
        answer["turns"].append(shown)
    return answer
