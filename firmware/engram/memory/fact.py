"""A fact as parts that can be held against those of another: whose, what, the value, when, and whether it is denied."""

from engram.compat import const
from engram.memory.fact_numbers import is_number
from engram.memory.fact_tokens import stem, tokens
from engram.utf8 import encode

_FIRST_CHINESE = const(0xE3)  # the first byte of a script without spaces, about

_POINTERS = (b"A", b"Z", b"'", b"*", b"*now")
# A further clause may begin with one of these, which then stands for the subject of the first.
_OPENERS = (b"he", b"she", b"it", b"they", b"U", b"*now", b"*", b"and")
# Before a day or a time these say nothing, and those do.
_AT = (b"@on", b"@at", b"@in", b"@zai", b"@of", b"@to", b"@for", b"Z")
_BOUNDS = (b"@every", b"@since", b"@until", b"@till", b"@before", b"@after", b"@by", b"@from", b"@during")
_VERBS_AND_NOUNS = (b"&allergic", b"&subscribe")  # "is allergic to nuts", "has a nut allergy"
_CAN = (b"can", "能".encode(), "会".encode(), "可以".encode())
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
        found = tokens(text)
        self._is_chinese = max(encode(text) or b" ") >= _FIRST_CHINESE
        self.text = text
        self.when = {}
        self.rejected = []
        self.is_one_of = self.is_turned = False
        self.correction = b""
        for token in found:
            if token[:1] == b"*":
                self.correction = token
        held, self.negation = self._clauses(found)
        while found and found[-1] == b";":
            found.pop()
        self._take_apart(_reordered(held), bool(found) and found[-1][:1] == b"!")

    def said(self) -> list:
        """All that is said but when, without what goes without saying."""
        if self.predicate != b"=":
            return self.subject + [self.predicate] + self.rest if self.predicate else self.subject + self.rest
        return [token for token in self.subject if token not in _IMPLIED] + self.rest

    def _clauses(self, found: list) -> tuple:
        """The tokens of the clauses that hold, or of all if all are denied, and how they are; what is denied beside is kept."""
        held, denied = [], []
        first = []
        how = b""
        for clause in _split(found):
            negation = b"".join([token for token in clause if token[:1] == b"!"])
            clause = _without_helpers(clause)
            if first:
                clause = _completed(clause, first)
            else:
                first = clause
            kept = denied if negation else held
            if kept and clause:
                kept.append(b";")
            kept.extend(clause)
            how = negation or how
        if not held:
            return denied, how
        self.rejected = denied
        return held, b""

    def _take_apart(self, found: list, ends_denied: bool) -> None:
        subject, self.predicate, rest = _parted(found)
        if ends_denied and (self.predicate == b"" or (self.predicate == b"=" and not rest)):
            subject, rest = [token for token in found if token != b"="], []  # "the cat died"
        if self.predicate[:1] == b">":
            subject, rest = self._change(subject, rest)
        if b"@ba" in subject:
            at = subject.index(b"@ba") + 1
            self.rejected = self.rejected + subject[at:]
            subject = (subject[: at - 1] if subject[0] != b"U" else []) + subject[at:]
        if self.predicate == b"&have":
            subject, rest = self._possession(subject, rest)
        if self.predicate == b"=":
            subject, rest = self._equation(subject, rest)
        elif self.predicate == b"" and subject == [b"U"] and rest and is_ordinary(rest[0]) and rest[0].isalpha() and not self.negation:
            rest[0] = stem(rest[0]) + b"^"
        rest = self._without_times(rest, False)
        subject = self._without_times(subject, True)
        self.has_article = rest[:1] == [b"A"]
        self.is_owned = b"'" in subject or b"M" in subject
        rest = _sorted(_without_pointers(rest, subject))
        self.rest = _sorted(_rejoined([token for token in rest if token != b","]))
        subject = _owned(subject, self._is_chinese)
        if self.predicate and (not subject or subject[0][:1] == b"#"):
            subject.insert(0, b"U")
        elif self._is_chinese and not self.predicate and subject == [b"U"]:
            subject = []  # 我女儿 is "my daughter", too
        self.subject = subject

    def _change(self, subject: list, rest: list) -> tuple:
        """`switched from X to Y` rejects X. Who moves has another home, what moves another time."""
        if b"@from" in subject:  # in Chinese it stands before the verb
            at = subject.index(b"@from")
            self.rejected = self.rejected + subject[at + 1 :]
            subject = subject[:at]
        elif b"@from" in rest:
            at = rest.index(b"@from")
            to = rest.index(b"@to") if b"@to" in rest else 0
            self.rejected = self.rejected + (rest[at + 1 : to] if to > at else rest[at + 1 :])
            rest = rest[to + 1 :] if to > at else rest[:at]
        if self.predicate == b">move" and not _has(subject, b"#") and not _has(rest[:2], b"WPTDR"):
            subject = subject + [b"#home"]
        self.predicate = b"="
        self.correction = b"*now" if subject == [b"U"] else b"*"
        return subject, rest

    def _possession(self, subject: list, rest: list) -> tuple:
        """`has a dog named Rex` is `dog's name is Rex`, `has phone number 5` is `phone number is 5`."""
        is_one = rest[:1] == [b"A"]
        for at, token in enumerate(rest):
            is_name = token == b"#name"
            if is_name or (token[:1] == b"#" and at + 1 < len(rest) and _is_exact(rest[at + 1])):
                self.is_one_of = is_name
                self.predicate = b"="
                owner = [] if is_name and subject == [b"U"] else subject
                return owner + rest[is_one : at + 1], rest[at + 1 :]
        if is_one and subject == [b"U"] and _has(rest, b"O"):  # "has an appointment on Monday"
            at = 1
            while at < len(rest) and rest[at][:1] not in b"WPFRDT":
                at += 1
            self.predicate = b"="
            while rest[at - 1] in _AT or rest[at - 1] in _BOUNDS:
                at -= 1
            return rest[1:at], rest[at:]
        return subject, [b"1"] + rest[1:] if is_one else rest

    def _equation(self, subject: list, rest: list) -> tuple:
        """What `is` stands between, in the order in which it is mostly said, with what is left out."""
        if _has(subject, b"#"):
            return subject, rest[1:] if rest[:1] == [b"@zai"] else rest
        if not rest:
            return subject, rest
        noun = _noun(rest)
        is_owned = rest[0] in (b"Z", b"M", b"U", b"we", b"#favourite") or rest[0][:1] == b"H" or b"'" in rest
        if is_owned and (subject != [b"U"] or noun[:1] == b"J" or _has(rest[: rest.index(noun) + 1], b"#")):
            self.is_turned = True
            return rest, subject  # "blue is my favourite colour"
        if noun[:1] == b"J" and (self._is_chinese or rest[0] == b"A"):
            return subject + [b"#job"], rest
        if len(rest) == 1 and is_number(rest[0]):
            return subject + [b"#age"], rest
        if rest[0][-1:] == b"~":  # "is flying"
            self.predicate = b""
            rest = [stem(rest[0]) + b"^"] + rest[1:]
        elif rest == [b"@on"]:
            rest = [b"on"]
        return subject, rest

    def _without_times(self, found: list, is_subject: bool) -> list:
        """Take the days and times out, unless one kind is there twice, or tells which one: "the Monday class"."""
        kept = []
        taken = {}
        for at, token in enumerate(found):
            kind = token[:1]
            if kind not in b"WPFRDT" or (is_subject and not self._is_apart(found, at)):
                kept.append(token)
                continue
            if kind in taken or kind in self.when:
                return found
            while kept and kept[-1] in _AT:
                kept.pop()
            if kept and kept[-1] in _BOUNDS:
                token = kept.pop() + token
                while kept and kept[-1] in _AT:
                    kept.pop()
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


