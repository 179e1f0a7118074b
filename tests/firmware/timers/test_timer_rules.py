"""Timers by rule: what is plainly asked for, when it is due, in whose words; and what is no such request."""

from engram.agent.offline import commands
from engram.agent.openings import may_name_time
from engram.clock import Clock
from engram.errors import ArgumentError
from engram.reminders import rules as intent_rules
from engram.timers import schedule, when
from engram.timers.rules import find, match, match_time
from support import raises, rounds

NOW = 1790000000  # Monday 2026-09-21 14:13
CLOCK = Clock(0, lambda: NOW)

TUESDAY = "on Tuesday 2026-09-22 "
TODAY = "on Monday 2026-09-21 "

# A message, what is said, and when.
ASKED = (
    ("remind me to water the plants tomorrow at 8", "water the plants", TUESDAY + "08:00"),
    ("Remind me tomorrow at 8 to water the plants.", "water the plants", TUESDAY + "08:00"),
    ("tomorrow at 8 remind me to water the plants", "water the plants", TUESDAY + "08:00"),
    ("Hey Engram, could you please remind me to call Eve at 8pm?", "call Eve", TODAY + "20:00"),
    ("remind me to call Eve at 8", "call Eve", TUESDAY + "08:00"),
    ("remind me at five to call Bob", "call Bob", TUESDAY + "05:00"),
    ("remind me at 17:30 to call Bob", "call Bob", TODAY + "17:30"),
    ("remind me to call Bob at half past 7 in the evening", "call Bob", TODAY + "19:30"),
    ("remind me to call Bob at quarter to 8", "call Bob", TUESDAY + "07:45"),
    ("remind me to eat at noon", "eat", TUESDAY + "12:00"),
    ("remind me to sleep at midnight", "sleep", TUESDAY + "00:00"),
    ("remind me tonight at 8 to lock the door", "lock the door", TODAY + "20:00"),
    ("remind me tonight at 12 to sleep", "sleep", TUESDAY + "00:00"),
    ("remind me tonight at 1 to sleep", "sleep", TUESDAY + "01:00"),
    ("remind me at 12 at night to sleep", "sleep", TUESDAY + "00:00"),
    ("remind me tomorrow at 12:30 at night to sleep", "sleep", "on Wednesday 2026-09-23 00:30"),
    ("remind me tonight at 12am to sleep", "sleep", TUESDAY + "00:00"),
    ("remind me on Friday at 12 at night to sleep", "sleep", "on Saturday 2026-09-26 00:00"),
    ("每周五晚上十二点提醒我关灯", "关灯", "every Saturday at 00:00, next Saturday 2026-09-26 00:00"),
    ("remind me at 12 to eat", "eat", TUESDAY + "12:00"),
    ("晚上十二点提醒我睡觉", "睡觉", TUESDAY + "00:00"),
    ("今晚十二点提醒我睡觉", "睡觉", TUESDAY + "00:00"),
    ("今晚一点提醒我睡觉", "睡觉", TUESDAY + "01:00"),
    ("中午十二点提醒我吃饭", "吃饭", TUESDAY + "12:00"),
    ("每天晚上十二点提醒我关灯", "关灯", "every day at 00:00, next Tuesday 2026-09-22 00:00"),
    ("remind me this evening to lock the door", "lock the door", TODAY + "19:00"),
    ("remind me tomorrow to call Bob", "call Bob", TUESDAY + "09:00"),
    ("remind me tomorrow morning to call Bob", "call Bob", TUESDAY + "08:00"),
    ("remind me tomorrow to call Bob at 8", "call Bob", TUESDAY + "08:00"),
    ("remind me the day after tomorrow at 3pm to pay", "pay", "on Wednesday 2026-09-23 15:00"),
    ("remind me in 20 minutes to check the oven", "check the oven", 20 * 60),
    ("remind me to check the oven in half an hour", "check the oven", 30 * 60),
    ("in an hour and a half remind us to leave", "leave", 90 * 60),
    ("in 2 hours and 15 minutes remind me to leave", "leave", 135 * 60),
    ("remind me in 3 days to pay the bill", "pay the bill", "on Thursday 2026-09-24 09:00"),
    ("remind me on Monday at 9 about the meeting", "the meeting", "on Monday 2026-09-28 09:00"),
    ("remind me of the dentist on Friday at 9:15", "the dentist", "on Friday 2026-09-25 09:15"),
    ("remind me on March 5th at 9 that the lease ends", "the lease ends", "on Friday 2027-03-05 09:00"),
    ("remind me on 24 December 2026 at 18:00 to call home", "call home", "on Thursday 2026-12-24 18:00"),
    ("remind me on 2026-12-24 at 6pm to call home", "call home", "on Thursday 2026-12-24 18:00"),
    (
        "remind me every day at 7 to take the pills",
        "take the pills",
        "every day at 07:00, next Tuesday 2026-09-22 07:00",
    ),
    (
        "every morning at 7 remind me to take 2 pills",
        "take 2 pills",
        "every day at 07:00, next Tuesday 2026-09-22 07:00",
    ),
    ("remind me daily at 21:30 to lock up", "lock up", "every day at 21:30, next Monday 2026-09-21 21:30"),
    (
        "remind me on weekdays at 7:30 to pack lunch",
        "pack lunch",
        "on weekdays at 07:30, next Tuesday 2026-09-22 07:30",
    ),
    (
        "remind me to take out the bins every Monday and Thursday at 9",
        "take out the bins",
        "every Monday, Thursday at 09:00, next Thursday 2026-09-24 09:00",
    ),
    ("remind me on Fridays at 5pm to back up", "back up", "every Friday at 17:00, next Friday 2026-09-25 17:00"),
    ("every weekend at 10 remind me to rest", "rest", "on weekends at 10:00, next Saturday 2026-09-26 10:00"),
    ("remind me every 30 minutes to stretch", "stretch", "every 30 min, next Monday 2026-09-21 14:43"),
    ("remind me every hour to drink", "drink", "every 1 h, next Monday 2026-09-21 15:13"),
    ("please remind me to buy 5 apples at 6pm, ok?", "buy 5 apples", TODAY + "18:00"),
    ("wake me up at 6:45", "wake me up", TUESDAY + "06:45"),
    ("set a timer for 20 minutes", "a timer for 20 minutes", 20 * 60),
    ("set a 5 minute timer", "5 minute timer", 5 * 60),
    ("set an alarm for 7am tomorrow", "an alarm for 7am tomorrow", TUESDAY + "07:00"),
    ("明天八点提醒我浇花", "浇花", TUESDAY + "08:00"),
    ("提醒我明天早上8点半浇花。", "浇花", TUESDAY + "08:30"),
    ("请在下午三点提醒我开会", "开会", TODAY + "15:00"),
    ("晚上九点一刻提醒我锁门", "锁门", TODAY + "21:15"),
    ("明晚8点提醒我们吃药", "吃药", TUESDAY + "20:00"),
    ("20:30提醒我锁门", "锁门", TODAY + "20:30"),
    ("二十分钟后提醒我关火", "关火", 20 * 60),
    ("半小时后提醒我关火", "关火", 30 * 60),
    ("一个半小时后提醒我收衣服", "收衣服", 90 * 60),
    ("过15分钟提醒我看锅", "看锅", 15 * 60),
    ("三天后提醒我交房租", "交房租", "on Thursday 2026-09-24 09:00"),
    ("後天上午十點提醒我去銀行", "去銀行", "on Wednesday 2026-09-23 10:00"),
    ("周五下午三点提醒我交报告", "交报告", "on Friday 2026-09-25 15:00"),
    ("下周一九点提醒我开会", "开会", "on Monday 2026-09-28 09:00"),
    ("12月24日晚上6点提醒我打电话", "打电话", "on Thursday 2026-12-24 18:00"),
    ("每天早上七点提醒我吃药", "吃药", "every day at 07:00, next Tuesday 2026-09-22 07:00"),
    ("每个工作日九点提醒我打卡", "打卡", "on weekdays at 09:00, next Tuesday 2026-09-22 09:00"),
    ("每周一和周四下午三点提醒我倒垃圾", "倒垃圾", "every Monday, Thursday at 15:00, next Monday 2026-09-21 15:00"),
    ("每周一到五七点半提醒我出门", "出门", "on weekdays at 07:30, next Tuesday 2026-09-22 07:30"),
    ("每隔30分钟提醒我喝水", "喝水", "every 30 min, next Monday 2026-09-21 14:43"),
    ("每小时提醒我站起来", "站起来", "every 1 h, next Monday 2026-09-21 15:13"),
    ("明天早上七点叫我起床", "叫我起床", TUESDAY + "07:00"),
    ("设一个20分钟的定时器", "20分钟的定时器", 20 * 60),
    ("凌晨三点提醒我看流星", "看流星", TUESDAY + "03:00"),
)

