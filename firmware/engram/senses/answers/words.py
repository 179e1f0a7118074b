"""Which senses a text is about, by the words of their names and of what they measure: English and Chinese.

A text of other things is about no sense: a word that is neither in a name nor of a measurement or a time is left over. Chinese
is looked at phrase by phrase, English word by word, without its stop words and endings.
"""

from collections import namedtuple

from engram import text
from engram.compat import const

About = namedtuple("About", "senses state rest is_chinese")
"""The senses that a text asks for, best first; 1 or 0 if it asks when something was open or closed, None otherwise; the words
that are left over; and whether it is Chinese."""

# Units, and the words of what is measured in them.
_QUANTITIES = (
    ("|°C|°F|K|C|F|", "temperature temp warm warmer warmest cold colder coldest hot hotter hottest cool cooler coolest chilly "
     "freezing frost degrees", "温度|气温|室温|多少度|几度|多热|多冷|多暖|暖和|热|冷|暖|凉"),
    ("|%|%RH|", "humid humidity damp moist moisture dry wet", "湿度|潮湿|多湿|湿|潮|干燥"),
    ("|hPa|mbar|kPa|Pa|", "pressure", "气压"),
    ("|lx|lux|", "bright brightness dark", "亮度|多亮|亮|暗"),
    ("|dBm|", "signal", "信号"),
    ("|ppm|", "air co2", "空气|二氧化碳"),
    ("|mV|V|", "voltage", "电压"),
)  # fmt: skip
_ON = const("open opens opened opening on ring rang moved motion")
_OFF = const("closed close closes closing shut off")
_WIDE_ON = const("打开|开过|开着|开了|开启|有人|开")
_WIDE_OFF = const("关上|关过|关着|关了|关闭|关")
_PLACES = (
    ("卧室", "bedroom"), ("客厅", "living room"), ("厨房", "kitchen"), ("浴室", "bathroom"), ("书房", "study"),
    ("办公室", "office"), ("地下室", "cellar"), ("车库", "garage"), ("阳台", "balcony"), ("花园", "garden"),
    ("温室", "greenhouse"), ("冰箱", "fridge"), ("室外", "outside"), ("外面", "outside"), ("窗户", "window"), ("窗", "window"),
    ("大门", "door"), ("门", "door"), ("灯", "light"), ("土壤", "soil"),
)  # fmt: skip
"""Names of places as people write them in Chinese, for senses with English names, and the other way round."""

# What says nothing of what a question is about.
_FILLERS = (
    "reading readings value values sensor sensors senses level sense measure measured show give tell please much many high low "
    "highest lowest maximum minimum max min average mean latest current currently now right often times time long again get "
    "got go went become became ever last first here inside indoors indoor house home room display figure "
    "figures hey hi ok okay well still yet far like"
)
_TIMES = (
    "today tonight yesterday day days night nights week weeks weekend month months year years hour hours minute minutes "
    "morning afternoon evening noon midnight ago past previous since until between around during before after early late "
    "o'clock oclock am pm a.m p.m clock monday tuesday wednesday thursday friday saturday sunday january february march "
    "april may june july august september october november december jan feb mar apr jun jul aug sep sept oct nov dec one "
    "two three four five six seven eight nine ten eleven twelve half couple"
)
_WIDE_FILLERS = (
    "什么时候|告诉我|有没有|请问|现在|目前|刚才|当时|时候|时间|几点|哪些|多少|几次|多久|什么|怎样|怎么样|一下|读数|数值|传感器|最高|最低|"
    "最大|最小|平均|最近|最后|上次|昨天|昨日|昨晚|昨夜|前天|今天|今日|今晚|今早|今夜|今年|去年|本周|这周|上周|星期|礼拜|本月|这个月|"
    "上个月|上月|早上|早晨|清晨|上午|中午|下午|傍晚|晚上|夜里|夜间|半夜|深夜|凌晨|白天|小时|分钟|过去|以来|家里|屋里|房间|里面|"
    "一|二|两|三|四|五|六|七|八|九|十|零|点|半|分|刻|钟|天|周|月|日|号|年|前|到|至|从|次|度|多|最|高|低|大|小|的|了|是|在|有|没|"
    "吗|呢|么|吧|啊|过|着|会|被|里|中|那|这|时|间|晚|夜|早|我|家|几|很|还|还是|都|和|个|？|，|。|！|：|、"
)
_OPENINGS = const(
    " how when what what's was were is are did does do has have had which at tell show give since between "
)
_AUXILIARIES = const(" was were is are did does do has have had ")
_NO_OPENINGS = const(" when if whenever once as ")
_WIDE_QUESTION = const("？|?|吗|呢|多少|几|什么|怎么|怎样|多热|多冷|多湿|多亮|多久")
_WIDE_OTHERS = const("提醒|记住|记一下|忘记|忘掉|告诉我如果|通知")
_CLAUSES = const(" when while during after before as ")
_NO_CLAUSE = ("什么", "小", "当", "有", "准", "到", "随", "及", "临", "同", "平")
_COURTESIES = const(" please hey hi hello ok okay so and well engram ")
_OTHERS = const(" where who whom whose why ")
_FIRST_HAN = const(0xE4)  # most Han characters begin with a byte from here
_LAST_HAN = const(0xE9)  # to here
_AFTER_ON = const(" today yesterday tonight last this at now between since during in ")
_AROUND = const(".,!?;:\"'()")


