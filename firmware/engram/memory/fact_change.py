"""Whether a fact takes the place of another: both are the value of something that has but one."""

from engram.memory.fact import Fact
from engram.memory.fact_numbers import is_number
from engram.memory.fact_order import has, is_ordinary
from engram.text.utf8 import encode

_LINKS = (b"#start", b"will")  # "the meeting is at 3", "starts at 3", "will be at 3"
_QUALIFIERS = (b"@for", b"@when", b"@during", b"@while", b"@if", b"@because", b"@after", b"@before", b"@as")
_PLACES = (b"@in", b"@on", b"@at", b"@under", b"@near", b"@behind", b"@beside", b"@zai", b"@over", b"@between")
# One of these may well be beside another, but not when the new one is said to be used now.
_REPLACEABLE = (b"", b"&use", b"&drive", b"&study", b"&read", b"&take", b"&eat", b"&drink", b"&play", b"&wear")
_WITH_VERSIONS = (b"&use", b"&run")
_BY_CHOICE = (b"#prefer", b"#favourite")  # of one kind of things: tea or coffee, not tea or short answers
_SITES = (b"#home", b"#employer", b"#workplace")  # a flat or a city, a bank or its name

_PAST = b" bought went saw met took gave got made came flew ran wrote ate found paid spent "
_CHINESE_COLOUR = "色".encode()
_CHINESE_ADJECTIVE, _CHINESE_STOP = "的".encode(), "。".encode()
_CHINESE_ORDINAL = "第".encode()
_CHINESE_ATTRIBUTES = "号率度量数费价额值期址码型式".encode()  # nouns that end with one hold one value

# Of these somebody may have more than one.
_RELATIVES = (
    " friend brother sister son daughter child cousin uncle aunt colleague neighbor classmate mother father parent "
    "grandma grandpa 朋友 哥哥 姐姐 弟弟 妹妹 儿子 女儿 同事 邻居 同学 叔叔 阿姨 爷爷 奶奶 外公 外婆 孩子 "
).encode()

# Words of which only one can hold at a time, in groups.
_EXCLUSIVE = (
    "| red blue green yellow black white brown gray orange purple pink silver gold | 红色 蓝色 绿色 黄色 黑色 白色 "
    "灰色 橙色 紫色 粉色 棕色 银色 金色 | on off &drive | open closed shut | up down | enabled disabled enable "
    "disable | active inactive | true false | yes no | locked unlocked | online offline | full empty | hot warm cool "
    "cold | high low medium normal | left right | dark light | metric imperial | celsius fahrenheit | public private "
    "| single married divorced engaged widowed | working broken fixed | pending running paused failed successful "
    "finished completed done shipped | tab space | small medium large | daily weekly monthly | window aisle | clean "
    "dirty | short long detailed brief | formal informal casual | manual automatic | english german french spanish "
    "italian chinese japanese | summer winter spring autumn | male female | morning afternoon evening night | weak "
    "strong | slow fast | loud quiet | good bad | easy hard | new old | cheap expensive | wet dry | free occupied "
    "vacant | mandatory optional | 启用 禁用 | 在线 离线 | 满 空 | 高 低 正常 | 左 右 | 深色 浅色 | 公开 私有 | 单身 "
    "已婚 结婚 离婚 未婚 | 英文 中文 | 空闲 占用 | "
).encode()


def takes_place(old: Fact, new: Fact) -> bool:
    """Whether both say what the value of one thing is, and not the same."""
    if (old.is_one_of and new.is_one_of) or _key(old) != _key(new):
        return False
    if old.predicate != new.predicate:
        return old.rest == new.rest and {old.predicate, new.predicate} == {b"&like", b"&hate"}
    if old.rest == new.rest:
        return _is_at_another_time(old, new)
    if [kind for kind in _kinds_that_differ(old, new) if kind in b"WPFR"]:
        return False
    return _has_another_value(old, new)


def difference(one: list, other: list) -> tuple:
    """What both begin with, what only the one has, what only the other has, and what both end with."""
    size = min(len(one), len(other))
    start = end = 0
    while start < size and one[start] == other[start]:
        start += 1
    while end < size - start and one[-1 - end] == other[-1 - end]:
        end += 1
    return one[:start], one[start : len(one) - end], other[start : len(other) - end], one[len(one) - end :]


def _key(fact: Fact) -> list:
    return [token for token in fact.subject if token not in _LINKS]