# The same of what the agent is to answer.
ANSWERED = (
    ("at 7, tell me what is on today", "tell me what is on today", TUESDAY + "07:00"),
    (
        "every day at 7 tell me what is on today",
        "tell me what is on today",
        "every day at 07:00, next Tuesday 2026-09-22 07:00",
    ),
    (
        "tell me every weekday at 8 what is on today",
        "what is on today",
        "on weekdays at 08:00, next Tuesday 2026-09-22 08:00",
    ),
    ("in 20 minutes tell me how warm it is", "tell me how warm it is", 20 * 60),
    ("每天早上七点告诉我今天有什么安排", "告诉我今天有什么安排", "every day at 07:00, next Tuesday 2026-09-22 07:00"),
    ("明天八点告诉我天气", "告诉我天气", TUESDAY + "08:00"),
)

NOT_ASKED = (
    "remind me to take pills every day at 8am and 8pm",
    "remind me every day at 8 and 20 to take pills",
    "remind me tomorrow at 8 or 9 to call",
    "remind me to call mom tomorrow at 8 and dad at 9",
    "remind me to call mom tomorrow and dad at 9",
    "remind me at 8 and tell me the weather",
    "remind me at 8 to call Bob and at 9 to call Eve",
    "remind me at 8 to call Bob or",
    "remind me to buy milk",
    "remind me",
    "remind me at 8",
    "remind me tomorrow at 8 of it",
    "remind me what we did at 8",
    "remind me that the meeting is at 9",
    "remind me how old I was at 8",
    "remind me when I get home to water the plants",
    "remind me to read chapter 8",
    "you reminded me at 8 to water the plants",
    "yesterday at 8 you reminded me to water the plants",
    "did you remind me at 8 to water the plants?",
    "do you remind me to water the plants tomorrow at 8?",
    "don't remind me to water the plants at 8",
    "never remind me at 8 to water the plants",
    "he said: remind me at 8 to call Bob",
    '"remind me at 8 to call Bob"',
    "“remind me at 8 to call Bob”",
    "my mother always says remind me at 8 to call Bob",
    "I think you can remind me at 8 to call Bob",
    "songs remind me of school every day at 8",
    "at 8 he told me to go",
    "at 8 I remind myself to drink",
    "tell me what happened at 7",
    "tell me what is on tomorrow at 7",
    "tell me a joke",
    "tell me two ways to cook rice",
    "tell me the first thing to do",
    "tell me at least two things to do",
    "tell me in two sentences how to cook rice",
    "tomorrow tell me a joke",
    "tell me about the day at 8",
    "in 2 hours I will go",
    "every day at 7 I run",
    "I woke up at 7",
    "wake me when it is over",
    "wake me up",
    "set a timer",
    "set the table for 8",
    "the alarm for 7 did not ring",
    "remind me at 25:00 to go",
    "remind me at 8:75 to go",
    "this reminds me of Spain at 8",
    "",
    "提醒我",
    "提醒我买油漆",
    "你昨天八点提醒我浇花",
    "八点提醒我了",
    "提醒我的是八点的会",
    "他说明天八点提醒我浇花",
    "“明天八点提醒我浇花”",
    "明天八点你提醒我浇花了吗？",
    "不要明天八点提醒我浇花",
    "明天八点我要开会",
    "明天八点提醒我",
    "每天早上七点我跑步",
    "告诉我今天有什么安排",
    "告诉我明天八点的天气怎么样？",
    "有时间提醒我浇花",
    "提到油漆时提醒我买刷子",
    "谁明天八点提醒我？",
)