# --- clauses


def _split(found: list) -> list:
    """The clauses: between full stops and "but", and at a comma before a verb, a denial or the subject."""
    clauses = [[]]
    for at, token in enumerate(found):
        after = found[at + 1] if at + 1 < len(found) else b" "
        if token == b";" or token == b"," and (after[:1] in b"!*&>=U" or after in _OPENERS):
            clauses.append([])
        else:
            clauses[-1].append(token)
    return [clause for clause in clauses if clause]


def _without_helpers(clause: list) -> list:
    """A clause without its denials, `can speak` as `speaks`, `has moved` as `moved`, `has been` as `is`."""
    out = []
    for at, token in enumerate(clause):
        behind = clause[at + 1 : at + 3] + [b" "]
        after = [other for other in behind if other[:1] != b"!"][0]
        if token == b"&have" and after == b"been":
            out.append(b"=")
        elif token[:1] == b"!" or token == b"been" and out[-1:] == [b"="] or token in _CAN and after[:1] == b"&":
            continue
        elif token != b"&have" or not _is_participle(behind[0], after):
            out.append(token)
    return out


def _is_participle(denial: bytes, verb: bytes) -> bool:
    """Whether what follows "has" is a verb: "has moved", "has not called", "has sold", "has stopped smoking"."""
    if denial[:1] == b"!" and (verb[:1] == b"&" or denial not in (b"!not", b"!never", b"!end")):
        return True
    return verb[:1] == b">" or (verb[-2:] == b"ed" and len(verb) > 4)


def _completed(clause: list, first: list) -> list:
    """A further clause with the subject and, where it has none, the verb of the first."""
    while clause and clause[0] in _OPENERS:
        clause = clause[1:]
    subject, predicate, _ = _parted(first)
    own, verb, _ = _parted(clause)
    if verb == b"=" and not own:
        return subject + clause
    if not verb:
        return subject + [predicate] + clause if predicate else subject + clause
    if all([token[:1] == b"#" for token in own]):  # "works at", without a subject
        return [token for token in subject if token[:1] != b"#"] + clause
    return clause


# --- the order of words


