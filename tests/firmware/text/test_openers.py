"""A message without a model is read by its opening, in fifteen languages."""

from engram.text.openers import is_question, parse
from engram.text.utf8 import strip_end

BIKE = "bike-7"
LANGUAGES = (
    # remember, forget, search, a question without a mark, keep nothing
    ("remember that %s", "forget %s", "search for %s", "where is %s", "Please don’t remember this conversation."),
    ("记住%s", "忘记%s", "搜索%s", "谁有%s", "请不要记住这次对话。"),
    ("Merk dir, dass %s", "Lösche: %s", "Suche nach %s", "Wo ist %s", "Merk dir dieses Gespräch nicht!"),
    ("Recuerda que %s", "Olvida %s", "Busca %s", "Dónde está %s", "Por favor, no recuerdes esta conversación"),
    ("Souviens-toi que %s", "Oublie %s", "Cherche %s", "Où est %s", "N’enregistre pas cette conversation"),
    ("覚えて：%s", "忘れて：%s", "検索：%s", "どこに%s", "この会話を覚えないでください。"),
    ("기억해: %s", "잊어: %s", "검색: %s", "어디에 %s", "이 대화는 기억하지 마세요."),
    ("Lembra-te de que %s", "Esquece %s", "Procura %s", "Onde está %s", "Não guarde esta conversa."),
    ("Запомни, что %s", "Забудь %s", "Найди %s", "Где %s", "Пожалуйста, не запоминай этот разговор."),
    ("تذكر أن %s", "انس %s", "ابحث عن %s", "أين %s", "لا تحفظ هذه المحادثة"),
)
UNKEPT = (
    "Per favore, non salvare questa conversazione.", "Onthoud dit gesprek niet", "Nie zapisuj tej rozmowy!",
    "Bu konuşmayı kaydetme lütfen", "Не запам’ятовуй цю розмову",
)  # fmt: skip


def test_each_language_has_its_openers():
    for said in UNKEPT + tuple(row[-1] for row in LANGUAGES):
        assert parse(said) == ("unkept", ""), said
        assert parse(strip_end(said, (".", "!", "。")) + "?").kind == "find", said
    for said in (
        "Off the record: X?",
        "do not remember this conversation. X?",
        "不要记住这次对话。X?",
        "이 대화는 기억하지 마세요! X?",
    ):
        assert parse(said) == ("unkept", "X?"), said
    for remember, forget, find, question, _ in LANGUAGES:
        assert parse(remember % BIKE) == ("remember", BIKE), remember
        assert parse(forget % BIKE) == ("forget", BIKE), forget
        assert parse(find % BIKE) == ("find", BIKE), find
        assert parse(question % BIKE) == ("find", question % BIKE), question


def test_a_question_mark_of_each_script_makes_a_search():
    for remember, *_ in LANGUAGES:
        for mark in ("?", "？", "؟"):
            for said in (BIKE + mark, BIKE + " " + mark + "”", remember % BIKE + mark):
                assert parse(said) == ("find", said) and is_question(said), said


def test_an_opener_alone_has_no_content():
    for remember, forget, *_ in LANGUAGES:
        assert parse(remember % "").content == parse(forget % "").content == ""


def test_an_id_follows_each_word_to_forget():
    for said in ("forget m1", "忘记m1", "vergiss m1", "olvida m1", "oublie m1", "忘れて m1", "잊어 m1", "забудь m1"):
        assert parse(said) == ("forget", "m1"), said


def _sentences():
    """Yield (language, sign, sentence) of openings.txt: + keeps, ? asks without a mark, - and ! are no commands."""
    language = ""
    language = ""
    with open(__file__.rpartition("/")[0] + "/openings.txt", "rb") as file:
        for line in file.read().decode().strip().split("\n")[1:]:
            if line[0] == "#":
                language = line[2:]
            else:
                yield language, line[0], line[2:]


def test_sentences_of_each_language_are_understood():
    missed = {}
    for language, sign, said in _sentences():
        kind = parse(said).kind
        assert sign in "+?!" or kind in ("", "find"), (kind, said)
        if kind != {"+": "remember", "?": "find", "-": kind, "!": ""}[sign]:
            missed.setdefault((language, sign), []).append(said)
    assert max((len(each) for each in missed.values()), default=0) <= 2, missed
    assert not [each for (_, sign), each in missed.items() if sign in "+!"], missed


def test_what_is_kept_are_the_words_behind_or_before_an_order():
    for said, content in (
        ("Remember I don't eat meat", "I don't eat meat"),
        ("The key is under the pot, please keep that in mind.", "The key is under the pot"),
        ("Ich esse kein Fleisch - merk dir das bitte!", "Ich esse kein Fleisch"),
        ("母が木曜日に来ることを覚えておいてくださいね。", "母が木曜日に来る"),
        ("열쇠는 화분 밑에 있다는 거 잊지 마", "열쇠는 화분 밑에 있다"),
        ("我喝茶不放糖，请记住。", "我喝茶不放糖"),
    ):
        assert parse(said) == ("remember", content), said
    for said in ("I was told to remember that", "Ich kann mir das nicht merken", "买牛奶的事我会记住"):
        assert not parse(said).kind, said
