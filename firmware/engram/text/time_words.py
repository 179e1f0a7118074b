"""The words of times and days in ten languages, numbers and dates among the words of a text.

An entry has a kind, a value (0 if none is given), and phrases with "|" between those of one
meaning; "," leads to the next value.

    in, at, every, after, every_behind   of "in 20 min", "at 8:00", "every 20 min", 20分钟后, 20分ごと
    ago, ago_before                      of "3 days ago", "vor 3 Tagen"
    number, some                         before a unit: three, some
    unit                                 minutes
    days                                 of the week, on which something repeats: bit 0 is Monday
    day, coming                          days back, days to come
    night, weekend, week, month, year    the last night; how many weeks, months or years back
    last                                 before a week, month, year or number of days; 1 if it is not the current one
    weekday, short_weekday               Monday is 0; the short form is read in commands only
    named_month, other_month             January is 1; a short other name needs a number beside it,
                                         so that Marco and Mars are no months
    of, before                           what stands before a month
    refused                              a word of time that is not read
    nothing                              a phrase that only looks like another

"Hier" alone is no French yesterday: in German it is "here".
"""

from engram.clock import day_number
from engram.compat import const
from engram.text.lexicon import Lexicon

ENGLISH = """\
in in; at at; every every|each; ago ago; last:1 last|past|previous; last this; of of;
before since|during|early|late; days:127 daily|every day|each day;
days:31 weekdays|workdays|every weekday|on weekdays; days:96 weekends|every weekend|on weekends;
unit:1 min|mins|minute|minutes; unit:60 h|hr|hour|hours; unit:1440 day|days; unit:10080 week|weeks;
unit:43200 month|months; unit:525600 year|years; day today|tonight; day:1 yesterday;
day:2 day before yesterday; coming:1 tomorrow; coming:2 day after tomorrow;
night last night|past night|previous night|this night;
day this morning|this afternoon|this evening; weekend this weekend;
weekend:1 last weekend|past weekend|previous weekend;
refused am|pm|o'clock|s|sec|secs|second|seconds;
number:1 one,two,three,four,five,six,seven,eight,nine,ten,eleven,twelve;
some some|few|several|many|couple of;
weekday monday,tuesday,wednesday,thursday,friday,saturday,sunday;
short_weekday mon,tue,wed,thu,fri,sat,sun;
named_month:1 january|jan,february|feb,march|mar,april|apr,may,june|jun,july|jul,august|aug,\
september|sep|sept,october|oct,november|nov,december|dec"""

CHINESE = """\
every 每|每隔; after 后|後|之后|之後; ago 前|之前; last:1 过去|過去|最近; refused 秒;
days:127 每天|每日|天天; days:31 工作日|每个工作日; days:96 周末|每个周末; unit:1 分钟|分鐘;
unit:60 小时|小時|个小时|個小時; unit:1440 天|日; unit:10080 周|週|星期|个星期|個星期|礼拜|个礼拜;
unit:43200 个月|個月; unit:525600 年; day 今天|今日|今晚|今早; day:1 昨天|昨日|昨晚; day:2 前天;
coming:1 明天|明日; coming:2 后天|後天; week 本周|这周|這週|这星期|这个星期|這個星期|这礼拜;
week:1 上周|上週|上星期|上个星期|上個星期|上礼拜|上个礼拜; month 本月|这个月|這個月;
month:1 上月|上个月|上個月; year 今年; year:1 去年; year:2 前年;
number:1 一,二|两|兩,三,四,五,六,七,八,九,十;
weekday 星期一|周一|週一|礼拜一,星期二|周二|週二|礼拜二,星期三|周三|週三|礼拜三,星期四|周四|週四|\
礼拜四,星期五|周五|週五|礼拜五,星期六|周六|週六|礼拜六,星期日|星期天|周日|周天|週日|礼拜日|礼拜天"""

GERMAN = """\
in in; at um; every alle|jede; ago_before vor;
last:1 letzten|letzter|letzte|letztem|letztes|vorige; last diese|dieser|diesen|diesem|dieses;
before im|seit|ende|anfang; days:127 täglich|jeden tag; days:31 werktags; days:96 am wochenende;
unit:1 minute|minuten; unit:60 std|stunde|stunden; unit:1440 tag|tage|tagen;
unit:10080 woche|wochen; unit:43200 monat|monate|monaten; unit:525600 jahr|jahre|jahren; day heute;
day:1 gestern; day:2 vorgestern; coming:1 morgen; coming:2 übermorgen;
refused uhr|sekunde|sekunden;
weekday montag,dienstag,mittwoch,donnerstag,freitag,samstag|sonnabend,sonntag;
other_month:1 januar|jänner,februar,märz,april,mai,juni,juli,august,september,oktober,november,\
dezember"""

