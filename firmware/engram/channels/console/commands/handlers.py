"""What each command needs of a board: a module of its own, since a small heap has it only while a command begins."""

from collections import namedtuple

Source = namedtuple("Source", "clock records journal trash forgetting profile notes")
"""What an export reads."""

Stats = namedtuple(
    "Stats",
    "config clock model find_status records eviction trash journal reminders make_recall jobs companion archived network "
    "telegram",
)
"""What /stats shows."""


def handlers(board) -> dict:
    """The commands: each has its module and what it needs."""
    config, clock, records, journal = board.config, board.clock, board.records, board.journal
    notes, daily, forgetting = board.notes, board.note_retention, board.forgetting
    companion, archived = board.companion, board.archived
    search, archive, make_recall = board.remote_search(), board.archive(), board.make_recall
    parts = board.model, board.find_status, records, board.eviction, board.trash, journal, board.reminders, make_recall
    stats = Stats(config, clock, *parts, board.jobs, companion, archived, board.network, board.telegram)
    texts = (forgetting, board.profile, notes)
    source = Source(clock, records, journal, board.trash, *texts)
    return {
        "memory": ("memory", (config, clock, records, journal, notes, forgetting, archive)),
        "recall": ("recall", (clock, make_recall, search)),
        "forget": ("recall", (clock, records, make_recall, journal, forgetting)),
        "undo": ("recall", (board.undo,)),
        "pin": ("care", (records, board.pins)),
        "unpin": ("care", (records,)),
        "dedupe": ("care", (records,)),
        "note": ("care", (notes,)),
        "clear": ("care", (config, notes, daily)),
        "distill": ("care", (config, notes, daily, board.distillation)),
        "session": ("sessions", (journal, clock)),
        "profile": ("sessions", (board.profile,)),
        "intents": ("care", (board.reminders, clock)),
        "senses": ("board", (board.sense_view,)),
        "timers": ("timers", (board.timers, board.find_timers, board.check_tool)),
        "mode": ("board", (config,)),
        "setting": ("board", (config,)),
        "compact": ("board", (records, journal)),
        "json": ("board", ()),
        "export": ("transfer", (source,)),
        "import": ("transfer", (board.folder, records, clock, journal, board.eviction) + texts),
        "stats": ("stats", (stats,)),
        "companion": ("stats", (companion, config)),
        "telegram": ("stats", (board.telegram,)),
        "pair": ("people", (board.find_people, clock)),
        "people": ("people", (board.find_people, clock)),
        "workspace": ("board", (config,)),
    }