def plain_words(said: str) -> list:
    """The words of a text in lower case, without the marks around them."""
    return [word for word in [part.strip(_AROUND) for part in said.lower().replace("’", "'").split()] if word]


def is_chinese(said: str) -> bool:
    """Whether a text has a Chinese character."""
    data = text.encode(said)
    return len(data) != len(said) and any(_FIRST_HAN <= byte <= _LAST_HAN for byte in data)


def has_one(said: str, phrases: str) -> bool:
    """Whether a text has one of some phrases, between which | stands."""
    return any(phrase in said for phrase in phrases.split("|"))


def asks(said: str) -> bool:
    """Whether a text may ask for a reading: not where something is, nor for something to be kept or done."""
    if is_chinese(said):
        return has_one(said, _WIDE_QUESTION) and not has_one(said, _WIDE_OTHERS)
    words = plain_words(said)
    while words and " " + words[0] + " " in _COURTESIES:
        words.pop(0)
    if not words or any(" " + word + " " in _OTHERS for word in words):
        return False
    first, then = words[0], words[1] if len(words) > 1 else "-"
    if first in ("tell", "show", "give"):
        return then == "me" and len(words) > 2 and " " + words[2] + " " not in _NO_OPENINGS
    if first == "when":
        return " " + then + " " in _AUXILIARIES
    if "remind" in words:
        return False
    return " " + first + " " in _OPENINGS or said.strip().endswith("?")


def clause_of(said: str) -> str:
    """What a question says of when it was, such as "Anna called" of "was it cold when Anna called?"; "" if it does not."""
    if is_chinese(said):
        place = said.find("的时候")
        for mark in ("时候", "时") if place < 0 else ():
            if place < 0:
                place = said.find(mark)
        before = said[: max(place, 0)]
        return (
            ""
            if any(before.endswith(word) for word in _NO_CLAUSE) or said[place:].startswith("时间")
            else before.replace("当", "", 1)
        )
    words = said.split()
    for at, word in enumerate(words):
        if at and " " + word.lower() + " " in _CLAUSES:
            return " ".join(words[at + 1 :]).rstrip("?!. ")
    return ""


def about(said: str, senses: list, switches=()) -> About:
    """What a text asks of some senses; `switches` are the numbers of those that only are open or closed, or on or off."""
    return _Reader(said, switches).read(senses)