# Requests with a time that is not understood whole.
UNREAD = (
    "remind me at ten to eight to leave",
    "remind me at five past eight to leave",
    "remind me at twenty to nine to leave",
    "remind me at twenty-five past seven to leave",
    "remind me at half eight to leave",
    "remind me at quarter of eight to leave",
    "remind me at a quarter past noon to leave",
    "remind me at eight thirty-five to leave",
    "remind me at eight oh five to leave",
    "remind me at eight twenty to leave",
    "remind me at 8 30 to leave",
    "remind me at 8.30 to leave",
    "remind me at 8h30 to leave",
    "remind me at 1930 to leave",
    "remind me at 8ish to leave",
    "remind me at noonish to eat",
    "remind me around 8 to leave",
    "remind me at around 8 to leave",
    "remind me in 20 to 30 minutes to leave",
    "remind me in two hours thirty to leave",
    "remind me in an hour and ten to leave",
    "remind me in 1.5 hours to leave",
    "remind me in 90 seconds to leave",
    "remind me in a couple of hours to leave",
    "remind me in a few minutes to leave",
    "remind me in 2 days 3 hours to leave",
    "remind me in a month to pay",
    "remind me tomorrow at noonish to eat",
    "remind me tomorrow around 8 to call Bob",
    "remind me tomorrow after lunch to call Bob",
    "remind me tomorrow by 8 to call",
    "remind me every other day at 8 to water",
    "remind me to water the plants every other day at 8",
    "remind me every second Monday at 8 to water",
    "remind me to water every second Monday at 8",
    "remind me to water every two weeks on Monday at 9",
    "remind me to pay on the first of May at 9",
    "remind me to pay on the 5th at 9",
    "remind me to pay on 3/5 at 9",
    "remind me to pay on the first at 9",
    "remind me to pay next week at 8",
    "remind me next week to pay",
    "remind me to leave ten minutes before the meeting at 8",
    "remind me ten minutes before 8 to leave",
    "remind me to leave at ten to eight",
    "remind me to leave at half eight",
    "remind me to leave at ten past eight",
    "remind me tomorrow to leave at ten to eight",
    "remind me to leave ten to 8pm",
    "remind me to leave before 8pm",
    "remind me to finish it by 8pm",
    "remind me to change it to 8pm",
    "remind me to buy milk for tomorrow",
    "remind me at 8 sharp to leave",
    "remind me at 8 a week from now to pay",
    "remind me at 8 a whole week from now to pay",
    "remind me at 8 two weeks from now to pay",
    "remind me at 8 once the rain stops to pay",
    "remind me tomorrow at 8 if it does not rain to pay",
    "remind me every day at 8 unless I have left to pay",
    "at 8 if it rains remind me to pay",
    "remind me no later than 8 to leave",
    "remind me shortly before 8 to leave",
    "remind me monthly at 8 to pay",
    "remind me to take the pill at 8 and at 20",
    "remind me to eat tomorrow at 8 and tomorrow at 20",
    "tell me at ten to eight to leave",
    "tell me shortly before 8 to leave",
    "remind me at 8 CET to call",
    "remind me at 8 or so to leave",
    "at ten to eight remind me to leave",
    "at half past remind me to leave",
    "half eight remind me to leave",
    "tomorrow at ten to eight, remind me to leave",
    "tomorrow remind me to leave at ten to eight",
    "set an alarm for ten to eight",
    "set a timer for 20",
    "set a timer for 20 to 30 minutes",
    "set an alarm for half eight",
    "wake me at ten to eight",
    "wake me up at half eight",
    "wake me up in the morning",
    "every day at ten to eight tell me the weather",
    "tell me every day at ten to eight what is on",
    "at ten to eight tell me the weather",
    "remind me at 13 pm to leave",
    "remind me at 25:00 to go",
    "remind me at 8:75 to go",
    "remind me at 7:5 to go",
    "remind me to sleep at 10ish",
    "remind me at eight-thirty to go",
    "remind me at 10 before 8 to go",
    "remind me on Tuesday week at 8 to go",
    "remind me Monday to Friday at 8 to go",
    "remind me between 8 and 9 to go",
    "remind me from 8 to 9 to go",
    "remind me to drink twice a day at 8",
    "remind me on the weekend at 10 to rest",
    "remind me to rest on the weekend at 10",
    "remind me at 8 on the first of May to pay",
    "remind me at ten minutes to eight to go",
    "remind me at 3 in the late afternoon to go",
    "remind me at dawn to go",
    "remind me at sunset to go",
    "remind me at lunchtime to go",
    "remind me in half an hour or so to go",
    "remind me to be there at 5 sharp",
    "提醒我八点差十分走",
    "差十分八点提醒我走",
    "八点差十分提醒我走",
    "提醒我差十分八点走",
    "提醒我八点三个人开会",
    "提醒我八点五走",
    "提醒我八点多走",
    "八点多提醒我走",
    "提醒我八点左右走",
    "提醒我八点前走",
    "提醒我八点以后走",
    "提醒我八点到九点走",
    "提醒我八点九点吃药",
    "提醒我八点和九点吃药",
    "提醒我周一周三开会",
    "提醒我明天八九点走",
    "提醒我明天早上七八点走",
    "提醒我明天午饭后走",
    "提醒我明天下班后买菜",
    "提醒我两三个小时后走",
    "提醒我半个多小时后走",
    "提醒我几分钟后走",
    "提醒我下下周一开会",
    "提醒我每两天浇花",
    "提醒我每隔一天八点浇花",
    "提醒我每月三号八点交房租",
    "提醒我三号交房租",
    "提醒我下个月三号交房租",
    "提醒我8.30走",
    "提醒我20:30:15走",
    "提醒我八点二刻走",
    "提醒我三点半钟走",
    "提醒我一个月后交房租",
    "两个星期后提醒我交房租",
    "八点到九点提醒我走",
    "明天八点左右提醒我走",
    "每隔一天八点提醒我浇花",
    "每月三号提醒我交房租",
    "定个八点差五分的闹钟",
    "定个差五分八点的闹钟",
    "明天八点差五分叫我起床",
    "八点差五分告诉我天气",
    "提醒我大约八点走",
    "提醒我约八点走",
    "提醒我中午前后吃饭",
    "提醒我傍晚前走",
    "提醒我明天三个人开会",
)

