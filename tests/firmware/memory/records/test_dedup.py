"""Two facts: the same, a change, similar or different."""

from engram.compat import heap_used
from engram.memory.records.dedup import CHANGED, DIFFERENT, LONGEST, SAME, SIMILAR, Fact, attribute_words, compare
from engram.memory.records.dedup_words import ATTRIBUTES, PHRASES
from engram.memory.records.nearest import may_tell_attribute
from engram.text.tokenizer import terms
from samples import Numbers
from support import on_micropython, rounds


def _check(expected: str, *pairs):
    wrong = [(old, new, compare(old, new)) for old, new in pairs if compare(old, new) != expected]
    assert not wrong, wrong


def _check_both_stay(*pairs):
    for pair in pairs:
        for old, new in (pair, (pair[1], pair[0])):
            assert compare(old, new) in (SIMILAR, DIFFERENT), (old, new, compare(old, new))


# --- the same


def test_case_width_and_punctuation_at_the_end_do_not_count():
    _check(
        SAME,
        ("User likes apples", "user likes Apples."),
        ("我喜欢苹果", "我喜欢苹果。"),
        ("客厅温度是21度", "客厅温度是２１度"),
        ("User's bike is green", "User’s bike is green!"),
    )


def test_the_speaker_is_the_user():
    _check(
        SAME,
        ("User lives in Berlin", "I live in Berlin"),
        ("The user's cat is black", "My cat is black"),
        ("User has a cat", "I have a cat"),
        ("用户喜欢苹果", "我喜欢苹果"),
        ("I'm 30 years old", "The user is 30 years old"),
    )


def test_one_and_several_are_not_the_same():
    _check_both_stay(("My sons went to Rome", "My son went to Rome"), ("The cats sleep", "The cat sleeps"))


def test_a_value_said_in_another_phrase_is_the_same():
    _check(
        SAME,
        ("User lives in Berlin", "User resides in Berlin"),
        ("User works for Siemens", "User works at Siemens"),
        ("我住在北京", "我居住在北京"),
    )


def test_capitals_count_where_they_tell_values_apart():
    _check(SAME, ("User lives in Berlin", "user lives in berlin"))
    _check(CHANGED, ("The password is abcDef", "The password is abcdef"))


def test_signs_count():
    _check_both_stay(
        ("The yard is 5 m²", "The yard is 5 m³"), ("User likes C", "User likes C++"), ("It was sent ✓", "It was sent ✗")
    )


def test_texts_that_say_nothing_are_not_the_same():
    _check(DIFFERENT, ("", "the"), ("?", ""), ("User", "the"))


# --- another value


def test_another_value_of_what_has_one_value_is_a_change():
    _check(
        CHANGED,
        ("User's name is Anna", "User's name is Hanna"),
        ("User's email is a@b.org", "User's email is c@d.org"),
        ("My favourite colour is blue", "My favourite colour is green"),
        ("My favourite food is pizza", "Sushi is my favourite food"),
        ("Anna's birthday is May 3", "Anna's birthday is May 4"),
        ("User works as a nurse", "User works as a teacher"),
        ("User's address is 12 Elm Street", "User's address is 4 Oak Road"),
        ("The bike costs 300 euros", "The bike costs 250 euros"),
        ("我叫王伟", "我叫王维"),
        ("我的邮箱是a@b.cn", "我的邮箱是c@d.cn"),
        ("我今年30岁", "我今年31岁"),
    )


def test_one_who_moves_lives_elsewhere_though_no_word_is_shared():
    _check(
        CHANGED,
        ("I live in Paris", "I moved to Berlin"),
        ("User lives in Paris", "The user relocated to Berlin"),
        ("我住在上海", "我搬到了深圳"),
    )


def test_another_state_quantity_time_or_place_of_a_named_thing_is_a_change():
    _check(
        CHANGED,
        ("The lamp is on", "The lamp is off"),
        ("The door is locked", "The door is unlocked"),
        ("The heater is set to 21 °C", "The heater is set to 19 °C"),
        ("User drinks four cups of coffee a day", "User drinks two cups of coffee a day"),
        ("The shop opens at 9:00", "The shop opens at 10:00"),
        ("The keys are in the drawer", "The keys are on the shelf"),
        ("The meeting is at 3 pm", "The meeting was moved to 4 pm"),
        ("灯是开的", "灯是关的"),
        ("电视在客厅", "电视在卧室"),
    )


