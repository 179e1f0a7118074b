"""A fact as parts that can be held against those of another: whose, what, the value, when, and whether it is denied."""

from engram.memory import fact_order
from engram.memory.fact_numbers import is_number
from engram.memory.fact_order import has, is_ordinary
from engram.memory.fact_tokens import stem, tokens
from engram.text.utf8 import encode

# Before a day or a time these say nothing, and those do.
_AT = (b"@on", b"@at", b"@in", b"@zai", b"@of", b"@to", b"@for", b"Z")
_BOUNDS = (b"@every", b"@since", b"@until", b"@till", b"@before", b"@after", b"@by", b"@from", b"@during")
_KINDS_OF_TIME = b"WPFRDT"
# What "is" says without the word: "is 30" is an age.
_IMPLIED = (b"#job", b"#age", b"#name", b"#start")


class Fact:
    """A text as a fact.

    subject     tokens of whose and what: `U #favourite #colour`
    predicate   what is said of it: `=`, `&like`, b"" where no verb is known
    rest        tokens of the value and of all that follows
    when        its days and times by kind: {b"W": b"Wmon", b"T": b"T1140"}
    negation    b"", or how it is denied
    rejected    tokens of what is said to hold no more beside what holds: Vim in "uses Emacs, not Vim"
    correction  b"", `*now`, or `*`: it says that it takes something's place
    is_owned    whether the subject is something of something: "the cat's bowl"
    has_article whether the value is some thing: "a flat", not "Berlin"
    is_turned   whether the subject stands last: "blue is my favourite colour"
    is_one_of   whether it names one thing of somebody who may have more: "has a dog named Rex"
    """

    def __init__(self, text: str):
        self.text = text
        self.when = {}
        self.rejected = []
        self.correction = b""
        self.is_one_of = self.is_turned = False
        self._is_chinese = _is_chinese(encode(text))
        found = tokens(text)
        for token in found:
            if token[:1] == b"*":
                self.correction = token
        held, self.negation = self._clauses(found)
        while found and found[-1] == b";":
            found.pop()
        self._take_apart(fact_order.reordered(held), bool(found) and found[-1][:1] == b"!")

    def said(self) -> list:
        """All that is said but when, without what goes without saying."""
        if self.predicate != b"=":
            return self.subject + [self.predicate] + self.rest if self.predicate else self.subject + self.rest
        return [token for token in self.subject if token not in _IMPLIED] + self.rest

    def _clauses(self, found: list) -> tuple:
        """The tokens of the clauses that hold, or of all if all are denied, and how they are; what is denied beside is kept."""
        held, denied = [], []
        first = []
        denials = []
        for clause in fact_order.split(found):
            negation = b"".join([token for token in clause if token[:1] == b"!"])
            if negation:
                denials.append(negation)
            clause = fact_order.without_helpers(clause)
            if negation and not clause:  # "..., no longer"
                denied, held = held + denied, []
            if clause and first:
                clause = fact_order.completed(clause, first)
            first = first or clause
            kept = denied if negation else held
            if kept and clause:
                kept.append(b";")
            kept.extend(clause)
        if not held:
            return denied, b"".join(denials)
        self.rejected = denied + denials
        return held, b""

    def _take_apart(self, found: list, ends_denied: bool) -> None:
        subject, self.predicate, rest = fact_order.parted(found)
        if ends_denied and (self.predicate == b"" or (self.predicate == b"=" and not rest)):
            subject, rest = [token for token in found if token != b"="], []  # "the cat died"
        if self.predicate[:1] == b">":
            subject, rest = self._change(subject, rest)
        if b"@ba" in subject:  # 把 and what is changed
            at = subject.index(b"@ba")
            self._reject(subject[at + 1 :])
            subject = ([] if subject[0] == b"U" else subject[:at]) + subject[at + 1 :]
        if self.predicate == b"&have":
            subject, rest = self._possession(subject, rest)
        if self.predicate == b"=":
            subject, rest = self._equation(subject, rest)
        elif subject == [b"U"] and not self.predicate and not self.negation and not self._is_chinese:
            rest = _with_verb(rest)
        rest = self._without_times(rest, False)
        subject = self._without_times(subject, True)
        self.has_article = rest[:1] == [b"A"]
        self.is_owned = b"'" in subject or b"M" in subject
        self.rest = fact_order.value(rest, subject)
        self.subject = self._whose(fact_order.whose(subject, self._is_chinese))

    def _whose(self, subject: list) -> list:
        """The subject, the user where none is named. 我女儿 is "my daughter", where no verb tells that it is not."""
        if self.predicate and (not subject or subject[0][:1] == b"#"):
            return [b"U"] + subject
        return [] if self._is_chinese and not self.predicate and subject == [b"U"] else subject

    def _reject(self, found: list) -> None:
        self.rejected = self.rejected + found

    def _change(self, subject: list, rest: list) -> tuple:
        """`switched from X to Y` rejects X. Who moves has another home, what moves another time."""
        if b"@from" in subject:  # in Chinese it stands before the verb
            at = subject.index(b"@from")
            self._reject(subject[at + 1 :])
            subject = subject[:at]
        elif b"@from" in rest:
            at = rest.index(b"@from")
            to = rest.index(b"@to") if b"@to" in rest else 0
            self._reject(rest[at + 1 : to] if to > at else rest[at + 1 :])
            rest = rest[to + 1 :] if to > at else rest[:at]
        if self.predicate == b">move" and not has(subject, b"#") and not has(rest[:2], _KINDS_OF_TIME):
            subject = subject + [b"#home"]
        self.predicate = b"="
        self.correction = b"*now" if subject == [b"U"] else b"*"
        return subject, rest

    def _possession(self, subject: list, rest: list) -> tuple:
        """`has a dog named Rex` is `dog's name is Rex`, `has phone number 5` is `phone number is 5`, `has an exam on Monday`
        is `exam is on Monday`.
        """
        is_one = rest[:1] == [b"A"]
        for at, token in enumerate(rest):
            is_name = token == b"#name"
            if is_name or (token[:1] == b"#" and at + 1 < len(rest) and _is_exact(rest[at + 1])):
                self.is_one_of = is_name
                self.predicate = b"="
                owner = [] if is_name and subject == [b"U"] else subject
                return owner + rest[is_one : at + 1], rest[at + 1 :]
        if is_one and subject == [b"U"] and has(rest, b"O"):
            self.predicate = b"="
            at = 1
            while at < len(rest) and rest[at][:1] not in _KINDS_OF_TIME:
                at += 1
            while rest[at - 1] in _AT or rest[at - 1] in _BOUNDS:
                at -= 1
            return rest[1:at], rest[at:]
        return subject, [b"1"] + rest[1:] if is_one else rest

    def _equation(self, subject: list, rest: list) -> tuple:
        """What `is` stands between, in the order in which it is mostly said, with what is left out."""
        if has(subject, b"#"):
            return subject, rest[1:] if rest[:1] == [b"@zai"] else rest
        if not rest:
            return subject, rest
        noun = fact_order.noun(rest)
        is_what = subject != [b"U"] or noun[:1] == b"J" or has(rest[: rest.index(noun) + 1], b"#")
        if is_what and fact_order.is_owned(rest) and not noun[:1].isdigit():
            self.is_turned = True
            return rest, subject  # "blue is my favourite colour"
        if noun[:1] == b"J" and (self._is_chinese or rest[0] == b"A"):
            return subject + [b"#job"], rest
        if len(rest) == 1 and is_number(rest[0]):
            return subject + [b"#age"], rest
        if rest[0][-1:] == b"~":  # "is flying"
            self.predicate = b""
            return subject, _with_verb(rest)
        if rest[0] == b"@on" and (
            not rest[1:] or (rest[1][:1] == b"@" and rest[1] not in _BOUNDS)
        ):  # "is on in winter"
            return subject, [b"on"] + rest[1:]
        return subject, rest

    def _without_times(self, found: list, is_subject: bool) -> list:
        """Take the days and times out, unless one kind is there twice, or tells which one: "the Monday class"."""
        kept = []
        taken = {}
        for at, token in enumerate(found):
            kind = token[:1]
            if kind not in _KINDS_OF_TIME or (is_subject and not self._is_apart(found, at)):
                kept.append(token)
                continue
            if kind in taken or kind in self.when:
                return found
            _pop_at(kept)
            if kept and kept[-1] in _BOUNDS:
                token = kept.pop() + token
                _pop_at(kept)
            taken[kind] = token
        self.when.update(taken)
        return kept

    def _is_apart(self, found: list, at: int) -> bool:
        """Whether a time that stands before the verb belongs to all that is said."""
        if found[at + 1 : at + 2] == [b"'"]:
            return False
        if self._is_chinese:
            return True
        return (at > 0 or found[0][:1] in b"FR") and not [token for token in found[:at] if token[:1] not in b"@WPFRDT"]


def _is_chinese(data: bytes) -> bool:
    for byte in data:
        if 0xE4 <= byte <= 0xE9:  # the first byte of most Han characters
            return True
    return False


def _with_verb(rest: list) -> list:
    """The rest with the verb, with which it begins, in one form: `flies` and `is flying`."""
    if rest and is_ordinary(rest[0]) and rest[0].strip(b"~").isalpha():
        return [stem(rest[0]) + b"^"] + rest[1:]
    return rest


def _pop_at(found: list) -> None:
    while found and found[-1] in _AT:
        found.pop()


def _is_exact(token: bytes) -> bool:
    """Whether a token can be nothing but a value: a number, a time, an e-mail address."""
    return is_number(token) or (token[:1] in b"TD" and token[1:2].isdigit()) or b"@" in token[1:]
