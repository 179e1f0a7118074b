"""The words by which facts are compared, in English and Chinese: short lists of general words, each a constant."""

# What phrases stand for, tried in this order: each list is a colon, what it stands for, and its phrases, English ones between
# spaces. A phrase comes before its parts. The signs are capitals, which no text in lower case has:
#   I speaker   IS   NOT   SO a word that adds nothing   NOW a correction   DID 了   INSTEAD FROM before what no longer holds
SPEAKER = (
    "|:I is| i'm | i am |:I's| the user's | user's | my |:I| the user | user | i "
    "|我的|用户的|我|用户|本人|:I own| I has | I have |"
).encode()
PHRASES = (
    # Words that change nothing, and words of which a part looks like a denial or a verb.
    "|:I| I's |:SO| really | very | also | still | already | currently | presently | anymore | any more | any longer "
    "| these days | please |目前|已经|还在|请|非常|也|:NOW| actually , | actually | correction : | now | nowadays |其实|现在"
    "|如今|实际上|更正|:other| is used to | are used to | get used to |不同|不错|级别|没事|有名|有趣|所有|爱好|可爱|正在|总是"
    "|叫了|叫他|叫她|叫人|叫车|叫醒|叫外卖"
    # What denies, corrects and joins.
    "|:but|而是|但是|不过|:or|还是|或者|:INSTEAD| instead of | rather than |:NOW FROM| switched from | changed from "
    "| moved from |:NOT own| sold |没有|:NOT like| hates | hate | dislikes | dislike |讨厌|:IS NOT| isn't | aren't |不是"
    "|:NOT| no longer | not | don't | doesn't | never | has stopped | stopped | quit | gave up | used to | no |不再|从不"
    "|不要|没|不|别再|曾经|以前|停止|:can NOT| can't | cannot |:with NOT| without |:FROM|从|:was| has been "
    "|:IS NOW| was moved to | is moved to | was changed to | changed to | was rescheduled to | was postponed to "
    "| was renamed to | was updated to | was raised to | was lowered to | went up to | went down to | rose to | fell to "
    "|改成|改到|改为|换成|换到|变成|变为|推迟到|提前到|涨到|降到|调到|更新为|改名为"
    # Attributes that a verb tells.
    "|:home IS NOW| moved to | relocated to |搬到|搬去|搬家到|:home IS| lives in | live in | lives at | live at | resides in "
    "| reside in | is based in |居住在|居住于|住在|家在|定居|:employer IS| works at | work at | works for | work for "
    "| is employed by | is employed at |:job IS| works as | work as |:birthday IS| was born on |出生于"
    "|:name IS| is called | is named | goes by |名字叫|名叫|叫做|名为|叫|:language IS| answer in | reply in | respond in "
    "| is written in | are written in |:age IS|今年|年龄|:weight IS| weighs | weigh |体重|:height IS|身高"
    "|:price IS| costs | cost | is priced at |售价|价格|:favourite| favorite | preferred |最喜欢|最爱|最喜爱"
    # Common verbs and units in one form.
    "|:like| likes | loves | love | enjoys | enjoy |:own| have | has | owns |有|拥有|养|:IS in|位于|在"
    "|:IS| = | is | are | am | equals | : |等于|设为|设在|是|:|的|着|:DID|了|:am|上午|早上|早晨|:pm|下午|晚上|傍晚|:kg|公斤"
    "|千克|:km|公里|千米|:cm|厘米|:min|分钟|:hour|小时|:euro|欧元|:dollar|美元|:grade|年级|"
).encode()

