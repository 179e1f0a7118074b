"""Replies are cut into messages at paragraphs, sentences and words; code stays code in each of them."""

from engram.text.cutting import split, units
from samples import Numbers

CLUSTERS = ("👩\u200d🚀", "e\u0301", "中", "ab ", "न\u094d", "👍🏽")


def parts_of(text, most=100):
    return list(split(text, most))


def test_units_are_those_of_utf_16():
    for text, count in (("", 0), ("abc", 3), ("é中", 2), ("🙂", 2), ("a🙂中", 4)):
        assert units(text) == count, text


def test_a_cut_is_at_a_paragraph_before_a_sentence():
    text = "A" * 45 + ".\n\nOne sentence. Another one that is rather long " + "b" * 40
    assert parts_of(text)[0] == "A" * 45 + "."


def test_a_cut_is_at_a_sentence_before_a_word():
    text = "word " * 9 + "ends here. and then more words follow " + "c " * 40
    assert parts_of(text)[0] == "word " * 9 + "ends here."


def test_nothing_but_white_space_is_lost():
    numbers = Numbers(5)
    for _ in range(30):
        text = "".join([numbers.pick(CLUSTERS) for _ in range(numbers.below(200))])
        parts = parts_of(text, 60)
        assert "".join("".join(parts).split()) == "".join(text.split()), text
        for part in parts:
            assert 0 < units(part) <= 60, part


def test_what_people_see_as_one_character_is_not_cut():
    for cluster in ("👩\u200d🚀", "न\u094d", "👍🏽"):
        for part in parts_of(cluster * 100, 60):
            assert part == cluster * (len(part) // len(cluster)), part


def test_code_is_closed_and_opened_again():
    text = "Look:\n\n```python\n" + "print(1)\n" * 40 + "```\nDone."
    parts = parts_of(text, 120)
    assert len(parts) > 3
    assert parts[0].startswith("Look:\n\n```python\n") and parts[0].endswith("print(1)\n```")
    for part in parts[1:-1]:
        assert part.startswith("```python\nprint(1)\n") and part.endswith("\nprint(1)\n```"), part
        assert units(part) <= 120
    assert parts[-1].endswith("print(1)\n```\nDone.")
    assert "".join(parts).count("print(1)\n") == 40


def test_code_that_begins_late_goes_to_the_next_part():
    text = "w " * 30 + "\n```\n" + "x\n" * 20 + "```"
    parts = parts_of(text)
    assert "```" not in parts[0]
    assert parts[1] == "```\n" + "x\n" * 20 + "```"


def test_code_within_a_line_is_no_fence():
    assert all("``" not in part for part in parts_of("```a``` " + "word " * 100)[1:])


def test_code_that_ends_before_the_cut_is_not_opened_again():
    text = "```\n" + "a" * 40 + "\n\nb\n```\n" + "c" * 20 + "\n" + "d" * 60
    first, second = parts_of(text)
    assert first.count("```") == 2 and "```" not in second, (first, second)
