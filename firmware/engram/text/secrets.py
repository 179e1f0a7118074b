"""Finds what looks like a secret in a text, by its shape: keys and tokens, passwords, card numbers.

What only looks odd is none: phone numbers, dates, hashes of commits, UUIDs, addresses of machines. A link is none either, but
for what is named in it ("?token=..."), and a password before its host.

Texts are worked on as bytes: see engram.text.utf8. A list of words is one object, cut up when it is needed.
"""

from engram.compat import const
from engram.text.tokenizer import parts, split_phrases
from engram.text.utf8 import encode

_LEAST_KEY = const(20)  # bytes of a key of a known form
_LEAST_VARIED = const(24)  # letters and digits of any other
_LEAST_MIXED = const(20)  # and of one with capitals and small letters
_LONGEST_QUOTED = const(64)  # bytes
_FAR = const(60)  # bytes to "is" in "the password for the guests' network is"
_MOST_GROUPS = const(5)  # of a card number's digits

_BEGINNINGS = const(
    "sk-|sk_live_|sk_test_|rk_live_|ghp_|gho_|ghu_|ghs_|ghr_|github_pat_|glpat-|xoxb-|xoxp-|xoxa-|xoxr-|xoxs-|xapp-|AIza|"
    "AKIA|pypi-|dop_v1_|SG.|ya29.|whsec_"
)

_HEXADECIMAL = const(b"0123456789abcdefx-")

# Names of secrets: of several words, any word, one with digits, and a number.
_PHRASES = "passphrase|seed phrase|recovery phrase|助记词|助記詞"
_PASSWORDS = const("password|passwort|passwd|passcode|passphrase|pass code|pwd|kennwort|密码|密碼|口令")
_KEYS = "api key|apikey|access key|secret key|private key|secret|token|密钥|密鑰|私钥|令牌"
_PINS = "pin|pin code|pin码|cvv|cvc"

_SIGNS = const("：|:|=|＝")
_IS = const("is|was|ist|lautet|就是|是|为|為|改成了|改成|改为|换成了|换成")
_OF = const("to|for|of|at|on|in|from|für|(|（")
_FAR_SIGNS = const(": |：| = ")
_FAR_IS = const(" is | was | ist |是")
_QUOTES = const("\"|\"|'|'|`|`|“|”|‘|’|「|」")
_STOPS = const(b"\"'`<>|,;")

# Values of a "password" that are none.
_NO_VALUE = const(
    b" a an the to too in on at by with not no now still my your his her our their what this that it very so really always "
    b"never only probably written stored saved kept see ask set empty blank wrong right weak strong required needed mandatory "
    b"optional expired invalid incorrect correct missing unknown lost changed safe secure secret hidden protected different "
    b"same old new good bad long short hard easy longer none null true false and of for as than "
)
_NOT_SPOKEN = "的了吗呢么我什错对不很".encode()


def secrets(content: str):
    """Yield the pieces of a text that look like a secret, each once."""
    data = encode(content)
    seen = []
    for kind in (_private_keys, _named, _keys, _cards):
        for piece in kind(data):
            if piece not in seen:
                seen.append(piece)
                yield piece.decode()


def _private_keys(data: bytes):
    at = data.find(b"-----BEGIN")
    while at >= 0:
        end = data.find(b"-----END", at)
        if b"PRIVATE KEY" in data[at : at + _FAR]:
            yield data[at : end if end > 0 else len(data)]
        at = data.find(b"-----BEGIN", at + 1)


# --- by its name


def _named(data: bytes):
    plain = data.lower().replace(b"_", b" ").replace(b"-", b" ")
    for names in (_PHRASES, _PASSWORDS, _KEYS, _PINS):
        for name in split_phrases(names):
            at = plain.find(name)
            while at >= 0:
                end = at + len(name)
                value = b"" if _is_in_word(plain, at, end) else _value(data, plain, end, names, name)
                if value:
                    yield value
                at = plain.find(name, end)


def _is_in_word(plain: bytes, at: int, end: int) -> bool:
    """True if the name between `at` and `end` is only a part of a word, and not as in "mypassword"."""
    if plain[end - 1] < 0x80 and _is_letter(plain, end):
        return True
    return plain[at] < 0x80 and _is_letter(plain, at - 1) and not plain.startswith(b"pass", at)


