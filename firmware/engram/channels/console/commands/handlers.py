"""The function of each command: it takes the board, the caller, and the text behind the name."""

from engram.channels.console.commands import board, memory, people, stats, transfer

HANDLERS = {
    "memory": memory.memory_command,
    "recall": memory.recall_command,
    "forget": memory.forget_command,
    "undo": memory.undo_command,
    "pin": board.pin_command,
    "note": board.note_command,
    "clear": board.clear_command,
    "distill": board.distill_command,
    "session": people.session_command,
    "profile": people.profile_command,
    "senses": board.senses_command,
    "timers": board.timers_command,
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