# Numbers and words of time beside a time that is understood, which do not belong to it.
BESIDE = (
    ("remind me to read chapter 8 at 9", "read chapter 8", TUESDAY + "09:00"),
    ("remind me to walk for 20 minutes at 8", "walk for 20 minutes", TUESDAY + "08:00"),
    ("remind me to turn the lamp on at 8", "turn the lamp on", TUESDAY + "08:00"),
    ("remind me to log in tomorrow at 9", "log in", TUESDAY + "09:00"),
    ("remind me to drop by at 8", "drop by", TUESDAY + "08:00"),
    ("remind me tomorrow buy milk", "buy milk", TUESDAY + "09:00"),
    ("remind me to buy 20 eggs tomorrow", "buy 20 eggs", TUESDAY + "09:00"),
    ("提醒我八点零五分走", "走", TUESDAY + "08:05"),
    ("提醒我八点前往机场", "前往机场", TUESDAY + "08:00"),
    ("提醒我八点到机场接人", "到机场接人", TUESDAY + "08:00"),
    ("提醒我明天买三个苹果", "买三个苹果", TUESDAY + "09:00"),
)


def _when(time):
    """When a time that was read is due, as people read it; the seconds until then if it was said so."""
    found = when.resolve("say", "x", time, CLOCK)
    if found.after:
        return found.after
    fields: dict = {"due": found.at}
    if found.every:
        fields = {"due": NOW + 60 * found.every, "every": found.every}
    elif found.days:
        fields = {"minute": found.minute, "days": found.days}
        fields["due"] = schedule.next_after(fields, CLOCK, NOW)
    return schedule.describe(fields, CLOCK)


