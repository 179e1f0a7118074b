"""The prompt: what stands where in it, and only what the caller may see."""

from board import ANN, ROOM, Board, prompt_of
from engram.memory.access import OWNER


def _board(**settings):
    board = Board().configure(**settings)
    board.prompts = board.make_prompts()
    return board


def _say(board, content, role="user", caller=OWNER, **more):
    return board.journal.add(caller, role, caller.principal if role == "user" else "engram", content, **more)


def _build(board, content, caller=OWNER):
    """The prompt of a message that is written as the agent does it."""
    seq = _say(board, content, caller=caller)
    return prompt_of(board, caller, board.journal.current(caller), seq, content)


def _system(prompt):
    return list(prompt.system())


def _messages(prompt):
    return [(message.role, message.text) for message in prompt.messages()]


def _last(prompt):
    return _messages(prompt)[-1][1]


# --- what stands where


def test_the_profile_stands_first_and_the_tags_last():
    board = _board()
    board.records.store("The bike is green", ["bike"])
    blocks = _system(_build(board, "hello"))
    assert blocks[0].startswith("<identity.md>\n# Identity") and blocks[0].endswith("</user.md>")
    assert blocks[1].startswith("# Memory\n") and blocks[2] == "# Tags in use\nbike (1)" and len(blocks) == 3


def test_the_history_comes_before_the_message():
    board = _board()
    _say(board, "one")
    _say(board, "two", "assistant")
    assert _messages(_build(board, "three")) == [
        ("user", "one"),
        ("assistant", "two"),
        ("user", "(now: 2026-09-21 14:13)\nthree"),
    ]


def test_recalled_memories_travel_with_the_message():
    board = _board()
    board.records.store("The bike is green", ["bike"])
    lines = _last(_build(board, "what about the bike?")).split("\n")
    assert lines[0] == "<recalled-memories>" and lines[2] == "- [m1 2026-09-21] The bike is green"
    assert lines[-1] == "what about the bike?"


def test_turns_of_the_window_are_not_recalled_again():
    board = _board()
    _say(board, "my bike is green")
    assert "<recalled-memories>" not in _last(_build(board, "bike"))


def test_turns_that_left_the_window_are_recalled():
    board = _board(session_messages=4)
    _say(board, "my bike is green")
    for number in range(8):
        _say(board, f"word {number}")
    assert "my bike is green" in _last(_build(board, "which colour has the bike"))


def test_new_tags_stand_with_the_message_until_the_window_moves():
    board = _board(session_messages=4)
    _build(board, "one")
    board.records.store("The bike is green", ["bike"])
    assert "(new tags: bike)" in _last(_build(board, "two"))
    for number in range(3):
        _build(board, f"word {number}")
    prompt = _build(board, "word 3")
    assert "new tags" not in _last(prompt) and _system(prompt)[2] == "# Tags in use\nbike (1)"


def test_while_the_clock_is_not_set_the_prompt_has_no_time():
    board = _board()
    board.now = 1000
    assert _last(_build(board, "hello")) == "hello"


def test_a_reply_that_was_cut_is_marked():
    board = _board()
    _say(board, "one")
    _say(board, "Once upon", "assistant", cut=True)
    assert _messages(_build(board, "two"))[1] == ("assistant", "Once upon … [the answer broke off here]")


def test_a_redacted_turn_is_not_in_the_history():
    board = _board()
    seq = _say(board, "zanzibar")
    _say(board, "one")
    board.journal.redact(f"t{seq}", OWNER)
    assert "zanzibar" not in str(_messages(_build(board, "two")))


def test_the_history_begins_with_the_person():
    board = _board()
    _say(board, "one", "assistant")
    _say(board, "two", "assistant")
    assert [role for role, _ in _messages(_build(board, "three"))] == ["user"]


def test_a_prompt_yields_the_same_each_time():
    board = _board()
    _say(board, "one")
    prompt = _build(board, "two")
    assert _system(prompt) == _system(prompt) and _messages(prompt) == _messages(prompt)


def test_lightweight_mode_has_the_notes_and_no_tags_or_memories():
    board = _board(mode="lightweight")
    board.records.store("The bike is green", ["bike"])
    board.notes.for_caller(OWNER).write("MEMORY.md", "The boat is red")
    board.notes.for_caller(OWNER).append("2026-09-20.md", "yesterday's")
    board.notes.for_caller(OWNER).append("2026-09-21.md", "today's")
    blocks = _system(_build(board, "bike"))
    assert blocks[2:] == [
        "<MEMORY.md>\nThe boat is red\n</MEMORY.md>",
        "<2026-09-20.md>\nyesterday's\n</2026-09-20.md>",
        "<2026-09-21.md>\ntoday's\n</2026-09-21.md>",
    ]
    assert "green" not in _last(_build(board, "bike"))


# --- who sees what


def test_private_things_stay_out_of_a_group_room():
    for mode in ("full", "lightweight"):
        board = _board(mode=mode)
        board.profile.for_caller(OWNER).write("user.md", "zanzibar: profile")
        board.notes.for_caller(OWNER).write("MEMORY.md", "zanzibar: notes")
        board.records.store("zanzibar: record", ["zanzibar"], ANN)
        _say(board, "zanzibar: turn", caller=ANN)
        prompt = _build(board, "what is the word?", ROOM)
        assert "zanzibar" not in "".join(_system(prompt)) + str(_messages(prompt))


def test_in_a_group_room_each_message_has_its_speaker():
    board = _board()
    _say(board, "one", caller=ROOM)
    assert _messages(_build(board, "two", ROOM)) == [
        ("user", "ann: one"),
        ("user", "(now: 2026-09-21 14:13)\nann: two"),
    ]
