"""Standing intents: what fires and when, over a clock that a test sets, restarts, damage and failing writes."""

from board import ANN, DAY, NOW, ROOM, Board
from engram import files, text
from engram.errors import ArgumentError, NotFound, StoreError
from engram.memory.access import OWNER, Caller
from engram.reminders.reminders import Reminders
from samples import Numbers
from support import change, raises

HOUR = 3600
ERA = 600000000  # before any clock was set


def _board(**limits):
    change(Reminders, **limits)
    return Board()


def _fire(board, content, caller=OWNER):
    """The ids of what a message brings up, noted as the agent does it."""
    numbers = board.reminders.due(caller, content)
    found = [fields["id"] for fields in board.reminders.owned_by(caller, numbers)]
    if numbers:
        board.reminders.note_fired(numbers)
    return found


def _listed(board, caller=OWNER):
    return [(fields["id"], fields["when"], fields["remind"]) for fields in board.reminders.owned_by(caller)]


def _refused(board, when, remind, days=0, caller=OWNER):
    with raises(ArgumentError) as caught:
        board.reminders.add(caller, when, remind, days)
    return str(caught.error)


# --- matching


def test_a_message_with_all_its_words_brings_it_up():
    board = _board(cool_down=0)
    board.reminders.add(OWNER, "the paint shop", "buy brushes")
    for content in ("I was at the paint shop", "shops that sell paint", "PAINT! And a shop.", "a café, a shop; paints"):
        assert _fire(board, content) == ["i1"], content
    for content in ("the paint is dry", "a shop", "paintshop", "repaint the shopping mall", ""):
        assert _fire(board, content) == [], content


def test_chinese_is_matched_by_pairs_and_a_single_character_by_itself():
    board = _board(cool_down=0)
    board.reminders.add(OWNER, "油漆店", "买刷子")
    board.reminders.add(OWNER, "猫", "买猫粮")
    assert _fire(board, "我今天去了油漆店。") == ["i1"]
    assert _fire(board, "我的猫很可爱") == ["i2"]
    assert _fire(board, "油漆和书店") == []


WORDS = ("paint", "shop", "garden", "Bob", "taxes", "油漆", "猫", "café", "E42", "running", "the", "of", "cars", "2026")


def _brought_up(when, content):
    """The same in plain Python: all terms of one in the terms of the other."""
    return set(text.terms(when)).issubset(set(text.index_terms(content)))


def test_what_is_brought_up_is_what_a_plain_model_says():
    numbers = Numbers(6)
    board = _board(cool_down=0, a_turn=10)
    whens = {}
    while len(whens) < 10:
        when = " ".join([numbers.pick(WORDS) for _ in range(1 + numbers.below(3))])
        if list(text.terms(when)):
            fields = board.reminders.add(OWNER, when, "remind %d" % len(whens))
            whens[fields["id"]] = when
    fired = 0
    for _ in range(60):
        content = " ".join([numbers.pick(WORDS) for _ in range(1 + numbers.below(8))])
        wanted = sorted([ref for ref, when in whens.items() if _brought_up(when, content)])
        found = ["i%d" % number for number in board.reminders.due(OWNER, content)]
        assert sorted(found) == wanted, content
        fired += len(found)
    assert fired > 20


def test_a_long_message_is_looked_at_to_its_end():
    board = _board()
    board.reminders.add(OWNER, "paint zebra", "x")
    assert _fire(board, "paint " + "many other words " * 500 + "zebra") == ["i1"]


# --- how often


def test_it_is_silent_until_the_cool_down_is_over_also_over_restarts():
    board = _board()
    board.reminders.add(OWNER, "paint", "buy brushes")
    assert _fire(board, "paint") == ["i1"]
    for hours in (0, 1, 22):
        board.now += hours * HOUR
        board.restart()
        assert _fire(board, "paint") == []
    board.now += HOUR
    assert _fire(board, "paint") == ["i1"]
    assert _fire(board, "paint") == []
    assert [fields["fired"] for fields in board.reminders.owned_by(OWNER)] == [2]


def test_at_most_three_fire_at_once_and_the_others_at_the_next_message():
    board = _board()
    for number in range(8):
        board.reminders.add(OWNER, "paint", "reason %d" % number)
    assert _fire(board, "paint") == ["i1", "i2", "i3"]
    board.restart()
    assert _fire(board, "paint") == ["i4", "i5", "i6"]
    assert _fire(board, "paint") == ["i7", "i8"]
    assert _fire(board, "paint") == []


