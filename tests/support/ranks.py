"""How the board ranks the turns of a conversation for each question, in so few words that they can be kept.

Of a question "DIGEST N N N N N" is kept: the crc32 of all that is found, in its order, and the places of the best five turns in
the conversation, counted from 0. Nothing of a set's text stands in it.
Run as a program it notes how today's code ranks, for a ranking that is better as measured.
"""

import json
import os
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from zlib import crc32

import firmware_build
from engram_host.evaluation import sets
from engram_host.evaluation.board_script import Turns

SETS = Path(os.environ.get("TEST_SETS") or firmware_build.ROOT.parent / "shared" / "data")
FOLDER = firmware_build.ROOT / "tests" / "data" / "ranks"
NAMES = ("locomo", "realtalk", "beam")

MOST = 50
BEST = 5
LONGEST = 3500
"""Characters of a turn: some of BEAM have more than the line of a log may have."""


def conversations(folder: Path) -> Iterator[Path]:
    """The folders of a set's conversations."""
    return (path.parent for path in sorted(folder.glob("*/turns.jsonl")))


def digest_of(conversation: Path) -> str:
    """What tells one form of a conversation from another."""
    check = 0
    for name in ("turns.jsonl", "questions.jsonl"):
        check = crc32((conversation / name).read_bytes(), check)
    return f"{check:08x}"


def load(conversation: Path) -> sets.Conversation:
    """A conversation, whose turns are no longer than a log's line."""
    loaded = sets.load_conversation(conversation, lambda warning: None)
    turns = [replace(turn, text=turn.text[:LONGEST]) for turn in loaded.turns]
    return sets.Conversation(loaded.name, turns, loaded.questions)


def on_this_python(conversation: sets.Conversation) -> list[list[int]]:
    """For each question the places of the turns that the firmware's own store finds, run by CPython."""
    with tempfile.TemporaryDirectory() as folder:
        store = Turns(folder)
        place = {
            store.add(turn.session, turn.at, turn.speaker, turn.text, turn.caption, turn.role): at
            for at, turn in enumerate(conversation.turns)
        }
        store.finish_background()
        store = Turns(folder)  # as after a restart, which is how evaluation/engines.py asks
        return [[place[number] for number in store.search(one.text, MOST)[1]] for one in conversation.questions]


def shortened(ranked: list[int]) -> str:
    """What is kept of the answer to one question."""
    check = crc32(" ".join(map(str, ranked)).encode())
    return " ".join([f"{check:08x}", *map(str, ranked[:BEST])])


def write_ranks() -> None:
    """Note how the board ranks the turns of all conversations that are there."""
    for name in NAMES:
        rows: list[str] = []
        for conversation in conversations(SETS / name):
            found = [shortened(ranked) for ranked in on_this_python(load(conversation))]
            rows.append(
                f"{json.dumps(conversation.name)}: {json.dumps({'set': digest_of(conversation), 'questions': found})}"
            )
            print(f"{name}/{conversation.name}: {len(found)} questions")
        (FOLDER / f"{name}.json").write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="ascii")


if __name__ == "__main__":
    write_ranks()
