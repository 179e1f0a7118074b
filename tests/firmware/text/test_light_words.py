"""Words that say nothing by themselves, in the languages that have a table of them."""

from engram.text.light_words import content_terms

QUIET = (
    "how are you today?", "wie geht es dir heute?", "muchas gracias", "bonne nuit", "как дела?", "你好",
    "bom dia, tudo bem?", "ciao, come stai?", "hallo, hoe gaat het?", "صباح الخير، كيف حالك؟", "どうもありがとうございます",
)  # fmt: skip
ASKED = (
    ("onde está o meu guarda-chuva?", "guarda"), ("dov'è il mio ombrello?", "ombrello"),
    ("waar is mijn paraplu?", "paraplu"), ("أين مظلتي؟", "مظل"), ("私の傘はどこですか？", "傘"),
)  # fmt: skip


def test_small_talk_says_nothing():
    assert not [each for each in QUIET if content_terms(each)]


def test_a_question_says_what_it_asks_for():
    for question, term in ASKED:
        found = content_terms(question)
        assert term in found and len(found) <= 2, (question, found)
