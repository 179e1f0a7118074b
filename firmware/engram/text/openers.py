"""Openings of a message that say without a model what is wanted: a table a language, and what is a question.

nothing    an opening that is none: "vergiss nicht" opens with "vergiss"
polite     what may stand before the others
remember, forget, find   what follows is to be kept, forgotten, searched for; one with a colon needs it, or an id
list       the whole message
question   opens a question that has no mark at its end
"""

from collections import namedtuple

from engram.compat import const
from engram.text.lexicon import Lexicon, split_words
from engram.text.utf8 import encode, strip_end

Command = namedtuple("Command", "kind content")
"""kind "remember", "forget", "find", "list", or "" for what is no command; the content, as it was said."""

LANGUAGES = (
    (  # English
        "please|hey|hi|hello|ok|okay|engram",
        "remember that|remember this:|remember:|note that|note:|keep in mind that|don't forget that|make a note that",
        "forget|forget that|forget about",
        "find|search|search for|what do you know about|what do you remember about|do you remember",
        "list|list memories|list my memories|list everything|what do you know|what do you know about me|what do you remember",
        "what is|what are|what was|what were|what did|what do|what does|what's|what color|what colour|what time|what kind|"
        "where is|where are|where was|where were|where did|where do|where does|where's|where can|where have|who is|who are|"
        "who was|who were|who did|who has|who's|whose|whom|which|when is|when was|when did|when do|when does|when will|"
        "when's|why|how many|how much|how old|how long|how often|how is|how was|how did|how do|how does|did i|did we|"
        "have i|have we|am i|is there|are there|tell me|show me|what about",
        "forget to|forget not",
    ),
    (  # Chinese
        "请|請|请你|你好|麻烦你|麻煩你|帮我|幫我",
        "记住|記住|记下|記下|记一下|記一下|别忘了|別忘了|不要忘记|不要忘記",
        "忘记|忘記|忘掉|忘记关于|忘記關於|别再记|別再記",
        "搜索|搜一下|查找|查一下|找一下|你知道|你记得|你記得|你还记得|你還記得",
        "列出|列出记忆|列出記憶|列出我的记忆|列出所有记忆|你记得什么|你知道我什么|你記得什麼|你知道什么|你知道什麼",
        "谁|誰|哪|什么|什麼|怎么|怎麼|为什么|為什麼|多少|几点|幾點|几号|幾號|告诉我|告訴我",
        "忘记了|忘記了|忘掉了",
    ),
    (  # German
        "bitte|hey|hallo|engram",
        "merk dir dass|merke dir dass|merk dir:|merke dir:|denk daran dass|notiere dass|notiere:|vergiss nicht dass",
        "vergiss dass|vergiss:|lösche:",
        "suche|suche nach|finde|was weißt du über",
        "liste|liste auf|zeige alles|was weißt du|was weißt du über mich",
        "wer|wen|wem|wessen|wo|wohin|woher|warum|wieso|weshalb|wann|welche|welcher|welches|wie viel|wie viele|wie heißt|"
        "wie alt|was ist|was sind|was war|was hat|was habe",
        "",
    ),
    (  # Spanish
        "por favor|hola|oye|engram",
        "recuerda que|recuerde que|recuerda:|anota que|anota:|apunta que|no olvides que",
        "olvida|olvida que|borra",
        "busca|buscar|encuentra|qué sabes de|qué sabes sobre",
        "lista|lista todo|qué sabes|qué sabes de mí",
        "quién|quiénes|dónde|cuál|cuáles|cuánto|cuánta|cuántos|cuántas|por qué|qué es|qué son|qué hora|cuándo es|cuándo fue|"
        "cómo se llama|cómo es",
        "",
    ),
    (  # French
        "s'il te plaît|s'il vous plaît|bonjour|salut|engram",
        "souviens-toi que|souviens toi que|rappelle-toi que|rappelle toi que|retiens que|retiens:|note que|note:|"
        "n'oublie pas que",
        "oublie|oublie que|efface",
        "cherche|recherche|trouve|que sais-tu de|que sais-tu sur",
        "liste|liste tout|que sais-tu|que sais-tu de moi",
        "qui est|qui a|où|quel est|quelle est|quels sont|quelles sont|combien|pourquoi|qu'est-ce que|qu'est-ce qui|"
        "quand est|quand ai|comment s'appelle|est-ce que",
        "oublie pas|n'oublie pas",
    ),
    (  # Japanese
        "お願い|ねえ",
        "覚えて:|覚えておいて:|覚えておいてください:|記憶して:|メモ:|忘れないで:",
        "忘れて:|忘れてください:|削除:|消して:",
        "検索:|検索|探して:",
        "一覧|記憶一覧|何を覚えている",
        "誰|どこ|いつ|なぜ|どうして|いくら|いくつ|何時|何が|何を|どの|どれ",
        "",
    ),
    (  # Korean
        "제발|안녕",
        "기억해:|기억해줘:|기억해 주세요:|메모:|잊지 마:",
        "잊어:|잊어줘:|잊어 주세요:|삭제:",
        "검색:|검색|찾아줘:",
        "목록|기억 목록|무엇을 기억해",
        "누구|누가|어디|언제|왜|얼마|몇|무엇|무슨|어떤|어느",
        "",
    ),
    (  # Portuguese
        "por favor|olá|oi|engram",
        "lembra que|lembre que|lembra-te que|lembra-te de que|lembre-se que|lembre-se de que|lembra:|lembre:|anota que|"
        "anote que|anota:|não esqueças que|não esqueça que",
        "esquece|esquece que|esqueça|esqueça que",
        "procura|procure|busca|busque|encontra|o que sabes sobre|o que você sabe sobre",
        "lista|lista tudo|o que sabes|o que você sabe|o que sabes sobre mim|o que você sabe sobre mim",
        "quem|onde|qual|quais|quanto|quanta|quantos|quantas|por que|o que é|quando é|quando foi|como se chama",
        "",
    ),
    (  # Russian
        "пожалуйста|привет|эй",
        "запомни что|запомните что|запомни:|запомните:|помни что|отметь что|не забудь что|не забывай что",
        "забудь|забудь что|забудь о|забудь про|забудьте|удали",
        "найди|найти|ищи|поищи|что ты знаешь о|что ты знаешь об",
        "список|список всего|что ты знаешь|что ты знаешь обо мне|что ты помнишь",
        "кто|где|куда|откуда|почему|зачем|сколько|какой|какая|какое|какие|чей|что такое|когда был|когда была|когда будет|"
        "как зовут|как называется",
        "",
    ),
    (  # Arabic
        "من فضلك|لو سمحت|مرحبا",
        "تذكر أن|تذكر:|احفظ أن|احفظ:|سجل أن|سجل:|لا تنس أن",
        "انس أن|انس|احذف",
        "ابحث عن|ابحث|ماذا تعرف عن",
        "قائمة|اعرض الكل|ماذا تعرف|ماذا تعرف عني",
        "من هو|من هي|أين|متى|لماذا|كم|ما هو|ما هي|ما اسم|كيف|هل|أي",
        "",
    ),
)
"""Seven texts a language: polite, remember, forget, find, list, question, nothing."""

