"""Limits as people ask for them: without a model in English and Chinese, by the tool, and who may have which."""

from board import ANN
from engram import text
from engram.errors import ArgumentError, EngramError, NotFound
from engram.memory.access import ALL, OWNER, Caller
from engram.senses.events import limit_rules
from engram.senses.events.limit_tool import NAME, SCHEMA, LimitTool
from engram.senses.events.limits import Limits
from samples import Numbers
from sensing import Board
from support import folder, raises, rounds

HOME = Caller("owner", "net 1", False, "")
GROUP = Caller("owner", "net 2", True, "")

ASKED = (
    ("tell me if the cellar is below 5", ("cellar", "low", "5", 0)),
    ("Please tell me when the bedroom temperature rises above 25.5 °C!", ("bedroom temperature", "high", "25.5", 0)),
    ("Can you let me know as soon as the freezer goes above -15 degrees?", ("freezer", "high", "-15", 0)),
    ("warn me if it is colder than minus 3", ("", "low", "-3", 0)),
    ("If the humidity is over 70% for 20 minutes, tell me please.", ("humidity", "high", "70", 20)),
    ("notify me when the soil falls under 30 percent for more than 2 hours", ("soil", "low", "30", 120)),
    ("alert me once power exceeds 2000 W", ("power", "high", "2000", 0)),
    ("如果卧室温度低于5度就告诉我", ("卧室温度", "low", "5", 0)),
    ("卧室温度高于二十五度时提醒我。", ("卧室温度", "high", "25", 0)),
    ("请告诉我如果地窖低于零下3℃", ("地窖", "low", "-3", 0)),
    ("湿度超过70%，马上通知我！", ("湿度", "high", "70", 0)),
    ("冰箱大于十度的话告诉我", ("冰箱", "high", "10", 0)),
    ("温度不到18度就跟我说", ("温度", "low", "18", 0)),
    ("tell me if the bedroom gets under 5 degrees", ("bedroom", "low", "5", 0)),
    ("tell me if it's below five degrees in the bedroom", ("bedroom", "low", "5", 0)),
    ("tell me once the battery drops below 3.3V", ("battery", "low", "3.3", 0)),
    ("if the bedroom is below 5 tell me", ("bedroom", "low", "5", 0)),
    ("when the bedroom’s colder than twenty-one degrees C let me know", ("bedroom", "low", "21", 0)),
    ("tell me if the bedroom has been above −5 for two hours", ("bedroom", "high", "-5", 120)),
    ("如果卧室低于五度就告诉我", ("卧室", "low", "5", 0)),
    ("如果卧室到零下三度就告诉我", ("卧室", "low", "-3", 0)),
    ("如果卧室高于零下三度就告诉我", ("卧室", "high", "-3", 0)),
    ("告诉我卧室什么时候低于两度", ("卧室", "low", "2", 0)),
    ("湿度超过百分之七十就告诉我", ("湿度", "high", "70", 0)),
    ("电池低于三点零五伏就提醒我", ("电池", "low", "3.05", 0)),
    ("电压高于二百三十五伏就提醒我", ("电压", "high", "235", 0)),
    ("电压高于一百二伏就提醒我", ("电压", "high", "120", 0)),
    ("烤箱超过一百零五度，告诉我", ("烤箱", "high", "105", 0)),
    ("卧室低于１８度持续十分钟就告诉我", ("卧室", "low", "18", 10)),
    ("如果卧室低於五度就告訴我", ("卧室", "low", "5", 0)),
    ("卧室温度30度以上告诉我", ("卧室温度", "high", "30", 0)),
    ("如果卧室在五度以下就告诉我", ("卧室", "low", "5", 0)),
    ("湿度百分之七十以上持续十分钟就通知我", ("湿度", "high", "70", 10)),
    ("卧室零下三度以下时提醒我", ("卧室", "low", "-3", 0)),
)

NOT_ASKED = (
    "is the cellar below 5?",
    "tell me if the cellar is cold",
    "tell me if the cellar is below average",
    "tell me how cold the cellar is",
    "tell me if the price is below 5 euros a kilo",
    "he said: tell me if it is below 5",
    "tell me a story",
    "the cellar is below 5",
    "I told Anna to tell me if the cellar is below 5. What did she say?",
    "if the cellar is below 5, open the window",
    "tell me if the cellar is below 5.5.5",
    "tell me if the cellar is below fiver",
    "卧室低于五点就告诉我",
    "remind me to buy a thermometer",
    "卧室温度低于5度吗？",
    "卧室温度低于5度",
    "卧室温度三十度以上很热就告诉我",
    "以上就告诉我",
    "5度就告诉我",
    "tell me if the underfloor is cold",
    "don't tell me a story if it is below 5",
    "如果下雨就告诉我",
    "告诉我卧室温度",
    "",
)