SPANISH = """\
in en; at a las|a la; every cada; ago_before hace; last:1 últimos|últimas; of de;
before desde|durante; refused segundo|segundos; days:127 diario|cada día|todos los días;
unit:1 minuto|minutos; unit:60 hora|horas; unit:1440 día|días; unit:10080 semana|semanas;
unit:43200 mes|meses; unit:525600 año|años; day hoy; day:1 ayer|anoche; day:2 anteayer;
coming:1 mañana; coming:2 pasado mañana; week esta semana; week:1 semana pasada; month este mes;
month:1 mes pasado; year este año; year:1 año pasado;
weekday lunes,martes,miércoles,jueves,viernes,sábado,domingo;
other_month:1 enero,febrero,marzo,abril,mayo,junio,julio,agosto,septiembre|setiembre,octubre,\
noviembre,diciembre"""

FRENCH = """\
in dans; at à; every toutes les|tous les; ago_before il y a; last:1 derniers|dernières;
before depuis|pendant; refused seconde|secondes; days:127 chaque jour|tous les jours|quotidien;
unit:60 heure|heures; unit:1440 jour|jours; unit:10080 semaine|semaines; unit:525600 ans;
day aujourd'hui; day:1 hier soir|hier matin|hier après-midi; day:2 avant-hier; coming:1 demain;
coming:2 après-demain; week cette semaine; week:1 semaine dernière; month ce mois;
month:1 mois dernier; year cette année; year:1 année dernière|an dernier;
weekday lundi,mardi,mercredi,jeudi,vendredi,samedi,dimanche; nothing mardi gras;
other_month:1 janvier,février,mars,avril,mai,juin,juillet,août,septembre,octobre,novembre,\
décembre"""

JAPANESE = """\
after 後|あと; every_behind ごと|おき; ago 前; days:127 毎日; days:31 平日; days:96 週末;
unit:1 分|分間; unit:60 時間; unit:10080 週間; unit:43200 か月|ヶ月; day 今日|きょう;
day:1 昨日|きのう; day:2 一昨日|おととい; coming:1 明日|あした; coming:2 明後日|あさって;
week 今週; week:1 先週; month 今月; month:1 先月; year 今年; year:1 去年|昨年;
year:2 一昨年|おととし;
weekday 月曜日|月曜,火曜日|火曜,水曜日|水曜,木曜日|木曜,金曜日|金曜,土曜日|土曜,日曜日|日曜"""

KOREAN = """\
after 후|뒤; every_behind 마다; ago 전; last:1 지난|최근; last 이번; days:127 매일; days:31 평일;
days:96 주말; unit:1 분; unit:60 시간; unit:1440 일; unit:10080 주|주일; unit:43200 개월|달;
unit:525600 년; day 오늘; day:1 어제; day:2 그제|그저께|엊그제; coming:1 내일; coming:2 모레;
year 올해; year:1 작년|지난해; year:2 재작년;
weekday 월요일,화요일,수요일,목요일,금요일,토요일,일요일"""

PORTUGUESE = """\
in em; at às; every a cada; ago_before há; last:1 últimos|últimas;
days:127 todos os dias|todo dia|diariamente; unit:1440 dia|dias; day hoje; day:1 ontem;
day:2 anteontem; coming:1 amanhã; coming:2 depois de amanhã; week:1 semana passada;
month:1 mês passado; year este ano; year:1 ano passado;
weekday segunda-feira,terça-feira,quarta-feira,quinta-feira,sexta-feira,sábado,domingo;
other_month:1 janeiro,fevereiro,março,abril,maio,junho,julho,agosto,setembro,outubro,novembro,\
dezembro"""

