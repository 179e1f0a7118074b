"""Searching in many scripts: a small set of memories, and queries that have to find one of them first, or nothing."""

from engram import text
from engram.store.log.segments import Log
from engram.store.store import Store
from engram.store.types import Entry, Query
from support import StatelessSchema, folder

MEMORIES = {
    "bike": "我的自行车是绿色的，停在地下室",
    "cat": "我家的猫叫咪咪，今年三岁",
    "tea": "她每天早上喝乌龙茶，不喝咖啡",
    "move": "他下个月要搬到上海去工作",
    "train": "京都へは新幹線で行くつもりです",
    "ramen": "昨日、駅前のラーメン屋で味噌ラーメンを食べた",
    "dog": "うちの犬は散歩が大好き",
    "piano": "딸이 매주 토요일에 피아노를 배운다",
    "house": "우리는 작년에 제주도에 집을 샀다",
    "python": "我在用Python3编程，写ESP32-S3的固件",
    "wifi": "Wi-Fiのパスワードは冷蔵庫に貼ってある",
    "cafe": "Zoë meets us at the café in Malmö",
    "street": "Die Bäckerei liegt in der Großen Straße",
    "greek": "Η Μαρία μένει στην Αθήνα",
    "russian": "Моя сестра любит варенье и чёрный чай",
    "arabic": "مَدْرَسَة الأولاد قريبة من البيت",
    "thai": "ฉันรักช้างมาก",
    "party": "The party was great 🎉🎂",
    "thumbs": "Bob said 👍🏽 to the plan",
    "flag": "Holiday in 🇯🇵 next spring",
    "order": "The order number is AB-1234/x7, from mouser.com",
}


class Memories(StatelessSchema):
    """Every line is an entry with the index terms of its text."""

    def describe(self, line):
        return Entry(line["seq"], text.index_terms(line["text"]), (), 0, 0, (), (), 0, False)


def _store():
    store = Store(Log(folder(), "log"), Memories())
    store.open()
    for name in sorted(MEMORIES):
        store.append([("name", name), ("text", MEMORIES[name])])
    return store


def _found(store, query, limit=1):
    wanted = Query(text.terms(query), (), (), 0, 0, "", None, True)
    return [hit.line["name"] for hit in store.search(wanted, limit)]


def _check(**expected):
    """Each name's queries, parted by |, find it first."""
    store = _store()
    wrong = []
    for name, queries in expected.items():
        for query in queries.split("|"):
            found = _found(store, query)
            if found != [name]:
                wrong.append((query, found))
    store.close()
    assert not wrong, wrong


def _check_nothing(*queries):
    store = _store()
    found = [(query, _found(store, query)) for query in queries if _found(store, query)]
    store.close()
    assert not found, found


def test_a_chinese_word_is_found_inside_a_sentence():
    _check(bike="自行车|绿色|我的自行车在哪里？", tea="乌龙茶|她早上喝什么", move="上海|他要搬到哪里")


def test_a_japanese_word_is_found_inside_a_sentence():
    _check(train="新幹線|京都", ramen="味噌ラーメン|ラーメン屋はどこ", dog="散歩が好き")


def test_a_korean_word_is_found_with_its_endings():
    _check(piano="피아노|토요일에 뭐 배워요?", house="제주도")


def test_a_single_character_that_is_a_word_is_found_inside_a_sentence():
    _check(cat="猫", tea="茶", dog="犬", house="집", move="去")


def test_a_word_of_several_characters_does_not_find_each_of_them_alone():
    store = _store()
    store.append([("name", "car"), ("text", "车 车 车")])
    assert _found(store, "自行车", 5) == ["bike"]


def test_several_scripts_in_one_line_are_found_by_each():
    _check(python="python3|编程|esp32 固件|ESP32-S3", wifi="wi-fi|パスワード|WiFi 冷蔵庫")


def test_case_and_accents_make_no_difference():
    _check(
        cafe="zoe|CAFE|malmo|ZOË",
        street="strasse|GROSSEN STRASSE|backerei",
        greek="ΜΑΡΙΑ|αθηνα",
        russian="ЧЁРНЫЙ|черный чай",
        arabic="مدرسة",
    )


def test_decomposed_letters_find_composed_ones():
    _check(cafe="cafe\u0301|Malmo\u0308", ramen="ラーメン")


def test_full_width_letters_and_digits_find_ascii():
    _check(python="Ｐｙｔｈｏｎ３", order="ＡＢ　１２３４")


def test_a_thai_word_is_found_inside_a_sentence():
    _check(thai="ช้าง")


def test_an_emoji_is_found_whatever_its_skin_tone():
    _check(party="🎉|🎂🎂", thumbs="👍|👍🏿", flag="🇯🇵")


def test_an_identifier_is_found_by_its_parts_and_as_a_whole():
    _check(order="AB-1234/x7|1234|mouser.com|x7")


def test_what_is_in_no_memory_finds_nothing():
    _check_nothing("鳥", "飛行機", "자동차", "🚀", "żółw", "собака", "zz-99", "🇫🇷")


def test_queries_of_no_words_find_nothing():
    _check_nothing("", "。！？", "…", "the", "\u200d\ufe0f")
