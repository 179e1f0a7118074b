"""Two facts: the same, similar or different."""

from engram.memory.records.dedup import DIFFERENT, SAME, SIMILAR, compare
from samples import Numbers
from support import rounds


def _check(expected: str, *pairs):
    for one, other in pairs:
        assert compare(one, other) == compare(other, one) == expected, (one, other, compare(one, other))


def test_width_the_article_and_punctuation_at_the_end_do_not_count():
    _check(
        SAME,
        ("User likes apples", "The user likes apples."),
        ("我喜欢苹果", "我喜欢苹果。"),
        ("客厅温度是21度", "客厅温度是２１度"),
        ("User's bike is green", "user’s  bike is green!"),
    )


def test_every_other_word_letter_digit_and_sign_counts():
    _check(
        SIMILAR,
        ("The password is abcDef", "The password is abcdef"),
        ("The Wi-Fi password is Secret", "The Wi-Fi password is secret"),
        ("The yard has 5 m²", "The yard has 5 m³"),
        ("User likes C", "User likes C++"),
        ("The limit is 5", "The limit is -5"),
        ("User likes apples", "User does not like apples"),
        ("My sons went to Rome", "My son went to Rome"),
    )


def test_more_than_three_fifths_of_the_terms_in_common_are_similar():
    _check(
        SIMILAR,
        ("User's name is Anna", "User's name is Hanna"),
        ("The garage door code is 1234", "the garden door code is 1234"),
    )
    _check(DIFFERENT, ("I live in Paris", "I moved to Berlin"), ("User likes apples", "User owns a shop"))


ENGLISH = "User 's is not no longer 5 -3.5 7 pm May 3 € ° , . ; : of from to at in = ! ~ * u _ | n't ' % T5 #a the"
CHINESE = "有 没 对 在 把 的 了 两 三 点 半 百 周 🎉 \u0301 ก 名字"


def test_any_text_gets_a_verdict_and_a_digit_more_is_never_the_same():
    numbers = Numbers(11)
    pieces = (ENGLISH + " " + CHINESE).split(" ")
    for _ in range(rounds(3000, 300)):
        words = [numbers.pick(pieces) for _ in range(numbers.below(9))]
        one = numbers.pick(("", " ")).join(words)
        words.insert(numbers.below(len(words) + 1), "%d" % numbers.below(10))
        assert compare(one, " ".join(words)) in (SIMILAR, DIFFERENT), (one, words)
