from engram.text import MAX_TERM, STOP_WORDS, terms, words
from samples import Digest, Numbers
from support import on_micropython

ASCII = "a b s e ss es ed ing ly ies sses tt ll 's ' '' ' s' the and 4 2023 X ING \n \t . , - _ ( ) \x01 \x7f"
OTHERS = (
    "é É e\u0301 ß Ł œ Ж й и\u0306 Ё ў Σ ς ά 中 文 か タ 한 국 ไ ท ย أ ا \u064e ـ ٣ ש \u05bc न म \u094d ’ 's ５ Ａ 。 "
    "🙂 👍🏽 🇩🇪 \u200d cats it x -"
)
FRAGMENTS = ASCII.split(" ") + [" "] * 3
SCRIPTS = OTHERS.split(" ") + [" "] * 3


def generated(fragments, count: int, seed: int) -> str:
    numbers = Numbers(seed)
    return "".join([numbers.pick(fragments) for _ in range(numbers.below(count))])


def reference_words(text: str) -> list:
    import re

    article = "(?<![a-z0-9])(?:[cdjlmnst]|qu|un|all|dell|nell|sull|dall|quell|quest)'"
    text = re.sub("'s(?![a-z0-9])", " ", re.sub(article, " ", text.lower())).replace("'", "")
    return re.findall("[a-z0-9]+", text)


def reference_stem(word: str) -> str:
    import re

    if not 2 < len(word) <= MAX_TERM:
        return word[:MAX_TERM]
    vowel = re.compile("[aeiouy]").search
    for ending, other, fits in (
        ("ies", "y", len(word) > 4),
        ("sses", "ss", True),
        ("es", "", len(word) > 3 and word[-3] != "e"),
        ("erns", "er", len(word) > 6),
        ("s", "", word[-2] not in "sui"),
        ("ied", "y", len(word) > 4),
        ("erned", "er", len(word) > 6),
        ("ed", "", word[-3] != "e" and vowel(word[:-2])),
        ("erning", "er", len(word) > 6),
        ("ing", "", len(word) > 4 and vowel(word[:-3])),
        ("ly", "", len(word) > 5),
        ("ern", "er", len(word) > 5),
        ("ungen", "ung", len(word) > 6),
        ("innen", "in", len(word) > 6),
        ("eiten", "eit", len(word) > 6),
        ("onen", "on", len(word) > 6),
    ):
        if word.endswith(ending) and fits:
            word = word[: -len(ending)] + other
            break
    if len(word) > 2:
        word = re.sub("e$", "", word)
    if len(word) > 2:
        word = re.sub("(?<=[^aeiouy])y$", "i", word)
    return re.sub("(?<=..)([bcdfghjklmnpqrstvwxz])\\1$", "\\1", word)


def test_a_typographic_apostrophe_counts_as_one():
    assert list(words("it’s don’t ‘quoted’ itʼs")) == ["it", "dont", "quoted", "it"]


def test_a_part_of_a_stop_word_is_a_term():
    for word in ("wit", "ith", "ould", "nd", "hic", "fo", "bou"):
        assert list(terms(word)) == [word], word


def test_a_long_word_is_cut_between_characters():
    for lead in range(4):
        (word,) = words("x" * lead + "ж" * 40)
        size = len(word.encode())
        assert MAX_TERM - 2 < size <= MAX_TERM
        assert word == "x" * lead + "ж" * ((size - lead) // 2)


def test_ascii_text_gives_the_words_of_the_recipe():
    if on_micropython():
        return
    for seed in range(3000):
        text = generated(FRAGMENTS, 40, seed)
        assert list(words(text)) == [word[:MAX_TERM] for word in reference_words(text)], repr(text)


def test_ascii_text_gives_the_terms_of_the_recipe():
    if on_micropython():
        return
    stops = b" ".join(STOP_WORDS).decode().split()
    for seed in range(3000):
        text = generated(FRAGMENTS, 40, seed)
        expected = [reference_stem(word) for word in reference_words(text) if word not in stops]
        assert list(terms(text)) == expected, repr(text)


def test_text_cut_at_a_space_gives_the_same_words_in_two_parts():
    for seed in range(100):
        first, second = generated(SCRIPTS, 20, seed), generated(SCRIPTS, 20, seed + 1000)
        assert list(words(first + " " + second)) == list(words(first)) + list(words(second)), repr(first)


def test_words_of_a_word_are_that_word():
    for seed in range(100):
        for word in words(generated(SCRIPTS, 20, seed)):
            assert list(words(word)) == [word], repr(word)


def test_every_runtime_gives_the_same_terms():
    # Another digest means other terms: indexes in use have to be rebuilt, and the retrieval figures measured again.
    digest = Digest()
    for seed in range(300):
        for term in terms(generated(SCRIPTS if seed % 2 else FRAGMENTS, 40, seed)):
            digest.add(term)
    assert digest.hex() == "244bf325", digest.hex()


def test_thousands_of_emoji_need_no_list_of_them():
    assert sum(1 for _ in words("😀" * 2500)) == 2500