def test_two_forms_of_one_value_are_no_change():
    _check_both_stay(
        ("The meeting is at 7 pm", "The meeting is at 19:00"),
        ("The budget is 1,000 euros", "The budget is 1000 euros"),
        ("The price is 3.50 euros", "The price is 3.5 euros"),
        ("User has five cats", "User has 5 cats"),
        ("The deadline is May 5", "The deadline is 5 May"),
    )


def test_a_name_in_another_script_is_no_change():
    _check_both_stay(("My name is Anna", "我叫安娜"), ("I live in Berlin", "我住在柏林"))


def test_more_of_the_same_value_is_no_change():
    _check_both_stay(
        ("User lives in Berlin", "User lives in Berlin with Anna"),
        ("User's name is Anna", "User's name is Anna Weber"),
        ("User's birthday is in May", "User's birthday is on May 3"),
    )


def test_a_value_of_another_kind_is_no_change():
    _check_both_stay(
        ("User's wife is Ana", "User's wife is pregnant"),
        ("User's boss is Karin", "User's boss is German"),
        ("User's address is 12 Elm Street", "User's address is wrong"),
        ("User works at Google", "User works at night"),
        ("The exam is on Monday", "The exam is in the gym"),
        ("User's favourite book is Dune", "User's favourite book is about whales"),
    )


def test_what_is_said_of_another_thing_or_time_is_no_change():
    _check_both_stay(
        ("The pump on pin 14 controls the left bed", "The pump on pin 15 controls the right bed"),
        ("User wakes at 6:30 on weekdays", "User wakes at 8:30 on weekends"),
        ("Sensor 1 is in the kitchen", "Sensor 2 is in the kitchen"),
        ("A sensor is on pin 4", "A sensor is on pin 5"),
        ("The kitchen light is on", "The hall light is off"),
        ("User lives in Berlin during the week", "User lives in Munich on weekends"),
        ("The gym is closed on Monday", "The gym is closed on Tuesday"),
        ("User works on Mondays", "User works on Fridays"),
        ("User pays 10 euros for Netflix", "User pays 12 euros for Spotify"),
        ("Anna's email is a@b.org", "Ben's email is c@d.org"),
        ("3号灯在走廊", "4号灯在走廊"),
        ("我每周一跑步", "我每周三跑步"),
    )


def test_of_what_may_be_many_each_stays():
    _check_both_stay(
        ("User likes apples", "User likes pears"),
        ("User speaks German", "User speaks French"),
        ("User's friend is called Tom", "User's friend is called Tim"),
        ("User has a dog named Rex", "User has a dog named Bello"),
        ("User's daughter lives in Rome", "User's daughter lives in Paris"),
        ("我女儿叫小美", "我女儿叫小丽"),
    )


def test_what_happened_is_never_changed():
    _check_both_stay(
        ("User bought 3 kg of apples", "User bought 4 kg of apples"),
        ("User ran 5 km on Monday", "User ran 8 km on Monday"),
        ("User read the report on Monday", "User read the report on Tuesday"),
        ("User lived in Rome", "User lives in Paris"),
        ("我用了三个小时", "我用了两个小时"),
    )


# --- denials and corrections


def test_a_denial_changes_what_it_denies():
    _check(
        CHANGED,
        ("User likes apples", "User no longer likes apples"),
        ("User likes apples", "User doesn't like apples anymore"),
        ("User doesn't like apples", "User likes apples"),
        ("User smokes", "User stopped smoking"),
        ("User has a Tesla", "User sold the Tesla"),
        ("User likes cats", "User hates cats"),
        ("用户喜欢苹果", "用户不再喜欢苹果"),
        ("我有车", "我没有车"),
    )


def test_a_denial_of_something_else_changes_nothing():
    _check_both_stay(
        ("User likes apples", "User doesn't like apple juice"),
        ("User drinks coffee", "User no longer drinks coffee in the evening"),
        ("User works at Apple", "User no longer works at Google"),
        ("User doesn't like apples", "User doesn't like pears"),
        ("User does not like Anna", "Anna likes the user"),
    )


def test_a_correction_changes_what_it_corrects():
    _check(
        CHANGED,
        ("The user's name is Anna", "The user's name is not Anna but Hanna"),
        ("User's name is Anna", "Actually, the user's name is Hanna, not Anna"),
        ("User drinks coffee", "User drinks tea instead of coffee"),
        ("User uses Vim", "User switched from Vim to Emacs"),
        ("我的名字是王伟", "我的名字不是王伟而是王维"),
        ("我用Vim", "我从Vim换成了Emacs"),
    )


