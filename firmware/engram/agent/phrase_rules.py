"""Finds, without a model, what a person plainly asks to keep or forget, or says of themselves: English and Chinese.

A rule is the opening words of a message, after "please", "hey" and the like. The set is small: what is no clear statement
is no match, such as a question, a story about remembering, a wish for this answer, or what somebody else said.

Texts are worked on as engram.text.phrases does.
"""

from collections import namedtuple

from engram.compat import const
from engram.memory import access
from engram.memory.texts.notes import MEMORY
from engram.text.phrases import (
    COURTESY,
    HEAD,
    LONGEST_NAME,
    LONGEST_STATEMENT,
    REQUEST,
    SUBJECT,
    UNCLEAR,
    YOU,
    asks,
    comma_at,
    has,
    past,
    past_several,
    sentence_end,
    simplified,
    skip,
    split_phrases,
    statement,
    unmarked,
)
from engram.text.utf8 import encode

Rule = namedtuple("Rule", "kind content tags type asked rest")
"""kind "remember" or "forget"; the content, as it was said; tags and type of a record of it; whether the person asked for it
to be kept, and did not only mention it; and what the message says after it, "" mostly."""

_LONG = const(300)  # characters of a message of which no more than one sentence is taken
_SENTENCES = const(8)  # for which a content may go on
_CRUMB = const(10)  # bytes of a rest that says nothing: "Thanks!", an emoji

# --- what is asked for

_REMEMBER = (
    "remember|note that|note this|note:|make a note that|keep in mind|bear in mind|"
    "记住|你记住|记一下|记下来|记下|记录一下|记着"
)
_SAVE = const("save that|store that|write down that")  # "save that file" is none
_DO_NOT_FORGET = "don't forget|do not forget|never forget|记得|别忘了|别忘记|不要忘了|不要忘记|勿忘"
_FORGET = const("forget|忘记|忘掉|别再记住|别再记|不要再记住|不要再记")

_BEFORE_KEPT = const("that|this:|this,|了|这个：|这个，|这一点：|这件事：")
_BEFORE_FORGOTTEN = const("that|about|关于")
_AFTER_FORGOTTEN = const("吧|的事情|的事|这件事")
_NO_FACT = const("when|how|if|whether|what|where|why|who|those|the time|the day|that time|that day|back when")
_NOTHING = const("|it|to|this|that|me|him|her|them|us|my name|down|我|他|她|它|这|这个|这些|了|吧")
_VERB = const(" is | are |'s |是")

_PERSONAL = const("just for me|only for me|for me only|for me alone|personally|仅对我|只对我|只给我|我个人")

# --- what is said

_SPEAKER = const("i|my|我")
_MANNER = const("don't|no longer|really|always|usually|不再|不太|不|更|最|比较|很|非常|特别")

_CAPITAL = const(1)  # a name comes next
_BRIEF = const(2)  # and not much more
_LASTING = const(4)  # it is not about "you", who answers now, or "these", of which the talk is
_VALUE = const(8)  # it is told what it is
_FIRST = const(16)  # the words themselves come first

_POINTING = (
    "this|that|it|these|those|them|how|when|where|what|if|been|not to say|not to answer|to say|to think|to ask|the first|"
    "the second|the third|the last|the latter|the former|the other|the one|the way|这|那|它|他|她|第|后者|前者|上面|上一"
)
_NO_NAME = "on|in|are|wrong|missing|misspelled|了|你|他|她|它|大家|人|车|外卖|起|一|来|去|做|吃|看|回|买|醒|别"
_HERE = "this|that|it|这|那"

# The tag, what is asked of the rest, the words after the speaker, and what must not come next.
_STATEMENTS = (
    ("name", 0, "name is|name's|的名字是|的名字叫", _NO_NAME),
    ("name", _CAPITAL | _BRIEF, "'m called|am called|叫", _NO_NAME),
    ("name", _CAPITAL | _BRIEF | _FIRST, "call me|叫我", _NO_NAME),
    ("home", 0, "live in|住在|家在", _HERE),
    ("home", _CAPITAL, "moved to|'ve moved to|have moved to|搬到|搬去", _HERE),
    ("preference", _LASTING, "prefer|'d rather have|would rather have|喜欢|讨厌|爱吃|爱喝", _POINTING),
    ("preference", _LASTING, "like|love|hate|dislike", "the|" + _POINTING),  # "I like the plan"
    ("preference", _LASTING | _VALUE, "favourite|favorite", _POINTING),
)
_NEAR = const(" them| this| these| those")


def match(said: str):
    """The Rule that fits a message, None if there is none."""
    data = encode(said).strip()
    head = simplified(data[:HEAD])
    start = past_several(COURTESY, head, skip(head, 0))
    after = past(_FORGET, head, start)
    if after >= 0:
        return _forgetting(data, head, after)
    for openings in (_REMEMBER, _SAVE, _DO_NOT_FORGET):
        after = past(openings, head, start)
        if after >= 0:
            return _asked(data, head, start, after, openings, len(said) > _LONG)
    told = statement(data, start)
    if told is None:
        return None
    tag = _stated(data[start : min(told[0], start + LONGEST_STATEMENT + 1)])
    return _rule("remember", data, start, told, tag, False) if tag else None


def is_question(said: str) -> bool:
    """Whether a text ends as a question does."""
    return asks(simplified(encode(said)[-HEAD:]))


def is_one_of(texts: str, said: str) -> bool:
    """Whether a text is one of a list, marks at its end aside."""
    data = encode(said).strip()
    return len(data) < HEAD and unmarked(simplified(data)) in split_phrases(texts)


def after(openings: str, said: str):
    """The text behind its opening if that is in a list, else None."""
    data = encode(said).strip()
    at = past(openings, simplified(data[:HEAD]), 0)
    return data[at:].decode() if at >= 0 else None


