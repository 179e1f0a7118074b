"""Smart homes, code, health."""

PAIRS = """
=  The bathroom fan runs for 15 minutes after a shower
   The bathroom fan runs for fifteen minutes after a shower
=  All timestamps are stored in UTC
   all timestamps are stored in UTC
=  The user goes by the name Kit
   User's name is Kit
=  User drinks his coffee black
   The user drinks coffee black
=  The user's oldest son is called Piet
   User's oldest son's name is Piet
=  Valve 2 waters the roses
   Valve 2 waters the roses.
=? The user has diabetes type 2
   User has type 2 diabetes
=  User's visa is valid until 30 September
   The user's visa is valid until September 30
=  Database migrations live in db/migrations
   The database migrations live in db/migrations
=  User can't stand techno
   User hates techno
=  The user always flies with KLM
   User always flies with KLM
=  Nora's best friend is Lotte
   Lotte is Nora's best friend
=  The test suite takes about 12 minutes
   The test suite takes about twelve minutes
=  User pays the rent on the 1st of the month
   User pays the rent on the first of the month
=  User is studying for the bar exam
   The user studies for the bar exam
=  The user's sister Jo lives in Leeds
   User's sister Jo is based in Leeds
=  Sensor node 7 is battery powered
   Sensor node 7 is battery-powered
=  The user swims on Tuesdays and Fridays
   User swims on Fridays and Tuesdays
=  The car was serviced in March
   In March the car was serviced
=  User earns 3,400 euros a month
   The user's salary is 3400 euros a month
=  The user and his wife adopted a greyhound
   User and his wife adopted a greyhound
=  Dinner with the Millers is on Saturday evening
   Dinner with the Millers is Saturday evening
=? 所有时间戳都用UTC存储
   所有时间戳用UTC存储
=  用户喝黑咖啡
   我喝黑咖啡
=  用户的大儿子叫皮特
   用户大儿子的名字叫皮特
=  我有二型糖尿病
   用户有二型糖尿病
=  用户的签证9月30日到期
   我的签证九月三十号到期
=  2号阀门浇玫瑰
   二号阀门浇玫瑰
=  测试大约要12分钟
   测试大约要十二分钟
=  我每月1号交房租
   用户每个月一号交房租
=  我周二和周五游泳
   用户周二和周五游泳
=  用户的favorite editor是Vim
   用户的favourite editor是vim
=  周六晚上和米勒一家吃晚饭
   星期六晚上和米勒一家吃晚饭
=  汽车三月做了保养
   汽车3月做了保养
=  用户受不了电子音乐
   我受不了电子音乐
=  我最好的朋友是小美
   小美是我最好的朋友
=  電池電量是80%
   电池电量是80%
>  The bathroom fan runs for 15 minutes after a shower
   The bathroom fan runs for 20 minutes after a shower
>  All timestamps are stored in UTC
   All timestamps are stored in local time
>  User's name is Kit
   User's name is Kat
>  Valve 2 is open
   Valve 2 is closed
>  User's visa is valid until 30 September
   User's visa is valid until 31 December
>  Nora's best friend is Lotte
   Nora's best friend is Fenna
>  The test suite takes about 12 minutes
   The test suite takes about 7 minutes
>  Database migrations live in db/migrations
   Database migrations live in schema/migrations
>? User is studying for the bar exam
   User passed the bar exam
>  Battery level is 80 %
   Battery level is 35 %
>  The user always flies with KLM
   The user no longer flies with KLM
>  User smokes a pipe
   User doesn't smoke a pipe
>? The key for the shed hangs in the hallway
   The key for the shed hangs in the garage
>  The user's new address is Rue Verte 12, Brussels
   The user's new address is Rue Verte 21, Brussels
>  Piet is in second grade
   Piet is in third grade
>  User has a gym membership
   User cancelled his gym membership
>  The user's wake-up time is 6:30
   The user's wake-up time is 7:00
>  Max retries is 3
   Max retries is 5
>  User likes his job
   User doesn't like his job any more
>  The heater's target temperature is 22 degrees
   The heater's target temperature is 20 degrees
>  The user swims on Tuesdays
   The user does not swim on Tuesdays
>  User's phone runs Android 13
   User's phone runs Android 14
>  The house has solar panels
   The house has no solar panels
>  The user is lactose intolerant
   The user is not lactose intolerant
>  User drives to work
   User doesn't drive to work any more, he takes the tram
>  The default branch was renamed to trunk
   The default branch is main
>  User's cholesterol is 240
   User's cholesterol is 190
>  The code review is mandatory
   The code review is optional
>  The user wants to be reminded about the pills at 8:00
   The user wants to be reminded about the pills at 9:00
>  User's IP camera is at 10.0.0.15
   User's IP camera is at 10.0.0.51
>  User lives in a house
   User no longer lives in a house
>  Laundry day is Saturday
   Laundry day is Sunday
>  User is the chairman of the choir
   User is no longer the chairman of the choir
>  User's mother lives in a nursing home
   User's mother doesn't live in a nursing home
>  所有时间戳都用UTC存储
   所有时间戳都用本地时间存储
>  用户的签证9月30日到期
   用户的签证12月31日到期
>  2号阀门是开着的
   2号阀门是关着的
>  我最好的朋友是小美
   我最好的朋友是小雅
>  测试大约要12分钟
   测试大约要7分钟
>  电池电量是80%
   电池电量是35%
>  用户有健身卡
   用户取消了健身卡
>  最大重试次数是3
   最大重试次数是5
>  目标温度是22度
   目标温度是20度
>  用户的手机系统是安卓13
   用户的手机系统是安卓14
>  我家装了太阳能板
   我家没装太阳能板
>  用户乳糖不耐受
   用户不再乳糖不耐受
>  提醒我8点吃药
   提醒我9点吃药
>? 我周六洗衣服
   我周日洗衣服
>  用户的favorite editor是Vim
   用户的favorite editor是Emacs
>  我是合唱团团长
   我不再是合唱团团长
>  用户喜欢他的工作
   用户不喜欢他的工作了
>  棚子的钥匙挂在走廊
   棚子的钥匙挂在车库
>  皮特上二年级
   皮特上三年级
>  我不抽烟斗
   我抽烟斗
>  我的血压是130/85
   我的血压是120/80
>  用户住在成都武侯区
   用户住在成都锦江区
>  我住的地方不允许养狗
   我住的地方允许养狗
>  摄像头的地址是10.0.0.15
   摄像头的地址是10.0.0.51
|  The bathroom fan runs for 15 minutes after a shower
   The kitchen fan runs for 10 minutes after cooking
|  Valve 2 waters the roses
   Valve 3 waters the lawn
|  User's oldest son is called Piet
   User's youngest son is called Bram
|  Nora's best friend is Lotte
   Nora's cousin is Fenna
|  User can't stand techno
   User can't stand heavy metal
|  Sensor node 7 is battery powered
   Sensor node 7 is in the attic
|  The user has diabetes
   The user has asthma
|  The car was serviced in March
   The car was washed in April
|  User swims on Tuesdays
   User bowls on Thursdays
|  The key for the shed hangs in the hallway
   The key for the cellar hangs in the garage
|  User lent Jo his ladder
   Jo lent the user her drill
|  The user's sister Jo lives in Leeds
   The user's brother Al lives in Hull
|  Dinner with the Millers is on Saturday
   Brunch with the Bakers is on Sunday
|  Table users has 12 columns
   Table orders has 9 columns
|  User adopted a greyhound
   User adopted a parrot
|  User has a tattoo of a swallow
   User has a tattoo of an anchor
|  Class A fire extinguishers are red
   Class B fire extinguishers are blue
|  Jo introduced Al to Kim
   Kim introduced Al to Jo
|  User drinks his coffee black
   User drinks his tea with lemon
|  Piet is afraid of the dark
   Piet is afraid of clowns
|  User passed the bar exam
   User failed the driving test
|  User's house has solar panels
   User's house has a heat pump
|  The user recommends the Alfama hostel in Lisbon
   The user recommends the Alfama restaurant in Lisbon
|  The house is 300 m from the lake
   The station is 300 m from the house
|  User goes skiing in Zermatt every winter
   User goes surfing in Biarritz every summer
|  Peter Novak repairs the user's bike
   Peter Kovar repairs the user's car
|  2号阀门浇玫瑰
   3号阀门浇草坪
|  用户的大儿子叫皮特
   用户的小儿子叫布拉姆
|  我有糖尿病
   我有哮喘
|  小美介绍小雅认识了小红
   小红介绍小雅认识了小美
|  我周二游泳
   我周四打保龄球
|  皮特怕黑
   皮特怕小丑
|  我喝黑咖啡
   我喝柠檬茶
|  用户领养了一只猫
   用户领养了一只鹦鹉
|  A类灭火器是红色的
   B类灭火器是蓝色的
|  棚子的钥匙挂在走廊
   地窖的钥匙挂在车库
|  我家装了太阳能板
   我家装了热泵
|  用户受不了电子音乐
   用户受不了重金属
"""
