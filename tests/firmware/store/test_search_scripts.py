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


def _wrong(expected):
    """The queries, parted by |, that do not find the first, or nothing, of what is expected; and what they find."""
    store = _store()
    found = [(query, _found(store, query), names) for names, queries in expected for query in queries.split("|")]
    store.close()
    return [each for each in found if each[1] != each[2]]


def test_a_word_of_any_script_is_found_inside_a_sentence():
    found = {
        # Chinese, Japanese, and Korean with its endings; a single character may be a word.
        "bike": "自行车|绿色|我的自行车在哪里？",
        "tea": "乌龙茶|她早上喝什么|茶",
        "move": "上海|他要搬到哪里|去",
        "cat": "猫",
        "train": "新幹線|京都",
        "ramen": "味噌ラーメン|ラーメン屋はどこ",
        "dog": "散歩が好き|犬",
        "piano": "피아노|토요일에 뭐 배워요?",
        "house": "제주도|집",
        # Case and accents make no difference.
        "cafe": "zoe|CAFE|malmo|ZOË",
        "street": "strasse|GROSSEN STRASSE|backerei",
        "greek": "ΜΑΡΙΑ|αθηνα",
        "russian": "ЧЁРНЫЙ|черный чай",
        "arabic": "مدرسة",
        "thai": "ช้าง",
        # Nor does an emoji's skin tone.
        "party": "🎉|🎂🎂",
        "thumbs": "👍|👍🏿",
        "flag": "🇯🇵",
    }
    assert not _wrong([([name], queries) for name, queries in found.items()])


def test_what_is_in_no_memory_and_no_word_finds_nothing():
    assert not _wrong([([], "鳥|飛行機|자동차|🚀|żółw|собака|zz-99|🇫🇷"), ([], "|。！？|…|the|\u200d\ufe0f")])