# A person or a thing has one value of each. Those before the bar have a name as their value.
ATTRIBUTES = (
    " home employer name boss manager supervisor landlord dentist lead leader owner captain ceo president teacher wife "
    "husband girlfriend boyfriend spouse bank provider insurance 老板 上司 经理 房东 牙医 负责人 队长 班主任 总监 银行 | "
    "birthday age address email e-mail number landline mobile job profession price cost salary income rent budget weight "
    "height size width length depth temperature humidity pressure speed level volume brightness voltage capacity interval "
    "frequency timeout limit threshold deadline expiry date time version status state mode password passphrase pin ssid "
    "ip port url host hostname branch language editor browser framework database nickname username handle surname title "
    "position location colour color unit timezone theme format currency favourite plan plate seat balance fee total "
    "reading rate score minimum maximum curfew motto capital 名字 生日 职业 工资 薪水 月薪 房租 租金 预算 温度 湿度 速度 "
    "电压 功率 容量 间隔 周期 阈值 上限 下限 日期 期限 版本 状态 模式 密码 口令 端口 语言 编辑器 浏览器 数据库 框架 昵称 "
    "用户名 邮箱 电话 号码 手机号 地址 颜色 时区 主题 格式 车牌 车牌号 座位号 余额 读数 总额 血型 型号 品牌 音量 亮度 "
    "水平 血压 "
).encode()
CASED = (
    " password passphrase pin ssid username handle branch 密码 口令 用户名 ".encode()
)  # capitals tell their values apart

# A statement on one of them may be of another, or holds for a while.
MANY = (
    " mother father friend brother sister son daughter child cousin uncle aunt colleague neighbor neighbour classmate own "
    "a an one two three another 妈 爸 朋 友 哥 姐 弟 妹 儿 女 同 邻 "
).encode()
NUMBERS = " one two three four five six seven eight nine ten eleven twelve 一 二 两 三 四 五 六 七 八 九 十 ".encode()
UNITS = (
    " kg g km m cm mm kilos grams meters metres min minutes minute s seconds hour hours h days day weeks week months years "
    "am pm °c °f degrees percent % euro euros dollar dollars € l ml litres liters gb tb mb mg v w cups times grade "
    "度 岁 元 克 升 米 斤 点 分 秒 次 杯 个 只 条 名 位 天 日 号 "
).encode()

# After a verb of a state or a habit a number with a unit is its value; after one of a schedule a time is.
STATES = " own hold need last pay owe drink eat run walk sleep take work earn 重 每 欠 付 喝 跑 睡 吃 用 上 ".encode()
SCHEDULES = b" start begin open close end expire meet wake get "
PAST = " was were had went bought saw met took got made ran ate found paid lost won drove flew read DID 过 ".encode()
PREPOSITIONS = b" in at on for during when while every each until since after before by with up "
PLACES = b" in on at under behind near beside next above below inside "
ROOMS = "厅室房柜屉街路馆店楼园里上下箱窖家边旁桌架站区".encode()  # how places end
# With one of these a value is more than a plain one; of the others, a capital makes no name.
JOINTS = (
    " and or but who which that because about like 和 own good bad great nice hard easy boring stressful wrong strong weak "
).encode()
NO_NAMES = b" german french english american italian spanish british chinese japanese russian dutch turkish polish "
FILLERS = b" do does DID did a an the any of it always "

# Of each group one word holds at a time.
EXCLUSIVE = (
    "| red blue green yellow black white brown gray grey orange purple pink | 红 蓝 绿 黄 黑 白 灰 橙 紫 粉 | on off | "
    "open closed shut | 开 关 | up down | enabled disabled | active inactive | locked unlocked | online offline | full "
    "empty | working broken fixed | free occupied | single married divorced engaged widowed | true false | pending "
    "running failed finished completed done shipped | dark light | metric imperial | celsius fahrenheit | tabs spaces "
    "| teacher nurse doctor engineer lawyer developer programmer designer architect accountant driver pilot "
    "|"
).encode()
TIMES = (
    "| am pm | january february march april may june july august september october november december | monday tuesday "
    "wednesday thursday friday saturday sunday | mondays tuesdays wednesdays thursdays fridays saturdays sundays | noon "
    "midnight | morning afternoon evening night | spring summer autumn winter | 周 | 月 | 日 | 点 | "
).encode()
