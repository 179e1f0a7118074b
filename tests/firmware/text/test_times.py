"""Times of commands: each form in each language, and nothing else, at 10:00 of a Thursday, 2026-11-26."""

from engram.clock import Clock
from engram.errors import ArgumentError
from engram.text.times import Moment, Repeat, Span, read_time, split_time
from support import raises

CLOCK = Clock(source=lambda: 1795687200)
TODAY, TOMORROW, AFTER = 20783, 20784, 20785
HALF_PAST_SEVEN, EIGHT = 450, 480
WORDS = (
    # in 20 min, every 20 min, daily, tomorrow, the day after tomorrow, today, Monday
    ("in 20 min", "every 20 min", "07:30 daily", "tomorrow 8:00", "day after tomorrow 8:00", "today 18:00", "monday"),
    ("20分钟后", "每20分钟", "07:30 每天", "明天8:00", "后天8:00", "今天18:00", "星期一"),
    ("in 20 Min", "alle 20 Minuten", "07:30 täglich", "morgen um 8:00", "Übermorgen 8:00", "heute 18:00", "Montag"),
    ("en 20 min", "cada 20 minutos", "07:30 todos los días", "mañana 8:00", "pasado mañana 8:00", "hoy 18:00", "lunes"),
    (
        "dans 20 min", "toutes les 20 min", "07:30 tous les jours", "demain à 8:00", "après-demain 8:00",
        "aujourd'hui 18:00", "lundi",
    ),
    ("20分後", "20分ごと", "毎日 07:30", "明日 8:00", "明後日 8:00", "今日 18:00", "月曜日"),
    ("20분 후", "20분마다", "매일 07:30", "내일 8:00", "모레 8:00", "오늘 18:00", "월요일"),
    (
        "em 20 min", "a cada 20 min", "07:30 todos os dias", "amanhã às 8:00", "depois de amanhã 8:00", "hoje 18:00",
        "segunda-feira",
    ),
    ("через 20 мин", "каждые 20 минут", "07:30 ежедневно", "Завтра 8:00", "послезавтра 8:00", "сегодня 18:00", "пн"),
    ("بعد 20 دقيقة", "كل 20 دقيقة", "07:30 كل يوم", "غدا 8:00", "بعد غد 8:00", "اليوم 18:00", "الاثنين"),
)  # fmt: skip


def _moment(day, minute):
    return Moment(CLOCK.moment(day, minute))


def _forms():
    """Yield (what is written, what it is) of all forms in all languages."""
    for length, often, daily, tomorrow, after, today, monday in WORDS:
        yield length, Span(1200)
        yield often, Repeat(0, 0, 20)
        yield daily, Repeat(HALF_PAST_SEVEN, 127, 0)
        yield tomorrow, _moment(TOMORROW, EIGHT)
        yield after, _moment(AFTER, EIGHT)
        yield today, _moment(TODAY, 1080)
        yield "07:30 " + monday, Repeat(HALF_PAST_SEVEN, 1, 0)
    yield "08:00", _moment(TOMORROW, EIGHT)
    yield "10:01", _moment(TODAY, 601)
    yield "07:30 mon fri", Repeat(HALF_PAST_SEVEN, 17, 0)
    yield "9:00 weekdays", Repeat(540, 31, 0)
    yield "in 1 h 30 min", Span(5400)
    yield "in 2 days", Span(172800)
    yield "2026-11-29 08:00", _moment(20786, EIGHT)
    yield "2026-11-29T08:00", _moment(20786, EIGHT)
    yield "غدا ٨:٠٠", _moment(TOMORROW, EIGHT)


def _refusal(said):
    with raises(ArgumentError) as caught:
        read_time(said, CLOCK)
    return str(caught.error)


def test_each_form_of_each_language_is_read():
    for said, time in _forms():
        assert read_time(said, CLOCK) == time, said


def test_text_stands_behind_each_form():
    for said, time in _forms():
        for text in ("water the plants", "浇花", "«7» do it"):
            assert split_time(said + ": " + text, CLOCK) == (time, text.lstrip("«")), said


def test_each_cut_of_a_form_is_refused_or_a_form_itself():
    whole = [said for said, _ in _forms()] + [
        "07:30",
        "07:30 Mon",
        "07:30 mon",
        "07:30 月曜",
        "in 1 h",
        "in 2 day",
        "9:00",
    ]
    whole += ["alle 20 Min", "alle 20 Minute", "cada 20 min", "cada 20 minuto", "каждые 20 мин", "每20分"]
    for said, _ in _forms():
        for at in range(1, len(said)):
            if said[:at].strip() not in whole:
                assert "write in 20 min" in _refusal(said[:at]), said[:at]


def test_what_is_no_form_is_refused():
    for said in (
        "", "8", "20 min", "in", "in min", "every", "tomorrow", "monday 8:00", "yesterday 8:00", "at ten to eight",
        "half past seven", "24:00", "8:60", "08:00 pm", "8 pm", "in 20 min 30 sec", "in a while", "tomorrow 8:00 9:00",
        "in 20 min in 30 min", "2026-02-30 08:00", "2026-11-29", "in 99999 min", "08:00 daily 09:00", "10 o'clock",
        "in 20 minutess", "💡",
    ):  # fmt: skip
        assert "write in 20 min" in _refusal(said), said


def test_a_time_that_goes_on_is_refused_before_a_text():
    for said in ("08:00 pm leave", "tomorrow 8:00 at 9:00 leave", "in 20 min 30 sec leave", "08:00 tomorrow leave"):
        with raises(ArgumentError):
            split_time(said, CLOCK)
