"""One of each message between board and companion: (table, op, fields)."""

from engram.link.messages import FROM_BOARD, TO_BOARD

SAMPLES = (
    (
        FROM_BOARD,
        "hello",
        {
            "version": 1, "zone": -60, "records": [7, 1, 9, 0], "journal": [8, 1, 20, 2], "relied": 4,
            "rule": "CET-1CEST,M3.5.0,M10.5.0/3",
        },
    ),
    (FROM_BOARD, "lines", {"log": "journal", "epoch": 8, "after": 3, "to": 9, "count": 0}),
    (FROM_BOARD, "check", {"log": "records", "epoch": 8, "after": 3, "to": 9, "count": 6, "digest": "0011aabb"}),
    (FROM_BOARD, "agreed", {"log": "records", "epoch": 8, "rewrites": 4}),
    (FROM_BOARD, "keep", {"log": "records", "epoch": 8, "seqs": [4, 7], "digest": "0011aabb"}),
    (FROM_BOARD, "holds", {"epoch": 8, "first": 3, "last": 88}),
    (FROM_BOARD, "notes", {"epoch": 8, "after": "", "to": "MEMORY~ann.md", "files": [["MEMORY.md", 12, "0011aabb"]]}),
    (FROM_BOARD, "note", {"epoch": 8, "file": "2026-01-31~_c3_a9.md", "digest": "0011aabb"}),
    (
        FROM_BOARD,
        "file",
        {"path": "notes/tea.md", "first": 5, "count": 20, "principal": "owner", "group": False, "workspace": ""},
    ),
    (FROM_BOARD, "get", {"id": "m12", "principal": "owner", "group": False, "workspace": ""}),
    (
        FROM_BOARD,
        "search",
        {
            "query": "wo ist 猫 🙂", "limit": 5, "principal": "owner", "group": False, "workspace": "",
            "tags": ["a"], "since": 0, "until": 1795247156, "folders": True,
        },
    ),
    (FROM_BOARD, "listen", {"wait": 25, "mid": "phone:7", "turn": "t3"}),
    (FROM_BOARD, "reply", {"mid": "phone:7", "offer": 1, "k": 2}),
    (FROM_BOARD, "push", {"mid": "push:8:t3", "room": "phone", "text": "it rains"}),
    (FROM_BOARD, "status", {"items": [["run", 5], ["firmware", "0.1.0"]]}),
    (FROM_BOARD, "senses", {"epoch": 8, "next": 3, "whole": True, "items": [], "shared": [2]}),
    (FROM_BOARD, "readings", {"epoch": 8, "level": 1, "seq": 9}),
    (
        TO_BOARD,
        "welcome",
        {
            "records": [3, "0011aabb", 0], "journal": [0, "", 0], "archived": 2, "asks": False, "told": "",
            "notes": "0011aabb", "senses": "",
        },
    ),
    (TO_BOARD, "have", {"log": "journal", "epoch": 8, "have": 12}),
    (TO_BOARD, "same", {}),
    (TO_BOARD, "differs", {}),
    (TO_BOARD, "found", {"note": "", "confidence": 812, "sure": [812, 0]}),
    (TO_BOARD, "kept", {"count": 2}),
    (TO_BOARD, "noted", {"lacks": [0, 3], "state": "0011aabb"}),
    (TO_BOARD, "perceived", {"have": [[9, "0011aabb"], [0, ""]], "state": "0011aabb"}),
    (TO_BOARD, "got", {}),
    (
        TO_BOARD,
        "say",
        {
            "mid": "phone:7", "offer": 1, "room": "phone", "principal": "ann", "group": False,
            "workspace": "", "command": False, "forwarded": "Bob", "quoted": "the door", "edits": "phone:6",
        },
    ),
    (TO_BOARD, "cancel", {"mid": "phone:7"}),
    (TO_BOARD, "quiet", {"again": 0}),
    (TO_BOARD, "received", {"cancel": False}),
    (TO_BOARD, "refused", {"why": "the disk is full.", "again": 15}),
)  # fmt: skip
