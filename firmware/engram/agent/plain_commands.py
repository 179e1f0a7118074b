"""The plain commands of a message to a board without a model, English and Chinese: what is asked for, not what is done."""

from engram.agent import phrase_rules
from engram.compat import const

_MOST = const(4)  # commands of one message

_FIND = const(
    "what do you know about|what do you remember about|do you remember|remember when|search for|search|find|"
    "你还记得|你记得|你知道|搜索|搜一下|查找|查一下|找一下"
)
_LIST = const(
    "list|list memories|list everything|what do you know|what do you know about me|what do you remember|"
    "what do you remember about me|列出|列出记忆|列出我的记忆|列出所有记忆|显示记忆|"
    "你记得什么|你都记得什么|你记住了什么|你知道什么|你知道我什么|你记得我什么|关于我你知道什么|你知道关于我的什么"
)
_INTENTS = const(
    "list reminders|list my reminders|list intents|what are my reminders|what reminders do i have|what reminders are there|"
    "列出提醒|列出所有提醒|列出我的提醒|我有什么提醒|我有哪些提醒|有什么提醒|有哪些提醒"
)
_REMEMBER = const("remember|remember that|remember this|remember it|please remember|note that|记住|请记住|记一下")
_FORGET = const("forget|forget that|forget it|please forget|忘记|忘掉|忘记吧")


def _asked(said: str):
    """The standing intent that a message begins with, None if it does not."""
    from engram.reminders import rules as intent_rules  # seldom needed

    return intent_rules.match(said) if intent_rules.may_be(said) else None


def is_command(content: str) -> bool:
    """Whether a message does nothing but ask for something to be kept, let go, or listed: a question is none."""
    for kind, what in commands(content):
        is_only_said = kind == "remember" and isinstance(what, phrase_rules.Rule) and not what.asked
        if is_only_said or kind in ("", "find"):
            return False
    return True


def commands(content: str):
    """Yield (kind, what) for each command of a message, in order; kind "" for what is none, which ends it.

    kinds: "remember" and "forget" with a Rule, or with None where its object is missing; "find" with a query; "list"; "intend"
    with what is Asked for; "intents".
    """
    said = content.strip()
    for _ in range(_MOST):
        rule = _asked(said)
        kind = "intend"
        if not rule:
            rule = phrase_rules.match(said)
            if not rule:
                break
            kind = rule.kind
        yield kind, rule
        said = rule.rest
        if not said:
            return
    query = phrase_rules.after(_FIND, said)
    if phrase_rules.is_one_of(_INTENTS, said):
        yield "intents", None
    elif query == "" or phrase_rules.is_one_of(_LIST, said):
        yield "list", None
    elif query or phrase_rules.is_question(said):
        yield "find", query or said
    elif phrase_rules.is_one_of(_REMEMBER, said):
        yield "remember", None
    elif phrase_rules.is_one_of(_FORGET, said):
        yield "forget", None
    else:
        yield "", None
