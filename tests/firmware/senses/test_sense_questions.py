"""Questions about readings, answered without a model, English and Chinese."""

from board import Board
from engram import lazy
from engram.clock import Clock
from engram.memory.access import OWNER
from engram.senses.answers import sentences, summary
from engram.senses.answers.times import Span, span_of
from engram.senses.history import DAY_LEVEL, HOUR_LEVEL
from perceiving import MONDAY, NOW, house
from samples import Numbers
from support import at_once, rounds

DAY = 86400
HOUR = 3600


class _Talk:
    def __init__(self, board=None):
        self.board = board or house()
        self.offline = self.board.make_offline()

    def ask(self, said, caller=OWNER):
        seq = self.board.journal.add(caller, "user", caller.principal, said, command=True)
        return at_once(self.offline.answer(caller, said, "t%d" % seq))

    def check(self, answers):
        for said, answer in answers:
            assert self.ask(said) == answer, (said, self.ask(said))


NIGHT = "2026-09-22 21:00 to 2026-09-23 07:00"


def test_a_question_for_a_time_is_answered_with_range_mean_and_extremes():
    last_night = (
        "bedroom temperature, %s: 16.0 to 19.0 °C, mean 17.3; lowest 16.0 °C at 02:50, highest 19.0 °C at 21:00."
        % NIGHT
    )
    _Talk().check(
        (
            ("How cold was the bedroom last night?", last_night),
            ("how warm was the bedroom last night", last_night),
            (
                "how warm was the bedroom between 7 and 9 yesterday?",
                "bedroom temperature, 2026-09-22 07:00 to 09:00: 18.0 to 18.9 °C, mean 18.4; lowest 18.0 °C at 07:00, "
                "highest 18.9 °C at 08:50.",
            ),
            (
                "what was the lowest temperature outside on Monday?",
                "outside, 2026-09-21: 6.0 to 12.0 °C, mean 9.0; lowest 6.0 °C at 02:50, highest 12.0 °C at 15:00.",
            ),
            (
                "was it cold outside this morning?",
                "outside, 2026-09-23 06:00 to 09:30: 7.5 to 9.2 °C, mean 8.3; lowest 7.5 °C at 06:00, highest 9.2 °C at 09:30.",
            ),
        )
    )


def test_a_question_for_no_place_is_answered_for_every_sense_of_that_unit():
    lines = _Talk().ask("how warm was it last night?").split("\n")
    assert [line.split(",")[0] for line in lines] == ["bedroom temperature", "outside"]


def test_a_question_for_now_is_answered_with_the_latest_reading_and_its_age():
    talk = _Talk()
    talk.board.now += 300
    talk.check(
        (
            ("what is the temperature in the bedroom", "bedroom temperature: 19.2 °C, read 5 min ago."),
            ("how humid is the bedroom?", "bedroom humidity: 43.0 %, read 5 min ago."),
            ("is the door open?", "door: closed, read 15 h ago."),
        )
    )


def test_a_question_for_a_moment_is_answered_with_the_reading_of_then():
    _Talk().check(
        (
            ("how warm was the bedroom at 7 yesterday?", "bedroom temperature, 2026-09-22 07:00: 18.0 °C."),
            ("how warm was it outside 2 hours ago?", "outside, 2026-09-23 07:30: 8.2 °C."),
            ("was the door open at noon yesterday?", "door, 2026-09-22 12:00: closed."),
        )
    )


def test_a_question_for_a_door_is_answered_with_its_times():
    opened = "door, 2026-09-22: open 3 times: 07:58 to 08:01, 12:10 to 12:12, 18:30 to 18:31."
    _Talk().check(
        (
            ("when was the door open yesterday?", opened),
            ("how often did the door open yesterday?", opened),
            ("how often did the door open today", "door, 2026-09-23: not open."),
            ("was the door open yesterday morning?", "door, 2026-09-22 06:00 to 12:00: open once: 07:58 to 08:01."),
            (
                "was the door closed yesterday afternoon?",
                "door, 2026-09-22 12:00 to 18:00: closed twice: 12:00 to 12:10, 12:12 to 18:00.",
            ),
            ("when did the door last open?", "door was open last 2026-09-22 18:30 to 18:31."),
        )
    )