def keep_in_file(notebook, rule) -> bool:
    """Add the content of a Rule to MEMORY.md, as lightweight mode keeps it; False if it stands there already."""
    line = "- " + " ".join(rule.content.split())
    if line in notebook.text(MEMORY).split("\n"):
        return False
    notebook.append(MEMORY, line)
    return True


def store(records, rule, caller, turn: str):
    """Keep the content of a Rule, said in the turn with the id `turn`: a Stored, None for a secret that nobody asked to be
    kept.
    """
    from engram.text.secrets import is_free  # 4 KB, needed for what is kept only

    if not (rule.asked or is_free(rule.content)):
        return None
    tags = rule.tags if _is_personal(rule) else access.learned_tags(rule.tags, caller)
    return records.store(rule.content, tags, caller, type=rule.type, source="auto_rule", turns=[turn])


def _is_personal(rule) -> bool:
    """Whether a person asked to keep something for themselves: elsewhere than in a workspace all that they say is theirs."""
    return rule.asked and has(_PERSONAL, simplified(encode(rule.content)))


# --- what is asked for


def _asked(data: bytes, head: bytes, start: int, after: int, openings: str, is_long: bool):
    kept = max(after, past(_BEFORE_KEPT, head, after))
    told = statement(data, kept)
    if told is None or _is_nothing(data[kept : told[0]]):
        return None
    is_fact = past(_NO_FACT, head, after) < 0 if openings == _REMEMBER else _is_clause(data[kept : told[0]])
    if not is_fact and openings != _DO_NOT_FORGET:
        return None
    tag = "note"
    if past("to|not to", head, after) >= 0 or not (is_fact or kept > after):
        tag, kept = "reminder", start  # "don't forget to call Bob": "to call Bob" would not read well
    tag = _stated(data[kept : told[0]]) or tag
    if told[0] == told[1] and not is_long:
        told = _all_told(data, told[0])
    return _rule("remember", data, kept, told, tag, True)


def _forgetting(data: bytes, head: bytes, after: int):
    told = statement(data, after)
    if told is None or past("to", head, after) >= 0:
        return None
    after = max(after, past(_BEFORE_FORGOTTEN, head, after))
    wanted = unmarked(simplified(data[after : told[0]]))
    if wanted.endswith("了".encode()) or _is_nothing(wanted):
        return None  # "忘记带钥匙了" tells what was forgotten
    for tail in split_phrases(_AFTER_FORGOTTEN):
        if wanted.endswith(tail):
            wanted = wanted[: -len(tail)]
    return _rule("forget", data, after, (after + len(wanted), told[1]), "note", True)


def _rule(kind: str, data: bytes, begin: int, told: tuple, tag: str, asked: bool):
    rest = data[skip(data, told[1]) :]
    return Rule(
        kind,
        data[begin : told[0]].strip().decode(),
        [tag],
        "preference" if tag == "preference" else "fact",
        asked,
        rest.decode() if len(rest) > _CRUMB else "",
    )


def _is_nothing(content: bytes) -> bool:
    """Whether a content says nothing by itself, such as "it"."""
    plain = simplified(content[:HEAD])
    return unmarked(plain[: comma_at(plain, 0)]) in split_phrases(_NOTHING)


def _is_clause(content: bytes) -> bool:
    """Whether a content is a whole statement, and not only a thing, or what is to be done."""
    plain = simplified(content[:HEAD])
    return past("to|about", plain, 0) < 0 and (past(SUBJECT, plain, 0) >= 0 or has(_VERB, plain))


def _all_told(data: bytes, end: int) -> tuple:
    """Where a content ends that goes on after its first sentence, twice: as statement()."""
    for _ in range(_SENTENCES):
        at = skip(data, end)
        next_end = sentence_end(data, at)
        plain = simplified(data[at:next_end])
        joined = past(COURTESY, plain, 0)
        if asks(plain) or past(REQUEST, plain, max(joined, 0)) >= 0 or _stated(plain):
            break
        if joined < 0 and past(SUBJECT, plain, 0) < 0:
            break
        end = next_end
    return end, end


# --- what is said


def _stated(piece: bytes) -> str:
    """The tag of a sentence about the person, "" if that is not clear."""
    if len(piece) > LONGEST_STATEMENT:
        return ""
    plain = unmarked(simplified(piece))
    speaker = max(0, past(_SPEAKER, plain, 0))
    speaker = max(speaker, past(_MANNER, plain, speaker))
    for tag, form, words, not_next in _STATEMENTS:
        after = past(words, plain, 0 if form & _FIRST else speaker)
        if after >= 0 and (speaker or form & _FIRST):
            if after >= len(plain) or past(not_next, plain, after) >= 0 or has(UNCLEAR, plain):
                return ""
            return tag if _fits(form, piece, plain, after, not_next) else ""
    return ""


def _fits(form: int, piece: bytes, plain: bytes, after: int, not_next: str) -> bool:
    """Whether the rest of a statement is as the form of its rule asks."""
    if form & _CAPITAL and (0x61 <= piece[after] <= 0x7A or 0x41 <= piece[1] <= 0x5A):
        return False  # "call me later", "CALL ME LATER"
    if form & _BRIEF:
        name = plain[after : comma_at(plain, after)]
        if len(name) > LONGEST_NAME or name.split(b" ")[0].endswith(b"day"):
            return False
    if form & _LASTING and (has(YOU, plain) or has(_NEAR, plain)):
        return False
    if form & _VALUE:
        verb = max(plain.find(b" is ", after), plain.find(b" are ", after))
        return verb >= 0 and past(not_next, plain, plain.find(b" ", verb + 1) + 1) < 0
    return True
