"""Devices, documents, daily life."""

PAIRS = """
=  The user's passport expires in June 2027
   User's passport expires in June 2027
=  User prefers tea
   The user prefers tea.
=  User's mother-in-law is called Ingrid
   The user's mother-in-law's name is Ingrid
=  Ping me at 8 in the morning
   Ping me at 8:00 in the morning
=  User has lunch at noon
   User has lunch at 12:00
=  The user does not own a television
   The user doesn't own a TV
=  The project language is C++17
   The project's language is C++17
=  The greenhouse is heated to 18 degrees at night
   At night the greenhouse is heated to 18 °C
=  User has two sons, Tim and Leo
   User has two sons, Leo and Tim
=  Sofia's birthday is 1990-11-23
   Sofia was born on 23 November 1990
=  The fan turns on at 28.0 °C
   The fan turns on at 28 °C
=  I'd like to be addressed as Dr. Novak
   I would like to be addressed as Dr. Novak
=  User is the father of twins
   The user is the father of twins
=  The workshop is open from 9 to 17
   The workshop is open from 9 to 17.
=  I use Firefox as my browser
   User uses Firefox as browser
=  Payday is the 25th of each month
   Payday is the 25th of every month
=  User lost 3 kilos in May
   User lost 3 kg in May
=  My favourite dish is ramen
   Ramen's the user's favourite dish
=  User gets up at 5:45 on workdays
   On workdays the user gets up at 5:45
=  User moved to Ghent last year
   The user moved to Ghent last year
=  用户的护照2027年6月到期
   我的护照2027年6月到期
=  用户更喜欢喝茶
   我更喜欢喝茶
=  我丈母娘叫英格丽
   用户的丈母娘叫英格丽
=  用户中午12点吃午饭
   我中午十二点吃午饭
=  温室夜里加热到18度
   温室夜里加热到18摄氏度
=  风扇在28.0度启动
   风扇在28度启动
=  我有两个儿子，小明和小强
   我有两个儿子，小强和小明
=  每个月25号发工资
   每月25号发工资
=  我最喜欢的菜是拉面
   拉面是用户最喜欢的菜
=  用户五月瘦了3公斤
   用户5月瘦了三公斤
=  工作日我5:45起床
   我工作日5点45分起床
=  我用Firefox浏览器
   用户使用Firefox浏览器
>  The user's passport expires in June 2027
   The user's passport expires in June 2037
>  User prefers tea
   User prefers coffee
>  Ping me at 8 in the morning
   Ping me at 9 in the morning
>  The user does not own a television
   The user owns a television
>  The project language is C++17
   The project language is C++20
>  The fan turns on at 28 °C
   The fan turns on at 30 °C
>? I'd like to be addressed as Dr. Novak
   I don't want to be addressed as Dr. Novak any more
>  I use Firefox as my browser
   I use Brave as my browser
>  Payday is the 25th of each month
   Payday is the 28th of each month
>  User gets up at 5:45 on workdays
   User gets up at 6:15 on workdays
>  My favourite dish is ramen
   My favourite dish is pho
>  User's nickname is Bibi
   User's nickname is Bobo
>  User's bank is Revolut
   User's bank is N26
>  The backup disk is full
   The backup disk is not full
>  The user's landline is 0221 998877
   The user's landline is 0221 998876
>  User lives in Nippes, Cologne
   User lives in Ehrenfeld, Cologne
>  User speaks to his brother daily
   User no longer speaks to his brother
>  Log level is DEBUG
   Log level is WARNING
>  The order total is 49.90 euros
   The order total is 499 euros
>  The water tank holds 200 litres
   The water tank holds 250 litres
>  User trains for a marathon
   User has stopped training for a marathon
>  Sofia's room is blue
   Sofia's room is yellow
>  The user works four days a week
   The user works five days a week
>  The user's shift starts at 6:00
   The user's shift starts at 14:00
>  User wears glasses
   User doesn't wear glasses any more
>  The team's retro is on Friday
   The team's retro is on Thursday
>  User is a night owl
   User is no longer a night owl
>  The dog sleeps in the kitchen
   The dog doesn't sleep in the kitchen any more
>  The microphone is muted
   The microphone is not muted
>  Ana is the user's wife
   Ana is no longer the user's wife
>  User's Spotify plan is Family
   User's Spotify plan is Individual
>  The gas meter reading is 10432
   The gas meter reading is 10587
>  User likes working from home
   User doesn't like working from home
>  The CEO of the company is Ms. Berger
   The CEO of the company is Mr. Holm
>  User's favourite month is May
   User's favourite month is June
>  用户更喜欢喝茶
   用户更喜欢喝咖啡
>  用户的护照2027年6月到期
   用户的护照2037年6月到期
>  风扇在28度启动
   风扇在30度启动
>? 每月25号发工资
   每月28号发工资
>  我用Firefox浏览器
   我不用Firefox浏览器了
>  我最喜欢的菜是拉面
   我最喜欢的菜是米粉
>  我的昵称是比比
   我的昵称是波波
>  我住在深圳南山区
   我住在深圳福田区
>  日志级别是DEBUG
   日志级别是WARNING
>  订单总额是49.9元
   订单总额是499元
>  水箱容量是200升
   水箱容量是250升
>  用户每周工作四天
   用户每周工作五天
>  我戴眼镜
   我不戴眼镜了
>  麦克风是静音的
   麦克风不是静音的
>  我喜欢在家办公
   我不喜欢在家办公
>  公司的CEO是李总
   公司的CEO是王总
>  燃气表读数是10432
   燃气表读数是10587
>  我的银行是招商银行
   我的银行是工商银行
>  狗睡在厨房
   狗不睡在厨房了
>  安娜是我妻子
   安娜不再是我妻子
|  User prefers tea
   User prefers window seats
|  User has lunch at noon
   User has dinner at 19:00
|  The project language is C++17
   The script language is Lua
|  User's passport expires in June 2027
   User's driving licence expires in March 2030
|  User has two sons, Tim and Leo
   User has a daughter, Mia
|  User bought a sofa
   User bought a lamp
|  User lost 3 kg in May
   User lost his wallet in May
|  Sofia's room is blue
   Sofia's room is tidy
|  User's favourite month is May
   User's favourite number is 7
|  Sofia teaches Jan to swim
   Jan teaches Sofia to swim
|  User likes working from home
   User likes working at night
|  The fan turns on at 28 °C
   The heater turns on at 16 °C
|  User is the father of twins
   User is the chairman of the choir
|  Call Sofia after 6 pm
   Call Jan after 8 pm
|  The workshop opens at 9
   The library opens at 10
|  User ran a marathon in Berlin
   User ran a marathon in Vienna
|  Lamp 3 is in the hall
   Lamp 4 is in the hall
|  User drove from Ghent to Cologne
   User drove from Cologne to Ghent
|  John Miller is the user's neighbour
   John Baker is the user's neighbour
|  The user doesn't own a television
   The user doesn't own a dishwasher
|  The user can play the drums
   The user can play the flute
|  Jan's bike is a Gazelle
   Jan's bike was stolen
|  User subscribed to Netflix
   User subscribed to Spotify
|  The red wire is ground
   The black wire is ground
|  User hates onions
   User hates garlic
|  The meeting with Acme is on Monday
   The meeting with Globex is on Monday
|  用户更喜欢喝茶
   用户更喜欢坐窗边
|  我买了沙发
   我买了台灯
|  我的护照2027年6月到期
   我的驾照2030年3月到期
|  风扇在28度启动
   暖气在16度启动
|  索菲教小杨游泳
   小杨教索菲游泳
|  我在柏林跑过马拉松
   我在维也纳跑过马拉松
|  3号灯在走廊
   4号灯在走廊
|  用户讨厌洋葱
   用户讨厌大蒜
|  红线是地线
   黑线是地线
|  晚上6点后打给索菲
   晚上8点后打给小杨
|  和甲公司的会议在周一
   和乙公司的会议在周一
|  我没有电视
   我没有洗碗机
"""