def test_those_fire_first_that_have_not_fired_for_longest():
    board = _board(a_turn=1)
    board.reminders.add(OWNER, "paint", "one")
    board.reminders.add(OWNER, "paint", "two")
    order = []
    for _ in range(4):
        order += _fire(board, "paint")
        board.now += 25 * HOUR
    assert order == ["i1", "i2", "i1", "i2"]


def test_an_intent_leaves_when_its_days_are_over():
    board = _board()
    board.reminders.add(OWNER, "paint", "brushes")
    board.reminders.add(OWNER, "garden", "seeds", 3)
    board.now += 3 * DAY - 1
    assert _fire(board, "the garden") == ["i2"]
    board.now += 1
    assert _listed(board) == [("i1", "paint", "brushes")] and _fire(board, "garden") == []
    with raises(NotFound):
        board.reminders.remove(OWNER, "i2")
    board.now += 87 * DAY
    board.restart()
    assert _listed(board) == []
    assert board.reminders.add(OWNER, "paint", "brushes")["id"] == "i3"
    assert not board.holds("seeds")


def test_switched_off_nothing_fires_and_nothing_is_added():
    board = _board()
    board.reminders.add(OWNER, "paint", "brushes")
    board.limits["intents_on"] = False
    board.restart()
    assert _fire(board, "paint") == []
    assert "intents.on" in _refused(board, "x-ray", "y")
    assert len(_listed(board)) == 1


# --- a clock that is set late


def test_a_clock_that_is_set_late_neither_ends_nor_repeats_what_was_made_before():
    board = Board()
    board.now = ERA
    board.restart()
    assert not board.clock.known
    board.reminders.add(OWNER, "paint", "brushes")
    board.reminders.add(OWNER, "garden", "seeds")
    assert _fire(board, "paint") == ["i1"]
    board.now = NOW + 400 * DAY
    assert _fire(board, "paint") == []
    assert _fire(board, "garden") == ["i2"]
    board.restart()
    board.now += 23 * HOUR
    assert _fire(board, "paint and garden") == []
    board.now += HOUR
    assert _fire(board, "paint and garden") == ["i1", "i2"]
    board.now += 89 * DAY - 1
    assert len(_listed(board)) == 2
    board.now += 1
    assert _listed(board) == []


def test_while_the_clock_is_not_known_nothing_expires_or_comes_again():
    board = Board()
    board.reminders.add(OWNER, "paint", "brushes", 1)
    assert _fire(board, "paint") == ["i1"]
    board.now = ERA
    board.restart()
    assert _fire(board, "paint") == []
    assert len(_listed(board)) == 1
    board.now = NOW + DAY
    assert _listed(board) == []


def test_one_that_fired_while_the_clock_was_not_known_keeps_its_end():
    board = Board()
    board.reminders.add(OWNER, "paint", "brushes", 2)
    board.now = ERA
    board.restart()
    assert _fire(board, "paint") == ["i1"]
    board.now = NOW + DAY
    assert _fire(board, "paint") == []
    board.now = NOW + 2 * DAY
    assert _listed(board) == []


def test_a_clock_that_was_far_ahead_does_not_silence_for_years():
    board = _board(days=3650)
    board.reminders.add(OWNER, "paint", "brushes")
    board.now = NOW + 1000 * DAY
    assert _fire(board, "paint") == ["i1"]
    board.now = NOW + DAY
    assert _fire(board, "paint") == ["i1"]


# --- whose


def test_nobody_else_sees_fires_or_removes_an_intent():
    board = _board(cool_down=0)
    for caller in (OWNER, ANN, ROOM):
        board.reminders.add(caller, "paint", "for " + caller.room)
    others = (
        Caller("bob", "chat#7", False, ""),
        Caller("bob", "chat#8", True, ""),
        Caller("owner", "chat#9", True, ""),
    )
    for number, caller in enumerate((OWNER, ANN, ROOM)):
        assert _listed(board, caller) == [("i%d" % (number + 1), "paint", "for " + caller.room)]
        assert _fire(board, "paint", caller) == ["i%d" % (number + 1)]
    for caller in others:
        assert _listed(board, caller) == [] and _fire(board, "paint", caller) == []
        for ref in ("i1", "i2", "i3"):
            with raises(NotFound) as mine:
                board.reminders.remove(caller, ref)
            with raises(NotFound) as none:
                board.reminders.remove(caller, "i9")
            assert str(mine.error).replace(ref, "i9") == str(none.error)


