"""The prompt: what stands where in it, and only what the caller may see."""

from board import ANN, ROOM, Board, board_with_prompts, build_prompt, messages_of, say
from engram.agent.agent import Origin, Sink
from engram.memory.access import OWNER, Caller


def _system(prompt):
    return list(prompt.system())


def _last(prompt):
    return messages_of(prompt)[-1][1]


# --- what stands where


def test_the_profile_stands_first_and_the_tags_last():
    board = board_with_prompts()
    board.records.store("The bike is green", ["bike"])
    board.profile.for_caller(OWNER).write("user.md", "Likes tea.")
    blocks = _system(build_prompt(board, "hello"))
    assert blocks[0].startswith("<identity.md>\nEngram") and blocks[0].endswith("</user.md>")
    assert blocks[1].startswith("# Lasting memory\n") and blocks[2] == "# Tags in use\nbike (1)" and len(blocks) == 3


def test_rules_stand_after_the_guidance_and_a_task_with_its_persons_message_until_it_is_done():
    board = board_with_prompts()
    keeper = board.profile.for_caller(OWNER)
    keeper.write("agent.md", "Answer in verse.")
    keeper.write("task.md", "Book the trip to Rome; waits for Carla")
    board.records.store("The trip to Rome takes six days", ["open-task"])
    prompt = build_prompt(board, "hello")
    assert _system(prompt)[2] == "<agent.md>\nAnswer in verse.\n</agent.md>"
    assert "<task.md>\nBook the trip to Rome; waits for Carla\n</task.md>" in _last(prompt)
    assert "Rome" not in "".join(_system(build_prompt(board, "hello", ANN))) + _last(build_prompt(board, "hello", ANN))
    keeper.write("task.md", "")
    assert "<task.md>" not in _last(build_prompt(board, "hello"))
    kept = {record["content"]: record for record in board.records.newest(OWNER)}
    assert "expires" in kept["The trip to Rome takes six days"]
    assert kept["Done: Book the trip to Rome; waits for Carla"]["type"] == "event"
    assert "the end of its memories, stay kept" in board.undo.undo()
    assert "<task.md>\nBook the trip to Rome" in _last(build_prompt(board, "hello"))


def test_turns_of_the_window_are_not_recalled_again():
    board = board_with_prompts()
    say(board, "my bike is green")
    assert "<recalled-memories>" not in _last(build_prompt(board, "bike"))


def test_turns_that_left_the_window_are_recalled():
    board = board_with_prompts(session_messages=4)
    say(board, "my bike is green")
    for number in range(8):
        say(board, f"word {number}")
    assert "my bike is green" in _last(build_prompt(board, "which colour has the bike"))


def test_without_citations_neither_the_lines_nor_the_guidance_tell_of_ids():
    board = board_with_prompts()
    board.records.store("The bike is green", ["bike"])
    for value, is_shown in (("on", True), ("off", False)):
        board.config.save("recall.citations", value)
        prompt = build_prompt(board, "which colour has the bike?")
        assert ("[m1 " in _last(prompt), "Cite ids" in _system(prompt)[1]) == (is_shown, is_shown)


def test_new_tags_stand_with_the_message_until_the_window_moves():
    board = board_with_prompts(session_messages=4)
    build_prompt(board, "one")
    board.records.store("The bike is green", ["bike"])
    assert "(new tags: bike)" in _last(build_prompt(board, "two"))
    for number in range(3):
        build_prompt(board, f"word {number}")
    prompt = build_prompt(board, "word 3")
    assert "new tags" not in _last(prompt) and _system(prompt)[2] == "# Tags in use\nbike (1)"


def test_while_the_clock_is_not_set_the_prompt_has_no_time():
    board = board_with_prompts()
    board.now = 1000
    assert _last(build_prompt(board, "hello")) == "hello"


def test_messages_of_hours_ago_carry_their_minute():
    board = board_with_prompts()
    say(board, "one")
    say(board, "two", "assistant")
    board.now += 4 * 3600
    say(board, "three")
    said = [content for _, content in messages_of(build_prompt(board, "now"))]
    assert said[:3] == ["(2026-09-21 14:13) one", "two", "(2026-09-21 18:13) three"]