PARTS = (
    ("tell me ", "Please let me know ", "warn me", "告诉我", "", "\u200b", "请", "hey, engram, "),
    ("if ", "once ", "when ", "如果", "当", ", tell me if ", "如"),
    ("the cellar", "it", "it's", "bedroom", "卧室温度", "卧室", "", "the ", "湿", "b\u00e9d\u200b", "😀", "cellar’s"),
    (" is below ", " gets under ", " exceeds ", " over ", "低于", "超过", "降到", "低", " ever", "要是低于"),
    ("5", "-3.5", "minus two", "twenty-one", "ten-", "9" * 40, "１８", "零下三", "二十五点五", "百分之", "点", "十十", "5."),
    (" degrees", "°C", "°", "%", "％", "V", "伏特", "度", "", "摄氏", " c"),
    (" for 10 minutes", " for two hours", " for ", "持续十分钟", "", " in the bedroom", " in the ", "的时候", "\x00", "\n"),
    (", tell me", " let me know please", "就告诉我", "时提醒我。", "!", "?", "？", "」", " - ", "。。", "", "", "告诉我"),
)  # fmt: skip


def _tool(shared=()):
    board = Board()
    for name in ("cellar", "bedroom temperature", "bedroom humidity", "卧室温度"):
        board.observe(name, 20)
    limits = Limits(folder() + "/limits.jsonl", board.senses)
    return LimitTool(board.senses, limits, lambda sense: ALL if sense.name in shared else "user:owner")


def test_a_plain_request_is_understood():
    for said, wanted in ASKED:
        assert limit_rules.may_be(said), said
        assert tuple(limit_rules.match(said) or ())[:4] == wanted, (said, limit_rules.match(said))


def test_what_is_no_plain_request_is_left_alone():
    for said in NOT_ASKED:
        assert limit_rules.match(said) is None, (said, limit_rules.match(said))


