"""Openings of a message, in a table a language: they tell commands and questions without a model.

nothing    an opening that is none: "vergiss nicht" opens with "vergiss"
polite     what may stand before the others
remember, forget, find   what follows is to be kept, forgotten, searched for; with 1 it needs a colon, or an id
joining    what may stand before a question alone
question   opens a question that has no mark at its end
asking     opens what most probably is a question; in a script without spaces both may stand anywhere
"""

from collections import namedtuple

from engram.compat import const
from engram.text.lexicon import Lexicon, split_words
from engram.text.utf8 import encode, strip_end

Command = namedtuple("Command", "kind content")
"""Kind "remember", "forget", "find" or "" for no command; and the content."""

ENGLISH = """\
polite please|hey|hi|hello|ok|okay|engram;
remember remember that|note that|keep in mind that|don't forget that|make a note that;
remember:1 remember this|remember|note; forget forget|forget that|forget about;
find find|search|search for|what do you know about|what do you remember about|do you remember;
question what is|what are|what was|what were|what did|what do|what does|what's|what color|\
what colour|what time|what kind|where is|where are|where was|where were|where did|where do|\
where does|where's|where can|where have|who is|who are|who was|who were|who did|who has|who's|\
whose|whom|which|when is|when was|when did|when do|when does|when will|when's|why|how many|\
how much|how old|how long|how often|how is|how was|how did|how do|how does|did i|did we|have i|\
have we|am i|is there|are there|tell me|show me|what about; nothing forget to|forget not;
asking what|where|who|whom|whose|when|which|why|how|do|does|did|is|are|was|were|have|has|can|could|\
tell|show|remind|recall|list; joining so|and|but|well"""

CHINESE = """\
polite 请|請|请你|你好|麻烦你|麻煩你|帮我|幫我;
remember 记住|記住|记下|記下|记一下|記一下|别忘了|別忘了|不要忘记|不要忘記;
forget 忘记|忘記|忘掉|忘记关于|忘記關於|别再记|別再記;
find 搜索|搜一下|查找|查一下|找一下|你知道|你记得|你記得|你还记得|你還記得;
question 谁|誰|哪|什么|什麼|怎么|怎麼|为什么|為什麼|多少|几点|幾點|几号|幾號|告诉我|告訴我;
asking 吗|嗎|呢|几|幾; nothing 忘记了|忘記了|忘掉了"""

GERMAN = """\
polite bitte|hey|hallo|engram;
remember merk dir dass|merke dir dass|denk daran dass|notiere dass|vergiss nicht dass;
remember:1 merk dir|merke dir|notiere; forget vergiss dass; forget:1 vergiss|lösche;
find suche|suche nach|finde|was weißt du über;
question wer|wen|wem|wessen|wo|wohin|woher|warum|wieso|weshalb|wann|welche|welcher|welches|\
wie viel|wie viele|wie heißt|wie alt|was ist|was sind|was war|was hat|was habe"""

SPANISH = """\
polite por favor|hola|oye|engram;
remember recuerda que|recuerde que|anota que|apunta que|no olvides que; remember:1 recuerda|anota;
forget olvida|olvida que|borra; find busca|buscar|encuentra|qué sabes de|qué sabes sobre;
question quién|quiénes|dónde|cuál|cuáles|cuánto|cuánta|cuántos|cuántas|por qué|qué es|qué son|\
qué hora|cuándo es|cuándo fue|cómo se llama|cómo es"""

FRENCH = """\
polite s'il te plaît|s'il vous plaît|bonjour|salut|engram;
remember souviens-toi que|souviens toi que|rappelle-toi que|rappelle toi que|retiens que|\
note que|n'oublie pas que; remember:1 retiens|note; forget oublie|oublie que|efface;
find cherche|recherche|trouve|que sais-tu de|que sais-tu sur;
question qui est|qui a|où|quel est|quelle est|quels sont|quelles sont|combien|pourquoi|\
qu'est-ce que|qu'est-ce qui|quand est|quand ai|comment s'appelle|est-ce que;
nothing oublie pas|n'oublie pas"""

JAPANESE = """\
polite お願い|ねえ; remember:1 覚えて|覚えておいて|覚えておいてください|記憶して|メモ|忘れないで;
forget:1 忘れて|忘れてください|削除|消して; find 検索; find:1 探して;
question 誰|どこ|いつ|なぜ|どうして|いくら|いくつ|何時|何が|何を|どの|どれ"""

KOREAN = """\
polite 제발|안녕; remember:1 기억해|기억해줘|기억해 주세요|메모|잊지 마;
forget:1 잊어|잊어줘|잊어 주세요|삭제; find 검색; find:1 찾아줘;
question 누구|누가|어디|언제|왜|얼마|몇|무엇|무슨|어떤|어느"""

