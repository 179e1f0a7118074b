"""Plain commands without a model: remember, find and forget, each by words that people use."""

from board import ROOM, Board
from engram.memory.access import OWNER
from engram.text.openers import parse
from support import at_once

WORDS = ("apples", "boats", "trees", "frogs", "leaves")


class Talk:
    """A board without a model that a person talks to."""

    def __init__(self):
        self.board = Board().serve()
        self.offline = self.board.offline

    def say(self, content, caller=OWNER):
        """The answer; the message is in the journal first, as the agent does it."""
        command = parse(content)
        seq = self.board.journal.add(caller, "user", caller.principal, content, command=bool(command.kind))
        return at_once(self.offline.answer(caller, command, "t" + str(seq)))


def test_remember_stores_what_follows():
    talk = Talk()
    openings = ("remember that", "Remember:", "REMEMBER THAT", "please remember that", "note that")
    for number, opening in enumerate(openings):
        content = WORDS[number] + " please"
        assert talk.say(opening + " " + content) == f"Remembered as m{number + 1}: {content}"
        assert talk.board.records.get(f"m{number + 1}")["content"] == content
    talk.say("remember that I am tall", ROOM)
    assert talk.board.records.get("m6", ROOM)["content"] == "ann: I am tall"


def test_in_lightweight_mode_what_is_to_be_remembered_goes_into_a_file():
    talk = Talk()
    talk.board.config.save("mode", "lightweight")
    assert talk.say("remember that my bike is green") == "Kept in MEMORY.md: my bike is green"
    assert talk.say("remember that my bike is green") == "That is in MEMORY.md already: my bike is green"
    assert talk.board.notes.for_caller(OWNER).text("MEMORY.md").strip() == "- my bike is green"
    assert not talk.board.records.count() and "MEMORY.md#1" in talk.say("what colour is my bike?")
    assert "private" in talk.say("remember that I am tall", ROOM)


def test_a_line_of_a_note_is_forgotten_by_its_words_or_its_citation():
    talk = Talk()
    talk.board.config.save("mode", "lightweight")
    for content in ("my bike is green", "my bike is fast", "the key is with Ada"):
        talk.say("remember that " + content)
    assert talk.say("forget the key").startswith("Forgot MEMORY.md#3: - the key is with Ada")
    assert talk.say("forget my bike").endswith("\n- MEMORY.md#1: - my bike is green\n- MEMORY.md#2: - my bike is fast")
    assert talk.say("forget MEMORY.md#1").startswith("Forgot MEMORY.md#1: - my bike is green")
    assert talk.say("forget MEMORY.md#2").startswith("Forgot MEMORY.md#2: - my bike is fast")
    talk.board.undo.undo(OWNER, "")
    assert talk.board.notes.for_caller(OWNER).text("MEMORY.md") == "\n- my bike is fast\n\n"


def test_remembering_nearly_the_same_is_reported():
    talk = Talk()
    talk.say("remember that the garage door code is 1234")
    answer = talk.say("remember that the garage door code is 5678")
    assert answer.endswith("m1 says nearly the same; forget it if it is out of date.")


def test_chinese_commands_remember_and_find():
    talk = Talk()
    assert talk.say("请记住我的自行车是绿色的") == "Remembered as m1: 我的自行车是绿色的"
    for question in (
        "你知道我的自行车吗",
        "你还记得自行车吗？",
        "搜索自行车",
        "查找 自行车",
        "我的自行车是什么颜色？",
    ):
        assert talk.say(question) == "- [m1 2026-09-21] 我的自行车是绿色的", question


def test_questions_are_answered_from_memory():
    talk = Talk()
    talk.say("remember that my bike is green")
    for question in ("what do you know about bike?", "do you remember my bike", "search bike", "which bike do I have?"):
        assert talk.say(question) == "- [m1 2026-09-21] my bike is green"


def test_forget_by_id_takes_the_message_along():
    talk = Talk()
    talk.say("remember that my bike is green")
    answer = talk.say("forget m1")
    assert answer == "Forgot m1, t3: my bike is green (/undo brings it back)"
    assert talk.board.records.count() == 0 and talk.board.journal.turn(3) is None


def test_forget_by_words_forgets_the_only_one_that_has_them_all():
    talk = Talk()
    talk.say("remember that my bike is green")
    talk.say("remember that my bike is fast")
    assert talk.say("forget that my bike is green").startswith("Forgot m1, ")


def test_forget_by_words_that_fit_several_asks_which():
    talk = Talk()
    talk.say("remember that my bike is green")
    talk.say("remember that my bike is fast")
    assert (
        talk.say("forget my bike") == "Which one? Say forget and its id:\n- m2: my bike is fast\n- m1: my bike is green"
    )
    assert talk.board.records.count() == 2


def test_all_else_is_kept_and_reported():
    talk = Talk()
    for content in ("I planted tomatoes", "remembering is hard", "💡", "/", "When I was young I lived in Rome"):
        assert talk.say(content).startswith("I am offline")
    assert talk.board.journal.entries.count() == 5


def test_a_text_that_surely_finds_a_memory_is_answered_without_a_question_mark():
    talk = Talk()
    for fact in (
        "my bike is green",
        "mein Fahrrad steht im Keller",
        "妹の自転車は赤い",
        "the spare key hangs in the shed",
    ):
        assert talk.board.records.store(fact, ["note"])
    for said, fact in (
        ("the spare key", "the spare key hangs in the shed"),
        ("Fahrrad im Keller", "mein Fahrrad steht im Keller"),
        ("妹の自転車は何色", "妹の自転車は赤い"),
        ("how about the key in the shed", "the spare key hangs in the shed"),
    ):
        assert fact in talk.say(said).split("\n")[0], said
    for said in (
        "my bike is green",
        "my bike is blue now",
        "the spare key is lost",
        "mein Fahrrad ist kaputt",
        "hello",
    ):
        assert talk.say(said).startswith("I am offline"), said


def test_an_answer_that_is_not_certain_is_told_as_such():
    talk = Talk()
    talk.say("remember that the boiler was serviced in the capital")
    assert talk.say("What is the capital of France near zebras and okapis?").startswith(
        "I found nothing certain; this comes"
    )
    assert talk.say("When was the boiler serviced?").startswith("- [m1")


def test_a_command_without_its_object_stores_and_forgets_nothing():
    talk = Talk()
    talk.say("remember that my bike is green")
    for content in ("remember that", "Remember: it", "forget", "forget that!", "forget it", "记住", "忘记。"):
        assert " what? Say: " in talk.say(content), content
    assert [record["content"] for record in talk.board.records.newest(OWNER)] == ["my bike is green"]
