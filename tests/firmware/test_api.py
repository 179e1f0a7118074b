"""What code on the board calls, and what the prompt reads of a stopped board."""

from board import ANN, DAY, NOW, Board
from engram import repl
from engram.api import Memory
from engram.errors import ArgumentError, NotFound
from engram.memory.access import OWNER
from support import raises


class _Output:
    """Stands for standard output and keeps what is written."""

    def __init__(self):
        self.text = ""

    def write(self, text):
        self.text += text


def _shown(show, *arguments):
    """What a function of inspect shows."""
    kept, repl.sys = repl.sys, _Stand()
    try:
        show(*arguments)
        return repl.sys.stdout.text
    finally:
        repl.sys = kept


class _Stand:
    """Stands for the module sys."""

    def __init__(self):
        self.stdout = _Output()


def _memory():
    board = Board()
    return board, Memory(board.records, board.recall, board.forgetting)


# --- the façade


def test_what_code_stores_all_may_see():
    board, memory = _memory()
    ref = memory.store("The pump runs", ["pump"], type="device", importance=0.4)
    assert board.records.get(ref, ANN)["type"] == "device"


def test_what_code_stores_may_be_private():
    board, memory = _memory()
    ref = memory.store("The pump runs", ["pump"], scope="user:ann")
    assert board.records.get(ref, ANN)["content"] == "The pump runs"
    with raises(NotFound):
        memory.get(ref)


def test_storing_the_same_again_gives_the_same_id():
    _, memory = _memory()
    assert memory.store("The pump runs", ["pump"]) == memory.store("the pump runs", ["pump"])


def test_a_wrong_value_is_reported():
    with raises(ArgumentError) as caught:
        _memory()[1].store("The pump runs", ["pump"], importance=2)
    assert caught.error.argument == "importance"


def test_a_search_gives_plain_dicts():
    board, memory = _memory()
    memory.store("The pump runs", ["pump"])
    board.journal.add(OWNER, "user", "owner", "is the pump on?")
    found = memory.search("pump")
    assert sorted(item["id"] for item in found) == ["m1", "t3"]
    by_id = {item["id"]: item for item in found}
    assert by_id["t3"]["who"] == "owner" and "who" not in by_id["m1"]
    assert by_id["m1"]["text"] == "The pump runs" and by_id["m1"]["at"] == NOW and by_id["m1"]["score"] > 0


def test_a_search_can_be_bounded_by_time_and_tags():
    board, memory = _memory()
    for number in range(3):
        memory.store(f"pump event {number}", ["pump", f"n{number}"])
        board.now += DAY
    assert [item["id"] for item in memory.search("pump", since=NOW + DAY, until=NOW + 2 * DAY)] == ["m2"]
    assert [item["id"] for item in memory.search("pump", tags=["n2"])] == ["m3"]


def test_code_lists_and_forgets():
    _, memory = _memory()
    refs = [memory.store(f"pump event {number}", ["pump"]) for number in range(3)]
    memory.forget(refs[1])
    assert [record["id"] for record in memory.newest(["pump"])] == [refs[2], refs[0]]


def test_code_learns_why_nothing_was_found():
    assert _memory()[1].why_empty("pump") == "nothing is stored yet."


# --- inspect


def _stopped():
    """The folder of a stopped board that has lived: m1 superseded, m3 forgotten, m5 changed."""
    board = Board(segment_bytes=1500)
    board.journal.add(OWNER, "user", "owner", "green bike")
    board.records.store("Ann lives in Rome", ["ann"])
    board.records.store("Ann lives in Oslo", ["ann", "city"], supersedes="m1")
    board.records.store("forgotten thing", ["a"])
    board.records.forget("m3")
    board.records.store("猫 one", ["cat"])
    board.records.update("m5", {"content": "猫 two\x1b[31m"})
    for number in range(10):
        board.journal.add(ANN, "user", "ann", f"word {number}")
    board.profile.for_caller(OWNER).write("user.md", "Likes tea")
    board.close()
    return board


def test_inspect_shows_the_live_memories():
    board = _stopped()
    assert _shown(repl.records, board.place) == (
        "m2      Ann lives in Oslo  [ann, city]\nm5      猫 two\ufffd[31m  [cat]\n"
    )


def test_inspect_agrees_with_the_store_after_undo_and_compaction():
    board = _stopped()
    board.open()
    board.undo.undo()  # the profile
    board.undo.undo()  # the update of m5
    board.undo.undo()  # m5
    board.undo.undo()  # the forgetting of m3
    for _ in range(2):
        live = sorted(record["id"] for record in board.records.newest())
        board.close()
        assert [line.split()[0] for line in _shown(repl.records, board.place).split("\n")[:-1]] == live
        board.open()
        board.compact()


def test_inspect_shows_all_turns_or_those_of_one_session():
    board = _stopped()
    shown = _shown(repl.turns, "", board.place).split("\n")
    assert shown[0] == "t3      s1    2026-09-21 14:13  owner: green bike" and len(shown) == 12
    sid = shown[-2].split()[1]
    assert _shown(repl.turns, sid, board.place).split("\n") == shown[1:]


def test_inspect_does_not_show_a_redacted_turn():
    board = _stopped()
    board.open()
    board.journal.redact("t3", OWNER)
    board.close()
    assert "green bike" not in _shown(repl.turns, "", board.place)


def test_inspect_shows_the_profile():
    shown = _shown(repl.profile, _stopped().place)
    assert "--- user.md\nLikes tea\n" in shown and "--- soul.md\n" in shown


def test_inspect_shows_how_much_there_is():
    assert _shown(repl.show, _stopped().place) == "memories: 2\nturns: 11\n"


def test_inspect_gives_every_line_of_a_log():
    board = _stopped()
    seqs = [line["seq"] for line in repl.lines("memory/memory_records", board.place) if "seq" in line]
    assert seqs == list(range(1, len(seqs) + 1)) and len(seqs) == 7


def test_inspect_passes_over_damage_and_writes_nothing():
    board = _stopped()
    path = board.place + "/memory/memory_records.jsonl"
    with open(path, "ab") as file:
        file.write(b'{"seq":99,"id":"m99","content":"torn')
    with open(path, "rb") as file:
        before = file.read()
    assert "m99" not in _shown(repl.records, board.place)
    with open(path, "rb") as file:
        assert file.read() == before