def test_a_correction_of_something_else_changes_nothing():
    _check_both_stay(
        ("User owns a shop for coffee", "User drinks tea instead of coffee"),
        ("User hates the smell of coffee", "User drinks tea instead of coffee"),
        ("Anna uses Vim", "User switched from Vim to Emacs"),
    )


# --- for all texts


def test_names_that_change_places_are_never_the_same():
    for form in (
        "%s is taller than %s", "%s gave %s a book", "%s's brother is %s's boss", "%s works for %s and likes it",
        "User thinks that %s is older than %s", "User flew from %s to %s", "%s owes %s 20 euros",
    ):  # fmt: skip
        _check_both_stay((form % ("Anna", "Ben"), form % ("Ben", "Anna")))
    for form in ("%s比%s高", "%s把书给了%s", "%s喜欢%s", "从%s到%s的火车很慢", "%s欠%s二十元"):
        _check_both_stay((form % ("小明", "小红"), form % ("小红", "小明")))


def test_a_prefix_never_decides():
    numbers = Numbers(3)
    start = "The user keeps the spare batteries for the remote control of the old projector in the"
    for _ in range(rounds(200, 20)):
        one, other = numbers.below(1000), numbers.below(1000)
        texts = ("%s drawer w%d" % (start, one), "%s drawer w%d" % (start, other))
        assert (compare(*texts) == SAME) == (one == other), texts


ENGLISH = "User 's is not no longer 5 -3.5 7 pm May 3 € ° , . ; : of from to at in = ! ~ * u _ | n't ' % T5 #a"
CHINESE = "有 没 对 在 把 的 了 两 三 点 半 百 周 🎉 \u0301 ก 名字"


def test_any_text_gets_a_verdict():
    numbers = Numbers(11)
    pieces = (ENGLISH + " " + CHINESE).split(" ")
    for _ in range(rounds(3000, 300)):
        one = numbers.pick(("", " ")).join([numbers.pick(pieces) for _ in range(numbers.below(9))])
        other = numbers.pick(("", " ")).join([numbers.pick(pieces) for _ in range(numbers.below(9))])
        assert compare(one, other) in (SAME, CHANGED, SIMILAR, DIFFERENT), (one, other)


# --- the words of an attribute


def test_an_attribute_is_searched_for_in_all_words_that_tell_it():
    for text in ("I moved to Berlin", "我搬到了深圳"):
        words, whose = attribute_words(Fact(text))
        assert "lives in" in words and "住在" in words and "user" in whose, (words, whose)
    assert "anna" in attribute_words(Fact("Anna was born on May 3"))[1]


def test_what_states_no_attribute_in_other_words_is_not_searched_for_again():
    for text in ("User likes tea", "The lamp is on", "", "User's email is a@b.org"):
        assert attribute_words(Fact(text)) == ("", ""), text


def test_each_text_that_states_an_attribute_in_one_of_several_ways_is_recognised_by_its_terms():
    phrases = 0
    for words in PHRASES.decode().split("|:"):
        noun, _, verb = words.split("|")[0].partition(" ")
        if verb.startswith("IS") and " %s " % noun in ATTRIBUTES.decode():
            for phrase in words.split("|")[1:] + [" %s is " % noun]:
                if phrase:
                    phrases += 1
                    assert may_tell_attribute(list(terms("Anna" + phrase + "Berlin"))), phrase
                    assert may_tell_attribute(list(terms("我们" + phrase + "北京"))), phrase
    assert phrases > 60


def test_what_states_no_attribute_loads_no_comparison():
    for text in ("The bicycle is kept in the garage", "User likes tea", "我喜欢苹果"):
        assert not may_tell_attribute(list(terms(text))), text


# --- bounds


def test_of_a_long_text_only_the_words_and_signs_are_compared():
    text = "User likes apples. " * (LONGEST // 10)
    _check(SAME, (text, text.lower()))
    _check_both_stay((text, text + " No."), (text + "C", text + "C++"), (text, text.replace("likes", "loves")))


def test_a_comparison_leaves_nothing_on_the_heap():
    if not on_micropython():
        return
    import gc

    # Each pair has characters that no text before had: interned, they would stay.
    pairs = [("鶴%s龜" % one, "蝶%s鹿" % one) for one in ("鷹", "鷲", "鶉", "鵲", "鳳", "鴉", "鴨", "鷗")]
    compare("鶴龜", "蝶鹿")
    gc.collect()
    used = heap_used()
    for one, other in pairs:
        assert compare(one, other) == DIFFERENT
    gc.collect()
    assert heap_used() - used <= 64, heap_used() - used
