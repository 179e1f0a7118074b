"""Answers without a model, by plain commands, English and Chinese: remember, find, list, forget. It says that it is offline."""

from collections import namedtuple

from engram import text
from engram.agent import phrase_rules
from engram.agent.openings import may_name_time
from engram.compat import const
from engram.errors import EngramError
from engram.memory import ids
from engram.memory.recall import is_certain, make_query, snippet, weak_mark

_HELP = const(
    "I am offline, so I only understand plain commands: remember that ..., what do you know about ...?, "
    "list memories, forget ..., when ... comes up, remind me of ..., remind me to ... at 8 (记住…、你知道…吗、列出记忆、忘记…、"
    "提到…时提醒我…、八点提醒我…); "
    "/help shows more. What you said is kept in the journal."
)
_KEPT = const(
    "I am offline: what you said is kept in the journal, and a question finds it again; /help lists the commands."
)
_MOST_HELPED = const(64)  # people of whom it is known that they have seen the list of commands
_REST = const("The rest of the message is only kept in the journal.")
_SECRET = const("Not remembered, it seems to hold a secret; say remember that ... if it is to be kept.")
_MOST = const(4)  # commands of one message
_ACTING = const(("forget", "intend", "time"))

_FIND = const(
    "what do you know about|what do you remember about|do you remember|remember when|search for|search|find|"
    "你还记得|你记得|你知道|搜索|搜一下|查找|查一下|找一下"
)
_QUESTION = const(
    "what is|what are|what was|what were|what did|what do|what does|what's|what color|what colour|what time|what kind|"
    "where is|where are|where was|where were|where did|where do|where does|where's|where can|where have|"
    "who is|who are|who was|who were|who did|who has|who's|whose|whom|which|when is|when was|when did|when do|when does|"
    "when will|when's|why is|why are|why was|why did|why do|why does|how many|how much|how old|how long|how often|how is|"
    "how was|how did|how do|how does|do you know|did i|did we|have i|have we|am i|is there|are there|tell me|show me|"
    "what about|谁|哪|什么|怎么|为什么|多少|几点|几号|告诉我"
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
_UNCERTAIN = const("I found nothing certain; this comes nearest:")
_FOUND = const(5)
_LISTED = const(20)


class Offline(
    namedtuple(
        "Offline",
        "records recall forgetting reminders find_timers keep_pin remote_search seen_help notes mode",
    )
):
    """Plain commands over one board's memory; `remote_search` asks a companion, if there is one, find_timers() gives timers.
    keep_pin(content, caller) keeps a pin's timer that a message asks for: a sentence, or ""; None without pins.

    `seen_help` is a set of the principals who have seen the list of commands since the start: it is shown once. In lightweight
    mode what is to be remembered goes into MEMORY.md.
    """

    def understands(self, content: str) -> bool:
        """Whether a message is made of plain commands: those are no conversation that is worth finding again."""
        return all(kind for kind, _ in commands(content))

    async def answer(self, caller, content: str, turn: str, on_act=None) -> str:
        """The answer to a message; `turn` is the message's own id. Errors become answers, never exceptions.

        on_act() is called if something is done that no correction of the message takes back.
        """
        told = self.keep_pin(content, caller) if self.keep_pin else ""
        answers = [told] if told else []
        if told and on_act:
            on_act()
        for kind, what in () if told else commands(content):
            if not kind:
                answers.append(_REST if answers else self._help(caller.principal))
                break
            if on_act and (kind in _ACTING or (kind == "remember" and self.mode != "full")):
                on_act()
            try:
                answers.append(await self._answer(caller, kind, what, turn))
            except EngramError as error:
                answers.append(str(error))
        return "\n".join(answers)

    def _help(self, principal: str) -> str:
        if principal in self.seen_help:
            return _KEPT
        if len(self.seen_help) >= _MOST_HELPED:
            self.seen_help.clear()
        self.seen_help.add(principal)
        return _HELP

    async def _answer(self, caller, kind: str, what, turn: str) -> str:
        if kind == "find":
            return await self._find(caller, what, turn)
        return getattr(self, "_" + kind)(caller, what, turn)

    def _remember(self, caller, rule, turn: str) -> str:
        if not rule:
            return "Remember what? Say: remember that my bike is green"
        if self.mode != "full":
            is_new = phrase_rules.keep_in_file(self.notes.for_caller(caller), rule)
            return ("Kept in MEMORY.md: " if is_new else "That is in MEMORY.md already: ") + snippet(rule.content, 200)
        stored = phrase_rules.store(self.records, rule, caller, turn)
        if stored is None:
            return _SECRET
        if stored.outcome == "duplicate":
            return "That is remembered already, as %s." % stored.id
        answer = "Remembered as %s: %s" % (stored.id, snippet(rule.content, 200))
        if stored.similar:
            answer += "\n%s says nearly the same; forget it if it is out of date." % ", ".join(stored.similar)
        return answer

    def _intend(self, caller, asked, _turn: str) -> str:
        fields = self.reminders.add(caller, asked.when, asked.remind)
        return "%s: when %s comes up, I remind you: %s (/intents lists and removes)" % _shown(fields)

    def _time(self, caller, asked, _turn: str) -> str:
        from engram.timers import tool  # seldom needed

        return tool.keep(self.find_timers(), asked, caller) + " (/timers lists and removes)"

    def _intents(self, caller, _, _turn: str) -> str:
        lines = ["- %s: %s -> %s" % _shown(fields) for fields in self.reminders.owned_by(caller)]
        return "\n".join(lines) or "There are no reminders; try: when the paint shop comes up, remind me to buy brushes"

    async def _find(self, caller, query: str, turn: str) -> str:
        ranked = self.recall.rank(make_query(query, caller, skip=(ids.number("id", turn, "t"),)))
        if self.remote_search:
            ranked = self.recall.with_remote(ranked, await self.remote_search.found(ranked, _FOUND))
        found = self.recall.find(ranked, _FOUND)
        lines = [self.recall.line(item, True, weak_mark(item, ranked)) for item in found]
        if found and not is_certain(ranked):
            lines.insert(0, _UNCERTAIN)
        if not found:
            lines.append("Nothing found: " + self.recall.why_empty(query, caller))
        if ranked.note:
            lines.append(ranked.note)
        if found and self.recall.partial:
            lines.append("There may be more: " + self.recall.partial)
        return "\n".join(lines)

    def _list(self, caller, _, _turn: str) -> str:
        lines = []
        for record in self.records.newest(caller):
            if len(lines) == _LISTED:
                lines.append("and more: /memory list 2")
                break
            lines.append("- %s: %s" % (record["id"], snippet(record["content"], 200)))
        return "\n".join(lines) or "Nothing is remembered yet; try: remember that my bike is green"

    def _forget(self, caller, rule, _turn: str) -> str:
        if not rule:
            return "Forget what? Say: forget m1, or forget my bike"
        wanted = rule.content
        if _is_id(wanted, "mM"):
            return self._let_go(wanted, caller)
        if _is_id(wanted, "iI") and int(wanted[1:]) in self.reminders.numbers(caller):
            gone = self.reminders.remove(caller, wanted)
            return "Removed %s: %s -> %s" % _shown(gone)
        found = [record for _, record in self.records.search(make_query(wanted, caller), _FOUND)]
        if not found:
            return "Nothing to forget: " + self.recall.why_empty(wanted, caller, False)
        terms = set(text.terms(wanted))
        exact = [record for record in found if terms.issubset(set(text.index_terms(record["content"])))]
        if len(exact) == 1:
            return self._let_go(exact[0]["id"], caller)
        lines = ["Which one? Say forget and its id:"]
        lines += ["- %s: %s" % (record["id"], snippet(record["content"], 200)) for record in exact or found]
        return "\n".join(lines)

    def _let_go(self, ref: str, caller) -> str:
        # Whoever forgets a thing does not want the message back either that said it.
        record, turns = self.forgetting.forget(ref, caller, with_turns=True)
        gone = ", ".join([record["id"]] + turns)
        if "archived" in record:
            return "%s is with the companion, which forgets it for good as soon as it learns of it." % gone
        undo = "" if "left" in record else " (/undo brings it back)"
        return "Forgot %s: %s%s" % (gone, snippet(record["content"], 200), undo)


def _shown(reminder: dict) -> tuple:
    return reminder["id"], reminder["when"], reminder["remind"]


def _is_id(wanted: str, letters: str) -> bool:
    # As bytes, since str.isdigit knows more digits than int() on CPython.
    return wanted[:1] in letters and text.encode(wanted[1:]).isdigit()


# --- what is asked for


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
    with what is Asked for; "time" with a TimerRequest; "intents".
    """
    said = content.strip()
    for _ in range(_MOST):
        kind, rule = _asked(said)
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
    elif query or _is_question(said):
        yield "find", query or said
    elif phrase_rules.is_one_of(_REMEMBER, said):
        yield "remember", None
    elif phrase_rules.is_one_of(_FORGET, said):
        yield "forget", None
    else:
        yield "", None


def _is_question(said: str) -> bool:
    """Whether a message asks something, also without a question mark, or with a sentence behind it."""
    return phrase_rules.is_question(said) or "? " in said or phrase_rules.after(_QUESTION, said) is not None


def _asked(said: str) -> tuple:
    """("intend" or "time", the reminder with which a message begins, None if it begins with none)."""
    from engram.reminders import rules as intent_rules  # seldom needed

    asked = intent_rules.match(said) if intent_rules.may_be(said) else None
    if asked or not may_name_time(said):
        return "intend", asked
    from engram.timers import rules as timer_rules  # likewise

    return "time", timer_rules.find(said)
