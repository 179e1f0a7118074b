"""Results of tools are bounded, whatever is stored and whatever a model sends; what is long is read piece by piece."""

import json
import random

from calls import call_now, equipped, result_of, say
from engram.agent.agent import Turn
from engram.llm.types import Call
from engram.memory.access import OWNER
from support import rounds

_VALUES = (
    None, True, False, 0, -1, 7, 1 << 40, 0.5, "", "m1", "t3", "MEMORY.md", "user.md", "2026-09-21", "bike", "x" * 3000,
    "a\0b", "你好 🎉", "../x", [], ["a"], ["a", "b", "c", "d"], [1], [[]], {}, {"a": []}, "append", "tags", "yes-1",
)  # fmt: skip


def test_get_reads_a_long_turn_piece_by_piece():
    board = equipped()
    content = "".join([f'{number} "quoted" 字\n' for number in range(400)]).strip()
    seq = board.journal.add(OWNER, "user", "owner", content)
    read, query = "", f"t{seq}"
    while query:
        result = result_of(board, "memory_search", query=query)
        read += next(turn["text"] for turn in result["turns"] if turn["id"] == f"t{seq}")
        query = result.get("next")
    assert read == content


def test_a_long_note_is_read_piece_by_piece():
    board = equipped(mode="lightweight")
    count = 200
    lines = [f'line {number} of "many" words' for number in range(count)]
    board.notes.for_caller(OWNER).write("MEMORY.md", "\n".join(lines))
    read, file = [], "MEMORY.md"
    while file:
        result = result_of(board, "file_read", file=file)
        read += result["lines"]
        file = result.get("next")
    assert read == lines


def test_whatever_is_sent_the_result_is_a_bounded_object():
    random.seed(7)
    board = equipped()
    for number in range(3):
        board.records.store(f"bike {number}", ["bike"])
    for number in range(rounds(500, 150)):
        board.config.save("mode", random.choice(("full", "lightweight")))
        tool = random.choice(board.toolbox.listed(OWNER))
        names = list(json.loads(tool.schema)["properties"]) + ["other"]
        arguments = {random.choice(names): random.choice(_VALUES) for _ in range(random.randrange(5))}
        if number % 10 == 0:
            say(board)
        result = call_now(board, Call("c", tool.name, json.dumps(arguments)), Turn(OWNER, int(board.turn[1:]))).result
        values = json.loads(result)
        assert isinstance(values, dict) and len(result) <= 6000
        assert "error" not in values or values["error"]["problem"]


def test_long_memories_are_shortened_so_that_a_page_fits():
    board = equipped()
    count = 12
    for number in range(count):
        board.records.store(f'{number} "quoted" ' + '"' * 450, ["a"])
    for name, arguments in (
        ("memories", {"query": ""}),
        ("found", {"query": "quoted", "limit": 20}),
    ):
        items = result_of(board, "memory_search", OWNER, **arguments)[name]
        assert len(items) == (min(10, count) if name == "memories" else count)
