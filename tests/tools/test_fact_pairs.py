"""The comparison of facts on 1,689 pairs with a known verdict, and what must hold for each of their texts.

The pairs of tests/data/fact_pairs were written by hand before any rule had seen them. A wrong `same` loses a fact and a wrong
`changed` hides one, so both are bounded; how many true changes are found is a rate.
"""

import re
import sys
from pathlib import Path

import pytest

import compare_facts
import get_micropython
from engram.memory.records import dedup, dedup_words
from extent import extent
from one_case import in_one_case

FOLDER = Path(__file__).resolve().parent.parent / "data" / "fact_pairs"
MOST_WRONGLY_CHANGED = 2
LEAST_FOUND = 0.6
NO_WORD = {False: "zebra", True: "斑"}  # a word of no pair, by whether the text is Chinese


@pytest.fixture(scope="module")
def pairs() -> list[compare_facts.Pair]:
    return compare_facts.read_all(line for path in sorted(FOLDER.glob("*.jsonl")) for line in path.open("rb"))


@pytest.fixture(scope="module", params=[109, pytest.param(1, marks=pytest.mark.soak)], ids=["some", "all"])
def texts(pairs, request) -> list[str]:
    return [text for pair in pairs for text in (pair.old, pair.new)][:: request.param]


def test_no_fact_is_lost_few_are_hidden_and_most_changes_are_found(pairs):
    for pair in pairs:
        pair.verdict = dedup.compare(pair.old, pair.new)
    found = compare_facts.rates(pairs)
    sys.stdout.write(compare_facts.table(pairs) + "\n")
    assert len(pairs) == 1689
    assert not found.wrongly_same
    assert len(found.wrongly_changed) <= MOST_WRONGLY_CHANGED
    assert found.found >= LEAST_FOUND * found.changes


@pytest.mark.skipif(
    not any(get_micropython.usable(get_micropython.HOME / str(bits), bits) for bits in (32, 64)),
    reason="there is no MicroPython",
)
def test_micropython_gives_the_same_verdicts(pairs):
    compare_facts.compare(pairs)
    assert not [pair for pair in pairs if pair.verdict != dedup.compare(pair.old, pair.new)]


@pytest.mark.shortened
def test_the_order_of_two_texts_does_not_decide_whether_they_are_the_same(pairs):
    wrong = [
        pair
        for pair in pairs[:: extent(1, 7)]
        if (dedup.compare(pair.old, pair.new) == dedup.SAME) != (dedup.compare(pair.new, pair.old) == dedup.SAME)
    ]
    assert not wrong


def test_a_text_is_the_same_as_itself_with_other_punctuation_at_its_end(texts):
    for text in texts:
        assert dedup.compare(text, text.rstrip(".!。") + " .") == dedup.SAME, text


def test_capitals_count_only_in_names_of_accounts_and_passwords(texts):
    cased = [word.decode() for word in dedup_words.CASED.split()]
    for text in texts:
        if text.isascii() and not any(word in text.lower() for word in cased):
            assert dedup.compare(text, text.upper()) == dedup.SAME, text


def test_another_word_is_never_the_same(texts):
    for text in texts:
        words, between = _words(text)
        for at in range(len(words)):
            other = between.join([*words[:at], NO_WORD[not between], *words[at + 1 :]])
            _check_not_same(text, other)


@in_one_case("word", ["zebra", "very", "also", "no", "now", "*", "!", "=", "~", "|", "u", "斑", "没"])
def test_an_added_word_or_sign_is_never_the_same(texts, word):
    for text in texts:
        words, between = _words(text)
        added = f" {word} " if word.isascii() and not between else word
        for at in range(len(words) + 1):
            if word == "!" and not "".join(words[at:]).strip(".!。"):
                break  # at the end it is other punctuation
            _check_not_same(text, between.join([*words[:at], added, *words[at:]]))


def test_another_digit_is_never_the_same(texts):
    for text in texts:
        for at, character in enumerate(text):
            if character in "0123456789":
                _check_not_same(text, text[:at] + str((int(character) + 1 + at % 9) % 10) + text[at + 1 :])


def test_an_added_denial_is_never_the_same(texts):
    for text in texts:
        words, between = _words(text)
        for at in range(len(words) + 1):
            other = between.join([*words[:at], "not" if between else "不", *words[at:]])
            _check_not_same(text, other)


def _check_not_same(one: str, other: str) -> None:
    assert dedup.compare(one, other) != dedup.SAME, (one, other)
    assert dedup.compare(other, one) != dedup.SAME, (one, other)


def _words(text: str) -> tuple[list[str], str]:
    """The words of a text and what stands between them; of a Chinese one each character but those of ASCII words."""
    return (re.findall(r"[!-~]+|.", text), "") if re.search("[\u3000-\u9fff]", text) else (text.split(" "), " ")