def _reordered(found: list) -> list:
    """The tokens in the order in which English mostly has them."""
    found = _after_verb(found)
    if b"U" in found[1:] and found[0][:1] in b"@WPFRDT":  # "at work the user ..."
        at = found.index(b"U")
        if not _has(found[:at], b"=#&>"):
            found = found[at:] + found[:at]
    for verb in _VERBS_AND_NOUNS:
        if verb in found[1:]:
            at = found.index(verb)
            rest = [token for token in found[1:at] + found[at + 1 :] if token not in (b"&have", b"A", b"=", b"@to")]
            return [found[0], verb] + rest
    return found


def _after_verb(found: list) -> list:
    """Chinese says 对 and 在, and what belongs to them, before the verb."""
    for at, token in enumerate(found):
        if token == b"@dui" or token == b"@zai":
            for verb in range(at + 1, len(found)):
                predicate = found[verb]
                if predicate[:1] == b"&" or predicate in (b"#job", b"#school"):
                    start = at
                    if token == b"@dui":
                        start += 1
                    elif predicate == b"#job":
                        predicate = b"#employer"
                        start += 1
                    return found[:at] + [predicate] + found[start:verb] + found[verb + 1 :]
            break
    return found


def _parted(found: list) -> tuple:
    """The tokens before the predicate, the predicate, the tokens after it."""
    for at, token in enumerate(found):
        kind = token[:1]
        if kind in b"&>" and found[at + 1 : at + 2] != [b"="]:  # "the reading is" is no verb
            return _owner_first(found[:at]), token, found[at + 1 :]
        if kind == b"=":
            return _parted_at_is(found, at)
        if kind == b"#":
            end = _attributes_end(found, at)
            if not _has(found[end:], b"=&>"):
                return _owner_first(found[:at]) + found[at:end], b"=", found[end:]
    if b"@zai" in found:
        at = found.index(b"@zai")
        return _owner_first(found[:at]), b"=", found[at:]
    return ([b"U"], b"", found[1:]) if found[:1] == [b"U"] else ([], b"", found)


def _parted_at_is(found: list, at: int) -> tuple:
    subject = _owner_first(found[:at])
    after = found[at + 1] if at + 1 < len(found) else b" "
    if not _has(subject, b"#"):
        if after[:1] in b"&>" and found[at + 2 :]:  # "is using"
            return subject, after, found[at + 2 :]
        if after[:1] == b"#" and after != b"#favourite":  # "is due on"
            end = _attributes_end(found, at + 1)
            return subject + found[at + 1 : end], b"=", found[end:]
    return subject, b"=", found[at + 1 :]


def _attributes_end(found: list, at: int) -> int:
    while at < len(found) and found[at][:1] == b"#":
        at += 1
    return at


def _owner_first(subject: list) -> list:
    """`name of the dog` as `dog name`."""
    for link in (b"@of", b"@for"):
        if link in subject:
            at = subject.index(link)
            if subject[at + 1 :] == [b"U"]:
                return subject[:at]
            if link == b"@of" or subject[at - 1][:1] == b"#":
                return subject[at + 1 :] + subject[:at]
    return subject


def _noun(found: list) -> bytes:
    """The last token before a preposition."""
    last = found[0]
    for token in found:
        if token[:1] in b"@,":
            break
        last = token
    return last


def _without_pointers(rest: list, subject: list) -> list:
    """What follows the predicate without articles, and without "my" and "his" where that is the subject's."""
    is_own = subject[:1] == [b"U"]
    if not subject and rest[:1] == [b"M"]:
        rest = rest[1:]
    return [token for token in rest if token not in _POINTERS and not (is_own and (token[:1] == b"H" or token in (b"M", b"U")))]


def _owned(subject: list, is_chinese: bool) -> list:
    """The subject without words that only point."""
    subject = _rejoined([token for token in subject if token not in _POINTERS and token != b"M" and token != b","])
    if is_chinese and subject[:1] == [b"U"] and _has(subject, b"#") and is_ordinary(subject[1]):
        return subject[1:]  # 我妈妈 is "my mother"
    return subject


def _rejoined(found: list) -> list:
    """The tokens with Chinese that is not listed in one piece where nothing is left between."""
    out = []
    for token in found:
        if token[0] >= _FIRST_CHINESE and out and out[-1][0] >= _FIRST_CHINESE:
            out[-1] += token
        else:
            out.append(token)
    return out


def _sorted(found: list) -> list:
    """`French and English` as `English and French`, where neither has a word of its own with it."""
    for at in range(1, len(found) - 1):
        before, after = found[at - 1], found[at + 1]
        if found[at] == b"and" and is_ordinary(before) and is_ordinary(after) and after < before:
            if (at == 1 or not is_ordinary(found[at - 2])) and (at + 2 == len(found) or not is_ordinary(found[at + 2])):
                found = found[: at - 1] + [after, b"and", before] + found[at + 2 :]
    return found


def _has(found: list, kinds: bytes) -> bool:
    return any([token[:1] in kinds for token in found])


def _is_exact(token: bytes) -> bool:
    return is_number(token) or token[:1] in b"TD" and token[1:2].isdigit() or b"@" in token[1:]


def is_ordinary(token: bytes) -> bool:
    """Whether a token is an ordinary word."""
    return token[0] >= 0x80 or 0x61 <= token[0] <= 0x7A
