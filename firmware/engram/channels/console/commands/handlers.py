"""The function of each command: it takes the board, the caller, and the text behind the name."""

from engram.channels.console.commands import board, care, memory, people, recall, sessions, stats, timers, transfer

HANDLERS = {
    "memory": memory.memory_command,
    "recall": recall.recall_command,
    "forget": recall.forget_command,
    "undo": recall.undo_command,
    "pin": care.pin_command,
    "note": care.note_command,
    "clear": care.clear_command,
    "distill": care.distill_command,
    "session": sessions.session_command,
    "profile": sessions.profile_command,
    "senses": board.senses_command,
    "timers": timers.timers_command,
    "mode": board.mode_command,
    "setting": board.setting_command,
    "compact": board.compact_command,
    "export": transfer.export_command,
    "import": transfer.import_command,
    "stats": stats.stats_command,
    "pair": people.pair_command,
    "people": people.people_command,
    "workspace": board.workspace_command,
}
