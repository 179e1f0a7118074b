"""The words that facts are compared by, in English and Chinese: small closed lists, each a constant.

After each `|` stands a head and the words that it takes the place of. A head's first byte says what they are:

  U  the user              M H  my; his, her, their     A Z  a; the            '  of the one before
  !  not, no longer, sold  *    a correction, now       =    is                , ;  between clauses
  #  what holds one value  &    what holds many         >    becomes           J  a profession
  @  preposition           O    what happens once       w    an ordinary word  -  nothing
  W  weekday   P  part of a day   F  how often   R  another day   %  month   ^  am, pm   $  unit

A head of one byte is put before the word: `port` is `#port`. `_` parts the tokens of a head, and the words of a phrase, of
which the first stands in its plain form. Words that stand for each other have to mean the same: what is told apart nowhere
else would be taken for a duplicate.
"""

from engram.compat import const

_ORDINARY = const(0x77)  # w

_ENGLISH = (
    "|- do does very really just please that still also already currently presently anymore |A a an |Z the |U user i "
    "me |M my mine |H his her hers their theirs its |wwe our we us |' 's |!not not no dont doesnt isnt cant nor "
    "|!never never |!not_can cannot |!not_@with without |!not_&like dislike |!end stop stopped quit former formerly "
    "previously |!was_= was were |!was_&like liked |!was_&have owned |!was_&use used |!cancel cancel cancelled "
    "canceled |! sold died dead uninstalled lost finished completed left closed |* actually correction |*now now "
    "nowadays |; but |and plus |= is am are be equals |@in in into inside |@on on upon |@to to |@from from |@every "
    "every each |@ at of with within for by about under over near behind between after before during until till "
    "since than as per via beside against towards through across when while if because "
    # what holds one value
    "|#name name named |#called called |#favourite favorite favourite preferred |#birthday birthday born birthdate "
    "|#age age aged |#job job profession occupation |#employer employer |#home home residence |#hometown hometown "
    "|#email email |#number number |#colour color colour |#price price cost |#salary salary wage earn income "
    "|#weight weight weigh |#height height |#temperature temperature temp |#deadline deadline due |#version version "
    "|#status status state |#password password passphrase passcode |#boss boss manager supervisor |#start start "
    "begin |#departure depart leave |#arrival arrive |#goal goal target aim |#interval interval period |#rate rate "
    "frequency |#title title position role |#expiry expiry expire |#license license licence |# address rent humidity "
    "threshold limit mode port language wife husband spouse girlfriend boyfriend alarm time date location speed "
    "level volume brightness branch editor grade prefer nickname username handle surname pin ssid ip mac host "
    "hostname url website budget balance quota fee size width length depth pressure timeout delay duration capacity "
    "voltage channel setting unit timezone format theme layout floor gate platform model brand breed score rank "
    "priority dose dosage diet browser os shell database default owner leader captain president capital carrier "
    "provider bank insurance baud gateway dns subnet mask landlord origin identity id code plate tariff distance "
    "seat anniversary lead current primary best ceo cto chairman head mascot motto currency resolution storage "
    "memory cpu gpu chip processor encoding encryption protocol compiler interpreter region namespace endpoint token "
    "login deposit mortgage loan reading total "
    # what holds many
    "|&like like love enjoy adore |&hate hate detest loathe |&have have own possess got |&study study learn |&want "
    "want wish |&allergic allergic allergy |&subscribe subscribe subscription |&been visited |& speak use drive eat "
    "drink play read visit travel watch buy collect cook ride wear know teach sing paint swim run walk meet call "
    "contain support need write grow report connect plan hope fear pay owe train attend follow take smoke |>change "
    "become became |O appointment meeting exam flight interview party wedding surgery reservation booking event "
    "concert delivery pickup trip session |J engineer teacher nurse doctor lawyer developer programmer designer "
    "student architect accountant chef driver pilot dentist journalist scientist professor consultant electrician "
    "plumber carpenter freelancer analyst writer artist musician photographer mechanic pharmacist researcher "
    "director baker farmer cook waiter soldier policeman firefighter translator psychologist therapist surgeon "
    "barista secretary painter singer actor judge tailor gardener butcher hairdresser barber vet coach trainer tutor "
    "mentor babysitter librarian cashier "
    # times
    "|Wmon monday mon |Wtue tuesday tue tues |Wwed wednesday wed |Wthu thursday thu thurs |Wfri friday fri |Wsat "
    "saturday sat |Wsun sunday sun |W weekend weekday |P morning afternoon evening night |Pnoon midday |Fday daily "
    "|Fweek weekly |Fmonth monthly |Fyear yearly annually |F usually often sometimes always rarely occasionally "
    "regularly frequently |R today tomorrow yesterday tonight next last |%01 january jan |%02 february feb |%03 "
    "march mar |%04 april apr |%05 may |%06 june jun |%07 july jul |%08 august aug |%09 september sep sept |%10 "
    "october oct |%11 november nov |%12 december dec |^am a.m |^pm pm p.m |^oclock oclock "
    # ordinary words
    "|wchild child children kid |wmother mother mom mum mommy |wfather father dad daddy |wman man men |wwoman woman "
    "women |wperson person people |wphone phone smartphone mobile cellphone |wbike bike bicycle |wcar car automobile "
    "|wflat flat apartment |wtv tv television |wmovie movie film |wphoto photo picture |wgray gray grey |wbig big "
    "large |wvacation vacation holiday |wshop shop store |wgrandma grandma grandmother |wgrandpa grandpa grandfather "
    "|wclass class lesson "
).encode()