def test_a_door_that_is_open_still_is_said_to_be():
    talk = _Talk()
    talk.board.now += 60
    talk.board.senses.observe("door", 1)
    talk.board.now += 60
    assert talk.ask("when was the door open today?") == "door, 2026-09-23: open once: since 09:31."


def test_chinese_questions_are_answered_in_chinese():
    night = "2026-09-22 21:00 至 2026-09-23 07:00"
    _Talk().check(
        (
            (
                "昨晚卧室多少度",
                "bedroom temperature，%s：16.0 至 19.0 °C，平均 17.3；最低 16.0 °C（02:50），最高 19.0 °C（21:00）。"
                % night,
            ),
            ("门昨天什么时候开过", "door，2026-09-22：开着 3 次：07:58 至 08:01、12:10 至 12:12、18:30 至 18:31。"),
            ("门现在开着吗", "door：关着（14 小时前）。"),
            ("昨天早上七点卧室多少度？", "bedroom temperature，2026-09-22 07:00：18.0 °C。"),
            ("卧室湿度是多少", "bedroom humidity：43.0 %（刚才）。"),
        )
    )


def test_senses_with_chinese_names_are_found_in_both_languages():
    board = Board().serve()
    board.find_senses().observe("卧室温度", 20.5, "°C")
    board.senses.observe("大门", 1)
    talk = _Talk(board)
    talk.check(
        (
            ("卧室多少度", "卧室温度：20.5 °C（刚才）。"),
            ("卧室温度是多少？", "卧室温度：20.5 °C（刚才）。"),
            ("how warm is the bedroom?", "卧室温度: 20.5 °C, read just now."),
            ("大门开着吗", "大门：开着（刚才）。"),
            ("is the door open?", "大门: open, read just now."),
        )
    )


def test_a_time_without_readings_is_answered_with_the_day_of_the_first_ones():
    talk = _Talk()
    first = "The first ones kept are of 2026-09-21."
    assert talk.ask("how warm was the bedroom on 2026-01-03?") == (
        "There are no readings of bedroom temperature for 2026-01-03. " + first
    )
    assert talk.ask("昨天") and "2026-01-03 没有读数" in talk.ask("卧室2026年1月3日多少度")