def _value(data: bytes, plain: bytes, at: int, names: str, name: bytes) -> bytes:
    """The value behind the name of a secret that ends at `at`, b"" if it is no secret."""
    at, sure = _told_at(plain, at)
    at = _skip(plain, at, b" \t\n:")
    if names == _PHRASES:
        phrase = data[at : _phrase_end(data, at)]
        words = phrase.split()
        return phrase if sure and len(words) > 2 and not (_is_no_value(words[0]) and _is_no_value(words[1])) else b""
    quoted = _quoted(data, at)
    end = at
    while end < len(data) and 0x20 < data[end] < 0xE2 and data[end] not in _STOPS:
        end += 1
    value = quoted or data[at:end].rstrip(b".!?)]")
    if not value and sure and name == "口令".encode():
        return _spoken(data, at)
    if _is_no_value(value) and not (quoted and value.isalpha()):
        return b""
    is_last = at + len(value) < end or data[end : end + 1] != b" " or plain.startswith(b" and ", end)
    return value if _is_value(value, names, name, sure, is_last) else b""


def _told_at(plain: bytes, at: int) -> tuple:
    """Return where the value of a name that ends at `at` begins, and how sure that is: 2 after a sign, 1 after "is", 0."""
    at = _skip(plain, at, b" \t*\"'")
    for words, sure in ((_SIGNS, 2), (_IS, 1)):
        end = _after_one(words, plain, at)
        if end:
            return end, sure
    end = _after_one(_OF, plain, at)
    if not end:
        return at, 0
    near = plain[end : end + _FAR].split(b". ")[0].split("。".encode())[0]
    for words, sure in ((_FAR_SIGNS, 2), (_FAR_IS, 1)):
        for word in split_phrases(words):
            found = near.find(word)
            if found >= 0:
                return end + found + len(word), sure
    return (end if plain.startswith(b"to ", at) else len(plain)), 0


def _is_value(value: bytes, names: str, name: bytes, sure: int, is_last: bool) -> bool:
    size = len(value)
    has_digit = _has_digit(value)
    if names == _PINS:
        return value.isdigit() and (4 <= size <= 8 or (size == 3 and name[0] == 0x63))
    if names == _KEYS:
        return (has_digit and size >= 6 and sure > 0) or (size >= 16 and (has_digit or sure == 2))
    if size < 3 or not sure:
        return has_digit and size > 3
    return sure == 2 or is_last or has_digit or not value.isalpha() or value[1:] != value[1:].lower()


def _is_no_value(word: bytes) -> bool:
    return b" " + word.lower() + b" " in _NO_VALUE or not word.strip(b".*?")


def _quoted(data: bytes, at: int) -> bytes:
    quotes = split_phrases(_QUOTES)
    for place in range(0, len(quotes), 2):
        if data.startswith(quotes[place], at):
            begin = at + len(quotes[place])
            end = data.find(quotes[place + 1], begin, begin + _LONGEST_QUOTED)
            return data[begin:end] if end > 0 else b""
    return b""


def _phrase_end(data: bytes, at: int) -> int:
    while at < len(data) and data[at] not in b".,;!\n" and data[at : at + 3] not in ("。".encode(), "，".encode()):
        at += 1
    return at


def _spoken(data: bytes, at: int) -> bytes:
    """A Chinese watchword such as 芝麻开门."""
    end = at
    while end < len(data) and 0xE4 <= data[end] <= 0xE9:
        end += 3
    if not 6 <= end - at <= 24 or data[at : at + 3] in _NOT_SPOKEN or data[end - 3 : end] in _NOT_SPOKEN:
        return b""
    return data[at:end]


def _after_one(words: str, plain: bytes, at: int) -> int:
    """Return where one of some words ends that stands at `at`, 0 if none does."""
    for word in split_phrases(words):
        end = at + len(word)
        if plain.startswith(word, at) and not (_is_letter(word, 0) and _is_letter(plain, end)):
            return end
    return 0


# --- by its form


