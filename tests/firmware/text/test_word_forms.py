"""A question finds what was said in another form of the word, in the languages that the stemmer knows."""

from engram.text import index_terms, terms

FORMS = (
    # German: plurals with an umlaut, cases
    ("die Äpfel in der Küche", "ein Apfel"), ("die Häuser am See", "mein Haus"),
    ("neue Wörterbücher", "das Wörterbuch"), ("grüne Jacken, die grünen", "grün"),
    ("die Tochter und die Töchter", "Töchter"), ("Versammlungen im Mai", "die Versammlung"),
    ("meine Schwestern", "Schwester"),
    # French and Italian: articles that an apostrophe joins to the word
    ("le train à l'aéroport", "aéroport"), ("l’ordinateur est là", "ordinateur"),
    ("qu'Anne habite ici", "Anne"), ("la chiave è nell'armadio", "armadio"),
    ("(l'angolo)", "angolo"),
    # Spanish and Portuguese
    ("las habitaciones", "la habitación"), ("dos relojes", "el reloj"), ("as lições", "a lição"),
    ("os corações", "coração"),
    # Russian and Ukrainian
    ("ключи лежат в синей коробке", "коробка"), ("мои сёстры", "сестра"),
    ("новая машина", "новую машину"), ("наші сусіди", "сусід"), ("нова книга", "нові книги"),
    # Arabic: the article, feminine and possessive endings
    ("السيارة في المرآب", "سيارتي"), ("القطط والقطة", "قطة"), ("موعد المدرسة", "مدرستك"),
    ("البيت", "بيتنا"),
    # Japanese of half width
    ("ｶﾞｿﾘﾝ", "ガソリン"), ("ﾊﾟﾝ屋", "パン屋"),
)  # fmt: skip


def test_a_word_is_found_by_its_other_forms():
    missed = [pair for pair in FORMS if set(terms(pair[1])).isdisjoint(index_terms(pair[0]))]
    assert not missed, missed


def test_different_words_stay_apart():
    for one, other in (
        ("open", "opera"), ("water", "wat"), ("kitchen", "kitch"), ("modern", "mode"),
        ("Müller", "Mühle"), ("hermano", "hermana"), ("стол", "стул"), ("بيت", "بنت"), ("カキ", "ガギ"),
    ):  # fmt: skip
        assert set(terms(one)).isdisjoint(terms(other)), (one, other)


def test_forms_that_are_stemmed_at_their_end_meet_with_each_other():
    for forms in ("concern concerns concerned concerning", "pattern patterns patterned"):
        assert len({tuple(terms(form)) for form in forms.split()}) == 1, forms
