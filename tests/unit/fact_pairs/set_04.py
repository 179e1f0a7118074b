"""Names, appointments, health, machines."""

PAIRS = """
=  The user's favorite programming language is Rust.
   Rust is the user's favorite programming language.
=  User prefers to be called Max
   The user prefers to be called Max.
=  User is a software engineer
   The user works as a software engineer.
=  User's mother's name is Helga
   The user's mother is called Helga
=  The user has two kids
   User has two children
=  User lives in Vienna, Austria
   The user lives in Vienna (Austria)
=  The alarm goes off at 6:30
   The alarm goes off at 6:30 am
=  I usually go to bed at 11 pm
   User usually goes to bed at 23:00
=  User does not drink alcohol
   User doesn't drink alcohol.
=  User never eats meat
   The user never eats meat
=  User's shoe size is 43
   The user's shoe size: 43
=  My wedding anniversary is June 21
   The user's wedding anniversary is on June 21st
=  User needs an invoice by Friday
   The user needs an invoice by Friday.
=  The server's hostname is atlas
   The hostname of the server is atlas
=  User studies physics at ETH Zurich
   The user is studying physics at ETH Zurich
=  The office is closed on Sundays
   On Sundays the office is closed
=? User's sister Eva lives in Prague
   Eva, who is the user's sister, lives in Prague
=  User owns a red Vespa
   The user has a red Vespa
=  User is learning to play the cello
   User learns to play the cello
=  The backup runs every night at 2 am
   Every night at 2:00 the backup runs
=  用户的妈妈叫王芳
   我妈妈的名字是王芳
=  用户住在上海市浦东新区
   用户居住在上海浦东新区
=  我不喝酒
   用户不喝酒
=  我有两个孩子
   用户有2个孩子
=? 备份每天凌晨两点运行
   每天凌晨2点运行备份
=  用户是软件工程师
   用户的职业是软件工程师
=  我的鞋码是43
   用户的鞋码：43
=  我最喜欢的编程语言是Rust
   Rust是我最喜欢的编程语言
=  用户对海鲜过敏
   用户海鲜过敏
=? 我晚上11点睡觉
   我每天晚上十一点睡觉
=  我叫李明
   用户的名字是李明
=  项目的截止日期是2024年5月1日
   项目截止日期：2024-05-01
=  User's flight is LH 454
   The user's flight is LH 454.
=  用户会说英语和法语
   用户会说法语和英语
=  我喜歡聽音樂
   我喜欢听音乐
>  The user's favorite programming language is Rust
   The user's favorite programming language is Zig
>  User prefers to be called Max
   User prefers to be called Maximilian
>  User is a software engineer at SAP
   User is a software engineer at Siemens
>  User's desk is on the 3rd floor
   User's desk is on the 5th floor
>  The alarm goes off at 6:30
   The alarm goes off at 7:00
>  User drinks alcohol occasionally
   User no longer drinks alcohol
>  The user's phone is a Pixel 6
   The user's phone is a Pixel 9
>  User has a Netflix subscription
   User cancelled the Netflix subscription
>  User's flight to Tokyo is on March 3
   User's flight to Tokyo is on March 30
>  User takes the bus to work
   User doesn't take the bus to work anymore
>  The gate code is 4711
   The gate code is 4712
>  User's weight is 82 kg
   User's weight is 79.5 kg
>  User pays 45 euros a month for the gym
   User pays 55 euros a month for the gym
>  The user is on a keto diet
   The user is no longer on a keto diet
>  User lives with Anna
   User doesn't live with Anna any longer
>  User plans to study medicine
   User no longer plans to study medicine
>  User's son goes to kindergarten
   User's son doesn't go to kindergarten any more
>  User likes the new office
   User does not like the new office
>  The parcel arrives on Tuesday
   The parcel arrives on Wednesday
>  The user's manager is Petra Klein
   The user's new manager is Jonas Wolf
>  The garage door is open
   The garage door is closed
>  The 3D printer's nozzle is 0.4 mm
   The 3D printer's nozzle is 0.6 mm
>  User's timezone is Europe/Berlin
   User's timezone is America/New_York
>  The API base URL is https://api.example.com/v1
   The API base URL is https://api.example.com/v2
>  Sampling rate is 44.1 kHz
   Sampling rate is 48 kHz
>  User isn't married
   User is married
>  Battery capacity is 2000 mAh
   Battery capacity is 20000 mAh
>  The user's favorite team is Bayern Munich
   Not Bayern Munich but Borussia Dortmund is the user's favorite team
>  User lives in Rome
   User has moved to Naples
>  The team meets on Mondays
   The team no longer meets on Mondays
>  Ask for the report in Excel
   Ask for the report in PDF instead of Excel
>  用户住在上海市浦东新区
   用户住在上海市徐汇区
>  用户喝酒
   用户已经不喝酒了
>  我的体重是82公斤
   我的体重是79.5公斤
>  用户的手机是小米
   用户的手机换成了华为
>  我在腾讯上班
   我从腾讯离职了
>  我喜欢踢足球
   我现在不喜欢踢足球了
>  项目的截止日期是5月1日
   项目的截止日期改到了5月15日
>  车库门是开着的
   车库门是关着的
>  我的新经理是张伟
   我的新经理是刘洋
>  我坐公交上班
   我不再坐公交上班
>  我的航班是3月3日
   我的航班是3月30日
>  采样频率是44.1kHz
   采样频率是48kHz
>  用户的邮箱是li@example.com
   用户的邮箱是liming@example.com
>  会议室在三楼
   会议室在五楼
>  我的生日是5月3日
   我的生日不是5月3日，是5月13日
>  用户在学日语
   用户不学日语了
>  用户没有结婚
   用户结婚了
>  冰箱温度是4度
   冰箱温度是-4度
>  我原来在北京工作
   我在北京工作
|  The user's favorite programming language is Rust
   The user's favorite editor is Helix
|  User's colleague Anna Schmidt is from Hamburg
   User's colleague Anna Weber is from Bremen
|  User's sister Eva lives in Prague
   User's sister Jana lives in Brno
|  User likes running in the morning
   User likes reading in the morning
|  User watched The Matrix
   User watched Inception
|  The backup of the NAS runs at 2 am
   The backup of the laptop runs at 3 am
|  User sent the contract to Ben
   Ben sent the contract to the user
|  The user thinks that Vim is faster than Emacs
   The user thinks that Emacs is faster than Vim
|  User ordered a pizza with mushrooms
   User ordered a pizza with salami
|  Relay 1 switches the fan
   Relay 2 switches the pump
|  User wants to learn Spanish
   User wants to learn to sail
|  User's daughter is five years old
   User's son is five years old
|  User has a meeting with Petra on Monday
   User has a meeting with Jonas on Tuesday
|  User enjoys board games
   User enjoys video games
|  The user went to Rome with Anna
   The user went to Rome with Ben
|  User's home Wi-Fi is called Nest
   User's office Wi-Fi is called Hive
|  User is afraid of spiders
   User is afraid of heights
|  User donated 50 euros to MSF
   User donated 30 euros to WWF
|  Function names use snake_case
   Class names use CamelCase
|  User grew up in Leipzig
   User studied in Leipzig
|  Use tabs in Makefiles
   Use spaces in Python files
|  User's father is a carpenter
   User's father is 70 years old
|  User borrowed a drill from Karl
   User borrowed a saw from Karl
|  Flight LH 454 goes to San Francisco
   Flight LH 456 goes to Los Angeles
|  The red box contains screws
   The blue box contains nails
|  用户喜欢打篮球
   用户喜欢打羽毛球
|  王伟是北京人
   王强是北京人
|  我妹妹住在上海
   我弟弟住在上海
|  我看过流浪地球
   我看过三体
|  红色的盒子里是螺丝
   蓝色的盒子里是钉子
|  我觉得北京比上海大
   我觉得上海比北京大
|  继电器1控制风扇
   继电器2控制水泵
|  我会游泳
   我会滑雪
|  我女儿五岁
   我儿子五岁
|  用户对海鲜过敏
   用户对芒果过敏
|  我给了小红一本书
   小红给了我一本书
|  我周一和小王开会
   我周二和小李开会
|  我家的Wi-Fi叫Nest
   公司的Wi-Fi叫Hive
|  我怕蜘蛛
   我怕高
|  我买了一台电脑
   我买了一部手机
"""
