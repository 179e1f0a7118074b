"""What turns say that a memory no longer says is not recalled, whatever happens to the board; what else was said is."""

from board import ANN, DAY, ROOM, Board, say
from calls import result_of
from engram.memory.access import OWNER
from outdated_facts import FACTS, edit, replace, told
from support import rounds


def _check(board, ref, fact):
    """Fail unless a question finds the memory first, and nowhere what held before."""
    (old, new), question = fact[2], fact[3]
    found = board.find(question, OWNER)
    assert new in found[0].text and ref in [item.id for item in found], (fact, found)
    assert not [item for item in found if old in item.text], (fact, found)
    assert old not in board.block(question, OWNER, 600)


def _tick(board):
    while board.records.entries.tick() or board.journal.entries.tick():
        pass


def test_after_a_change_a_question_finds_what_holds_now_and_nothing_that_said_the_old():
    for fact in FACTS[: rounds(len(FACTS), 3)]:
        for change in (edit, replace):
            board, ref = told(fact)
            ref = change(board, ref, fact[1] % fact[2][1])
            _check(board, ref, fact)
            for _ in range(2):  # the question itself is in the journal then
                say(board, fact[3])
                _check(board, ref, fact)
                board.now += DAY


def test_it_stays_so_through_restarts_lost_indexes_and_compactions():
    for number, fact in enumerate(FACTS[: rounds(len(FACTS), 2)]):
        board, ref = told(fact)
        ref = (edit, replace)[number % 2](board, ref, fact[1] % fact[2][1])
        board.restart()
        _check(board, ref, fact)
        board.lose_indexes()
        _check(board, ref, fact)
        _tick(board)
        _check(board, ref, fact)
        for _ in range(2):
            board.compact()
            _tick(board)
            _check(board, ref, fact)
            board.lose_indexes()
            _tick(board)
            _check(board, ref, fact)


def test_undo_brings_back_what_turns_said():
    for change in (edit, replace):
        board, ref = told(FACTS[0])
        before = sorted([item.id for item in board.find("1234", OWNER)])
        change(board, ref, "the gate code is 9876")
        assert board.find("1234", OWNER) == []
        board.restart()
        board.undo.undo()
        board.restart()
        assert sorted([item.id for item in board.find("1234", OWNER) if item.id != "t9"]) == before


def test_a_forgotten_turn_does_not_come_back_by_its_mark():
    board, ref = told(FACTS[0])
    replace(board, ref, "the gate code is 9876")
    board.journal.redact("t4", OWNER)
    for _ in range(2):
        assert not board.holds(FACTS[0][0]) or board.journal.live_turn(4) is None
        board.compact()
        board.restart()
    assert not board.holds(FACTS[0][0]) and "text" not in (board.journal.turn(4) or {})


def test_other_things_that_were_said_stay():
    for said in (
        "My sister lives in Paris",
        "the museums of Paris are worth a day",
        "I live in Berlin now, and no longer in Paris",
        "I live in Paris, and my sister plays the violin in an orchestra",
        "By the way: the bus to Paris leaves at nine",
    ):
        board, ref = told(FACTS[1])
        turn = "t%d" % say(board, said)
        edit(board, ref, "The user lives in Berlin")
        assert turn in [item.id for item in board.find(said, OWNER)], said


def test_an_attribute_that_was_said_in_other_words_is_outdated_too():
    for said, old, new in (
        ("My home is Paris", "I live in Paris", "I moved to Berlin"),
        ("By the way, call me Anna", "My name is Anna", "My name is Annika"),
        ("我住在上海浦东", "我家在上海浦东", "我搬到北京了"),
    ):
        board = Board()
        say(board, said)
        ref = board.records.store(old, ["note"], turns=["t%d" % say(board, old)]).id
        board.records.store(new, ["note"], supersedes=ref)
        assert not [item.id for item in board.find(said, OWNER) if item.id[0] == "t"], said


def test_what_is_added_or_said_in_other_words_makes_nothing_outdated():
    for content in ("the gate code is 1234 since May", "The gate code is 1234!", "the gate code is 1234"):
        board, ref = told(FACTS[0])
        before = [item.id for item in board.find("gate code 1234", OWNER)]
        board.records.update(ref, {"content": content})
        board.records.update(ref, {"tags": ["gate"], "importance": 0.9})
        assert set(before).difference({"t4"}).issubset([item.id for item in board.find("gate code 1234", OWNER)])


def test_a_denial_makes_what_it_denies_outdated():
    board = Board()
    turn = "t%d" % say(board, "I eat meat")
    ref = board.records.store("I eat meat", ["food"], OWNER, turns=[turn]).id
    board.records.update(ref, {"content": "I do not eat meat"})
    assert [item.id for item in board.find("do I eat meat?", OWNER)] == [ref]


def test_what_others_said_in_private_stays():
    for caller in (ANN, ROOM):
        board = Board()
        theirs = "t%d" % board.journal.add(caller, "user", caller.principal, "the gate code is 1234")
        ref = board.records.store("the gate code is 1234", ["note"]).id
        board.records.update(ref, {"content": "the gate code is 9876"})
        assert [item.id for item in board.find("gate code", caller)] == [theirs]


def test_what_others_say_of_themselves_stays():
    for caller, who, author in ((OWNER, "owner", "Bob"), (ROOM, "bob", "")):
        board = Board()
        turn = "t%d" % board.journal.add(caller, "user", "ann", "I live in Paris")
        theirs = "t%d" % board.journal.add(caller, "user", who, "I live in Paris", forwarded=author)
        ref = board.records.store("I live in Paris", ["home"], caller, turns=[turn]).id
        board.records.update(ref, {"content": "I live in Berlin"}, caller)
        found = [item.id for item in board.find("where do I live, in Paris?", caller)]
        assert theirs in found and turn not in found


def test_a_question_that_was_asked_before_is_no_answer():
    board = Board().with_tools()
    board.turn = "t%d" % say(board, "hello")
    for _ in range(3):
        say(board, "what is my blood type?")
    assert "uncertain" in result_of(board, "memory_search", OWNER, query="what is my blood type?")
    board.records.store("My blood type is B", ["health"])
    answer = result_of(board, "memory_search", OWNER, query="do you know what my blood type is?")
    assert answer["found"][0]["id"] == "m1" and "uncertain" not in answer