_PHRASES = (
    "|- a_lot very_much these_days at_the_moment of_course as_well from_now_on any_more any_longer |!end no_longer "
    "not_anymore used_to give_up gave_up |!end_= used_to_be |!rid get_rid_of got_rid_of |!give give_away gave_away "
    "|!died pass_away passed_away |!break break_up broke_up |!was_#employer worked_at worked_for |!was_#job "
    "worked_as |!was_#home lived_in resided_in |wused is_used_to get_used_to |,_!not instead_of rather_than |= "
    "has_been have_been take_place is_held |=_@on meet_on |=_@at meet_at |=_@every meet_every |#name is_called "
    "go_by_the_name go_by |#birthday was_born is_born birth_date date_of_birth |#job work_as have_worked_as "
    "|#employer work_at work_for is_employed_by is_employed_at have_worked_at have_worked_for |#workplace work_in "
    "|#home live_in live_at reside_in is_based_in have_lived_in |#home_@on live_on |#hometown home_town come_from "
    "is_from originally_from |#email e_mail |#number phone_number telephone_number |#mobile mobile_number "
    "cell_number mobile_phone_number |#address ip_address |#deadline is_due |#spouse married_to is_married_to |#boss "
    "report_to |#open_@at open_at |#close_@at close_at |#end_@on end_on |#end_@at end_at |#wake wake_up get_up |#bed "
    "go_to_bed |#code api_key license_key |#price is_priced_at |#connection is_connected_to is_wired_to "
    "is_attached_to is_assigned_to is_mapped_to is_plugged_into |&like is_fond_of is_a_fan_of |&hate can_not_stand "
    "|&been have_been_to been_to |>move move_to moved_to is_moved_to was_moved_to relocate_to relocated_to "
    "|>move_@from moved_from |>change change_to changed_to was_changed_to is_changed_to switch_to switched_to "
    "renamed_to was_renamed_to rescheduled_to was_rescheduled_to postponed_to was_postponed_to "
    "have_been_postponed_to updated_to was_updated_to upgraded_to increased_to was_increased_to raised_to "
    "was_raised_to lowered_to reduced_to turned_into |>change_@from changed_from switched_from |>change_off "
    "is_switched_off is_turned_off switched_off turned_off |>change_on is_switched_on is_turned_on switched_on "
    "turned_on |@in_Pmorning in_the_morning |@in_Pafternoon in_the_afternoon |@in_Pevening in_the_evening "
    "|@at_Pnight at_night |Fday every_day each_day a_day per_day |Fweek every_week each_week a_week per_week |Fmonth "
    "every_month each_month a_month per_month |Fyear every_year each_year a_year per_year |wphone mobile_phone "
    "cell_phone |wwifi wi_fi "
).encode()

