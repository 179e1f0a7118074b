"""Folding and cutting of text in scripts other than ASCII."""

from engram.text import words
from support import on_micropython

LATIN = ((0xC0, 0x250), (0x1E00, 0x1F00))
GREEK = ((0x386, 0x3CF), (0x1F00, 0x1F80))
CYRILLIC = ((0x400, 0x530),)


def letters(*blocks):
    """Yield the letters of some blocks of codes; CPython only."""
    import unicodedata

    for first, after in blocks:
        for code in range(first, after):
            if unicodedata.category(chr(code))[0] == "L":
                yield chr(code)


def split(text: str) -> list:
    return list(words(text))


def test_accents_and_case_make_no_difference():
    expected = "cafe uber garcon strasse aero oeuvre lodz orsted isik thorn"
    assert " ".join(words("Café ÜBER Garçon STRAßE Ærø Œuvre Łódź Ørsted Işık Þorn")) == expected


def test_arabic_loses_points_and_tatweel_and_variants_of_letters():
    assert split("مَرْحَبًا مرحبـــا") == ["مرحبا", "مرحبا"]
    assert split("أحمد إحمد آحمد ٱحمد") == ["احمد"] * 4


def test_han_kana_and_hangul_give_pairs():
    assert split("東京タワー") == ["東京", "京タ", "タワ", "ワー"]
    assert split("안녕하세요") == ["안녕", "녕하", "하세", "세요"]


def test_a_script_without_spaces_ends_where_another_begins():
    assert split("我爱Python3编程") == ["我爱", "python3", "编程"]


def test_thai_gives_pairs_so_that_a_word_is_found_inside_a_sentence():
    sentence, word = set(split("ฉันรักช้างมาก")), split("ช้าง")
    assert len(word) == 3
    for pair in word:
        assert pair in sentence


def test_an_emoji_is_a_word_of_its_own():
    assert split("I❤️you🙂🙂!") == ["i", "❤", "you", "🙂", "🙂"]


def test_a_flag_is_one_word():
    assert split("🇩🇪🇫🇷 x🇯🇵y 🇩") == ["🇩🇪", "🇫🇷", "x", "🇯🇵", "y", "🇩"]


def test_punctuation_of_any_script_parts_words():
    for mark in "¿¡«»…—–。、，！「」・،؛؟。।॥՝׃་።៖・  　€°":
        assert split("a" + mark + "b") == ["a", "b"], repr(mark)


def test_latin_greek_and_cyrillic_letters_ignore_case():
    if on_micropython():
        return
    newer = "ȺȾȿɀ"  # their partners stand in a later block
    for letter in letters(*LATIN, *GREEK, *CYRILLIC):
        if letter not in newer:
            assert split(letter) == split(letter.lower()) == split(letter.upper()), letter


def test_composed_and_decomposed_text_give_the_same_words():
    if on_micropython():
        return
    from unicodedata import normalize

    for letter in letters(*LATIN, (0x370, 0x400), (0x1F00, 0x2000), *CYRILLIC, (0x620, 0x700), (0x5D0, 0x5EB)):
        assert split("x" + normalize("NFD", letter)) == split("x" + normalize("NFC", letter)), letter


def test_an_accented_latin_letter_counts_as_its_base():
    if on_micropython():
        return
    from unicodedata import combining, normalize

    for letter in letters(*LATIN):
        base = "".join([mark for mark in normalize("NFD", letter.casefold()) if not combining(mark)])
        if base.isascii():
            assert split(letter) == [base], letter


def test_greek_and_cyrillic_letters_count_as_their_base():
    if on_micropython():
        return
    from unicodedata import combining, normalize

    symbols = "ϒϓϔϲϹ"  # they stand for a letter, which Unicode leaves to compatibility
    for letter in letters((0x386, 0x3CF), (0x1F00, 0x1F80), *CYRILLIC):
        base = "".join([mark for mark in normalize("NFD", letter.casefold()) if not combining(mark)])
        if letter not in symbols:
            assert split(letter) == [base.replace("ς", "σ")], letter


def test_letters_and_punctuation_of_the_great_scripts_are_distinguished():
    if on_micropython():
        return
    from unicodedata import category, name

    blocks = ((0x5D0, 0x5F0), (0x620, 0x6DD), (0x900, 0xDF5), (0xE01, 0xEE0), (0x1000, 0x1100), (0x3041, 0x3100),
              (0x4E00, 0x4E80), (0xAC00, 0xAC80))  # fmt: skip
    exceptions = ("RUPEE", "SIGN", "MARK", "ISSHAR", "SYMBOL", "ANJI", "TATWEEL", "ABBREVIATION", "SEPARATOR")
    for first, after in blocks:
        for code in range(first, after):
            kind = category(chr(code))[0]
            known = name(chr(code), "SIGN")
            if kind in "LNPSZ" and not any(word in known for word in exceptions):
                assert bool(split(chr(code))) == (kind in "LN"), known
