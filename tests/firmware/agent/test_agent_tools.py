"""The tools that store and find: what each gives, and what each says to a wrong call."""

from board import ANN, DAY, ROOM
from calls import equipped, fill, problem_of, result_of, run
from engram.memory.access import OWNER

# --- memory_store


def test_store_gives_the_id_and_shows_the_person():
    board = equipped()
    result, notice = run(board, "memory_store", content="The bike is green", tags=["Bike"])
    assert result == {"outcome": "stored", "id": "m1"}
    assert notice == "remembered m1: The bike is green"
    record = board.records.get("m1")
    assert (record["source"], record["tags"], record["turns"]) == ("auto_llm", ["bike"], [board.turn])


def test_store_mentions_a_duplicate():
    board = equipped()
    fill(board, 1)
    result, notice = run(board, "memory_store", content="Fact 0.", tags=["a"])
    assert result == {"outcome": "duplicate", "duplicate_of": "m1"} and notice == ""


def test_store_names_what_says_nearly_the_same():
    board = equipped()
    board.records.store("the garage door code is 1234", ["code"])
    result = result_of(board, "memory_store", content="the garden door code is 1234", tags=["code"])
    assert result["outcome"] == "stored" and result["similar"] == ["m1"] and "supersedes" in result["hint"]


def test_store_in_a_group_room_is_for_all_and_else_private():
    board = equipped()
    result_of(board, "memory_store", ROOM, content="ours", tags=["a"])
    result_of(board, "memory_store", ANN, content="mine", tags=["a"])
    assert [record["content"] for record in board.records.newest(OWNER)] == ["ours"]


def test_store_refuses_what_is_wrong_and_says_what_would_be_right():
    board = equipped()
    good = {"content": "x y", "tags": ["a"]}
    for change, argument, problem in (
        ({"content": None}, "content", "is missing; it must be a text."),
        ({"tags": None}, "tags", "is missing; it must be a list of 1 to 3 texts"),
        ({"tags": []}, "tags", "must be a list of 1 to 3 texts"),
        ({"tags": ["x" * 33]}, "tags", "each must be a text of 1 to 32 characters"),
        ({"content": " "}, "content", "must be a text that is not empty"),
        ({"content": "x" * 2001}, "content", "has 2001 characters, at most 2000"),
        ({"type": "opinion"}, "type", "must be one of fact, decision"),
        ({"importance": 7}, "importance", "must be a number from 0 to 1"),
        ({"expires": "soon"}, "expires", "must be a day such as 2026-01-31"),
        ({"expires": "2026-09-20"}, "expires", "is over; today is 2026-09-21"),
        ({"colour": "red"}, "colour", "is not known; there are content, expires, importance"),
    ):
        given = dict(good)
        given.update(change)
        found = problem_of(board, "memory_store", **given)
        assert found[0] == argument and problem in found[1], found
    assert problem_of(board, "memory_store", supersedes="m9", **good) == (
        None,
        "there is no memory m9; it may have been forgotten; a list shows all.",
    )


# --- memory_search


def _found(board, **arguments):
    return [item["id"] for item in result_of(board, "memory_search", **arguments)["found"]]


def test_search_with_tags_finds_only_memories_that_have_them():
    board = equipped()
    board.journal.add(OWNER, "user", "owner", "my bike is green")
    board.records.store("The bike is green", ["bike"])
    board.records.store("The boat is green", ["boat"])
    assert _found(board, query="green", tags=["Bike"]) == ["m1"]


def test_search_says_how_sure_it_is_and_counts_only_answers_as_used():
    board = equipped()
    board.records.store("The bike is green", ["bike"])
    result = result_of(board, "memory_search", query="green capital zebra quagga okapi gnu impala")
    assert [item["id"] for item in result["found"]] == ["m1"]
    assert result["confidence"] < 10 and "say so, or ask back" in result["uncertain"]
    assert board.records.uses.usage_of(1)[0] == 0
    result = result_of(board, "memory_search", query="green bike")
    assert result["confidence"] >= 10 and "uncertain" not in result
    assert board.records.uses.usage_of(1)[0] == 1


def test_search_bounds_by_days():
    board = equipped()
    for number in range(3):
        board.records.store(f"bike {number}", ["bike"])
        board.now += DAY
    found = result_of(board, "memory_search", query="bike", since="2026-09-22", until="2026-09-22")["found"]
    assert [item["text"] for item in found] == ["bike 1"]


def test_a_word_like_an_id_is_searched():
    board = equipped()
    for word in ("M1", "m40"):
        board.records.store(f"Mind the {word} on the shelf", ["shop"])
        assert result_of(board, "memory_search", query=word)["found"][0]["text"] == f"Mind the {word} on the shelf"


def test_found_items_go_page_by_page():
    board = equipped()
    fill(board, 13)
    first, last = (result_of(board, "memory_search", query="fact", page=page) for page in (1, 2))
    assert first["more"] == "on page 2" and "more" not in last
    assert len({item["id"] for item in first["found"] + last["found"]}) == 13
    assert "reason" in result_of(board, "memory_search", query="fact", page=3)


def test_an_empty_search_says_why():
    board = equipped()
    board.records.store("The bike is green", ["bike"])
    assert "none of the words" in result_of(board, "memory_search", query="boats")["reason"]
    assert "without since" in result_of(board, "memory_search", query="bike", until="2020-01-31")["reason"]


def test_search_finds_memories_and_turns_but_not_the_turn_that_asks():
    board = equipped()
    board.journal.add(OWNER, "user", "owner", "my bike is green")
    board.turn = "t" + str(board.journal.add(OWNER, "user", "owner", "which bike?"))
    board.records.store("The bike cost 300", ["bike"])
    found = {item["id"]: item for item in result_of(board, "memory_search", query="bike")["found"]}
    assert "m1" in found and found["t4"]["who"] == "owner" and board.turn not in found