def _holds_one(fact: Fact) -> bool:
    """Whether the fact is the value of something that has but one."""
    if fact.predicate != b"=":
        return False
    last = fact.subject[-1]
    if last[0] >= 0x80 and last[-3:] in _CHINESE_ATTRIBUTES:
        return True
    if last[:1] == b"J" and fact.is_owned and not fact.is_turned:  # "her teacher is"
        return True
    return has(fact.subject, b"#")


# --- days and times


def _is_at_another_time(old: Fact, new: Fact) -> bool:
    """Whether only the time differs, and there can be but one."""
    kinds = _kinds_that_differ(old, new)
    for kind in kinds:
        if _bound(old.when[kind]) != _bound(new.when[kind]) or _is_vaguer(old.when[kind], new.when[kind]):
            return False
    in_one = [kind for kind in old.when if kind not in new.when] + [kind for kind in new.when if kind not in old.when]
    if not kinds:  # from a weekday to a date
        return _holds_one(new) and bool(old.when and new.when) and len(in_one) == len(old.when) + len(new.when)
    if not new.correction and [kind for kind in in_one if _recurs(old.when.get(kind) or new.when[kind])]:
        return False
    if new.predicate == b"=" or [token for token in new.rest if token[:1] == b"O"]:
        return True
    return kinds in ([b"T"], [b"F"]) and not _is_past(new)


def _kinds_that_differ(old: Fact, new: Fact) -> list:
    return [kind for kind in old.when if new.when.get(kind, old.when[kind]) != old.when[kind]]


def _recurs(time: bytes) -> bool:
    return time[:1] == b"F" or time.startswith(b"@every")


def _bound(time: bytes) -> bytes:
    """The preposition before a day or a time, about."""
    return time[:4] if time[:1] == b"@" else b""


def _is_vaguer(old: bytes, new: bytes) -> bool:
    """Whether a new date is the old one without its year or its day."""
    if old[:1] != b"D" or new[:1] != b"D":
        return False
    return not [part for part, known in zip(new[1:].split(b"-"), old[1:].split(b"-")) if part and part != known]


# --- values


def _has_another_value(old: Fact, new: Fact) -> bool:
    shared, gone, come, tail = difference(old.rest, new.rest)
    is_word = len(gone) == len(come) == 1
    if is_word and new.predicate in (b"=", b"", b"&use") and _excludes(gone[0], come[0]):
        return True
    if new.predicate[:1] == b"&" and new.subject and new.subject[-1] in _BY_CHOICE:
        return is_word  # "prefers to drink"
    if not _are_values(old, new, shared, gone, come):
        return False
    if _holds_one(new):
        return _is_other_choice(old, new, shared, gone, come, tail) and _is_other_value(gone, come)
    if shared and shared[-1][:1] == b"#":
        return _is_other_value(gone, come)
    if not gone or not come:
        return False
    if _without_numbers(gone) == _without_numbers(come):
        return _is_quantity(new, shared, gone, tail)
    return _is_corrected(new, shared) or _is_other_of_its_kind(old, new, shared, gone, come, tail)


def _are_values(old: Fact, new: Fact, shared: list, gone: list, come: list) -> bool:
    """Whether what differs can be values: no clauses, none for something else, no two people of one first name."""
    if shared and old.is_turned and new.is_turned:
        return False
    return not _is_clause(gone) and not _is_clause(come) and _qualifier(gone) == _qualifier(come)


def _is_corrected(new: Fact, shared: list) -> bool:
    """Whether the new text says that it takes something's place: "actually", "now uses"."""
    if new.correction == b"*":
        return True
    return bool(new.correction) and new.predicate in _REPLACEABLE and (new.predicate != b"" or len(shared) > 1)


def _is_other_of_its_kind(old: Fact, new: Fact, shared: list, gone: list, come: list, tail: list) -> bool:
    """Whether only one such value is likely: used as one thing, a mode, a name, where something is."""
    if new.predicate == b"&use":
        return bool(tail) and (tail[0] in (b"@as", b"@for") or is_ordinary(tail[0]))
    if new.predicate != b"=" or new.subject == [b"U"]:
        return False
    if tail:
        return tail[0][:1] == b"#" or _is_place(shared, gone, come)  # bridge mode, router mode
    if not shared and new.is_owned and not new.is_turned and _is_name(gone, old) and _is_name(come, new):
        return b" " + new.subject[-1] + b" " not in _RELATIVES
    return _is_place(shared, gone, come)