def test_what_is_plainly_asked_for_is_found_in_the_words_of_the_person():
    for kind, sentences in (("say", ASKED + BESIDE), ("ask", ANSWERED)):
        for said, what, time in sentences:
            found = match(said)
            assert found, said
            assert (found.kind, found.what, _when(found.time)) == (kind, what, time), (said, found, _when(found.time))
            assert may_name_time(said), said
            assert [kind for kind, _ in commands(said)] == ["time"], said


def test_what_is_no_clear_request_is_none():
    for said in NOT_ASKED:
        assert match(said) is None, (said, match(said))


def test_a_request_with_a_time_that_is_not_understood_whole_has_none():
    for said in UNREAD:
        found = find(said)
        assert found and not found.time and match(said) is None, (said, found)
        assert may_name_time(said) and [kind for kind, _ in commands(said)] == ["time"], said


def test_a_number_or_a_time_in_a_question_is_not_refused():
    for said in NOT_ASKED:
        if said.startswith(("tell", "remind me what", "remind me how", "remind me that", "songs")):
            assert find(said) is None, said


def test_a_number_alone_is_no_time():
    for said in ("remind me to read chapter 15", "remind me to call Bob 20", "remind me of bus 18"):
        assert match(said) is None, said
    assert match_time("water plant 20") is None


