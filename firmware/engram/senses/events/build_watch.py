"""Makes what watches a board's senses, from its settings and its memory."""

from engram.senses.answers.view import readings_scope
from engram.senses.events.event_file import EventFile
from engram.senses.events.events import Events
from engram.senses.events.limit_tool import LimitTool
from engram.senses.events.limits import Limits
from engram.senses.events.watch import Watch


def make_watch(config, folder: str, clock, senses, records, journal, notes, push, may_push) -> tuple:
    """(what watches `senses`, whose files are in a folder; the LimitTool over its limits).

    push(caller, text) says something in a chat, if may_push(caller).
    """
    declared = config.table("senses")

    def scope_of(sense) -> str:
        return readings_scope(sense, config.get("senses.share"), declared)

    def add_day(day: int) -> None:
        from engram.senses.events.day_line import add_day_line  # once a day

        add_day_line(senses, file, clock, notes, day)

    limits = Limits(folder + "/limits.jsonl", senses, declared)
    limits.load()
    file = EventFile(folder + "/events.jsonl")
    file.load()
    tell, cool_down = config.get("senses.tell"), config.get("senses.cooldown_minutes") * 60
    parts = clock, records, journal, push, may_push, tell, cool_down, scope_of
    events = Events(file, senses, *parts, add_day if config.get("senses.day_notes") else None)
    watch = Watch(senses, clock, limits, events, declared, config.get("senses.unusual"))
    watch.open()
    return watch, LimitTool(senses, limits, scope_of)
