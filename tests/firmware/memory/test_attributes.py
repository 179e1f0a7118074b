"""Attributes find what holds now of a person, and what held once if it is asked for."""

from board import ANN, DAY, Board
from engram.memory import attributes, recall_block
from engram.memory.access import OWNER
from engram.memory.recall import RemoteResults, make_query

REPLACED = (
    ("I live in Paris", "I moved to Berlin", "where do I live?", "where did I live before?"),
    ("My name is Anna", "Call me Annika", "what is my name?", "what was my name before?"),
    ("I work at the bakery", "I started at the post office", "where do I work?", "where did I work before?"),
    ("My phone number is 0151 1234", "My number is 0160 9876", "what is my phone number?", "my previous phone number?"),
    ("My email is a@x.org", "My e-mail is now b@y.net", "what is my email?", "what was my previous email?"),
    ("My birthday is 3 May", "I was born on 4 May", "when is my birthday?", "what was my birthday before?"),
    ("My girlfriend is Lea", "My wife is Mia", "who is my wife?", "who was my girlfriend before?"),
    ("The gate code is 1234", "The gate code is 9876", "what is the gate code?", "what was the gate code before?"),
    ("My favourite color is blue", "My favourite color is green", "my favourite color?", "my favourite color before?"),
    ("The bins go out on Monday", "The bins go out on Friday", "when do the bins go out?", "when did the bins before?"),
)
OTHER_LANGUAGES = (
    ("Ich wohne in Köln", "Ich bin nach Bonn gezogen", "Wo wohne ich?", "Wo wohnte ich früher?"),
    ("我住在上海", "我搬到北京了", "我住在哪里？", "我以前住在哪里？"),
    ("Vivo en Sevilla", "Me mudé a Bilbao", "¿Dónde vivo?", "¿Dónde vivía antes?"),
    ("J'habite à Lyon", "J’ai déménagé à Nantes", "Où est-ce que j'habite ?", "Où j'habitais avant ?"),
    ("Moro em Recife", "Mudei-me para o Porto", "Onde eu moro?", "Onde eu morava anteriormente?"),
    ("Abito a Torino", "Mi sono trasferita a Bari", "Dove abito?", "Dove abitavo prima?"),
    ("Я ЖИВУ В ТУЛЕ", "Я переехала в Омск", "Где я живу?", "Где я жила раньше?"),
    ("奈良に住んでいます", "神戸に引っ越しました", "どこに住んでいる？", "以前どこに住んでいましたか？"),
)


CONTRADICTING = (
    ("The gate code is 1234", "The gate code is 9876", "what is the gate code?"),
    ("I live in Paris", "I moved to Berlin", "where do I live?"),
    ("Ich wohne in Köln", "Ich bin nach Bonn gezogen", "Wo wohne ich?"),
    ("Mi gato se llama Luna", "Mi gato se llama Estrella", "¿cómo se llama mi gato?"),
    ("車庫の暗証番号は1234です", "車庫の暗証番号は9876です", "車庫の暗証番号は？"),
    ("我的猫叫小花", "我的猫叫小黑", "我的猫叫什么？"),
    ("Код от ворот 1234", "Код от ворот 9876", "какой код от ворот?"),
)
BOTH_HOLD = (
    ("I work at the bakery", "I work late on Mondays and on Fridays", "what about the bakery on Mondays?"),
    ("The red door sticks", "The red door of the shed sticks in wet weather", "which door sticks?"),
    ("I like tea", "I like rum", "do I like tea or rum?"),
    ("I used to live in Paris", "I moved to Berlin", "where do I live?"),
)


def _board():
    board = Board()
    board.journal.begin(OWNER)
    return board


def _keep(board, content, **more):
    """Say something, and remember it a day later."""
    turn = "t%d" % board.journal.add(OWNER, "user", "owner", content)
    ref = board.records.store(content, ["note"], OWNER, turns=[turn], **more).id
    board.now += DAY
    return ref


