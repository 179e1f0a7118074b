"""The days that a question names, by a Wednesday, 2026-11-25."""

from engram.clock import civil, days_from_civil
from engram.text.times import find_days, without_days
from samples import Numbers

TODAY = days_from_civil(2026, 11, 25)


def _named(query):
    found = find_days(query, TODAY)
    return found and " ".join(["%d-%02d-%02d" % civil(day) for day in found[:2]])


def _one(day):
    return day + " " + day


def _check(expected):
    for query, days in expected:
        assert _named(query) == days, query


def test_days_by_today():
    _check(
        (
            ("what did I do yesterday?", _one("2026-11-24")),
            ("The day before yesterday", _one("2026-11-23")),
            ("last night", "2026-11-24 2026-11-25"),
            ("3 days ago", _one("2026-11-22")),
            ("some days ago", "2026-11-20 2026-11-24"),
            ("the past 3 days", "2026-11-22 2026-11-25"),
            ("last week", "2026-11-16 2026-11-22"),
            ("last month", "2026-10-01 2026-10-31"),
            ("on Tuesday", _one("2026-11-24")),
            ("last Wednesday", _one("2026-11-18")),
            ("what did I eat this morning?", _one("2026-11-25")),
            ("this weekend", "2026-11-28 2026-11-29"),
            ("last weekend before May 7, 2023", _one("2023-05-07")),
        )
    )


def test_days_of_the_calendar():
    _check(
        (
            ("in May", "2026-05-01 2026-05-31"),
            ("in December", "2025-12-01 2025-12-31"),
            ("What happened in July 2023?", "2023-07-01 2023-07-31"),
            ("May 7, 2023", _one("2023-05-07")),
            ("the 3rd of june", _one("2026-06-03")),
            ("2026-01-31?", _one("2026-01-31")),
            ("during 2024", "2024-01-01 2024-12-31"),
        )
    )


def test_days_in_chinese():
    _check(
        (
            ("昨天我做了什么？", _one("2026-11-24")),
            ("上周我去了哪里", "2026-11-16 2026-11-22"),
            ("上周二", _one("2026-11-17")),
            ("上个月", "2026-10-01 2026-10-31"),
            ("三天前", _one("2026-11-22")),
            ("5月3日", _one("2026-05-03")),
            ("星期二我说了什么", _one("2026-11-24")),
            ("周三", _one("2026-11-25")),
            ("十天前", _one("2026-11-15")),
            ("五月去了哪里", "2026-05-01 2026-05-31"),
            ("十月二十一号", _one("2026-10-21")),
        )
    )


def test_days_in_other_languages():
    _check(
        (
            ("Was habe ich gestern gesagt?", _one("2026-11-24")),
            ("letzte Woche", "2026-11-16 2026-11-22"),
            ("¿Qué hice ayer?", _one("2026-11-24")),
            ("la semana pasada", "2026-11-16 2026-11-22"),
            ("avant-hier", _one("2026-11-23")),
            ("昨日何をした？", _one("2026-11-24")),
            ("先週の火曜日", "2026-11-16 2026-11-22"),
            ("어제 뭐 했지?", _one("2026-11-24")),
            ("지난주", "2026-11-16 2026-11-22"),
            ("O que fiz ontem?", _one("2026-11-24")),
            ("Вчера", _one("2026-11-24")),
            ("на прошлой неделе", "2026-11-16 2026-11-22"),
            ("أمس", _one("2026-11-24")),
            ("الأسبوع الماضي", "2026-11-16 2026-11-22"),
        )
    )


def test_what_names_no_day():
    for query in (
        "May I go?",
        "march on!",
        "",
        "2026-13-01",
        "2026-02-30",
        "February 30",
        "2月30日",
        "第3号门",
        "下周二",
        "每周二",
        "一周二次",
        "十十月",
        "Mardi gras",
        "the birthday of Marco",
    ):
        assert _named(query) is None, query


def test_any_text_is_read():
    english = [
        "last",
        "this",
        "ago",
        "day",
        "days",
        "3",
        "a",
        "may",
        "2023",
        "31st",
        "in",
        "of",
        "2026-11-25",
        "-",
        "'",
    ]
    parts = english + ["月", "日", "号", "年", "前", "天前", "上周", "١", "²", "九"]
    numbers = Numbers(3)
    for _ in range(500):
        query = " ".join([numbers.pick(parts) for _ in range(5)])
        for asked in (query, query.replace(" ", "")):
            found = find_days(asked, TODAY)
            assert found is None or 0 <= found.first <= found.last, asked


def test_days_before_1970_are_the_first_day():
    assert find_days("131 years ago", 20000) == (0, 0, True)


def test_words_that_name_days_by_today_are_left_out():
    assert without_days("What did the boiler do last week?").split() == ["What", "did", "the", "boiler", "do", "?"]
    assert without_days("in May 2023") == "in May 2023"
    assert without_days("昨天的锅炉").strip() == "的锅炉"
    assert without_days("上周二的锅炉").strip() == without_days("三天前的锅炉").strip() == "的锅炉"
    assert without_days("星期二和昨天的锅炉").split() == ["和", "的锅炉"]
    for asked in ("the boiler this morning", "the boiler last weekend"):
        assert without_days(asked).split() == ["the", "boiler"]
