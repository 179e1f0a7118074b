"""The words of times and days in ten languages: data of engram.text.times and engram.text.days.

Each line of a language has a kind, a value, and phrases with "|" between those of one meaning; "," leads to the next value.

    in, at, every, after, every_behind   of "in 20 min", "at 8:00", "every 20 min", 20分钟后, 20分ごと
    ago, ago_before                      of "3 days ago", "vor 3 Tagen"
    unit                                 minutes
    days                                 of the week, on which something repeats: bit 0 is Monday
    day, coming                          days back, days to come
    night, weekend, week, month, year    the last night; how many weeks, months or years back
    last                                 1 if the weekday behind it is not today
    weekday, short_weekday               Monday is 0; the short form is read in commands only
    named_month                          January is 1
    of, before                           what stands before a month
    refused                              a word of time that is not read
    nothing                              a phrase that only looks like another

"Hier" alone is no French yesterday: in German it is "here".
"""

from engram.text.lexicon import Lexicon

ENGLISH = """
in in
at at
every every|each
ago ago
last:1 last
last:0 past|this|previous
of of
before since|during|early|late
days:127 daily|every day|each day
days:31 weekdays|workdays|every weekday|on weekdays
days:96 weekends|every weekend|on weekends
unit:1 min|mins|minute|minutes
unit:60 h|hr|hour|hours
unit:1440 day|days
unit:10080 week|weeks
unit:43200 month|months
unit:525600 year|years
day:0 today|tonight
day:1 yesterday
day:2 day before yesterday
coming:1 tomorrow
coming:2 day after tomorrow
night last night|past night|previous night|this night
day:0 this morning|this afternoon|this evening
weekend:0 this weekend
weekend:1 last weekend|past weekend|previous weekend
week:0 this week|this weeks
week:1 last week|past week|previous week|last weeks|past weeks|previous weeks
month:0 this month|this months
month:1 last month|past month|previous month|last months|past months|previous months
year:0 this year|this years
year:1 last year|past year|previous year|last years|past years|previous years
refused am|pm|o'clock|s|sec|secs|second|seconds
weekday:0 monday,tuesday,wednesday,thursday,friday,saturday,sunday
short_weekday:0 mon,tue,wed,thu,fri,sat,sun
named_month:1 january|jan,february|feb,march|mar,april|apr,may,june|jun,july|jul,august|aug,september|sep|sept,october|oct,\
november|nov,december|dec
"""

CHINESE = """
every 每|每隔
after 后|後|之后|之後
ago 前|之前
last:1 过去|過去|最近
refused 秒
days:127 每天|每日|天天
days:31 工作日|每个工作日
days:96 周末|每个周末
unit:1 分钟|分鐘
unit:60 小时|小時|个小时|個小時
unit:1440 天|日
unit:10080 周|週|星期|个星期|個星期|礼拜|个礼拜
unit:43200 个月|個月
unit:525600 年
day:0 今天|今日|今晚|今早
day:1 昨天|昨日|昨晚
day:2 前天
coming:1 明天|明日
coming:2 后天|後天
week:0 本周|这周|這週|这星期|这个星期|這個星期|这礼拜
week:1 上周|上週|上星期|上个星期|上個星期|上礼拜|上个礼拜
month:0 本月|这个月|這個月
month:1 上月|上个月|上個月
year:0 今年
year:1 去年
year:2 前年
weekday:0 星期一|周一|週一|礼拜一,星期二|周二|週二|礼拜二,星期三|周三|週三|礼拜三,星期四|周四|週四|礼拜四,\
星期五|周五|週五|礼拜五,星期六|周六|週六|礼拜六,星期日|星期天|周日|周天|週日|礼拜日|礼拜天
"""

