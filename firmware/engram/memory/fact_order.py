"""The tokens of a fact in the order and in the clauses that engram.memory.fact takes apart.

我对花生过敏 becomes `U &allergic 花生`, "the name of the dog" `dog #name`, "at work the user ..." begins with the user, and a
further clause ("..., he now works at") gets the subject that it leaves out.
"""

from engram.compat import const

_FIRST_CHINESE = const(0xE3)  # the first byte of a script without spaces, about

_POINTERS = (b"A", b"Z", b"'", b"*", b"*now")
# A further clause may begin with one of these, which then stands for the subject of the first.
_OPENERS = (b"he", b"she", b"it", b"they", b"U", b"*now", b"*", b"and")
_VERBS_AND_NOUNS = (b"&allergic", b"&subscribe")  # "is allergic to nuts", "has a nut allergy"
_CAN = (b"can", "能".encode(), "会".encode(), "可以".encode())
_SIMPLE_DENIALS = (b"!not", b"!never", b"!end")


def split(found: list) -> list:
    """The clauses: between full stops and "but", and at a comma before a verb, a denial or the subject."""
    clauses = [[]]
    for at, token in enumerate(found):
        after = found[at + 1] if at + 1 < len(found) else b" "
        if token == b";" or (token == b"," and (after[:1] in b"!*&>=U" or after in _OPENERS)):
            clauses.append([])
        else:
            clauses[-1].append(token)
    return [clause for clause in clauses if clause]


def without_helpers(clause: list) -> list:
    """A clause without its denials, `can speak` as `speaks`, `has moved` as `moved`, `has been` as `is`."""
    out = []
    for at, token in enumerate(clause):
        behind = clause[at + 1 : at + 3] + [b" "]
        others = [other for other in behind if other[:1] != b"!"]
        after = others[0]
        if token == b"&have" and after == b"been":
            out.append(b"=")
        elif token == b"&have" and _is_participle(behind[0], after):
            continue
        elif not (
            token[:1] == b"!" or (token == b"been" and out[-1:] == [b"="]) or (token in _CAN and after[:1] == b"&")
        ):
            out.append(token)
    return out


def _is_participle(denial: bytes, verb: bytes) -> bool:
    """Whether what follows "has" is a verb: "has moved", "has not called", "has sold", "has stopped smoking"."""
    if denial[:1] == b"!" and (verb[:1] == b"&" or denial not in _SIMPLE_DENIALS):
        return True
    return verb[:1] == b">" or (verb[-2:] == b"ed" and len(verb) > 4)


def completed(clause: list, first: list) -> list:
    """A further clause with the subject and, where it has none, the verb of the first."""
    while clause and clause[0] in _OPENERS:
        clause = clause[1:]
    subject, predicate, _ = parted(first)
    own, verb, _ = parted(clause)
    if verb == b"=" and not own:
        return subject + clause
    if not verb:
        return subject + [predicate] + clause if predicate else subject + clause
    if not [token for token in own if token[:1] != b"#"]:  # "works at", without a subject
        return [token for token in subject if token[:1] != b"#"] + clause
    return clause


# --- the order of words


def reordered(found: list) -> list:
    """The tokens in the order in which English mostly has them."""
    found = _after_verb(found)
    if b"U" in found[1:] and found[0][:1] in b"@WPFRDT":  # "at work the user ..."
        at = found.index(b"U")
        if not has(found[:at], b"=#&>"):
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


def parted(found: list) -> tuple:
    """The subject, the predicate and the rest: the tokens before the predicate, the predicate, the tokens after it."""
    for at, token in enumerate(found):
        kind = token[:1]
        if kind in b"&>" and found[at + 1 : at + 2] != [b"="]:  # "the reading is" is no verb
            return _owner_first(found[:at]), token, found[at + 1 :]
        if kind == b"=":
            return _parted_at_is(found, at)
        if kind == b"#":
            end = _attributes_end(found, at)
            if not has(found[end:], b"=&>"):
                return _owner_first(found[:at]) + found[at:end], b"=", found[end:]
    if b"@zai" in found:
        at = found.index(b"@zai")
        return _owner_first(found[:at]), b"=", found[at:]
    return ([b"U"], b"", found[1:]) if found[:1] == [b"U"] else ([], b"", found)


def _parted_at_is(found: list, at: int) -> tuple:
    subject = _owner_first(found[:at])
    after = found[at + 1] if at + 1 < len(found) else b" "
    if not has(subject, b"#"):
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


def noun(found: list) -> bytes:
    """The last token before a preposition."""
    last = found[0]
    for token in found:
        if token[:1] in b"@,":
            break
        last = token
    return last


def is_owned(found: list) -> bool:
    """Whether tokens are of something that belongs to somebody, or is a certain one."""
    return found[0] in (b"Z", b"M", b"U", b"we", b"#favourite") or found[0][:1] == b"H" or b"'" in found


def value(rest: list, subject: list) -> list:
    """What follows the predicate without articles, and without "my" and "his" where that is the subject's."""
    if subject[:1] == [b"U"]:
        rest = [token for token in rest if token[:1] != b"H" and token != b"M" and token != b"U"]
    elif not subject and rest[:1] == [b"M"]:
        rest = rest[1:]
    rest = _in_order([token for token in rest if token not in _POINTERS])
    return _in_order(_rejoined([token for token in rest if token != b","]))


def whose(subject: list, is_chinese: bool) -> list:
    """The subject without words that only point."""
    subject = _rejoined([token for token in subject if token not in _POINTERS and token != b"M" and token != b","])
    if is_chinese and subject[:1] == [b"U"] and has(subject, b"#") and is_ordinary(subject[1]):
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


def _in_order(found: list) -> list:
    """`French and English` as `English and French`, where neither has a word of its own with it."""
    for at in range(1, len(found) - 1):
        before, after = found[at - 1], found[at + 1]
        if found[at] != b"and" or not is_ordinary(before) or not is_ordinary(after) or before <= after:
            continue
        around = found[max(0, at - 2) : at - 1] + found[at + 2 : at + 3]
        if not [token for token in around if is_ordinary(token)]:
            found = found[: at - 1] + [after, b"and", before] + found[at + 2 :]
    return found


def has(found: list, kinds: bytes) -> bool:
    """Whether there is a token of one of some kinds."""
    for token in found:
        if token[:1] in kinds:
            return True
    return False


def is_ordinary(token: bytes) -> bool:
    """Whether a token is an ordinary word."""
    return token[0] >= 0x80 or 0x61 <= token[0] <= 0x7A