RUSSIAN = """\
in через; at в; every каждые|каждый|каждую; ago назад; before с;
last:1 последние|последних|прошлая|прошлую|прошлой|прошлый|прошлом; last эта|эту|этой|этот|этом;
days:127 ежедневно|каждый день; days:31 по будням; days:96 по выходным;
unit:1 мин|минута|минуту|минуты|минут; unit:60 ч|час|часа|часов; unit:1440 день|дня|дней;
unit:10080 неделя|неделю|недели|недель|неделе; unit:43200 месяц|месяца|месяцев|месяце;
unit:525600 год|года|году|лет; day сегодня; day:1 вчера; day:2 позавчера; coming:1 завтра;
coming:2 послезавтра;
weekday понедельник,вторник,среда|среду,четверг,пятница|пятницу,суббота|субботу,воскресенье;
short_weekday пн,вт,ср,чт,пт,сб,вс;
other_month:1 январь|января|январе,февраль|февраля|феврале,март|марта|марте,апрель|апреля|апреле,\
май|мая|мае,июнь|июня|июне,июль|июля|июле,август|августа|августе,сентябрь|сентября|сентябре,\
октябрь|октября|октябре,ноябрь|ноября|ноябре,декабрь|декабря|декабре"""

ARABIC = """\
in بعد; at الساعة; every كل; ago_before قبل; last:1 آخر; days:127 يوميا|كل يوم; unit:1 دقيقة|دقائق;
unit:60 ساعة|ساعات; unit:1440 يوم|أيام; unit:10080 أسبوع|أسابيع; unit:43200 شهر|أشهر;
unit:525600 سنة|سنوات; day اليوم; day:1 أمس|البارحة; day:2 أول أمس; coming:1 غدا; coming:2 بعد غد;
week هذا الأسبوع; week:1 الأسبوع الماضي; month هذا الشهر; month:1 الشهر الماضي;
year هذا العام|هذه السنة; year:1 العام الماضي|السنة الماضية;
weekday الاثنين,الثلاثاء,الأربعاء,الخميس,الجمعة,السبت,الأحد;
other_month:1 يناير,فبراير,مارس,أبريل,مايو,يونيو,يوليو,أغسطس,سبتمبر,أكتوبر,نوفمبر,ديسمبر"""

LEXICON = Lexicon(
    (ENGLISH, GERMAN, SPANISH, FRENCH, PORTUGUESE),
    (CHINESE, JAPANESE, KOREAN, RUSSIAN, ARABIC),
)

_MOST_DIGITS = const(4)  # of a number
_DIGITS = b"0123456789"


def word_at(words: list, at: int) -> bytes:
    """Return a word, empty outside of the text."""
    return words[at][0] if 0 <= at < len(words) else b""


def number_at(words: list, at: int) -> tuple:
    """Return (number, next word) of 20, a, three or 二十一; (0, at) without."""
    word = word_at(words, at)
    if word == b"a":  # in the table it is a French "à"
        return 1, at + 1
    if word.isdigit() and len(word) <= _MOST_DIGITS:
        return int(word), at + 1
    total = ones = 0
    kind, value, end = LEXICON.longest(words, at)
    while kind == "number" and not (ones and value < 10):
        total, ones = (total + 10 * (ones or 1), 0) if value == 10 else (total, value)
        at = end
        kind, value, end = LEXICON.longest(words, at)
    return total + ones, at


def length_at(words: list, at: int) -> tuple:
    """Return (count, minutes of the unit, next word) of "20 min", "20min", "a week" or 三天; zeros without."""
    word = word_at(words, at)
    unit = word.lstrip(_DIGITS)
    if unit and len(unit) < len(word):
        (count, _), end = number_at([(word[: -len(unit)], 0, 0)], 0), at + 1
        kind, minutes, _ = LEXICON.longest([(unit, 0, 0)], 0)
    else:
        count, end = number_at(words, at)
        kind, minutes, end = LEXICON.longest(words, end)
    return (count, minutes, end) if count and kind == "unit" else (0, 0, at)


def minute_of_day(word: bytes) -> int:
    """Return the minute of the day of a word such as 7:30, or -1."""
    hour, _, minute = word.partition(b":")
    if not (hour.isdigit() and minute.isdigit() and len(hour) < 3 and len(minute) == 2):
        return -1
    return 60 * int(hour) + int(minute) if int(hour) < 24 and int(minute) < 60 else -1


def date_of(word: bytes) -> int:
    """Return the day of a word such as 2026-11-29, or -1."""
    try:
        return day_number(word.decode())
    except ValueError:
        return -1