def _lines(board, query, most=4):
    ranked = board.recall.rank(make_query(query, OWNER))
    return [board.recall.line(item, False) for item in board.recall.find(ranked, most)]


def test_an_attribute_is_found_in_other_words():
    for _, new, query, _ in REPLACED[:7] + OTHER_LANGUAGES:
        board = _board()
        board.records.store(new, ["note"])
        assert [new in line for line in _lines(board, query)] == [True], query


def test_what_was_replaced_is_shown_only_if_the_past_is_asked_for():
    for old, new, query, past in REPLACED + OTHER_LANGUAGES:
        board = _board()
        ref = _keep(board, old)
        _keep(board, new, supersedes=ref)
        lines = _lines(board, query)
        assert new in lines[0] and not any(old in line for line in lines), (query, lines)
        assert any("until 2026-09-22: " + old in line for line in _lines(board, past)), (past, _lines(board, past))


def test_a_changed_memory_is_shown_as_it_was_if_the_past_is_asked_for():
    board = _board()
    ref = _keep(board, "The lamp is in the hall")
    board.records.update(ref, {"content": "The lamp is in the attic"})
    assert any(
        "until 2026-09-22: The lamp is in the hall" in line for line in _lines(board, "where was the lamp before?")
    )


def _earlier(board):
    ranked = board.recall.rank(make_query("where was the lamp before?", OWNER))
    return [item.text for item in board.recall.find(ranked, 20) if "until " in item.text]


def test_a_companions_answer_hides_no_present_fact_behind_an_earlier_one():
    board = Board(companion_url="http://companion")
    ref = board.records.store("The lamp is in the hall", ["note"]).id
    board.records.update(ref, {"content": "The lamp is in the attic"})
    used = []
    board.recall._remote.add_use = lambda number, caller: used.append(number)
    more = RemoteResults([(ref, 900, board.now)], (1, 0), "", (900,))
    ranked = board.recall.with_remote(board.recall.rank(make_query("where was the lamp before?", OWNER)), more)
    found = [item.text for item in board.recall.find(ranked, 4)]
    assert found == ["The lamp is in the attic", "until 2026-09-21: The lamp is in the hall"]
    assert not used


def test_a_version_with_the_same_content_was_no_earlier_fact():
    board = _board()
    ref = _keep(board, "The lamp is in the hall")
    board.records.update(ref, {"pinned": True})
    assert not _earlier(board)


def test_a_version_that_was_taken_back_never_held():
    board = _board()
    ref = _keep(board, "The lamp is in the hall")
    for place in ("attic", "cellar"):
        board.records.update(ref, {"content": "The lamp is in the " + place})
    for _ in range(2):
        board.undo.undo()
        assert not any("cellar" in line for line in _earlier(board))
    assert not _earlier(board)


def test_at_most_three_earlier_versions_of_a_memory_are_shown():
    board = _board()
    ref = _keep(board, "The lamp is in room 0")
    for number in range(1, 6):
        board.records.update(ref, {"content": "The lamp is in room %d" % number})
    assert [line[-6:] for line in _earlier(board)] == ["room 4", "room 3", "room 2"]


def _differing(texts, query, caller=OWNER) -> str:
    board = _board()
    for said in texts:
        board.records.store(said, ["private"], caller)
        board.now += DAY
    block = recall_block.make(board.recall, board.recall.rank(make_query(query, caller)), 600)
    return "".join(line for line in block.split("\n") if line.startswith("These differ"))


def test_facts_of_which_one_can_hold_are_named_newest_first_and_no_others():
    for one, other, query in CONTRADICTING:
        for caller in (OWNER, ANN):
            assert _differing((one, other), query, caller).endswith(": [m2 2026-09-22], [m1 2026-09-21]"), query
    for one, other, query in BOTH_HOLD:
        assert not _differing((one, other), query), query


def test_a_phrase_that_only_looks_like_an_attribute_is_none():
    for said in ("Llegamos antes de las ocho", "la prima volta a Roma", "раньше чем в мае", "ma sœur habite à Lyon"):
        assert not attributes.kinds(said), said