GERMAN = """
in in
at um
every alle|jede
ago_before vor
last:1 letzten|letzter|letzte
before im|seit|ende|anfang
days:127 täglich|jeden tag
days:31 werktags
days:96 am wochenende
unit:1 minute|minuten
unit:60 std|stunde|stunden
unit:1440 tag|tage|tagen
unit:10080 woche|wochen
unit:43200 monat|monate|monaten
unit:525600 jahr|jahre|jahren
day:0 heute
day:1 gestern
day:2 vorgestern
coming:1 morgen
coming:2 übermorgen
week:0 diese woche|dieser woche
week:1 letzte woche|letzter woche|vorige woche
month:0 diesen monat|diesem monat
month:1 letzten monat|letztem monat
year:0 dieses jahr|diesem jahr
year:1 letztes jahr|letztem jahr
refused uhr|sekunde|sekunden
weekday:0 montag,dienstag,mittwoch,donnerstag,freitag,samstag|sonnabend,sonntag
named_month:1 januar|jänner,februar,märz,april,mai,juni,juli,august,september,oktober,november,dezember
"""

SPANISH = """
in en
at a las|a la
every cada
ago_before hace
last:1 últimos|últimas
of de
before desde|durante
refused segundo|segundos
days:127 diario|cada día|todos los días
unit:1 minuto|minutos
unit:60 hora|horas
unit:1440 día|días
unit:10080 semana|semanas
unit:43200 mes|meses
unit:525600 año|años
day:0 hoy
day:1 ayer|anoche
day:2 anteayer
coming:1 mañana
coming:2 pasado mañana
week:0 esta semana
week:1 semana pasada
month:0 este mes
month:1 mes pasado
year:0 este año
year:1 año pasado
weekday:0 lunes,martes,miércoles,jueves,viernes,sábado,domingo
named_month:1 enero,febrero,marzo,abril,mayo,junio,julio,agosto,septiembre|setiembre,octubre,noviembre,diciembre
"""

FRENCH = """
in dans
at à
every toutes les|tous les
ago_before il y a
last:1 derniers|dernières
before depuis|pendant
refused seconde|secondes
days:127 chaque jour|tous les jours|quotidien
unit:60 heure|heures
unit:1440 jour|jours
unit:10080 semaine|semaines
unit:525600 ans
day:0 aujourd'hui
day:1 hier soir|hier matin|hier après-midi
day:2 avant-hier
coming:1 demain
coming:2 après-demain
week:0 cette semaine
week:1 semaine dernière
month:0 ce mois
month:1 mois dernier
year:0 cette année
year:1 année dernière|an dernier
weekday:0 lundi,mardi,mercredi,jeudi,vendredi,samedi,dimanche
nothing mardi gras
named_month:1 janvier,février,mars,avril,mai,juin,juillet,août,septembre,octobre,novembre,décembre
"""

JAPANESE = """
after 後|あと
every_behind ごと|おき
ago 前
days:127 毎日
days:31 平日
days:96 週末
unit:1 分|分間
unit:60 時間
unit:10080 週間
unit:43200 か月|ヶ月
day:0 今日|きょう
day:1 昨日|きのう
day:2 一昨日|おととい
coming:1 明日|あした
coming:2 明後日|あさって
week:0 今週
week:1 先週
month:0 今月
month:1 先月
year:0 今年
year:1 去年|昨年
year:2 一昨年|おととし
weekday:0 月曜日|月曜,火曜日|火曜,水曜日|水曜,木曜日|木曜,金曜日|金曜,土曜日|土曜,日曜日|日曜
"""

KOREAN = """
after 후|뒤
every_behind 마다
ago 전
last:1 지난|최근
days:127 매일
days:31 평일
days:96 주말
unit:1 분
unit:60 시간
unit:1440 일
unit:10080 주|주일
unit:43200 개월|달
unit:525600 년
day:0 오늘
day:1 어제
day:2 그제|그저께|엊그제
coming:1 내일
coming:2 모레
week:0 이번 주
week:1 지난주
month:0 이번 달
month:1 지난달
year:0 올해
year:1 작년|지난해
year:2 재작년
weekday:0 월요일,화요일,수요일,목요일,금요일,토요일,일요일
"""