PORTUGUESE = """\
polite por favor|olá|oi|engram;
remember lembra que|lembre que|lembra-te que|lembra-te de que|lembre-se que|lembre-se de que|\
anota que|anote que|não esqueças que|não esqueça que; remember:1 lembra|lembre|anota;
forget esquece|esquece que|esqueça|esqueça que;
find procura|procure|busca|busque|encontra|o que sabes sobre|o que você sabe sobre;
question quem|onde|qual|quais|quanto|quanta|quantos|quantas|por que|o que é|quando é|quando foi|\
como se chama"""

RUSSIAN = """\
polite пожалуйста|привет|эй;
remember запомни что|запомните что|помни что|отметь что|не забудь что|не забывай что;
remember:1 запомни|запомните; forget забудь|забудь что|забудь о|забудь про|забудьте|удали;
find найди|найти|ищи|поищи|что ты знаешь о|что ты знаешь об;
question кто|где|куда|откуда|почему|зачем|сколько|какой|какая|какое|какие|чей|что такое|\
когда был|когда была|когда будет|как зовут|как называется"""

ARABIC = """\
polite من فضلك|لو سمحت|مرحبا; remember تذكر أن|احفظ أن|سجل أن|لا تنس أن; remember:1 تذكر|احفظ|سجل;
forget انس أن|انس|احذف; find ابحث عن|ابحث|ماذا تعرف عن;
question من هو|من هي|أين|متى|لماذا|كم|ما هو|ما هي|ما اسم|كيف|هل|أي"""

_MOST_PASSED = const(4)
_MARKS = ("?", "？", "؟")
_COLONS = (":", "：")
_AROUND = (" ", "\n", ".", "!", '"', "'", ")", "。", "！", "”", "」", "』", "）")
_QUOTES = ('"', "'", "“", "‘", "«", "「", "『")  # others' words
_ASKING = const(("question", "asking", "find"))
_LONGEST_ASKED = const(240)  # characters of a message that is a question alone
_ENDS = const((". ", "! ", "。", "！", "\n"))
_GREETING = const(2)  # words allowed before a question
_FIRST_WIDE = const(0xE3)  # lead byte of the scripts without spaces
_LED_BY = (" ", "\n", ",", ":", "-", "，", "：", "、", "　")

_lexicon = Lexicon(
    (ENGLISH, GERMAN, SPANISH, FRENCH, PORTUGUESE),
    (CHINESE, JAPANESE, KOREAN, RUSSIAN, ARABIC),
)


def parse(said: str) -> Command:
    """Return the command of a message; a question is a find."""
    data = encode(said)
    words = split_words(data)
    kind, needs_colon, end = _opening(words, ("polite",))
    if said.lstrip()[:1] in _QUOTES or (needs_colon and not _follows(data, words, end)):
        kind = ""
    if kind == "find":
        return Command("find", _behind(data, words, end) or said)
    if kind == "question" or is_question(said):
        return Command("find", said)
    if kind in ("remember", "forget"):
        return Command(kind, _behind(data, words, end))
    return Command("", "")


def is_question(said: str) -> bool:
    """True for a text with a question mark of any script at its end."""
    return strip_end(said, _AROUND)[-1:] in _MARKS


def asks(message: str) -> bool:
    """True if a message asks something, even without a question mark."""
    if any(mark in message for mark in _MARKS):
        return True
    words = split_words(encode(message))
    return _opening(words, ("polite", "joining"))[0] in _ASKING or any(
        words[at][0][0] >= _FIRST_WIDE and _lexicon.longest(words, at)[0] in _ASKING for at in range(len(words))
    )


def only_asks(content: str) -> bool:
    """True for a question with at most a greeting before it."""
    content = content.rstrip()
    if len(content) > _LONGEST_ASKED or not content or content[-1] not in _MARKS:
        return False
    before = max([content.rfind(mark, 0, len(content) - 1) for mark in _ENDS])
    return before < 0 or len(content[:before].split()) <= _GREETING


def own_words(content: str) -> str:
    said = content
    while said[:1] == "[":
        mark, end, rest = said.partition("]")
        if not (end and rest.strip()) or "\n" in mark:
            break
        said = rest.strip()
    return said


def _opening(words: list, passed: tuple) -> tuple:
    """Return (kind, 1 if it needs a colon, next word) of an opening behind passed words."""
    kind, needs_colon, end = _lexicon.longest(words, 0)
    for _ in range(_MOST_PASSED):
        if kind in passed:
            kind, needs_colon, end = _lexicon.longest(words, end)
    return kind, needs_colon, end


def _follows(data: bytes, words: list, end: int) -> bool:
    if len(words) == end + 1 and words[end][0][:1] in b"mi" and words[end][0][1:].isdigit():
        return True
    return data[words[end - 1][2] :].decode().lstrip()[:1] in _COLONS


def _behind(data: bytes, words: list, end: int) -> str:
    behind = data[words[end - 1][2] :].decode()
    while behind[:1] in _LED_BY:
        behind = behind[1:]
    return behind.rstrip()