def test_a_message_after_a_day_begins_a_session_that_tells_of_the_one_before():
    board = board_with_prompts()
    say(board, "my bike is green")
    board.now += 25 * 3600
    prompt = build_prompt(board, "hello")
    assert messages_of(prompt) == [("user", _last(prompt))]
    assert _last(prompt).startswith("(session before: 2026-09-21 14:13 my bike is green)\n(now: ")


def test_the_history_begins_with_the_person():
    board = board_with_prompts()
    say(board, "one", "assistant")
    say(board, "two", "assistant")
    assert [role for role, _ in messages_of(build_prompt(board, "three"))] == ["user"]


def test_lightweight_mode_has_the_notes_and_no_tags_or_memories():
    board = board_with_prompts(mode="lightweight")
    board.records.store("The bike is green", ["bike"])
    board.notes.for_caller(OWNER).write("MEMORY.md", "The boat is red")
    board.notes.for_caller(OWNER).append("2026-09-20.md", "yesterday's")
    board.notes.for_caller(OWNER).append("2026-09-21.md", "today's")
    blocks = _system(build_prompt(board, "bike"))
    assert blocks[2:] == [
        "<MEMORY.md>\nThe boat is red\n</MEMORY.md>",
        "<2026-09-20.md>\nyesterday's\n</2026-09-20.md>",
        "<2026-09-21.md>\ntoday's\n</2026-09-21.md>",
    ]
    assert "green" not in _last(build_prompt(board, "bike"))


async def test_what_was_said_offline_is_no_part_of_the_message_that_a_model_gets_later():
    board = Board().serve()
    for mid, said in enumerate(("remember that my bike is green", "Good evening", "你记得自行车吗？")):
        await board.agent.turn(OWNER, said, Sink(), Origin(mid="" if mid % 2 else "m%d" % mid))
    assert messages_of(build_prompt(board, "hello")) == [
        ("user", "Good evening"),
        ("assistant", "[not answered]"),
        ("user", "(now: 2026-09-21 14:13)\nhello"),
    ]


def test_a_message_that_the_model_did_not_answer_is_not_joined_with_the_next_one():
    board = board_with_prompts()
    for said in ("one", "two"):
        say(board, said)
    assert [text for _, text in messages_of(build_prompt(board, "three"))[:4]] == [
        "one", "[not answered]", "two", "[not answered]",
    ]  # fmt: skip


def test_commands_take_no_place_in_the_window_and_the_first_message_after_them_has_the_notes():
    board = board_with_prompts()
    board.notes.for_caller(OWNER).write("2026-09-21.md", "It rains.")
    for number in range(8):
        say(board, "remember that thing %d is green" % number, command=True)
    (message,) = messages_of(build_prompt(board, "hello"))
    assert "It rains." in message[1] and "thing" not in message[1].partition("It rains.")[2]


# --- who sees what


def test_private_things_stay_out_of_a_group_room():
    for mode in ("full", "lightweight"):
        board = board_with_prompts(mode=mode)
        board.profile.for_caller(OWNER).write("user.md", "zanzibar: profile")
        board.notes.for_caller(OWNER).write("MEMORY.md", "zanzibar: notes")
        board.records.store("zanzibar: record", ["zanzibar"], ANN)
        say(board, "zanzibar: turn", caller=ANN)
        prompt = build_prompt(board, "what is the word?", ROOM)
        assert "zanzibar" not in "".join(_system(prompt)) + str(messages_of(prompt))


def test_a_group_is_not_told_of_the_session_of_another_group():
    board = board_with_prompts()
    say(board, "zanzibar", caller=ROOM)
    other = Caller("ann", "other#9", True, "")
    assert "zanzibar" not in str(messages_of(build_prompt(board, "hello", other)))


def test_in_a_group_room_each_message_has_its_speaker():
    board = board_with_prompts()
    say(board, "one", caller=ROOM)
    assert messages_of(build_prompt(board, "two", ROOM)) == [
        ("user", "ann: one"),
        ("user", "(now: 2026-09-21 14:13)\nann: two"),
    ]
