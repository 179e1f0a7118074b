"""The tools over the caller's notes and profile, and what is read by its id: a memory, a turn with neighbours, a file."""

from engram import text
from engram.errors import ArgumentError
from engram.memory import ids
from engram.memory.line_meaning import attributed_text
from engram.memory.recall import snippet
from engram.memory.texts.notes import MEMORY, is_note
from engram.memory.texts.profile import FILES, TASK

LINES = const(50)
"""Lines of a file in one result."""
_TODAY = const("today")
_EDITABLE = const("must be today, MEMORY.md, a day such as 2026-01-31.md, or one of %s.")
_AROUND = const(1)  # turns shown before and after one
_NEIGHBOURS = const(1000)  # characters of all neighbouring turns together
_PORTION = const(3500)  # characters of the JSON of a text that is read piece by piece


def reference(query: str) -> tuple:
    """Return (id or file, first character or line) that a query names, ("", 0) for words."""
    ref, mark, first = query.strip().partition("#")
    is_id = ref[:1] in ("m", "t") and ref[1:].encode().isdigit()
    is_file = ref[-3:] == ".md" and (mark or " " not in ref)
    if not (is_id or is_file) or (mark and not first.encode().isdigit()):
        return "", 0
    return ref, max(1, int(first or 1))


def file_read(notes, name: str, first: int) -> dict:
    """Return a file's lines from `first` on, as far as they fit."""
    answer = {"file": name, "first": first, "lines": []}
    room = _PORTION
    for line in notes.lines(name, first, LINES + 1):
        shown = _portion(line)
        room -= len(text.dumps(shown)) + 1
        if answer["lines"] and (room < 0 or len(answer["lines"]) == LINES):
            answer["next"] = "%s#%d" % (name, first + len(answer["lines"]))
            break
        answer["lines"].append(shown if shown == line else shown + " … [cut]")
    return answer


def edit(keeper, name: str, action: str, content: str, old) -> tuple:
    """Change a file of a profile or notebook; without an action, as `old` and the text suggest."""
    action = action or ("replace" if old else "append" if content or name != TASK else "write")
    if action == "append" and not content.strip():
        raise ArgumentError("text", "must not be empty.")
    is_line = name == _TODAY and action == "append"
    if name == _TODAY:
        name = keeper.today()
    elif name != MEMORY and name not in FILES and not is_note(name):
        raise ArgumentError("file", _EDITABLE % ", ".join(FILES))
    if is_line:
        keeper.note(content)
    elif action == "append":
        keeper.append(name, content)
    elif action == "replace":
        keeper.replace(name, old, content)
    else:
        keeper.write(name, content)
    done = "added to %s: %s" % (name, snippet(content, 80)) if action == "append" else "edited " + name
    return {"edited": name, "characters": len(keeper.text(name))}, done


def _portion(content: str) -> str:
    """Return the beginning of a text that takes at most _PORTION characters as JSON."""
    part = content[:_PORTION]
    while len(text.dumps(part)) > _PORTION:
        part = text.cut(part, len(part) * 3 // 4)
    return part


def read(tools, ref: str, first: int, turn, more) -> tuple:
    """Return (result, line for the person); `more` comes from the companion, None if not asked."""
    if more:
        return _from_companion(tools, more, first, turn.caller), ""
    if ref[-3:] == ".md":
        return file_read(tools.notes.for_caller(turn.caller), ref, first), ""
    if ref[:1] == "t":
        turns = tools.journal.get(ref, turn.caller, _AROUND)
        return _shown_turns(tools.clock, turns, ids.number("id", ref, "t"), first), ""
    return _shown_memory(tools, tools.records.get(ref, turn.caller), turn.caller), ""


def _from_companion(tools, more: tuple, first: int, caller) -> dict:
    line, why = more
    if line is None:
        return {"memory": None, "reason": why}
    if "lines" in line:
        answer = line
        rest = answer.pop("next_first", 0)
        if rest:
            answer["next"] = "%s#%d" % (answer["file"], rest)
    elif "text" in line:
        answer = _shown_turns(tools.clock, [line], line["seq"], first)
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
                answer["next"] = "t%d#%d" % (wanted, first + len(shown["text"]))
        else:
            shown["text"] = snippet(attributed_text(turn), _NEIGHBOURS // len(turns))
        answer["turns"].append(shown)
    return answer
