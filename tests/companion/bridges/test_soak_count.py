"""The soak's own count: what is lost, doubled, marked or shown elsewhere is found."""

from bridge_peers import Shown
from engram_host.companion.conversations.display import AGAIN
from soak_town import SaidMessage, check_prompts, count_answers

ANN = SaidMessage("w0001", "irc", "ann", False, "kitchen")
BEN = SaidMessage("w0002", "irc", "ben", True, "kitchen")
WHOLE = ["First of w0001.", "Last of w0001."]
GROUP = ["First of ben: w0002.\n\nLast of ben: w0002."]


def _seen(ann: list[str], group: list[str]) -> dict[tuple[str, str], list[Shown]]:
    return {
        chat: [Shown(str(number), "engram", text) for number, text in enumerate(texts)]
        for chat, texts in ((ANN.chat, ann), (BEN.chat, group))
    }


def _count(ann: list[str], group: list[str]) -> tuple[set[str], ...]:
    count = count_answers([ANN, BEN], _seen(ann, group))
    return count.lost, count.doubled, count.marked, count.crossed


def test_answers_that_are_shown_once_in_their_chats_are_well():
    assert _count(WHOLE, GROUP) == (set(), set(), set(), set())


def test_an_answer_without_its_end_is_lost():
    assert _count(WHOLE[:1], GROUP) == ({"w0001"}, set(), set(), set())


def test_an_answer_that_is_shown_twice_is_doubled_unless_it_is_marked():
    assert _count(WHOLE * 2, GROUP) == (set(), {"w0001"}, set(), set())
    assert _count([*WHOLE, AGAIN + "\n".join(WHOLE)], GROUP) == (set(), set(), {"w0001"}, set())
    assert _count([*WHOLE, AGAIN.strip(), *WHOLE], GROUP) == (set(), set(), {"w0001"}, set())


def test_an_answer_in_another_chat_has_crossed():
    assert _count(WHOLE, GROUP + WHOLE) == (set(), set(), set(), {"w0001"})


def test_a_prompt_with_anothers_private_words_is_found():
    assert check_prompts([ANN, BEN], ["w0002 is asked, w0001"]) == []
    assert len(check_prompts([ANN, BEN], ["w0001 was said, and now w0002"])) == 1