class _Reader:
    """Reads one text."""

    def __init__(self, said: str, switches):
        self._switches = switches
        self._wide = said if is_chinese(said) else ""
        self.words = plain_words(said)
        self._terms = {term for term in text.terms(" ".join(self.words)) if _is_ascii(term)}
        self._places = {}
        for wide, plain in _PLACES if self._wide else ():
            if wide in self._wide and not any(wide in longer for longer in self._places):
                self._places[wide] = set(text.terms(plain))
        self._measures = [set(text.terms(row[1])) for row in _QUANTITIES]
        self._asked = [
            not terms.isdisjoint(self._terms) or (bool(self._wide) and has_one(self._wide, row[2]))
            for terms, row in zip(self._measures, _QUANTITIES)
        ]
        self._state = self._find_state()

    def _find_state(self):
        if self._wide:
            return 1 if has_one(self._wide, _WIDE_ON) else 0 if has_one(self._wide, _WIDE_OFF) else None
        for word in self.words:
            if " " + word + " " in " " + _OFF + " ":
                return 0
            if " " + word + " " in " " + _ON + " " and (word != "on" or self._is_switch_named()):
                return 1
        return None

    def _is_switch_named(self) -> bool:
        """Whether "on" is a state, as in "was the lamp on last night": not "on Monday"."""
        following = self.words[self.words.index("on") + 1 :]
        return not following or " " + following[0] + " " in _AFTER_ON

    def read(self, senses: list) -> About:
        """The senses that are asked for."""
        best, found = 0, []
        for sense in senses:
            score = self._score(sense)
            if score > best:
                best, found = score, []
            if score and score == best:
                found.append(sense)
        rest = self._rest(found)
        if rest and self._state is None and not any(self._asked):
            found = []  # "what is the code of the door?"
        return About(found, self._state, rest, bool(self._wide))

    def _score(self, sense) -> int:
        """How well a sense fits: 0 if it is not asked for."""
        named, every = self._named(sense.name)
        if any(self._asked):
            return 1 + 2 * named if self._is_measured(sense) else 0
        if self._state is not None and sense.number in self._switches:
            return 2 * named
        return 2 * named if named == every else 0

    def _is_measured(self, sense) -> bool:
        """Whether a sense measures what is asked, by its unit, or by its name if it has none."""
        for asked, terms, row in zip(self._asked, self._measures, _QUANTITIES):
            if asked and sense.unit:
                if "|" + sense.unit + "|" in row[0]:
                    return True
            elif asked and (not terms.isdisjoint(set(text.terms(sense.name))) or has_one(sense.name, row[2])):
                return True
        return False

    def _named(self, name: str) -> tuple:
        """(how many words of a sense's name the text has, how many there are); words of what is measured do not count."""
        terms = [term for term in text.terms(name) if not self._is_measure(term)]
        named = 0
        for term in terms:
            named += term in self._terms or (bool(self._wide) and not _is_ascii(term) and term in self._wide)
            named += any(term in plain for plain in self._places.values())
        for wide, plain in () if self._wide else _PLACES:
            if wide in name and all(term in self._terms for term in text.terms(plain)):
                named += 1
        return named, len(terms)

    def _is_measure(self, term: str) -> bool:
        """Whether a word of a name says what is measured, and not where."""
        if _is_ascii(term):
            return any(term in terms for terms in self._measures)
        return any(term in row[2].split("|") for row in _QUANTITIES)

    def _rest(self, senses: list) -> list:
        """The words that neither name the senses nor what is measured or when."""
        known = set(text.terms(" ".join((_FILLERS, _TIMES, _ON, _OFF))))
        for terms, asked in zip(self._measures, self._asked):
            if asked:
                known.update(terms)
        names = set()
        for sense in senses:
            names.update(text.terms(sense.name))
            for wide, plain in _PLACES:
                if wide in sense.name:
                    names.update(text.terms(plain))
        rest = [term for term in self._terms if term not in known and term not in names and not _is_time(term)]
        return rest + self._wide_rest(senses, names)

    def _wide_rest(self, senses: list, names: set) -> list:
        left = self._wide
        if not left:
            return []
        for wide, plain in self._places.items():
            if plain.issubset(names) or any(wide in sense.name for sense in senses):
                left = left.replace(wide, " ")
        for sense in senses:
            for part in [sense.name] + [term for term in text.terms(sense.name) if not _is_ascii(term)]:
                left = left.replace(part, " ")
        for phrases in [row[2] for row in _QUANTITIES] + [_WIDE_ON, _WIDE_OFF, _WIDE_FILLERS]:
            for phrase in phrases.split("|"):
                left = left.replace(phrase, " ")
        return [word for word in left.split() if not _is_ascii(word)]


def _is_ascii(word: str) -> bool:
    return len(text.encode(word)) == len(word)


def _is_time(term: str) -> bool:
    """Whether a word is a number, or one with a unit of time such as 7am or 3rd."""
    return term[0] in "0123456789"
