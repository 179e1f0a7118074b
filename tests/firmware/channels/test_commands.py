"""The commands: each answers in lines, says what is wrong, and is silent about nothing."""

import json

from board import ANN, DAY, ROOM, Board, commands_of, error_of, lines_of
from engram.channels.console.commands import commands
from engram.errors import ArgumentError, ConfigError, NotFound
from engram.memory.access import OWNER, Caller
from support import raises


class Idle:
    """Stands for an agent, of which the commands only tell how it is doing."""

    model = None
    turns = failed = 0
    after = None


def _board(**settings):
    board = Board().with_tools(**settings)
    board.agent = Idle()  # pyright: ignore[reportAttributeAccessIssue]  # stands in for the agent
    board.commands = commands_of(board)
    return board


def _fill(board, count):
    for number in range(count):
        board.records.store(f"thing {number}", ["all", "odd" if number % 2 else "even"])


def test_help_lists_all_commands():
    lines = lines_of(_board(), "/help")
    assert [line.split()[0] for line in lines if line[0] == "/"] == ["/" + name for name, _, _ in commands()]


def test_what_is_no_command_is_reported():
    board = _board()
    for line in ("/", "/nothing", "/Help", "/_undo", "/run", "/help nothing"):
        assert "there is no" in error_of(board, line) and "/help" in error_of(board, line)


def test_every_command_answers_something_or_shows_what_it_needs():
    for name, _, _ in commands():
        board = _board()
        try:
            assert lines_of(board, "/" + name), name
        except (ArgumentError, NotFound) as error:
            assert str(error)


# --- /memory


def test_memory_shows_counts_tags_and_what_is_of_today():
    board = _board()
    board.records.store("the cat sleeps", ["a"])
    board.now += DAY
    board.records.store("new thing", ["b"])
    board.notes.for_caller(OWNER).write("MEMORY.md", "the boat is red")
    board.notes.for_caller(OWNER).note("went out")
    assert lines_of(board, "/memory") == [
        "2 memories, full mode",
        "tags: a (1), b (1)",
        "m2      2026-09-22  new thing  [b]",
        "MEMORY.md:",
        "the boat is red",
        "2026-09-22.md:",
        "- 14:13 went out",
    ]


def test_memory_list_goes_page_by_page():
    board = _board()
    _fill(board, 43)
    seen = []
    for page in range(1, 4):
        lines = lines_of(board, f"/memory list {page}")
        assert lines[-1] == f"page {page} of 3"
        seen += [line.split()[0] for line in lines[:-1]]
    assert seen == [f"m{number}" for number in range(43, 0, -1)]
    assert lines_of(board, "/memory list 4") == ["there is no page 4; the last is 3"]
    for page in ("0", "-1", "x", "²", "1.5"):
        assert error_of(board, "/memory list " + page) == "page: must be a number from 1 on."


def test_memory_tags_lists_tags_by_use():
    board = _board()
    assert lines_of(board, "/memory tags") == ["no tags yet: nothing is remembered"]
    _fill(board, 3)
    assert lines_of(board, "/memory tags") == ["    3  all", "    2  even", "    1  odd"]


def test_memory_show_shows_all_of_a_memory():
    board = _board()
    board.records.store("x y", ["a"], keywords=["k", "l"], importance=0.75, expires=board.now + 60, pinned=True)
    assert lines_of(board, "/memory show m1") == [
        "m1  x y",
        "  tags        a",
        "  keywords    k, l",
        "  importance  0.75",
        "  scope       user:owner",
        "  pinned      True",
        "  created     2026-09-21 14:13",
        "  expires     2026-09-21 14:14",
    ]


def test_memory_show_says_why_a_memory_left():
    board = _board()
    board.records.store("I live in Paris", ["home"])
    board.records.store("I live in Lyon", ["home"], supersedes="m1")
    board.records.store("soon over", ["a"], expires=board.now + 60)
    board.records.store("unimportant", ["b"])
    board.records.store("secret", ["c"])
    board.records.evict([4])
    lines_of(board, "/forget m5")
    board.now += 60
    for ref, why in (("m1", "replaced by m2"), ("m3", "expired"), ("m4", "evicted for lack of room")):
        shown = lines_of(board, "/memory show " + ref)
        assert shown[-1].startswith("  left        2026-09-21 14:1") and shown[-1].endswith(", " + why), shown
    assert lines_of(board, "/memory show m5") == ["m5  forgotten 2026-09-21 14:13"]
    assert "it may have been forgotten" in error_of(board, "/memory show m5", ANN)
    lines_of(board, "/undo")
    assert "left" not in str(lines_of(board, "/memory show m5"))
    lines_of(board, "/forget m2")
    assert lines_of(board, "/memory show m1") == ["m1  forgotten with what had replaced it 2026-09-21 14:14"]


