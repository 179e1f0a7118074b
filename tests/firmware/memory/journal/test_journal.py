"""The journal: each turn is on flash in order, is found, and can be forgotten without breaking its session."""

from board import ANN, DAY, NOW, Board
from engram import files
from engram.compat import finish
from engram.errors import ArgumentError
from engram.memory.access import OWNER
from support import raises


def _say(board, content, caller=OWNER, **more):
    return board.journal.add(caller, "user", caller.principal, content, **more)


def _texts(board, query, caller=OWNER, **more):
    return [turn["text"] for _, turn in board.search_turns(query, 10, caller, **more)]


def test_a_search_can_be_bounded_in_time():
    board = Board()
    for number in range(3):
        _say(board, f"bike {number}")
        board.now += DAY
    assert _texts(board, "bike", since=NOW + DAY, until=NOW + 2 * DAY) == ["bike 1"]


def test_a_command_is_kept_but_not_found():
    board = Board()
    seq = _say(board, "what do you know about bikes", command=True)
    assert _texts(board, "bikes") == [] and board.journal.turn(seq)["command"]


# --- what does not fit


def test_a_message_that_is_too_long_is_refused_before_anything_is_written():
    board = Board()
    before = board.journal.entries.bytes
    for content in ("x" * 15001, "字" * 5001, '"' * 7501, "\x01" * 2501):
        with raises(ArgumentError) as caught:
            _say(board, content)
        assert caught.error.argument == "message" and "send it in parts" in caught.error.problem
    assert board.journal.entries.bytes == before and not list(board.journal.sessions(OWNER))


def test_a_message_of_the_longest_length_is_kept_whole():
    for letter, count in (("x", 15000), ("字", 5000), ('"', 7500), ("\x01", 2500)):
        board = Board()
        seq = _say(board, letter * count)
        board.restart()
        assert board.journal.turn(seq)["text"] == letter * count


def test_a_reply_that_is_too_long_is_kept_as_far_as_it_fits():
    for letter in ("x", "字", '"', "\x01"):
        board = Board()
        turn = board.journal.turn(board.journal.add(OWNER, "assistant", "engram", letter * 15500))
        assert turn["cut"] and 2000 < len(turn["text"]) < 15500 and turn["text"].strip(letter) == ""


# --- the clock


def test_while_the_clock_is_not_set_turns_are_flagged_and_in_order():
    board = Board()
    _say(board, "known")
    board.now = 1000
    board.restart()
    seqs = [_say(board, f"unknown {number}") for number in range(3)]
    turns = [board.journal.turn(seq) for seq in seqs]
    assert [turn.get("guess") for turn in turns] == [True, True, True]
    times = [turn["at"] for turn in turns]
    assert times == sorted(times) and times[0] >= NOW


# --- neighbours


def test_a_turn_is_given_with_its_neighbours_of_the_same_session():
    board = Board()
    seqs = []
    for number in range(6):
        seqs.append(_say(board, f"mine {number}"))
        _say(board, f"hers {number}", ANN)
    found = board.journal.get(f"t{seqs[3]}", OWNER, around=2)
    assert [turn["text"] for turn in found] == [f"mine {number}" for number in range(1, 6)]


def test_a_turn_is_found_and_redacted_where_a_damaged_line_cuts_its_session():
    board = Board()
    seqs = [_say(board, f"turn {number}") for number in range(6)]
    board.close()
    path = board.place + "/journal/journal.jsonl"
    files.write(path, files.read(path, 65536).replace(b'"turn 4"', b'"turn x"'))
    board.open()
    found = board.journal.get(f"t{seqs[2]}", OWNER, around=1)
    assert [turn["text"] for turn in found] == ["turn 1", "turn 2", "turn 3"]
    board.journal.redact(f"t{seqs[2]}", OWNER)
    assert [turn["text"] for turn in board.journal.get(f"t{seqs[1]}", OWNER)] == ["turn 1"]
    assert board.journal.turn(seqs[2]) is None


# --- forgetting


def test_a_redacted_turn_is_neither_found_nor_given_nor_in_the_window():
    board = Board()
    seqs = [_say(board, f"turn {number}") for number in range(3)]
    board.journal.redact(f"t{seqs[1]}", OWNER)
    for _ in range(2):
        assert _texts(board, "turn") == ["turn 2", "turn 0"]
        window = board.journal.window(board.journal.current(OWNER), 10)
        assert [board.journal.turn(seq) is None for seq in window] == [False, True, False]
        board.restart()


def test_a_redacted_turn_does_not_stay_in_its_sessions_title():
    board = Board(segment_bytes=1500)
    seq = _say(board, "the password is zanzibar")
    for number in range(20):
        _say(board, f"word {number}")
    board.journal.redact(f"t{seq}", OWNER)
    assert "zanzibar" not in next(board.journal.sessions(OWNER)).title
    finish(board.journal.compacting())
    assert not board.holds("zanzibar")
