"""Tea, tenants, timetables."""

PAIRS = """
=  User's favourite tea is Earl Grey
   Earl Grey is the user's favourite tea
=  User works at the university of Graz
   The user works at the university of Graz
=  The boiler is set to 55 °C
   The boiler is set to 55 degrees Celsius
=  User is getting married on 14 June
   The user is getting married on June 14
=  I'm vegan
   The user is vegan
=  The user's father-in-law grows wine
   User's father-in-law grows wine
=  User practises the violin for 30 minutes every day
   Every day the user practises the violin for 30 minutes
=  The LED strip is connected to GPIO 18
   LED strip is connected to GPIO 18
=  User's bike has a flat tyre
   The user's bike has a flat tyre
=  User walks the dog twice a day
   The user walks the dog two times a day
=  Call me Bea
   Call me Bea.
=  User's flat has 3 rooms
   The user's apartment has three rooms
=  User has a fear of heights
   The user has a fear of heights
=  Lunch break starts at 12:15
   The lunch break starts at 12:15
=  User does not own a pet
   The user doesn't own a pet
=  The bakery around the corner closes at 6 pm
   The bakery around the corner closes at 18:00
=  Oskar is the user's eldest son
   The user's eldest son is Oskar
=  User's ring size is 56
   The user's ring size is 56
=  The meeting language is English
   Meeting language: English
=  用户最喜欢的茶是龙井
   龙井是用户最喜欢的茶
=  锅炉设为55度
   锅炉设为55℃
=  用户六月十四日结婚
   用户6月14日结婚
=  我每天练30分钟小提琴
   用户每天练三十分钟小提琴
=  灯带接在GPIO18
   灯带接在GPIO 18
=  我的公寓有三个房间
   用户的公寓有3个房间
=  用户恐高
   我恐高
=  我没有宠物
   用户没有宠物
=  面包店晚上6点关门
   面包店18点关门
=  奥斯卡是我大儿子
   我大儿子是奥斯卡
=  会议语言是英语
   会议语言：英语
>  User's favourite tea is Earl Grey
   User's favourite tea is sencha
>  The boiler is set to 55 °C
   The boiler is set to 60 °C
>? User is getting married on 14 June
   User is getting married on 21 June
>  The LED strip is connected to GPIO 18
   The LED strip is connected to GPIO 19
>  User walks the dog twice a day
   User walks the dog three times a day
>  Call me Bea
   Don't call me Bea
>  User's flat has 3 rooms
   User's flat has 4 rooms
>  Lunch break starts at 12:15
   Lunch break starts at 12:30
>  User does not own a pet
   User owns a pet
>  User works at the university of Graz
   User works at the university of Linz
>  User is on a waiting list for a garden plot
   User is no longer on a waiting list for a garden plot
>  The meeting language is English
   The meeting language is French
>  User's old phone number is 0171 2345678
   User's old phone number is 0171 2345679
>  The pool is 24 °C
   The pool is 26 °C
>  Oskar wears size 128
   Oskar wears size 134
>  The window in the attic is open
   The window in the attic is shut
>  User feeds the fish in the morning
   User doesn't feed the fish in the morning
>  The user's ideal weight is 70 kg
   The user's ideal weight is 68 kg
>  User plays in a band
   User no longer plays in a band
>  The car key is in the blue jacket
   The car key is in the red bag
>  User's start-up has 4 employees
   User's start-up has 9 employees
>  The user answers e-mails only on weekdays
   The user does not answer e-mails only on weekdays
>  User's default currency is EUR
   User's default currency is CHF
>  User reads on a Kindle
   User doesn't read on a Kindle any more
>  The nightly backup goes to the NAS
   The nightly backup no longer goes to the NAS
>  Tyre pressure is 2.3 bar
   Tyre pressure is 2.5 bar
>? The user's godmother is Aunt Lena
   The user's godmother is Aunt Petra
>  The user's mood is good
   The user's mood is bad
>  The deposit is 1,500 euros
   The deposit is 15,000 euros
>  User lives in Wedding, Berlin
   User lives in Mitte, Berlin
>  User is unemployed
   User is no longer unemployed
>  Night mode is enabled
   Night mode is disabled
>  User has an apprenticeship at Siemens
   User finished the apprenticeship at Siemens
>  用户最喜欢的茶是龙井
   用户最喜欢的茶是普洱
>  锅炉设为55度
   锅炉设为60度
>? 用户6月14日结婚
   用户6月21日结婚
>  灯带接在GPIO18
   灯带接在GPIO19
>  我的公寓有三个房间
   我的公寓有四个房间
>  我没有宠物
   我有宠物
>  会议语言是英语
   会议语言是法语
>  阁楼的窗户开着
   阁楼的窗户关着
>  胎压是2.3
   胎压是2.5
>  车钥匙在蓝色外套里
   车钥匙在红色包里
>  用户在乐队里
   用户不在乐队里了
>  用户住在天津和平区
   用户住在天津南开区
>  夜间模式是启用的
   夜间模式是禁用的
>  奥斯卡穿128码
   奥斯卡穿134码
>  押金是1500元
   押金是15000元
>  请叫我小贝
   别叫我小贝
>  午休12:15开始
   午休12:30开始
>  公司有4名员工
   公司有9名员工
>  我失业了
   我不失业了
>  泳池水温是24度
   泳池水温是26度
|  User's favourite tea is Earl Grey
   User's favourite wine is Riesling
|  The boiler is set to 55 °C
   The fridge is set to 4 °C
|  User walks the dog twice a day
   User feeds the cat three times a day
|  The LED strip is connected to GPIO 18
   The buzzer is connected to GPIO 21
|  User has a fear of heights
   User has a fear of water
|  Oskar wears size 128
   Ida wears size 110
|  The window in the attic is open
   The window in the bathroom is shut
|  User visited Kyoto in spring
   User visited Osaka in autumn
|  User ordered a blue chair
   User ordered a red lamp
|  The car key is in the blue jacket
   The bike key is in the red bag
|  User's eldest son is Oskar
   User's youngest daughter is Ida
|  Mia borrowed the tent from Jan
   Jan borrowed the tent from Mia
|  User knows the Thai word for rice
   User knows the Thai word for water
|  User practises the violin
   User practises the cello
|  User's bike has a flat tyre
   User's bike has a blue frame
|  The bakery closes at 6 pm
   The butcher closes at 7 pm
|  User donated clothes to the shelter
   User donated books to the library
|  User met Sarah Klein in Graz
   User met Sarah Gross in Graz
|  User is getting married on 14 June
   User's brother is getting married on 3 August
|  The blue cable is for data
   The yellow cable is for power
|  User slept badly on Monday
   User slept badly on Thursday
|  User does not like sushi
   User does not like liver
|  The train to Vienna leaves from platform 3
   The train to Prague leaves from platform 8
|  User can juggle
   User can ski
|  User's aunt lives in Malta
   User's uncle lives in Malta
|  User likes swimming in lakes
   User likes swimming in the sea
|  我恐高
   我怕水
|  用户最喜欢的茶是龙井
   用户最喜欢的酒是茅台
|  灯带接在GPIO18
   蜂鸣器接在GPIO21
|  奥斯卡穿128码
   伊达穿110码
|  我春天去了京都
   我秋天去了大阪
|  面包店6点关门
   肉店7点关门
|  小美从小杨那里借了帐篷
   小杨从小美那里借了帐篷
|  我练小提琴
   我练大提琴
|  我姑姑住在马耳他
   我叔叔住在马耳他
|  蓝线是数据线
   黄线是电源线
|  我不喜欢寿司
   我不喜欢猪肝
|  用户想学滑雪
   用户想学杂耍
"""
