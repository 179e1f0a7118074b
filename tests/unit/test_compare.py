"""Same, changed, different: pairs by hand, and what must hold for all texts."""

import fact_pairs
from engram.memory.compare import CHANGED, DIFFERENT, LONGEST, SAME, compare
from samples import Numbers
from support import is_32_bit, is_in_full, on_micropython, rounds

STEP = 15 if is_in_full() else 40 if not on_micropython() else 240 if is_32_bit() else 180
"""Of how many texts one is varied: a comparison takes MicroPython some milliseconds."""

SETS = rounds(fact_pairs.SETS, fact_pairs.SETS[is_32_bit() :: 4])
"""Of which sets all pairs are compared."""

NO_WORD = {False: "zebra", True: "斑"}  # a word of no pair, by whether the text is Chinese


def _texts():
    """Each STEP-th text of all pairs."""
    count = 0
    for name in fact_pairs.SETS:
        for old, new, _, _ in fact_pairs.pairs(name):
            for text in (old, new):
                count += 1
                if count % STEP == 0:
                    yield text


def _words(text: str) -> tuple:
    """The words of a text, of Chinese the characters, and what stands between them."""
    if len(text) == len(text.encode()):
        return text.split(" "), " "
    data = text.encode()
    parts = []
    for byte in data:
        if (byte < 0x80 and parts and max(parts[-1]) < 0x80 and byte != 0x20) or byte & 0xC0 == 0x80:
            parts[-1].append(byte)
        else:
            parts.append(bytearray((byte,)))
    return [bytes(part).decode() for part in parts], ""


def _check(expected: str, *pairs):
    wrong = [(old, new, compare(old, new)) for old, new in pairs if compare(old, new) != expected]
    assert not wrong, wrong


# --- by hand


def test_each_pair_gets_the_verdict_that_is_expected():
    wrong = []
    for name in SETS:
        for old, new, expected, is_seen in fact_pairs.pairs(name):
            verdict = compare(old, new)
            if verdict != (expected if is_seen else DIFFERENT):
                wrong.append((name, old, new, verdict))
    assert not wrong, wrong


def test_what_is_said_first_makes_no_difference_to_whether_it_is_the_same():
    wrong = []
    for name in SETS[:: rounds(1, 2)]:
        for old, new, expected, _ in fact_pairs.pairs(name):
            if (compare(new, old) == SAME) != (expected == SAME and compare(old, new) == SAME):
                wrong.append((name, old, new, compare(new, old)))
    assert not wrong, wrong


def test_capitals_count_only_where_they_tell_values_apart():
    _check(SAME, ("User lives in Berlin", "user lives in berlin"), ("User's job is Nurse", "User's job is nurse"))
    _check(CHANGED, ("The password is abcDef1", "The password is abcdef1"))


def test_full_width_and_traditional_characters_are_read_like_others():
    _check(SAME, ("客廳溫度是２１度", "客厅温度是21度"), ("User has ５ cats", "User has five cats"))


def test_a_number_is_the_same_however_it_is_written():
    _check(
        SAME,
        ("User has 25 hens", "User has twenty-five hens"),
        ("The budget is 2500 euros", "The budget is two thousand five hundred euros"),
        ("我有一百二十只羊", "我有120只羊"),
        ("The rent is 30000 yuan", "The rent is 3万元"),
        ("The lecture is at half past nine", "The lecture is at 9:30"),
        ("The lecture is at quarter to ten", "The lecture is at 9:45"),
        ("The trial is on 3 May 2024", "The trial is on 03.05.2024"),
    )


def test_zeros_at_the_end_of_a_version_count():
    _check(
        CHANGED, ("The version is 3.1", "The version is 3.10"), ("The project uses Go 1.2", "The project uses Go 1.20")
    )
    _check(SAME, ("The price is 3.1 euros", "The price is 3.10 euros"))


def test_signs_that_fold_away_elsewhere_count():
    _check(CHANGED, ("The limit is ≤ 30", "The limit is ≥ 30"))
    _check(
        DIFFERENT,
        ("The yard is 5 m²", "The yard is 5 m³"),
        ("User likes C", "User likes C++"),
        ("Status ✓ was sent", "Status ✗ was sent"),
    )


# --- for all texts


def test_a_text_is_the_same_as_itself_with_other_punctuation():
    wrong = [text for text in _texts() if compare(text, text.replace("。", "").rstrip(".!") + " .") != SAME]
    assert not wrong, wrong