def test_whatever_somebody_says_the_rules_end():
    numbers = Numbers(25)
    tool = _tool()
    kept = 0
    for _ in range(rounds(20000, 1500)):
        parts = [numbers.pick(part if numbers.below(25) else numbers.pick(PARTS)) for part in PARTS]
        said = "".join(parts)[numbers.below(8) // 7 * numbers.below(12) :] * (1 if numbers.below(50) else 9)
        try:
            kept += bool(limit_rules.add_limit_by_rule(tool, said, HOME))
        except EngramError:
            pass  # the person reads why: a number that is too large for a sense
    assert kept


def test_a_rule_keeps_a_limit_of_a_sense_that_there_is():
    tool = _tool()
    told = limit_rules.add_limit_by_rule(tool, "tell me if the cellar is below 5", HOME)
    assert told == "will tell you here when cellar is below 5.0 (l1)"
    assert tool.run({"action": "list"}, HOME) == {"limits": [{"id": "l1", "sense": "cellar", "low": "5.0"}]}
    assert limit_rules.add_limit_by_rule(tool, "如果卧室温度低于5度就告诉我", HOME)[-4:] == "(l2)"
    for said in ("tell me if the attic is below 5", "tell me if it is below 5", "tell me if the bedroom is below 5"):
        assert limit_rules.add_limit_by_rule(tool, said, HOME) == "", said


def test_a_limit_that_is_too_large_to_be_scaled_is_refused_with_a_sentence():
    tool = _tool()
    said = "tell me if the cellar is below %s.5" % ("9" * 308)
    with raises(ArgumentError) as caught:
        limit_rules.add_limit_by_rule(tool, said, HOME)
    assert "is too large" in str(caught.error) or "finite" in str(caught.error)


def test_a_limit_is_removed_by_a_plain_request():
    tool = _tool()
    for stop in (
        "stop telling me if the cellar is below 5",
        "Please don’t tell me when the cellar gets under 5 degrees.",
        "do not warn me if the cellar is below 5",
        "别再告诉我cellar低于5度",
        "cellar低于五度时不用提醒我",
    ):
        ref = tool.set_named(HOME, "cellar", low=5)["id"]
        assert limit_rules.add_limit_by_rule(tool, stop, HOME) == ref + " is removed", stop
        assert tool.run({"action": "list"}, HOME) == {"limits": []}


def test_a_request_to_stop_removes_no_other_limit_and_sets_none():
    tool = _tool()
    kept = [tool.set_named(HOME, "cellar", high=30)["id"], tool.set_named(OWNER, "cellar", low=5)["id"]]
    with raises(NotFound) as caught:
        limit_rules.add_limit_by_rule(tool, "stop telling me if the cellar is below 5", HOME)
    assert "a list shows those that you set here" in str(caught.error)
    assert limit_rules.add_limit_by_rule(tool, "stop telling me if the attic is below 5", HOME) == ""
    assert [each["id"] for caller in (HOME, OWNER) for each in tool.run({"action": "list"}, caller)["limits"]] == kept


def test_chinese_names_of_places_mean_senses_with_english_names():
    board = Board()
    for name in ("bedroom temperature", "outside", "cellar temperature", "cellar air temperature"):
        board.observe(name, 20, "°C")
    tool = LimitTool(board.senses, Limits(folder() + "/limits.jsonl", board.senses), lambda sense: "user:owner")
    for said, wanted in (
        ("如果卧室低于五度就告诉我", "bedroom temperature is below 5.0 °C"),
        ("外面低于零下三度就告诉我", "outside is below -3.0 °C"),
        ("地下室低于五度就告诉我", ""),
        ("钱包低于五度就告诉我", ""),
    ):
        told = limit_rules.add_limit_by_rule(tool, said, HOME)
        assert (wanted in told) if wanted else not told, (said, told)


def test_it_is_the_only_sense_that_there_is():
    board = Board()
    board.observe("cellar", 20, "°C")
    tool = LimitTool(board.senses, Limits(folder() + "/limits.jsonl", board.senses), lambda sense: "user:owner")
    told = limit_rules.add_limit_by_rule(tool, "tell me if it is below 5 for 10 minutes", HOME)
    assert told == "will tell you here when cellar is below 5.0 °C for 10 min (l1)"


def test_the_unit_that_is_said_decides_which_sense_is_meant():
    board = Board()
    for name, unit in (("bedroom temperature", "°C"), ("bedroom humidity", "%"), ("卧室电池", "V"), ("oven", "°F")):
        board.observe(name, 20, unit)
    tool = LimitTool(board.senses, Limits(folder() + "/limits.jsonl", board.senses), lambda sense: "user:owner")
    for said, wanted in (
        ("tell me if the bedroom gets under 5 degrees", "bedroom temperature is below 5.0 °C"),
        ("tell me if the bedroom is over 70%", "bedroom humidity is above 70.0 %"),
        ("如果卧室低于三伏就告诉我", "卧室电池 is below 3.0 V"),
        ("tell me if it is below 6 °C", "bedroom temperature is below 6.0 °C"),
        ("tell me if the oven is above 400 degrees", "oven is above 400.0 °F"),
        ("tell me if the oven is above 200 °C", ""),
        ("tell me if the bedroom is below 5", ""),
        ("tell me if it is below 5 degrees", ""),
    ):
        told = limit_rules.add_limit_by_rule(tool, said, HOME)
        assert (wanted in told) if wanted else not told, (said, told)


def test_the_tool_sets_lists_and_removes():
    tool = _tool()
    assert NAME == "sense_limit" and text.loads(SCHEMA)["required"] == ["action"]  # pyright: ignore
    assert tool.run({"action": "set", "sense": "Cellar", "high": 30, "minutes": 5}, HOME) == {
        "id": "l1",
        "sense": "cellar",
        "high": "30.0",
        "minutes": 5,
    }
    assert tool.run({"action": "list"}, OWNER) == {"limits": []}, "another room has its own"
    assert tool.run({"action": "remove", "id": "l1"}, HOME)["removed"]["id"] == "l1"
    assert tool.run({"action": "list"}, HOME) == {"limits": []}


def test_a_call_that_cannot_be_carried_out_says_what_would_be_right():
    tool = _tool()
    for arguments in (
        {"action": "set", "low": 5},
        {"action": "set", "sense": "attic", "low": 5},
        {"action": "set", "sense": "cellar"},
        {"action": "set", "sense": "cellar", "low": 5, "high": 9},
        {"action": "remove"},
        {"action": "what"},
    ):
        with raises(ArgumentError):
            tool.run(arguments, HOME)
    with raises(NotFound):
        tool.run({"action": "remove", "id": "l9"}, HOME)


def test_others_have_no_limit_of_a_sense_that_is_not_shared():
    tool = _tool(shared=("cellar",))
    for caller in (ANN, GROUP):
        with raises(ArgumentError) as caught:
            tool.run({"action": "set", "sense": "bedroom temperature", "low": 5}, caller)
        assert "bedroom" not in str(caught.error) and "cellar" in str(caught.error)
        assert limit_rules.add_limit_by_rule(tool, "tell me if bedroom humidity is below 5", caller) == ""
        assert tool.run({"action": "set", "sense": "cellar", "low": 5}, caller)["sense"] == "cellar"
        with raises(NotFound):
            tool.set(caller, tool.find("bedroom humidity", HOME), low=3)
    assert tool.run({"action": "list"}, HOME) == {"limits": []}


def test_the_same_limit_again_is_the_one_that_there_is():
    tool = _tool()
    first = tool.set_named(OWNER, "cellar", low=5)
    assert tool.set_named(OWNER, "cellar", low=5) is first
    assert tool.set_named(OWNER, "cellar", low=6)["id"] == "l2"