def test_a_private_intent_fires_in_each_private_room_of_its_principal():
    board = Board()
    board.reminders.add(ANN, "paint", "brushes")
    assert _fire(board, "paint", Caller("ann", "another#3", False, "")) == ["i1"]


def test_all_in_a_group_have_its_intents():
    board = Board()
    board.reminders.add(ROOM, "paint", "brushes")
    assert _fire(board, "paint", Caller("bob", ROOM.room, True, "")) == ["i1"]


def test_the_same_of_another_principal_is_no_duplicate():
    board = Board()
    board.reminders.add(OWNER, "paint", "brushes")
    assert board.reminders.add(ANN, "paint", "brushes")["id"] == "i2"


# --- what is refused


def test_what_is_no_intent_is_refused_with_a_sentence():
    board = Board()
    assert "when: must be a text that is not empty" in _refused(board, " \n", "x")
    assert "remind: must be a text that is not empty" in _refused(board, "paint", "")
    assert "when: has no word to watch for" in _refused(board, "what it is", "x")
    assert "when: has 13 words to watch for, at most 12" in _refused(
        board, " ".join(["w%d" % n for n in range(13)]), "x"
    )
    assert "when: has 201 characters, at most 200" in _refused(board, "p" * 201, "x")
    assert "remind: has 301 characters, at most 300" in _refused(board, "paint", "x" * 301)
    assert "days: must be a whole number from 1 to 3650" in _refused(board, "paint", "x", 3651)
    assert files.size(board.place + "/memory/intents.jsonl") < 0


def test_a_reminder_that_ends_in_any_sign_is_compared_whole():
    # The bytes of the last sign are those of a wide full stop and exclamation mark as well.
    board = Board()
    board.reminders.add(OWNER, "五金店", "打开")
    assert "there already as i1" in _refused(board, "五金店", "打开！")
    assert board.reminders.add(OWNER, "五金店", "打")["id"] == "i2"


def test_the_same_again_is_refused_by_its_id():
    board = Board()
    board.reminders.add(OWNER, "the paint shop", "Buy brushes.")
    assert "there already as i1" in _refused(board, "a paint shop", "buy brushes")
    assert board.reminders.add(OWNER, "paint", "buy brushes")["id"] == "i2"


def test_no_more_are_kept_than_a_board_holds():
    board = Board()
    board.reminders.table.most = 3
    for number in range(3):
        board.reminders.add(OWNER, "paint", "reason %d" % number)
    assert "there are 3 already" in _refused(board, "paint", "another")
    board.reminders.remove(OWNER, "i2")
    assert board.reminders.add(OWNER, "paint", "another")["id"] == "i4"


def test_texts_are_kept_on_one_line_without_control_characters():
    board = Board()
    board.reminders.add(OWNER, " paint \n shop ", "buy\x1b[2J\tbrushes")
    assert _listed(board) == [("i1", "paint shop", "buy\ufffd[2J brushes")]


def test_no_number_is_used_twice():
    board = Board()
    for number in range(1, 6):
        assert board.reminders.add(OWNER, "paint", "x")["id"] == "i%d" % number
        board.reminders.remove(OWNER, "I%d " % number)
        board.restart()


# --- the file


class _Failing:
    """Writes fail while the block runs."""

    def __enter__(self):
        self._write_parts = files.write_parts
        files.write_parts = self._fail

    def _fail(self, path, parts):
        raise StoreError("the flash is full.")

    def __exit__(self, kind, error, trace):
        files.write_parts = self._write_parts


def test_what_fired_is_silent_though_it_could_not_be_noted():
    board = Board()
    board.reminders.add(OWNER, "paint 1", "buy 1")
    with _Failing():
        assert _fire(board, "paint 1") == ["i1"]
        assert _fire(board, "paint 1") == []


def test_without_an_intent_no_file_is_made():
    board = Board()
    assert _fire(board, "hello") == [] and _listed(board) == []
    assert files.size(board.place + "/memory/intents.jsonl") < 0