_KINDS = ("polite", "remember", "forget", "find", "list", "question", "nothing")
_MOST_POLITE = const(4)
_MARKS = ("?", "？", "؟")
_COLONS = (b":", "：".encode())
_AROUND = (" ", "\n", ".", "!", '"', "'", ")", "。", "！", "”", "」", "』", "）")
_QUOTES = ('"', "'", "“", "‘", "«", "「", "『")  # others' words
_LED_BY = (b" ", b"\n", b",", b":", b"-", "，".encode(), "：".encode(), "、".encode(), "　".encode())


def _lines():
    """Yield ((kind, True if it needs a colon), phrase)."""
    for language in LANGUAGES:
        for kind, phrases in zip(_KINDS, language):
            for phrase in phrases.split("|") if phrases else ():
                yield (kind, phrase.endswith(":")), phrase


_lexicon = Lexicon(_lines)


def parse(said: str) -> Command:
    """The command that a message is; a question is one to find what answers it."""
    data = encode(said)
    words = split_words(data)
    kind, needs_colon, end = _opening(words)
    if said.lstrip()[:1] in _QUOTES or (needs_colon and not _follows(data, words, end)):
        kind = ""
    if kind == "list" and end == len(words):
        return Command("list", "")
    if kind == "find":
        return Command("find", _behind(data, words, end) or said)
    if kind == "question" or is_question(said):
        return Command("find", said)
    if kind in ("remember", "forget"):
        return Command(kind, _behind(data, words, end))
    return Command("", "")


def is_question(said: str) -> bool:
    """True for a text that ends with a question mark, of any script."""
    bare = strip_end(said, _AROUND)
    return any(bare.endswith(mark) for mark in _MARKS)


def own_words(content: str) -> str:
    """A message without the marks of attachments at its start, as in "[file a.pdf] keep this": others chose their names."""
    said = content
    while said[:1] == "[":
        mark, end, rest = said.partition("]")
        if not (end and rest.strip()) or "\n" in mark:
            break
        said = rest.strip()
    return said


def _opening(words: list) -> tuple:
    """(kind, True if it needs a colon, the word behind it) of a message's opening, behind what is polite."""
    kind, needs_colon, end = _lexicon.longest(words, 0)
    for _ in range(_MOST_POLITE):
        if kind == "polite":
            kind, needs_colon, end = _lexicon.longest(words, end)
    return kind, needs_colon, end


def _follows(data: bytes, words: list, end: int) -> bool:
    """True if a colon stands behind the word before `end`, or an id alone, as in "vergiss m1"."""
    if len(words) == end + 1 and words[end][0][:1] in b"mi" and words[end][0][1:].isdigit():
        return True
    behind = data[words[end - 1][2] :].lstrip()
    return any(behind.startswith(colon) for colon in _COLONS)


def _behind(data: bytes, words: list, end: int) -> str:
    """The text behind an opening, without the marks between."""
    behind = data[words[end - 1][2] :]
    left = -1
    while left != len(behind):
        left = len(behind)
        for mark in _LED_BY:
            if behind.startswith(mark):
                behind = behind[len(mark) :]
    return behind.decode().strip()