def test_where_only_days_are_kept_the_answer_says_so():
    board = Board().serve()
    board.configure(senses_bytes=65536)
    board.now = MONDAY
    senses = board.find_senses()
    for _ in range(120 * 24):
        senses.observe("cellar", 12.5 + board.now // DAY % 2, "°C")
        board.now += HOUR
    senses.flush()
    while senses.tick():
        pass
    talk = _Talk(board)
    said = talk.ask("how warm was the cellar at 7:30 on 2026-09-21?")
    assert said == "cellar, 2026-09-21 07:00 (the hour): 13.5 °C. Only whole hours are kept so far back.", said
    say = sentences.Sentences(board.clock, False)
    span = Span(MONDAY + HOUR * 3, MONDAY + HOUR * 5 + 1800, False)
    assert say.coarse(span, DAY_LEVEL) == " Only whole days are kept so far back."
    assert say.coarse(Span(MONDAY, MONDAY + DAY, False), DAY_LEVEL) == ""
    assert say.coarse(Span(MONDAY, MONDAY + 2 * HOUR, False), HOUR_LEVEL) == ""
    found = summary.summarize(senses, board.clock, senses.find("cellar"), MONDAY, MONDAY + DAY)
    assert found.count == 24


def test_while_the_clock_is_not_set_only_the_latest_is_known():
    board = Board().serve()
    board.now = 1000
    board.find_senses().observe("cellar", 12.5, "°C")
    answer = _Talk(board).ask("how warm was the cellar last night?")
    assert answer.startswith("cellar: 12.5 °C") and "The clock is not set" in answer


def test_what_asks_for_something_else_goes_to_the_memory():
    talk = _Talk()
    for said in (
        "where is the door key?",
        "what is the temperature of the sun?",
        "who was at the door?",
        "what is my favourite colour?",
        "when is the bedroom painted?",
        "太阳多少度？",
        "门的钥匙在哪里？",
        "tell me when the door is open",
        "when the door is open, remind me to close it",
        "记住卧室温度是多少",
    ):
        assert not talk.board.sense_view.may_ask(OWNER, said), said
    assert talk.ask("where is the door key?").startswith("Nothing found")


def test_the_clocks_own_senses_are_meant_only_where_they_are_named():
    talk = _Talk()
    talk.board.config._tables["senses"] = {"chip": {"kind": "chip_temperature"}}
    talk.board.sense_view.declared = talk.board.config.table("senses")
    talk.board.senses.observe("chip", 48.5, "°C")
    assert "chip" not in talk.ask("how warm is it?")
    assert talk.ask("how warm is the chip?") == "chip: 48.5 °C, read just now."


def test_what_counts_is_added_up():
    board = Board().serve()
    board.config._tables["senses"] = {"rain": {"kind": "pin", "pin": 4, "what": "count"}}
    board.now = NOW
    senses = board.find_senses()
    for count in (2, 0, 5):
        senses.observe("rain", count)
        board.now += 60
    assert _Talk(board).ask("how much rain was there today?") == (
        "rain, 2026-09-23: 7 counted, most in a minute 5 at 09:32."
    )


def test_without_senses_nothing_of_them_is_loaded():
    board = Board().serve()
    assert board.sense_view is None and board.toolbox is None
    assert _Talk(board).ask("how warm was it last night?").startswith("Nothing found")


# --- times


def _span(said, now=NOW, zone=0):
    clock = Clock(zone, lambda: now)
    span = span_of(said, clock)
    if span is None:
        return None
    return clock.minute(span.first) + ("" if span.is_moment else " - " + clock.minute(span.until))


def test_days_and_times_of_day_are_understood_in_both_languages():
    for said, wanted in (
        ("last night", "2026-09-22 21:00 - 2026-09-23 07:00"),
        ("昨晚", "2026-09-22 21:00 - 2026-09-23 07:00"),
        ("昨夜", "2026-09-22 21:00 - 2026-09-23 07:00"),
        ("during the night", "2026-09-22 21:00 - 2026-09-23 07:00"),
        ("on Monday night", "2026-09-21 21:00 - 2026-09-22 07:00"),
        ("this morning", "2026-09-23 06:00 - 2026-09-23 09:30"),
        ("yesterday afternoon", "2026-09-22 12:00 - 2026-09-22 18:00"),
        ("昨天下午", "2026-09-22 12:00 - 2026-09-22 18:00"),
        ("yesterday", "2026-09-22 00:00 - 2026-09-23 00:00"),
        ("in the evening", "2026-09-22 18:00 - 2026-09-23 00:00"),
        ("at 7 yesterday", "2026-09-22 07:00"),
        ("yesterday at 7:45 pm", "2026-09-22 19:45"),
        ("at 7pm yesterday", "2026-09-22 19:00"),
        ("at 3 last night", "2026-09-23 03:00"),
        ("at 11 last night", "2026-09-22 23:00"),
        ("at 8", "2026-09-23 08:00"),
        ("at 22:00", "2026-09-22 22:00"),
        ("昨天早上七点半", "2026-09-22 07:30"),
        ("昨天下午三点", "2026-09-22 15:00"),
        ("昨晚十一点", "2026-09-22 23:00"),
        ("from 7 to 9 yesterday", "2026-09-22 07:00 - 2026-09-22 09:00"),
        ("昨天七点到九点", "2026-09-22 07:00 - 2026-09-22 09:00"),
        ("since 7", "2026-09-23 07:00 - 2026-09-23 09:30"),
        ("since Monday", "2026-09-21 00:00 - 2026-09-23 09:30"),
        ("in the last 3 hours", "2026-09-23 06:30 - 2026-09-23 09:30"),
        ("最近三个小时", "2026-09-23 06:30 - 2026-09-23 09:30"),
        ("an hour ago", "2026-09-23 08:30"),
        ("两小时前", "2026-09-23 07:30"),
        ("last week", "2026-09-14 00:00 - 2026-09-21 00:00"),
        ("2026-09-20", "2026-09-20 00:00 - 2026-09-21 00:00"),
        ("now", None),
        ("in the bedroom", None),
    ):
        assert _span(said) == wanted, (said, _span(said))


def test_times_are_those_of_the_boards_zone():
    assert _span("yesterday", zone=480) == "2026-09-22 00:00 - 2026-09-23 00:00"
    assert span_of("yesterday", Clock(480, lambda: NOW)).first == MONDAY + DAY - 8 * HOUR


def test_no_text_breaks_the_understanding_of_questions():
    parts = [
        "how",
        "warm",
        "was",
        "the",
        "door",
        "bedroom",
        "open",
        "closed",
        "last",
        "night",
        "at",
        "7",
        "7:30",
        "pm",
        "am",
        "25:99",
        "between",
        "and",
        "since",
        "3",
        "hours",
        "ago",
        "in",
        "on",
        "Monday",
        "31",
        "2026-02-30",
        "week",
        "noon",
        "midnight",
        "what",
        "0",
        "-1",
        "9999999999999",
        "'",
        "?",
        "昨晚",
        "昨天",
        "七点",
        "二十五点",
        "三小时前",
        "过去",
        "小时",
        "门",
        "开",
        "卧室",
        "多少度",
        "几次",
        "点",
        "分",
        "半",
        "两",
        "个",
        "吗",
        "？",
        "2026年",
        "́",
        "é",
        "😀",
        "\x00",
        "１２点",
        "٣",
    ]
    talk = _Talk()
    numbers = Numbers(7)
    for _ in range(rounds(2000, 150)):
        said = ("" if numbers.below(3) else " ").join(
            [parts[numbers.below(len(parts))] for _ in range(1 + numbers.below(8))]
        )
        span = span_of(said, talk.board.clock)
        assert span is None or span.is_moment or span.first <= span.until or span.first > NOW, said
        talk.board.sense_view.answer(OWNER, said)
        talk.board.sense_view.memory_query(OWNER, said + "?")


def test_readings_beside_a_span_are_not_given_as_the_spans():
    board = Board().serve()
    board.now = MONDAY + 9 * HOUR
    senses = board.find_senses()
    for _ in range(3):
        senses.observe("cellar", 12, "°C")
        board.now += 60
    while senses.tick():
        pass
    sense = senses.find("cellar")
    for first, until in ((MONDAY - 3 * HOUR, MONDAY + 7 * HOUR), (MONDAY + HOUR, MONDAY + 3 * HOUR)):
        assert summary.summarize(senses, board.clock, sense, first, until) is None
    assert summary.reading_at(senses, board.clock, sense, MONDAY + 3 * HOUR) is None
    assert summary.summarize(senses, board.clock, sense, MONDAY, MONDAY + DAY).mean == 120


def test_an_answer_from_the_first_rows_keeps_nothing_loaded_where_the_heap_is_small():
    talk = _Talk()
    was_small, lazy.is_heap_small = lazy.is_heap_small, lambda: True
    try:
        talk.check((("how warm was the bedroom at 7 yesterday?", "bedroom temperature, 2026-09-22 07:00: 18.0 °C."),))
        assert not lazy._in_use
        assert summary.first_day(talk.board.senses, talk.board.senses.find("outside")) > 0
        assert not lazy._in_use
    finally:
        lazy.is_heap_small = was_small