PORTUGUESE = """
in em
at às
every a cada
ago_before há
last:1 últimos|últimas
days:127 todos os dias|todo dia|diariamente
unit:1440 dia|dias
day:0 hoje
day:1 ontem
day:2 anteontem
coming:1 amanhã
coming:2 depois de amanhã
week:1 semana passada
month:1 mês passado
year:0 este ano
year:1 ano passado
weekday:0 segunda-feira,terça-feira,quarta-feira,quinta-feira,sexta-feira,sábado,domingo
named_month:1 janeiro,fevereiro,março,abril,maio,junho,julho,agosto,setembro,outubro,novembro,dezembro
"""

RUSSIAN = """
in через
at в
every каждые|каждый|каждую
ago назад
last:1 последние|последних
before с
days:127 ежедневно|каждый день
days:31 по будням
days:96 по выходным
unit:1 мин|минута|минуту|минуты|минут
unit:60 ч|час|часа|часов
unit:1440 день|дня|дней
unit:10080 неделя|неделю|недели|недель
unit:43200 месяц|месяца|месяцев
unit:525600 год|года|лет
day:0 сегодня
day:1 вчера
day:2 позавчера
coming:1 завтра
coming:2 послезавтра
week:0 на этой неделе|эта неделя|эту неделю
week:1 на прошлой неделе|прошлая неделя|прошлую неделю
month:0 в этом месяце|этот месяц
month:1 в прошлом месяце|прошлый месяц
year:0 в этом году|этот год
year:1 в прошлом году|прошлый год
weekday:0 понедельник,вторник,среда|среду,четверг,пятница|пятницу,суббота|субботу,воскресенье
short_weekday:0 пн,вт,ср,чт,пт,сб,вс
named_month:1 январь|января|январе,февраль|февраля|феврале,март|марта|марте,апрель|апреля|апреле,май|мая|мае,июнь|июня|июне,\
июль|июля|июле,август|августа|августе,сентябрь|сентября|сентябре,октябрь|октября|октябре,ноябрь|ноября|ноябре,\
декабрь|декабря|декабре
"""

ARABIC = """
in بعد
at الساعة
every كل
ago_before قبل
last:1 آخر
days:127 يوميا|كل يوم
unit:1 دقيقة|دقائق
unit:60 ساعة|ساعات
unit:1440 يوم|أيام
unit:10080 أسبوع|أسابيع
unit:43200 شهر|أشهر
unit:525600 سنة|سنوات
day:0 اليوم
day:1 أمس|البارحة
day:2 أول أمس
coming:1 غدا
coming:2 بعد غد
week:0 هذا الأسبوع
week:1 الأسبوع الماضي
month:0 هذا الشهر
month:1 الشهر الماضي
year:0 هذا العام|هذه السنة
year:1 العام الماضي|السنة الماضية
weekday:0 الاثنين,الثلاثاء,الأربعاء,الخميس,الجمعة,السبت,الأحد
named_month:1 يناير,فبراير,مارس,أبريل,مايو,يونيو,يوليو,أغسطس,سبتمبر,أكتوبر,نوفمبر,ديسمبر
"""

LANGUAGES = (ENGLISH, CHINESE, GERMAN, SPANISH, FRENCH, JAPANESE, KOREAN, PORTUGUESE, RUSSIAN, ARABIC)

STRONG, BY_NUMBER = 16, 32
"""Added to a month whose name needs nothing beside it, or a number. A name of up to five Latin letters that is not English
needs one, so that Marco and Mars are no months.
"""
_SURE_LETTERS = 6


def _lines():
    """Yield ((kind, value), phrases) of all languages."""
    for language in LANGUAGES:
        for line in language.strip().split("\n"):
            name, _, phrases = line.partition(" ")
            kind, _, value = name.partition(":")
            for place, alike in enumerate(phrases.split(",")):
                number = int(value or 0) + place
                if kind == "named_month":
                    for phrase in alike.split("|"):
                        yield (kind, number + _month_flag(phrase, language)), phrase
                else:
                    yield (kind, number), alike


def _month_flag(name: str, language: str) -> int:
    if len(name) >= _SURE_LETTERS or name.encode()[0] >= 0xD0:
        return STRONG
    return 0 if language is ENGLISH else BY_NUMBER


LEXICON = Lexicon(_lines)