def _is_place(shared: list, gone: list, come: list) -> bool:
    return (gone[0] in _PLACES and come[0] in _PLACES) or (bool(shared) and shared[-1] in _PLACES)


def _is_clause(found: list) -> bool:
    """Whether a part of the rest has a verb of its own, or a thing and its value."""
    for at, token in enumerate(found):
        if token[:1] in b"&=;" or (token[:1] == b"#" and at + 1 < len(found)):
            return True
    return False


def _qualifier(found: list) -> list:
    """What says for what, or of a number also where, a value holds."""
    for at, token in enumerate(found):
        if token in _QUALIFIERS or (token[:1] == b"@" and at and is_number(found[0])):
            return found[at:]
    return []


def _is_other_choice(old: Fact, new: Fact, shared: list, gone: list, come: list, tail: list) -> bool:
    """Whether values of something that holds one are of one kind, where that is not sure."""
    what = new.subject[-1]
    if what in _BY_CHOICE and not (shared or tail or sorted(gone) == sorted(come)):
        return len(gone) == len(come) == 1 and (what == b"#prefer" or _excludes(gone[0], come[0]))
    if what in _SITES:
        return old.has_article == new.has_article and is_number((gone or come)[0]) == is_number((come or gone)[0])
    return True


def _is_other_value(gone: list, come: list) -> bool:
    """Whether one value stands for the other; what is only left out, or only said where, is no other one."""
    if not gone or not come:
        return bool(come) and come[0][:1] != b"@"
    one, other = gone[0], come[0]
    return one == other or (one[:1] != b"@" and other[:1] != b"@") or (one in _PLACES and other in _PLACES)


def _is_name(value: list, fact: Fact) -> bool:
    """Whether a value is a name: in English it has a capital, in Chinese it is no adjective."""
    text = encode(fact.text)
    if value[0][0] >= 0x80:
        return not text.replace(_CHINESE_STOP, b"").rstrip(b" .").endswith(_CHINESE_ADJECTIVE)
    for token in value:
        at = text.lower().find(token)
        if at >= 0 and 0x41 <= text[at] <= 0x5A:
            return True
    return False


def _without_numbers(found: list) -> list:
    return [token for token in found if not (token[:1].isdigit() or is_number(token))]


def _is_quantity(fact: Fact, shared: list, gone: list, tail: list) -> bool:
    """Whether the number that differs is how much, not which one: 5 km, not bus 5; of what is, it may be either."""
    if fact.predicate == b"=":
        return True
    if _is_past(fact) or (shared and shared[-1].endswith(_CHINESE_ORDINAL)):
        return False
    after = gone[1:] + tail
    if not fact.predicate and not (shared and (fact.subject or has(shared, b"@") or has(after[:1], b"$"))):
        return False  # "box 3 holds", where the verb is not known
    if shared and (fact.predicate in _WITH_VERSIONS or b"." in gone[0]):
        return True
    return bool(after) and after[0][:1] != b"@"


def _is_past(fact: Fact) -> bool:
    """Whether it happened, so that it may have happened more than once."""
    if fact.predicate == b"&been":
        return True
    before = b""
    for token in fact.rest:
        word = token.rstrip(b"^")
        if before != b"=" and ((word[-2:] == b"ed" and len(word) > 4) or b" " + word + b" " in _PAST):
            return True
        before = token
    return False


def _excludes(one: bytes, other: bytes) -> bool:
    """Whether two words are in one group of those of which only one can hold."""
    if one[0] >= 0x80:
        if one[-3:] == other[-3:] == _CHINESE_COLOUR:
            return True
        return any(_puts(one, other, group.split()) for group in _EXCLUSIVE.split(b"|"))
    at = _EXCLUSIVE.find(b" " + one + b" ")
    if at < 0:
        return False
    start = _EXCLUSIVE.rfind(b"|", 0, at)
    return b" " + other + b" " in _EXCLUSIVE[start : _EXCLUSIVE.find(b"|", at)]


def _puts(one: bytes, other: bytes, group: list) -> bool:
    """Whether the one becomes the other with another word of a group: Chinese is not cut into words."""
    for word in group:
        if word in one:
            for choice in group:
                if choice != word and one.replace(word, choice) == other:
                    return True
    return False