def _keys(data: bytes):
    """Keys of a known form, passwords in links, and long words of letters and digits in a mix that no language has."""
    for word in parts(data):
        if len(word) < _LEAST_KEY:
            continue
        is_link = word.find(b"://")
        if is_link >= 0:
            yield from _of_link(word[is_link + 3 :])
        for run in _runs(word):
            if _is_known(run) or (is_link < 0 and _is_varied(run)):
                yield run


def _of_link(rest: bytes):
    """The password of name:password@host."""
    who, mark, _ = rest.split(b"/")[0].rpartition(b"@")
    if mark and b":" in who:
        yield who[who.find(b":") + 1 :]


def _runs(word: bytes):
    """The parts of a word that could be a key."""
    start = at = 0
    for at in range(len(word) + 1):
        if at == len(word) or not (_is_letter(word, at) or word[at] in b"_-.+/"):
            if at - start >= _LEAST_KEY:
                yield word[start:at].strip(b".-/")
            start = at + 1


def _is_known(run: bytes) -> bool:
    if run.startswith(b"eyJ"):
        return run.count(b".") > 1
    for beginning in split_phrases(_BEGINNINGS):
        if run.startswith(beginning) and len(run) >= _LEAST_KEY:
            return _has_digit(run[len(beginning) :])
    return False


def _is_varied(run: bytes) -> bool:
    """True if letters and digits alternate as by chance. Hexadecimal digits are a hash or a UUID, mostly."""
    counts = [0, 0, 0, 0]
    before = changes = 0
    for byte in run:
        kind = 1 if 0x30 <= byte <= 0x39 else 2 if 0x61 <= byte <= 0x7A else 3 if 0x41 <= byte <= 0x5A else 0
        if kind and before and kind != before:
            changes += 1
        before = kind
        counts[kind] += 1
    size = len(run) - counts[0]
    is_mixed = counts[2] and counts[3]
    if size < (_LEAST_MIXED if is_mixed else _LEAST_VARIED) or not counts[1] or not run.lower().strip(_HEXADECIMAL):
        return False
    return changes * (5 if is_mixed else 9) >= size * 2 and not run.startswith(b"AAAA")  # so begins a public SSH key


def _cards(data: bytes):
    """Numbers of 13 to 19 digits as issuers give them, whole or in groups, with the right check digit."""
    groups = []
    at, size = 0, len(data)
    while at < size:
        begin = at
        while at < size and 0x30 <= data[at] <= 0x39:
            at += 1
        if at - begin > 2:
            is_next = groups and groups[-1][1] + 1 == begin and data[begin - 1] in b" -"
            groups = groups[-_MOST_GROUPS:] if is_next else []
            groups.append((begin, at))
            for first in range(len(groups)):
                piece = data[groups[first][0] : at]
                if _is_card(piece) and not _is_letter(data, at) and not _is_part(data, groups[first][0]):
                    yield piece
        at += 1


def _is_part(data: bytes, at: int) -> bool:
    """True if a number that stands at `at` is the end of something else."""
    return _is_letter(data, at - 1) or (at > 0 and data[at - 1] in b"+._")


def _is_card(piece: bytes) -> bool:
    digits = piece.replace(b" ", b"").replace(b"-", b"")
    size = len(digits)
    if not 13 <= size <= 19 or (size != len(piece) and piece[4] >= 0x30):
        return False
    issuer = int(digits[:2])
    if size < 16:
        if not (40 <= issuer <= 49 if size == 13 else issuer in (30, 36, 38, 39) if size == 14 else issuer in (34, 37)):
            return False
    elif not (22 <= issuer <= 27 or 30 <= issuer <= 69):
        return False
    total = 0
    for place in range(size):
        digit = digits[size - 1 - place] - 0x30
        if place % 2:
            digit = digit * 2 - 9 if digit > 4 else digit * 2
        total += digit
    return total % 10 == 0


def _skip(data: bytes, at: int, marks: bytes) -> int:
    while at < len(data) and data[at] in marks:
        at += 1
    return at


def _has_digit(value: bytes) -> bool:
    return any(0x30 <= byte <= 0x39 for byte in value)


def _is_letter(data: bytes, at: int) -> bool:
    """True if an ASCII letter or digit stands at `at`."""
    if not 0 <= at < len(data):
        return False
    byte = data[at]
    return 0x61 <= byte <= 0x7A or 0x30 <= byte <= 0x39 or 0x41 <= byte <= 0x5A
