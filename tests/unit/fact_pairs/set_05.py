"""Habits, conventions, households."""

PAIRS = """
=  prefers metric units
   user prefers metric units
=  Always answer in German
   always answer in german
=  Lena's school starts at 8
   Lena's school starts at 8:00
=  The user's laptop has 16 GB of RAM
   The user's laptop has 16GB RAM
=  Grandma's recipe needs 250 g flour
   Grandma's recipe needs 250 grams of flour
=  We meet every second Thursday
   We meet every 2nd Thursday
=  User is married to Julia
   The user is married to Julia.
=  Tom is user's brother
   Tom is the user's brother
=  The brother of the user is called Tom
   The user's brother is called Tom
=  The balcony faces south
   The balcony faces south.
=  User's credit limit is €2,000
   The user's credit limit is 2000 euros
=  Paul will be 40 on July 1
   Paul will be 40 on 1 July
=  My car is a blue Skoda Octavia
   The user's car is a blue Skoda Octavia
=  User's IBAN ends in 4711
   The user's IBAN ends in 4711
=  Sensor readings are logged to sensors.csv
   The sensor readings are logged to sensors.csv
=  Meeting room: Saturn
   The meeting room is Saturn
=  User has lived in Oslo since 2015
   The user has been living in Oslo since 2015
=  User wakes up at 6 am on weekdays
   On weekdays the user wakes up at 6:00
=  Nina doesn't like olives
   Nina does not like olives
=  Water the orchid once a week
   Water the orchid once per week
=  我的车是白色的
   我的车是白色
=  我老婆的生日是八月十二号
   我妻子的生日是8月12日
=  请用中文回答
   用中文回答
=  每周四下午两点有组会
   每周四14:00有组会
=  我女儿的学校八点开始上课
   我女儿的学校8点开始上课
=? 用户有一辆白色的车
   用户有辆白色的车
=  我在学弹钢琴
   用户正在学弹钢琴
=  Wi-Fi密码贴在冰箱上
   wifi密码贴在冰箱上
=  用户用Python写代码
   我用Python写代码
=  我弟弟比我小三岁
   用户的弟弟比用户小3岁
=  奶奶今年八十五岁
   奶奶85岁
=  我的身高是一米七五
   我的身高是1米75
>  prefers metric units
   prefers imperial units
>  Always answer in German
   Always answer in English
>  Lena's school starts at 8
   Lena's school now starts at 8:30
>  The user's laptop has 16 GB of RAM
   The user's laptop has 32 GB of RAM
>  User's monthly budget for food is 400 euros
   User's monthly budget for food is 450 euros
>? My car is a blue Skoda Octavia
   My car is a white Tesla Model 3
>  Recycling is collected on Tuesdays
   Recycling is collected on Fridays
>  User is on vacation until June 5
   User is on vacation until June 12
>  User's partner is pregnant
   User's partner is no longer pregnant
>  Tim's favourite dinosaur is the T. rex
   Tim's favourite dinosaur is the triceratops
>  User rents a flat in Leipzig
   User no longer rents a flat in Leipzig
>  Order status: pending
   Order status: shipped
>  The light in the hall is red
   The light in the hall is green
>  Emma can't swim
   Emma can swim
>  The meeting with Acme is on Monday at 10:00
   The meeting with Acme was rescheduled to Tuesday at 14:00
>  User's boss is Karin
   User's boss is now Stefan
>  The user subscribes to The Economist
   The user cancelled the subscription to The Economist
>  Password rotation happens every 90 days
   Password rotation happens every 60 days
>  The dishwasher is broken
   The dishwasher is fixed
>  Max line length is 80
   Max line length is 120
>  User trusts the new supplier
   User doesn't trust the new supplier
>  Anna is Ben's girlfriend
   Anna is no longer Ben's girlfriend
>  The user wants reminders in the morning
   The user does not want reminders in the morning
>  The fridge is set to 5 °C
   The fridge is set to 3 °C
>  User's blood pressure is 130/85
   User's blood pressure is 120/80
>  Lunch break is from 12:00 to 12:30
   Lunch break is from 12:00 to 13:00
>  User owes Ben 20 euros
   User owes Ben 35 euros
>  Deploy only on weekdays
   Do not deploy on weekdays
>  The TV is in the living room
   The TV is in the bedroom
>  User has lived in Oslo since 2015
   User moved to Bergen in 2024
>  我的车是白色的
   我的车是黑色的
>  请用中文回答
   请用英文回答
>  每周四下午两点有组会
   每周四下午三点有组会
>  我老婆的生日是八月十二号
   我老婆的生日是八月二十号
>  电视在客厅
   电视在卧室
>  我的预算是4000元
   我的预算是4500元
>  订单状态：待发货
   订单状态：已发货
>? 洗碗机坏了
   洗碗机修好了
>  每行最多80个字符
   每行最多120个字符
>  我会游泳
   我不会游泳
>  小李是我的女朋友
   小李不再是我的女朋友
>? 我租房住
   我不租房了
>  用户相信这个供应商
   用户不相信这个供应商
>  我的座位号是12A
   我的座位号是21A
>  空调设为26度
   空调设为24度
>  我欠小王20元
   我欠小王50元
>? 垃圾周二收
   垃圾周五收
>? 我在杭州工作
   我去深圳工作了
>  用户是左撇子
   用户不是左撇子
>  最高温度是30.5度
   最高温度是305度
>  我穿42码的鞋
   我穿43码的鞋
>  我的血型是A型
   我的血型是AB型
>  用户订阅了Netflix
   用户取消订阅了Netflix
|  Tom is user's brother
   Tim is user's brother
|  prefers metric units
   prefers short answers
|  Max line length is 80 in Python
   Max line length is 100 in C
|  Paul's birthday party is on July 1
   Pauline's birthday party is on July 1
|  Nina doesn't like olives
   Nina doesn't like capers
|  Lena has swimming on Mondays
   Lena has ballet on Wednesdays
|  Water the orchid once a week
   Water the cactus once a month
|  The TV is in the living room
   The TV is a Samsung
|  The laptop has 16 GB of RAM
   The laptop has 512 GB of storage
|  Julia works from home on Fridays
   Julia goes to the office on Mondays
|  Unit tests live in tests/unit
   End-to-end tests live in tests/e2e
|  The front door key is under the mat
   The cellar key is in the kitchen
|  User trusts Ben
   Ben trusts the user
|  User played tennis with Karl
   User played chess with Karl
|  User bought a bike for 300 euros
   User bought a desk for 200 euros
|  User's left knee hurts
   User's right shoulder hurts
|  Dad likes beer
   Dad likes wine
|  Emma's best friend is Zoe
   Emma's cousin is Zoe
|  User read the report on Monday
   User read the report on Tuesday
|  Train 101 goes to Bonn
   Train 102 goes to Mainz
|  User dislikes loud music
   User likes music
|  User wants to visit Iceland
   User wants to visit Norway
|  Cheese gives the user a headache
   Red wine gives the user a headache
|  The user doesn't eat pork
   The user eats fish
|  我的车是白色的
   我的车是五座的
|  李雷喜欢韩梅梅
   韩梅梅喜欢李雷
|  我周一学游泳
   我周三学钢琴
|  我想去冰岛
   我想去挪威
|  我左膝疼
   我右肩疼
|  我不吃香菜
   我不吃葱
|  小明的爸爸是医生
   小红的爸爸是医生
|  我花300元买了自行车
   我花200元买了桌子
|  我讨厌噪音
   我喜欢音乐
|  测试放在tests目录
   文档放在docs目录
|  王芳的生日是5月3日
   王方的生日是5月3日
|  101次列车去北京
   102次列车去天津
|  我跟小王打网球
   我跟小王下象棋
|  User speaks C fluently
   User speaks C++ fluently
|  我养了一只狗叫旺财
   我养了一只猫叫咪咪
"""
