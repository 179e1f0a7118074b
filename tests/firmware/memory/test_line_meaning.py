"""The contract of line_meaning.py: the companion reads a board's copies by these names, and by what they give."""

from engram.errors import ArgumentError
from engram.memory.line_meaning import asks_replies, describe_record, describe_turn, named_speaker
from engram.store.types import ARCHIVED, FORGOTTEN, SUPERSEDED

AT = 1790000000
"""21 September 2026, 14:13:20 UTC."""

TURN = {"seq": 7, "sid": "s3", "role": "user", "who": "ann", "text": "Tea is ready", "at": AT, "n": 0}
RECORD = {"seq": 5, "id": "m2", "content": "Ann drinks tea", "tags": ["food"], "created": AT}
ERRORS = (KeyError, TypeError, ValueError, ArgumentError)
"""What a line of another form may raise: the store takes these for no entry."""


def _with(line, **more):
    line = dict(line)
    line.update(more)
    return line


def _without(line, name):
    return {key: value for key, value in line.items() if key != name}


# --- records


def test_a_record_is_an_entry_with_its_number_time_labels_and_words():
    entry = describe_record(_with(RECORD, keywords=["green leaves"], scope="user:ann", type="preference", origin="x:1"))
    assert (entry.number, entry.session, entry.at, entry.ends) == (2, 0, AT, 0)
    assert list(entry.labels) == ["#food", "@user:ann", "!preference", "^x:1"]
    assert set(entry.terms) >= {"ann", "drink", "tea", "food", "green", "leav"}
    assert list(entry.hides) == [] and list(entry.shows) == []


def test_a_record_hides_those_in_whose_place_it_comes():
    assert list(describe_record(_with(RECORD, supersedes="m1")).hides) == [(1, SUPERSEDED)]
    assert list(describe_record(_with(RECORD, **{"with": ["m1", "m4"]})).hides) == [(1, SUPERSEDED), (4, SUPERSEDED)]


def test_a_record_is_forgotten_with_the_older_ones_and_may_show_another():
    line = {"seq": 9, "op": "forget", "id": "m2", "at": AT, "with": ["m1"], "restores": "m4"}
    entry = describe_record(line)
    assert entry.number == -1 and list(entry.hides) == [(2, FORGOTTEN), (1, FORGOTTEN)] and list(entry.shows) == [4]


def test_a_record_that_left_is_forgotten_and_one_that_is_archived_is_not():
    assert list(describe_record({"seq": 9, "op": "leave", "id": "m2", "at": AT}).hides) == [(2, FORGOTTEN)]
    assert list(describe_record({"seq": 9, "op": "archive", "id": "m2", "at": AT}).hides) == [(2, ARCHIVED)]


def test_a_record_of_another_form_is_an_error():
    for line in (
        _with(RECORD, id="x2"),
        _with(RECORD, content=5),
        _with(RECORD, tags=[5]),
        _with(RECORD, scope=5),
        _without(RECORD, "content"),
    ):
        assert _is_error(describe_record, line), line


# --- turns


def test_a_turn_is_an_entry_with_its_session_time_labels_and_words():
    entry = describe_turn(_with(TURN, scope="user:ann", caption="a cup"), 0)
    assert (entry.number, entry.session, entry.at, entry.ends) == (7, 3, AT, 0)
    assert list(entry.labels) == ["~s3", "%ann", "@user:ann"]
    assert set(entry.terms) >= {"21", "september", "2026", "ann", "tea", "readi", "cup"}
    assert list(entry.hides) == [] and list(entry.shows) == []
    assert not entry.is_reply and describe_turn(_with(TURN, role="assistant"), 0).is_reply


def test_a_query_asks_for_replies_if_it_names_what_the_assistant_said():
    for query in ("What did you recommend?", "which tools you mentioned", "Was your advice good?", "你推荐了什么？"):
        assert asks_replies(query), query
    for query in ("Where do I live?", "What would you suggest?", "Can you list my books?", "我喜欢什么？", ""):
        assert not asks_replies(query), query


def test_a_turn_whose_text_has_gone_is_forgotten_and_has_no_words():
    entry = describe_turn(_with(_without(TURN, "text"), gone=True), 0)
    assert entry.number == 7 and list(entry.hides) == [(7, FORGOTTEN)] and list(entry.terms) == []


def test_operations_hide_and_show_turns_and_end_sessions():
    assert list(describe_turn({"seq": 9, "op": "redact", "turn": 7, "at": AT}, 0).hides) == [(7, FORGOTTEN)]
    assert list(describe_turn({"seq": 9, "op": "show", "turn": 7, "at": AT}, 0).shows) == [7]
    assert describe_turn({"seq": 9, "op": "drop", "sid": "s3", "at": AT}, 0).ends == 3


def test_a_turn_of_another_form_is_an_error():
    for line in (
        _with(TURN, text=5),
        _with(TURN, sid=5),
        _with(TURN, sid="x3"),
        _with(TURN, n="0"),
        _with(TURN, caption=5),
        _without(TURN, "who"),
        _without(TURN, "text"),
        {"seq": 9, "op": 5},
        {"seq": 9, "op": "redact", "turn": "7"},
    ):
        assert _is_error(lambda line: describe_turn(line, 0), line), line


def _is_error(describe, line):
    try:
        describe(line)
    except ERRORS:
        return True
    return False


# --- speakers


def test_a_speaker_that_does_not_count_is_not_named():
    assert named_speaker("Ann and Bob", ["%ann", "%bob"], lambda label: label == "%bob") == "%bob"