def test_memory_show_mentions_a_turn_with_its_neighbours():
    board = _board()
    for number in range(6):
        board.journal.add(OWNER, "user", "owner", f"turn {number}")
    lines = lines_of(board, "/memory show t6")
    assert lines[2] == "t6      2026-09-21 14:13  owner: turn 3" and len(lines) == 5


def test_memory_history_shows_all_versions():
    board = _board()
    _fill(board, 1)
    board.records.update("m1", {"content": "thing one"})
    assert lines_of(board, "/memory history m1") == [
        "m1      2026-09-21 14:13  thing one",
        "m1      2026-09-21 14:13  thing 0",
    ]


# --- /recall /forget /undo


def test_recall_says_how_certain_it_is():
    board = _board()
    board.records.store("The boiler was serviced in the capital", ["home"])
    lines = lines_of(board, "/recall capital zebra quagga okapi gnu")
    assert lines[0] == "I found nothing certain; this comes nearest:" and " weak]" not in lines[1]
    lines = lines_of(board, "/recall serviced boiler")
    assert lines[0].startswith("- [m1 ") and lines[-1].startswith("confidence: ") and lines[-1].endswith(" of 100")
    assert lines_of(board, "/recall bike")[0].startswith("Nothing found: ")


def test_recall_marks_what_is_weak():
    board = _board()
    board.records.store("The bike is green", ["bike"])
    board.journal.add(OWNER, "user", "owner", "I planted tomatoes today")
    lines = lines_of(board, "/recall planted tomatoes green")
    assert [" weak]" in line for line in lines] == [False, True, False]


def test_forget_takes_a_memory_with_its_turns_and_undo_brings_them_back():
    board = _board()
    board.journal.add(OWNER, "user", "owner", "my bike is green")
    board.records.store("The bike is green", ["bike"], turns=["t3"])
    for ref in ("m1", "M1", "green bike"):
        assert lines_of(board, "/forget " + ref) == ["Forgot m1, t3: The bike is green (/undo brings it back)"]
        assert lines_of(board, "/undo") == ["m1 is remembered again: The bike is green"]
        assert board.journal.has("t3", OWNER)


def test_forget_takes_a_turn():
    board = _board()
    board.journal.add(OWNER, "user", "owner", "my bike is green")
    assert lines_of(board, "/forget t3") == ["forgot the turn t3; /compact takes it off the flash"]
    assert "there is no turn t3" in error_of(board, "/forget t3")


def test_words_that_fit_several_are_listed():
    board = _board()
    _fill(board, 2)
    assert len(lines_of(board, "/forget thing")) == 3 and board.records.count() == 2
    assert lines_of(board, "/forget boat")[0].startswith("Nothing to forget: ")


def test_undo_with_an_id_takes_back_nothing_else():
    board = _board()
    for content in ("The bike is green", "The boat is blue"):
        board.records.store(content, ["thing"])
    assert error_of(board, "/undo m1") == "/undo: the latest change is of m2, not of m1; /undo alone takes it back."
    assert lines_of(board, "/undo m2") == ["m2 was taken back: The boat is blue"]
    assert lines_of(board, "/undo m1") == ["m1 was taken back: The bike is green"]
    assert error_of(board, "/undo m1").startswith("there is no change to undo")


# --- the whole


def test_mode_is_shown_switched_and_kept():
    board = _board()
    assert lines_of(board, "/mode") == ["full mode"]
    assert lines_of(board, "/mode lightweight") == ["lightweight mode; nothing of the other mode is lost"]
    assert board.config.get("mode") == "lightweight"
    board.with_tools()
    assert board.config.get("mode") == "lightweight"
    with raises(ConfigError) as caught:
        lines_of(board, "/mode heavy")
    assert "must be one of full, lightweight" in str(caught.error)