def test_a_word_that_is_another_is_never_the_same():
    for text in _texts():
        words, between = _words(text)
        for at in range(len(words)):
            other = between.join(words[:at] + [NO_WORD[not between]] + words[at + 1 :])
            assert compare(text, other) != SAME and compare(other, text) != SAME, (text, other)


def test_a_digit_that_is_another_is_never_the_same():
    numbers = Numbers(7)
    for text in _texts():
        for at, byte in enumerate(text.encode()):
            if 0x30 <= byte <= 0x39:
                data = bytearray(text.encode())
                data[at] = 0x30 + (byte - 0x30 + 1 + numbers.below(9)) % 10
                other = bytes(data).decode()
                assert compare(text, other) != SAME, (text, other)


def test_a_denial_is_never_the_same():
    for text in _texts():
        words, between = _words(text)
        for at in range(len(words) + 1):
            other = between.join(words[:at] + ["not" if between else "不"] + words[at:])
            assert compare(text, other) != SAME and compare(other, text) != SAME, (text, other)


def test_names_that_change_places_are_never_the_same():
    for form in (
        "%s is taller than %s", "%s gave %s a book", "%s's brother is %s's boss", "%s works for %s and likes it",
        "User thinks that %s is older than %s", "User flew from %s to %s", "%s owes %s 20 euros",
    ):  # fmt: skip
        _check(DIFFERENT, (form % ("Anna", "Ben"), form % ("Ben", "Anna")))
    for form in ("%s比%s高", "%s把书给了%s", "%s喜欢%s", "从%s到%s的火车很慢", "%s欠%s二十元"):
        _check(DIFFERENT, (form % ("小明", "小红"), form % ("小红", "小明")))


def test_a_prefix_never_decides():
    numbers = Numbers(3)
    start = "The user keeps the spare batteries for the remote control of the old projector in the"
    for _ in range(20):
        one, other = numbers.below(1000), numbers.below(1000)
        texts = ("%s drawer w%d" % (start, one), "%s drawer w%d" % (start, other))
        assert (compare(*texts) == SAME) == (one == other), texts


def test_any_text_gets_a_verdict():
    numbers = Numbers(11)
    pieces = [
        "User",
        "'s",
        "is",
        "not",
        "no longer",
        "5",
        "-3.5",
        "7 pm",
        "May 3",
        "€",
        "°",
        ",",
        ".",
        ";",
        ":",
        "of",
        "from",
        "to",
    ]
    pieces += [
        "有",
        "没",
        "对",
        "在",
        "把",
        "的",
        "了",
        "两",
        "三",
        "点",
        "半",
        "百",
        "周",
        "🎉",
        "\u0301",
        "ก",
        "名字",
        "n't",
        "'",
        "%",
        "T5",
        "#a",
    ]
    for _ in range(6000 // STEP):
        one = numbers.pick(("", " ")).join([numbers.pick(pieces) for _ in range(numbers.below(9))])
        other = numbers.pick(("", " ")).join([numbers.pick(pieces) for _ in range(numbers.below(9))])
        assert compare(one, other) in (SAME, CHANGED, DIFFERENT), (one, other)


def test_texts_that_say_nothing_are_not_the_same():
    _check(DIFFERENT, ("", "the"), ("?", ""), ("User", "the user is"), ("的", "了"))


# --- bounds


def test_of_a_long_text_only_the_words_and_signs_are_compared():
    text = "User likes apples. " * (LONGEST // 10)
    _check(SAME, (text, text.lower()))
    _check(DIFFERENT, (text, text + " No."), (text + "C", text + "C++"), (text, text.replace("likes", "loves")))


def test_a_comparison_leaves_nothing_on_the_heap():
    if not on_micropython():
        return
    import gc

    # Each pair has characters that no text before had: interned, they would stay.
    pairs = [("鶴%s龜" % one, "蝶%s鹿" % one) for one in ("鷹", "鷲", "鶉", "鵲", "鳳", "鴉", "鴨", "鷗")]
    compare("我喜欢吃苹果", "我不喜欢吃苹果")
    gc.collect()
    used = gc.mem_alloc()
    for one, other in pairs:
        assert compare(one, other) == DIFFERENT
    gc.collect()
    assert gc.mem_alloc() - used <= 64, gc.mem_alloc() - used
