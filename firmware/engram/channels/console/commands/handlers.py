"""Wires each command with the parts of a board that it needs."""

from collections import namedtuple

from engram.channels.console.commands import board as board_commands
from engram.channels.console.commands import care, memory, people, sessions, timers, transfer
from engram.channels.console.commands import recall as recall_commands
from engram.channels.console.commands import stats as stats_commands

Source = namedtuple("Source", "clock records journal trash forgetting profile notes")
"""What an export reads."""

Stats = namedtuple(
    "Stats",
    "config clock model find_status records eviction trash journal timers recall jobs companion archived network "
    "telegram",
)
"""What /stats shows."""


def handlers(board) -> dict:
    """The commands: each has its function and what it needs."""
    config, clock, records, journal = board.config, board.clock, board.records, board.journal
    notes, daily, forgetting = board.notes, board.note_retention, board.forgetting
    companion, archived = board.companion, board.archived
    search, archive, recall = board.remote_search(), board.archive(), board.recall
    parts = board.model, board.find_status, records, board.eviction, board.trash, journal, board.timers, recall
    stats = Stats(config, clock, *parts, board.jobs, companion, archived, board.network, board.telegram)
    texts = (forgetting, board.profile, notes)
    source = Source(clock, records, journal, board.trash, *texts)
    return {
        "memory": (memory.memory_command, (config, clock, records, journal, notes, forgetting, archive)),
        "recall": (recall_commands.recall_command, (clock, recall, search)),
        "forget": (recall_commands.forget_command, (clock, records, recall, journal, forgetting)),
        "undo": (recall_commands.undo_command, (board.undo,)),
        "pin": (care.pin_command, (records, board.pins)),
        "unpin": (care.unpin_command, (records,)),
        "dedupe": (care.dedupe_command, (records,)),
        "note": (care.note_command, (notes,)),
        "clear": (care.clear_command, (config, notes, daily)),
        "distill": (care.distill_command, (config, notes, daily, board.distillation)),
        "session": (sessions.session_command, (journal, clock)),
        "profile": (sessions.profile_command, (board.profile,)),
        "senses": (board_commands.senses_command, (board.sense_view,)),
        "timers": (timers.timers_command, (board.timers, board.toolbox)),
        "mode": (board_commands.mode_command, (config,)),
        "setting": (board_commands.setting_command, (config,)),
        "compact": (board_commands.compact_command, (records, journal)),
        "json": (board_commands.json_command, ()),
        "export": (transfer.export_command, (source,)),
        "import": (transfer.import_command, (board.folder, records, clock, journal, board.eviction) + texts),
        "stats": (stats_commands.stats_command, (stats,)),
        "companion": (stats_commands.companion_command, (companion, config)),
        "telegram": (stats_commands.telegram_command, (board.telegram,)),
        "pair": (people.pair_command, (board.find_people, clock)),
        "people": (people.people_command, (board.find_people, clock)),
        "workspace": (board_commands.workspace_command, (config,)),
    }
