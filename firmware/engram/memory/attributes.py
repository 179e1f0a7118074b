"""Recognises attributes that a sentence says or asks of its speaker: home, name, work, phone, mail, birthday, partner.

"Where do I live?" shares no word with "I moved to Berlin"; an index holds the attribute of both as a term, such as +home.
"""

from engram.compat import const
from engram.text.lexicon import Lexicon, split_words
from engram.text.utf8 import encode

ENGLISH = """\
home i live|i lived|i moved|i'm living|user lives|user moved|do i live|did i live|my address|my home;
name my name|i am called|i'm called|call me|user's name;
work i work|i worked|i started at|my job|my employer|user works|do i work|did i work;
phone my phone|my number|user's phone; mail my email|my e-mail|user's email;
birthday my birthday|i was born|was i born|user's birthday;
partner my wife|my husband|my partner|my girlfriend|my boyfriend|i married|user's wife|user's husband;
past before|previously|formerly|used to|former|previous|in the past"""
GERMAN = """\
home ich wohne|ich wohnte|wohne ich|wohnte ich|ich lebe|ich bin nach|ich ziehe nach|meine adresse;
name ich heiße|heiße ich|mein name; work ich arbeite|arbeite ich|mein beruf|meine arbeit;
birthday mein geburtstag|ich bin geboren; partner meine frau|mein mann|meine freundin|mein freund;
past früher|vorher|zuvor|ehemalig"""
CHINESE = """\
home 我住|我搬|我家; name 我叫|我的名字; work 我上班|我工作|我的工作; birthday 我的生日|我出生;
partner 我的妻子|我的丈夫|我老婆|我老公; past 以前|之前|从前"""

PAST = "past"
_LONGEST = const(500)  # characters of a text that are looked at: a sentence or two say it
_lexicon = Lexicon((ENGLISH, GERMAN), (CHINESE,))
_signs = set()  # the longest word of each phrase: without one of them, a text has no phrase


def kinds(said: str) -> set:
    """Return the attributes of a text, "" and PAST among them."""
    data = encode(said[:_LONGEST]).lower()
    if not any(sign in data for sign in _signs or _find_signs()):
        return set()
    words = split_words(data)
    others = [word for at, word in enumerate(words) if _lexicon.longest(words, at)[0] != PAST]
    found = {_lexicon.longest(others, at)[0] for at in range(len(others))}
    return found if len(others) == len(words) else found.union((PAST,))


def _find_signs() -> set:
    for table in (ENGLISH, GERMAN, CHINESE):
        for entry in table.split(";"):
            for phrase in entry.strip().partition(" ")[2].split("|"):
                sign = max(encode(phrase.replace("'", " ")).split(), key=len)
                if not any(known in sign for known in _signs):
                    _signs.add(sign)
    return _signs


def terms(said: str):
    """Yield the attributes of a text as terms of the index."""
    for kind in sorted(kinds(said)):
        if kind and kind != PAST:
            yield "+" + kind