_CHINESE = (
    "|- 了 着 很 非常 吧 呢 啊 呀 吗 市 请 位于 目前 |' 的 |U 用户 我 使用者 本人 主人 |M 我的 用户的 |wwe 我们 咱们 "
    "我们的 我家 |!not 不 没 没有 无 别 不要 |!never 从不 从来不 从没 从未 |!end 不再 已经不 戒 戒掉 戒了 没有了 "
    "以前 曾经 曾 原来 过去 停止 放弃 |!sold 卖 卖掉 卖了 |!left 离开 辞去 辞职 离职 |!died 去世 |!cancel 取消 "
    "取消了 |! 毕业 分手 |!end_&smoke 戒烟 |!end_&drink_酒 戒酒 |* 其实 实际上 更正 纠正 应该是 |*now 现在 如今 |; "
    "而是 但 但是 不过 |and 和 与 及 跟 以及 还有 |or 或 或者 |= 是 就是 等于 设在 设为 |@on 上面 |@zai 在 正在 "
    "|@dui 对 |@ba 把 将 |@from 从 |@to 到 |@every 每 |#name 名字 姓名 叫 名叫 叫做 名为 名称 名字叫 |#favourite "
    "最喜欢 最爱 最喜爱 |#birthday 生日 出生 出生于 |#age 年龄 |#job 职业 工作 上班 任职 就职 |#home 住在 居住在 "
    "居住于 住 居住 定居 家在 |#hometown 老家 家乡 籍贯 |#email 邮箱 邮件 电子邮箱 电邮 |#number 电话 电话号码 号码 "
    "|#mobile 手机号 手机号码 |#address 地址 |#colour 颜色 |#price 价格 价钱 售价 |#rent 租金 房租 |#salary 工资 "
    "薪水 月薪 |#weight 体重 重量 |#height 身高 高度 |#temperature 温度 气温 |#humidity 湿度 |#threshold 阈值 "
    "|#limit 上限 |#deadline 截止 截止日期 期限 |#version 版本 |#firmware 固件 |#status 状态 |#mode 模式 |#password "
    "密码 口令 |#port 端口 |#language 语言 |#wife 妻子 老婆 太太 |#husband 丈夫 老公 |#girlfriend 女朋友 女友 "
    "|#boyfriend 男朋友 男友 |#boss 老板 上司 经理 |#start 开始 |#expiry 到期 过期 |#departure 出发 起飞 |#arrival "
    "到达 |#wake 起床 |#bed 睡觉 |#alarm 闹钟 |#goal 目标 |#time 时间 |#date 日期 |#location 位置 地点 |#connection "
    "连接到 连到 接在 |#interval 间隔 周期 |#rate 频率 速率 |#speed 速度 |#level 等级 级别 |#volume 音量 "
    "|#brightness 亮度 |#branch 分支 |#editor 编辑器 |#title 职位 职务 |#school 上学 学校 |#grade 年级 |#prefer 偏好 "
    "更喜欢 |# 下限 体温 年薪 昵称 用户名 预算 余额 尺码 电压 功率 信道 频道 单位 时区 格式 主题 型号 品牌 品种 血型 "
    "成绩 分数 剂量 牙医 房东 浏览器 系统 数据库 座位 框架 缩进 网关 掩码 网址 域名 车牌 车牌号 专业 班主任 电量 "
    "容量 长度 宽度 深度 密钥 编号 默认 学号 最好 水平 负责人 队长 组长 班长 总监 主管 教练 导师 首都 货币 分辨率 "
    "内存 硬盘 处理器 芯片 编码 协议 编译器 仓库 账号 押金 贷款 读数 总额 总价 库存 进度 得分 排名 星座 属相 学历 "
    "|&like 喜欢 喜爱 热爱 爱 钟爱 |&hate 讨厌 恨 厌恶 |&have 有 养 养了 拥有 |&speak 说 讲 会说 会讲 |&use 用 使用 "
    "|&drive 开 会开 |&eat 吃 |&drink 喝 |&play 弹 打 玩 会弹 会打 |&read 读 |&watch 看 |&study 学 学习 在学 正在学 "
    "在读 |&want 想 想要 打算 |&allergic 过敏 |&subscribe 订阅 |&been 去过 到过 |&wear 穿 戴 |&smoke 抽烟 吸烟 |>move 搬到 "
    "搬到了 搬去 搬家到 搬进 |>change 改成 改成了 改为 改到 换成 换成了 换到 变成 变为 调到 调成 升到 升级到 推迟到 提前到 "
    "更新为 更新到 改名为 改用 |Oappointment 预约 |Omeeting 会议 开会 |Oexam 考试 |Oflight 航班 |O 面试 体检 手术 "
    "婚礼 聚会 演出 旅行 |J 工程师 老师 教师 护士 医生 律师 程序员 设计师 学生 会计 厨师 司机 飞行员 记者 教授 作家 "
    "摄影师 农民 警察 消防员 军人 翻译 演员 歌手 画家 法官 公务员 店员 |W 周末 工作日 |Pmorning 早上 早晨 上午 清晨 "
    "早 |Pnoon 中午 |Pafternoon 下午 |Pevening 晚上 傍晚 晚 |Pnight 夜里 半夜 凌晨 深夜 夜晚 |Fday 每天 每日 天天 "
    "|Fweek 每周 每星期 每个星期 |Fmonth 每月 每个月 |Fyear 每年 |F 经常 常常 总是 偶尔 有时 通常 一般 |R 今天 明天 "
    "昨天 后天 前天 今年 明年 去年 |Rnext 下周 下个 |Rlast 上周 上个 |w 备用 信用卡 费用 作用 大学 中学 小学 学院 "
    "开发 开心 打印机 打印 爱好 恋爱 可爱 爱人 玩具 有名 有趣 所有 住院 不同 不错 对象 在线 将来 说明 想法 看法 从事 "
    "和平 |wmother 妈妈 母亲 妈 |wfather 爸爸 父亲 爸 |wphone 手机 |wcar 汽车 |wtv 电视 |wwifi 无线网 |wmovie 电影 "
    "|won 打开 开着 开启 |woff 关闭 关 关着 关掉 "
).encode()

