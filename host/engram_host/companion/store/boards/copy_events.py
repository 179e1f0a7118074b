"""Events of a board's copy, in sentences for its person."""

from engram_host.sentences import SentenceTable

EVENTS = SentenceTable(
    "event",
    {
        "two_boards": 'two boards are called "{board}": {known}, which was here a moment ago, and {other}. Give one of them '
        "another companion.device.",
        "first_time": '"{board}" is new to this companion: it takes a copy of all that the board has.',
        "another_board": '"{board}" is another board now: {other} in place of {known}.',
        "older_flash": "the board's flash is an older or an empty one: it counts connection {link}, and {known} was here "
        "before.",
        "new_epoch": "the board's {log} was reset. Its former copy, up to line {have}, is kept, and no search finds it.",
        "epoch_again": "the board's {log} is one that was here before: its copy, up to line {have}, is in use again.",
        "went_back": (
            "the board's {log} went back to line {last}: {n} later line of the copy was set aside.",
            "the board's {log} went back to line {last}: {n} later lines of the copy were set aside.",
        ),
        "older_database": "this database has the board's records up to line {have}, and the board knows of one that had line "
        "{relied}: it is an older one, so what the board has no more is kept until the board has said what its archive has.",
        "archived_again": (
            "{n} memory is archived again that the board's archive has and this database did not know of. What was forgotten "
            "since the backup was made may be among them: forget it again.",
            "{n} memories are archived again that the board's archive has and this database did not know of. What was "
            "forgotten since the backup was made may be among them: forget it again.",
        ),
        "lost_before": (
            "the board's flash has lost its {log} before line {oldest}: {n} line of the copy was set aside.",
            "the board's flash has lost its {log} before line {oldest}: {n} lines of the copy were set aside.",
        ),
        "left_before": "the board's {log} had dropped lines {first} to {last} before they were copied: there is no copy of "
        "them.",
        "damaged_and_gone": (
            "the board has no more what {n} damaged line of its {log} said, from line {first} on: the copy has let go of it.",
            "the board has no more what {n} damaged lines of its {log} said, from line {first} on: the copy has let go of it.",
        ),
        "former_removed": (
            "a former copy of the board's {log}, {n} line, is removed ({why}).",
            "a former copy of the board's {log}, {n} lines, is removed ({why}).",
        ),
        "found_damaged": (
            "{n} line of the {log} was found damaged in the database, the first is line {first}.",
            "{n} lines of the {log} were found damaged in the database, the first is line {first}.",
        ),
        "quota_lines": "{board} has sent {sent} new lines today, and its quota is {quota} lines a day (store.device_lines); a "
        "reset of a log counts as 2,000. The board keeps its lines; the companion takes them after midnight UTC.",
        "quota_bytes": "{board} has sent {sent} MB of new lines today, and its quota is {quota} MB a day "
        "(store.device_megabytes). The board keeps its lines; the companion takes them after midnight UTC.",
    },
)
