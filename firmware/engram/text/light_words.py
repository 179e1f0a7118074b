"""Words that say nothing by themselves: function words, question verbs, greetings. The others say what a message is about.

Each table has the folded words of one language (see words()); a message is of the language that most of its words are in.
Of Han each character is a word, and those of _HAN say nothing.
"""

from engram.compat import const
from engram.text.tokenizer import index_terms, words

_FIRST_HAN = const(0x3400)
_LAST_HAN = const(0x9FFF)

_TABLES = (
    # English
    const(
        " a about again all am an and any are as at away back be been but by call called can come could day did do"
        " does don ever fine for from fun funny get give go goes going good got great had happen happened has have he"
        " hello help her here hey hi him his how i if im in is isnt it its joke just know later lovely"
        " me mind moment morning much my never nice night no not now of off ok okay on one or our out over please put re s"
        " said say see she should so some sorry t tell telling thank thanks that the their them then there these they"
        " thing think this time tired to today too up us very was way we weather weekend what when where which"
        " who whom whose why will with would yes you your "
    ),
    # German
    const(
        " aber alle als am an auch auf aus bei bin bis bist bitte da dank danke das dass datum dem den der des dich die dir"
        " doch dran du egal ein eine einem einen einer er erzahl es etwas euch fur geht gemacht gibt gut gute guten hab"
        " habe haben habt hallo hast hat hatte heisst heute hier hort ich im in ist ja jetzt kann kein keine mach"
        " machen mal man mein meine meinem meinen mich mir mit morgen muss nach nacht nein nicht nie noch nur"
        " oder ok schon schone schones sein seine sich sie sind so soll spater super tag toll uber um und uns unser unsere"
        " unter viel vielen vom von vor war waren warum was weg weil welche welchem welchen welcher welches wem wen wenn wer"
        " werden wetter wie wieder will wir wird witz wo wochenende zu zum zur "
    ),
    # Spanish
    const(
        " a adios al algo bien buen buena buenas buenos como con cual cuando cuanto da de del dia dias donde el ella ellos en"
        " es esta estan estoy fecha fin fue gracias ha haber habia hace hacer hasta hay he hice hizo hola hoy igual ir la las"
        " le les llama lo los luego manana mas me mi mis momento mucha muchas mucho muy ni no noche noches nos nosotros"
        " nuestra nuestro nunca o otra para pasado paso pero poco por porque que quien se semana ser si sin sobre soy su sus"
        " tal tan te tengo tiempo tiene todo tu tus un una uno va vale ver verdad vez y ya yo "
    ),
    # French
    const(
        " a ai as au aujourd aux avec avez avoir avons beau beaucoup bien bon bonjour bonne c ca ce cette chez comme"
        " comment d dans de des deux du elle elles en es est et etait ete etre eu fais fait faut hui il ils instant j"
        " jai jamais je jour jusqu l la le les lui m ma mais me merci mes met mis moi mon n ne neuf non nos notre nous nuit"
        " on ont ou par pas passe peu plait plus pour pourquoi qu quand que quel quelle quest qui quoi s sa salut sans se ses"
        " sest si son sont suis sur t ta tard te ton tout tres tu un une va vas vers voila vois vous week weekend y "
    ),
    # Russian
    const(
        " а без бы был была были было быть в вас во вот все всего вы где да де дела делал делала делали для до доброе"
        " его ее если есть еще же за здорово зовут и из извини им их його к как какая какие какого какои когда кто ли"
        " меня мне много мое моего моеи моему мои мою моя мы на над нас наш наша нашеи не нет никогда но нового ночи о об он"
        " она они от очень по погода под пожалуиста понятно потому почему правда при привет про прошел прошло с сегодня сколько"
        " снова со спасибо так там тебе тебя то только тут ты у утро хорошая хорошо чем через что чтобы это этои этом этот я "
    ),
)  # fmt: skip

_HAN = const(
    "我你他她它们的是了吗呢吧啊在有和把要被给叫做发生得过什么谁哪里几多少怎样为何时候这那个不没会能想说看去来到过好请谢天早晚上下今真对气"
)


def content_terms(message: str) -> list:
    """Return the distinct terms of a message's words that say something; of Han each character is one."""
    heard = list(words(message))
    counts = [sum([" %s " % word in table for word in heard]) for table in _TABLES]
    table = _TABLES[counts.index(max(counts))] if any(counts) else ""
    found = []
    for word in heard:
        if " %s " % word not in table:
            for term in index_terms(word):
                if term not in found and _says_something(term):
                    found.append(term)
    return found


def _says_something(term: str) -> bool:
    is_han = _FIRST_HAN <= ord(term[0]) <= _LAST_HAN
    return is_han == (len(term) == 1) and term not in _HAN