_UNITS = (
    "|$c c celsius centigrade degree 度 摄氏度 |$f f fahrenheit |$percent percent |$kg kg kilogram kilo 公斤 千克 "
    "|$g g gram gramme 克 |$km km kilometer 公里 千米 |$m m meter metre 米 |$cm cm centimeter 厘米 |$min min minute "
    "分钟 |$h h hour hr 小时 |$s s second sec 秒 |$day day 天 |$week week 周 个星期 |$month month 个月 |$year year "
    "yr |$old 岁 |$eur eur euro |$usd usd dollar 美元 |$gbp gbp |$yuan yuan rmb cny 元 块 人民币 |$l l liter 升 |$x "
    "次 遍 time #time |$ mg ml mm ms mile w kw v mhz ghz hz mb gb kb tb mbps inch feet kcal bar pa ppm lux lb oz cup "
    "bottle 斤 杯 瓶 片 粒 年 月 点 分 日 号 千 万 层 楼 码 |- 个 只 条 辆 本 位 名 张 台 支 套 头 件 家 匹 把 扇 棵 朵 "
).encode()

# Traditional characters, each before its simplified one.
_SIMPLIFIED = (
    "歡欢愛爱蘋苹貓猫養养對对過过國国語语學学習习說说會会議议時时間间點点號号電电話话慣惯碼码郵邮溫温氣气臥卧"
    "廳厅廚厨開开關关門门燈灯車车買买賣卖吳吴陳陈張张劉刘楊杨黃黄趙赵媽妈兒儿孫孙爺爷個个隻只條条輛辆這这裡里"
    "裏里還还沒没從从來来為为變变換换調调設设網网絡络線线頻频寬宽長长體体醫医藥药術术師师護护員员職职業业單单"
    "結结離离現现實实應应該该錢钱幣币塊块萬万歲岁龍龙馬马魚鱼鳥鸟雞鸡麵面飯饭館馆樓楼層层區区縣县灣湾廣广東东"
    "華华寶宝貝贝書书畫画樂乐聽听讀读寫写練练運运動动遊游戲戏週周禮礼節节達达邊边遠远進进選选擇择擁拥討讨厭厌"
    "經经歷历較较難难軟软機机腦脑螢萤檔档夾夹資资訊讯庫库編编輯辑覽览預预認认證证帳账戶户總总數数據据類类別别"
    "標标準准"
).encode()


def head(word: bytes) -> bytes:
    """What a word counts as, b"" if it is not listed."""
    return _head(_ENGLISH if word[0] < 0x80 else _CHINESE, word)


def begins_phrase(word: bytes) -> bool:
    """Whether some phrase begins with a word."""
    return b" " + word + b"_" in _PHRASES


def phrase(words: bytes) -> bytes:
    """What a phrase counts as, its words joined by `_`; b"" if it is not listed."""
    return _head(_PHRASES, words)


def begins_chinese(character: bytes) -> bool:
    """Whether some Chinese word that is listed begins with a character."""
    return b" " + character in _CHINESE


def unit(word: bytes) -> bytes:
    """What a word counts as after a number, b"" if it is no unit."""
    return _head(_UNITS, word)


def simplified(data: bytes) -> bytes:
    """A text with common traditional characters made simplified ones."""
    for at in range(0, len(_SIMPLIFIED), 6):
        data = data.replace(_SIMPLIFIED[at : at + 3], _SIMPLIFIED[at + 3 : at + 6])
    return data


def _head(lists: bytes, word: bytes) -> bytes:
    at = lists.find(b" " + word + b" ")
    if at < 0:
        return b""
    start = lists.rfind(b"|", 0, at) + 1
    found = lists[start : lists.find(b" ", start)]
    if len(found) == 1 and found in b"#&@$!HOJWPFRw":
        found += word
    return found[1:] if found[0] == _ORDINARY else found