ONES = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen",
    "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
TENS = ("twenty", "thirty", "forty", "fifty")
DIGITS = "零一二三四五六七八九"


def _in_words(number):
    if number < 20:
        return ONES[number]
    return TENS[number // 10 - 2] + ("-" + ONES[number % 10] if number % 10 else "")


def _in_signs(number):
    tens = ("" if number < 20 else DIGITS[number // 10]) + "十" if number > 9 else ""
    return tens + (DIGITS[number % 10] if number % 10 else "")


def _spoken(hour, minute):
    """A time of the day as people say it."""
    said, after = _in_words(hour), _in_words(hour % 12 + 1)
    chinese = _in_signs(hour) + "点"
    forms = [
        "%d:%02d" % (hour, minute),
        "%d.%02d" % (hour, minute),
        "%s %s" % (said, _in_words(minute) if minute else "sharp"),
    ]
    if not minute:
        return forms + [said, said + " o'clock", chinese]
    if minute < 10:
        forms += [
            "%s oh %s" % (said, ONES[minute]),
            chinese + "零" + _in_signs(minute),
            chinese + "过%s分" % _in_signs(minute),
        ]
    else:
        forms += [chinese + _in_signs(minute), chinese + _in_signs(minute) + "分"]
    past, left = {15: "quarter", 30: "half"}.get(minute, _in_words(minute)), _in_words(60 - minute)
    forms += ["%s past %s" % (past, said), "%s minutes past %s" % (past, said), "%d after %s" % (minute, said)]
    forms += [
        "%s to %s" % (left, after),
        "%s minutes before %s" % (left, after),
        "%d of %d" % (60 - minute, hour % 12 + 1),
    ]
    return forms + [
        _in_signs(hour % 12 + 1) + "点差%s分" % _in_signs(60 - minute),
        "差%s分" % _in_signs(60 - minute) + chinese,
    ]


SPEAKING = (
    "remind me at %s to leave", "remind me to leave at %s", "at %s remind me to leave", "remind me tomorrow to leave at %s",
    "remind me every day at %s to leave", "remind me to leave tomorrow at %s", "wake me at %s", "set an alarm for %s",
    "at %s, tell me the weather",
)  # fmt: skip
SPEAKING_CHINESE = (
    "提醒我%s走",
    "%s提醒我走",
    "明天%s提醒我走",
    "提醒我明天%s走",
    "定个%s的闹钟",
    "%s叫我起床",
    "%s告诉我天气",
)


def test_a_spoken_time_is_understood_as_it_is_meant_or_not_at_all():
    for hour in (1, 8, 12):
        for minute in range(0, 60, rounds(1, 7)):
            for spoken in _spoken(hour, minute):
                is_chinese = spoken.encode()[0] > 127
                wanted = (60 * hour + minute - (60 if spoken[0] == "差" else 0)) % 720
                for request in SPEAKING_CHINESE if is_chinese else SPEAKING:
                    found = match(request % spoken)
                    assert not found or when.minute_of(found.time) % 720 == wanted, (request % spoken, found)
                for typed in ("%s走", "走%s") if is_chinese else ("at %s leave", "leave at %s"):
                    found = match_time(typed % spoken)
                    assert not found or when.minute_of(found[0]) % 720 == wanted, (typed % spoken, found)


def test_a_subject_makes_a_reminder_and_a_time_makes_a_timer():
    for said, kind in (
        ("when the paint shop comes up, remind me to buy brushes", "intend"),
        ("remind me of the brushes when paint comes up", "intend"),
        ("当提到油漆时提醒我买刷子", "intend"),
        ("remind me of the brushes at 8", "time"),
        ("八点提醒我买刷子", "time"),
    ):
        assert [kind for kind, _ in commands(said)] == [kind], said
        assert (intent_rules.match(said) is not None) == (kind == "intend"), said


def test_what_follows_is_the_rest_of_the_message():
    found = match("remind me to call Bob at 8pm. How far is the moon?")
    assert found and (found.what, found.rest) == ("call Bob", "How far is the moon?")
    found = match("明天八点提醒我浇花。你知道月亮有多远吗？")
    assert found and (found.what, found.rest) == ("浇花", "你知道月亮有多远吗？")


def test_a_day_that_has_passed_is_refused():
    for said in (
        "remind me today at 8 to go",
        "remind me on 2026-01-31 at 8 to go",
        "remind me on February 30 at 8 to go",
    ):
        found = match(said)
        assert found, said
        try:
            at = when.resolve("say", found.what, found.time, CLOCK).at
        except ArgumentError:
            continue
        assert at <= NOW, said


def test_in_the_night_its_hours_are_those_of_this_night():
    clock = Clock(0, lambda: NOW - NOW % 86400 + 1800)  # 00:30
    for said, at in (("今晚一点提醒我睡觉", 3600), ("remind me tonight at 12 to sleep", 86400)):
        assert when.resolve("say", "sleep", match(said).time, clock).at == NOW - NOW % 86400 + at, said


def test_until_the_clock_is_set_only_what_needs_none_is_found():
    unset = Clock(0, lambda: 1000)
    for said in ("remind me tomorrow at 8 to go", "remind me at 8 to go", "remind me on Monday at 8 to go"):
        found = match(said)
        with raises(ArgumentError):
            when.resolve("say", "go", found.time, unset)
    for said in ("remind me in 20 minutes to go", "remind me every day at 8 to go", "remind me every 30 minutes to go"):
        when.resolve("say", "go", match(said).time, unset)


def test_a_time_may_stand_before_or_behind_what_is_typed():
    for typed, what in (
        ("tomorrow at 8 water the plants", "water the plants"),
        ("water the plants tomorrow at 8", "water the plants"),
        ("every day at 7 ask what is on today", "ask what is on today"),
        ("22:00 pin lamp off", "pin lamp off"),
        ("明天八点浇花", "浇花"),
        ("每天早上七点 吃药", "吃药"),
    ):
        found = match_time(typed)
        assert found and found[1] == what, (typed, found)
    assert match_time("water the plants") is None


def test_whatever_somebody_says_the_rules_end():
    import random

    pieces = (
        [said for said, _, _ in ASKED]
        + list(NOT_ASKED)
        + ["每周", "每", "十", "十十", "at", "in a", "every", "set a timer for"]
    )
    chosen = random.Random(1) if hasattr(random, "Random") else random
    for _ in range(rounds(3000, 100)):
        first, second = chosen.choice(pieces), chosen.choice(pieces)
        cut = chosen.getrandbits(5)
        match((first[:cut] + " " + second[cut:])[:200])
        match_time(first[cut:] + second)


def test_only_whole_signs_are_taken_off_around_a_text_beside_a_time():
    # The bytes of the wide comma are in these signs as well.
    for said in ("（浇花", "浇花）", "打开", "关灯伌"):
        assert match_time("明天八点" + said)[1] == said, said
    assert match_time("明天八点， 浇花，")[1] == "浇花"