def test_export_is_complete_and_each_line_is_json():
    board = _board()
    board.records.store('He said "no"\n猫', ["a"], keywords=["k"], type="event", pinned=True, expires=board.now + 60)
    board.records.store("Ann lives in Rome", ["ann"])
    board.records.store("Ann lives in Oslo", ["ann"], supersedes="m2")
    board.profile.for_caller(OWNER).write("user.md", "Likes tea 🎉")
    board.notes.for_caller(OWNER).write("MEMORY.md", "one\ntwo")
    board.notes.for_caller(OWNER).note("went out")
    lines = [json.loads(line) for line in lines_of(board, "/export")]
    memories = {line["id"]: line for line in lines if "id" in line}
    assert sorted(memories) == ["m1", "m2", "m3"] and memories["m2"]["superseded"]
    assert memories["m1"]["content"] == 'He said "no"\n猫' and memories["m1"]["expires"] == board.now + 60
    assert memories["m1"]["keywords"] == ["k"] and memories["m1"]["pinned"] and memories["m1"]["created"] == board.now
    texts = {line["file"]: line["text"] for line in lines if "file" in line}
    assert sorted(texts) == ["2026-09-21.md", "MEMORY.md", "identity.md", "soul.md", "user.md"]
    assert texts["user.md"] == "Likes tea 🎉" and texts["MEMORY.md"] == "one\ntwo"


def test_compact_shows_what_came_free():
    board = _board()
    _fill(board, 3)
    board.records.forget("m2")
    assert lines_of(board, "/compact")[0].startswith("freed ")
    assert not board.holds("thing 1")


def _stop_compacting(board, store):
    """Type /compact, and stop it while it works on a log."""
    command = commands_of(board).run(OWNER, "/compact")
    while not store.is_compacting:
        next(command)
    command.close()


def test_a_compaction_that_was_stopped_half_way_can_be_restarted():
    board = _board()
    for number in range(12):
        board.remember("thing %d %s" % (number, "which is long " * 40), ["all"])
        board.journal.add(OWNER, "user", "owner", "the lamp %d hums %s" % (number, "and hums " * 60))
    for store in (board.records_store, board.journal_store):
        _stop_compacting(board, store)
        assert not store.is_compacting and store.log.may_mend
    board.records.forget("m2")
    assert lines_of(board, "/compact")[0].startswith("freed ")


def test_stats_tell_how_the_board_is_doing():
    board = _board()
    _fill(board, 3)
    lines = lines_of(board, "/stats")
    assert [line.split()[0] for line in lines[:10]] == [
        "version",
        "time",
        "mode",
        "model",
        "memories",
        "turns",
        "answered",
        "damaged",
        "heap",
        "flash",
    ]
    board.now = 1000
    assert "not known: the clock is not set" in lines_of(board, "/stats")[1]


# --- who may


def test_stats_tell_others_only_what_is_theirs():
    board = _board()
    _fill(board, 3)
    board.records.store("mine", ["a"], ANN)
    shown = [line.split() for line in lines_of(board, "/stats", ANN)]
    assert [row[0] for row in shown] == ["version", "time", "mode", "model", "memories"]
    assert shown[-1] == ["memories", "1"]


def test_the_owner_enters_and_leaves_a_workspace():
    board = _board()
    assert lines_of(board, "/workspace") == ["in no workspace"]
    assert "in the workspace garden" in lines_of(board, "/workspace garden")[0]
    assert board.config.get("console.workspace") == "garden" and board.holds('"workspace"')
    assert lines_of(board, "/workspace off") == ["in no workspace"]
    for wrong in ("My Garden", "Garden", "a b", "#a", "w" * 30):
        assert "must be the id of a workspace" in error_of(board, "/workspace " + wrong)


def test_others_see_their_workspace_and_do_not_choose_it():
    board = _board()
    assert "in the workspace garden" in lines_of(board, "/workspace", Caller("ann", "x", False, "garden"))[0]
    for caller in (ANN, ROOM, Caller("owner", "line x", False, "")):
        assert "only the owner" in error_of(board, "/workspace garden", caller)
    assert board.config.get("console.workspace") == ""
