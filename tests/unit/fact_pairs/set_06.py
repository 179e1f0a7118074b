"""Work, sport, plants, contracts."""

PAIRS = """
=  User's favourite sport is handball
   The user's favorite sport is handball.
=  The user's hometown is Dresden
   User's home town is Dresden
=  User is employed at Bosch
   User works at Bosch
=  The user has a daughter named Clara
   The user has a daughter called Clara
=  User got married in 2012
   The user got married in 2012
=  User is 1.82 m tall
   The user is 1.82 meters tall
=  Dinner is at half past seven
   Dinner is at 7:30
=  User's birthday is on the 4th of July
   User's birthday is July 4
=  User can speak Italian
   User speaks Italian
=  The train leaves at 14:05 from platform 7
   At 14:05 the train leaves from platform 7
=  I have three brothers
   The user has 3 brothers
=  User hates coriander
   The user can't stand coriander
=  User stopped eating meat
   User no longer eats meat
=  User does yoga every Tuesday
   Every Tuesday the user does yoga
=  Karl's wife is called Inge
   The name of Karl's wife is Inge
=  The meeting has been moved to 3 pm
   The meeting was moved to 15:00
=  The user's daughter is allergic to bee stings
   The user's daughter has an allergy to bee stings
=  User sleeps eight hours a night
   The user sleeps 8 hours a night
=  The heating should be set to 20 °C at night
   At night the heating should be set to 20 °C
=  User uses Linux at work
   At work the user uses Linux
=  It's raining in the user's garden shed
   It is raining in the user's garden shed
=  User spends 1200 € on rent
   User spends €1,200 on rent
=  用户不再抽烟
   用户已经不抽烟了
=  我有三个哥哥
   用户有3个哥哥
=  用户的身高是182厘米
   用户身高182cm
=  晚饭七点半吃
   晚饭7:30吃
=  我的老板叫陈刚
   我老板是陈刚
=  用户每周二练瑜伽
   每周二用户练瑜伽
=  火车14点05分出发
   火车14:05出发
=  用户能说意大利语
   用户会说意大利语
=  我在家办公
   用户在家办公
=  用户讨厌香菜
   用户很讨厌香菜
=? 我家住在三楼
   我家在三楼
=  用户習慣早起
   用户习惯早起
>  User's favourite sport is handball
   User's favourite sport used to be handball, now it is climbing
>  User is employed at Bosch
   User left Bosch
>  User's salary is 52,000 a year
   User's salary is 58,000 a year
>  User is 34
   User is 35
>  The dentist appointment is on 12 May at 9:00
   The dentist appointment is on 12 May at 11:30
>  The tax return is due on July 31
   The tax return is due on September 30
>  The thermostat in the office is set to 21
   The thermostat in the office is set to 19
>  The coffee costs 2.80
   The coffee costs 3.20
>  The build status is green
   The build status is red
>  MicroPython version is 1.25
   MicroPython version is 1.26
>  User likes the city
   User doesn't like the city
>  User has a garden
   User has no garden
>? User went vegan
   User is no longer vegan
>  The user reads the newspaper every morning
   The user doesn't read the newspaper any more
>  User's address is Lindenstr. 5, 10115 Berlin
   User's address is Lindenstr. 7, 10115 Berlin
>  Karl is the captain of the team
   Mona is the captain of the team
>  The cat is allowed outside
   The cat is not allowed outside
>  User's favorite author is Murakami
   User's favorite author isn't Murakami
>  User's insurance number is A123456789
   User's insurance number is A123456798
>  The server room is at 18 °C
   The server room is at 24 °C
>  User is learning Korean
   User gave up learning Korean
>  User pays by card
   User doesn't pay by card any more
>  The user calls his cat Mimi
   The user doesn't call his cat Mimi
>  Use British spelling
   Use American spelling, not British spelling
>  The plant needs water every 3 days
   The plant needs water every 5 days
>  User lives in Kreuzberg, Berlin
   User lives in Neukölln, Berlin
>  Actually the user's birthday is on May 4
   Correction: the user's birthday is on May 5
>  User lives on the second floor
   User lives on the fourth floor
>  User was a smoker
   User is a smoker
>  User is single
   User is engaged
>  用户最喜欢的运动是手球
   用户最喜欢的运动是攀岩
>  用户在博世工作
   用户离开了博世
>  我34岁
   我35岁
>  咖啡28元
   咖啡32元
>  我有花园
   我没有花园
>  用户是素食者
   用户不再是素食者
>? 小卡是队长
   小莫是队长
>  办公室的空调是21度
   办公室的空调是19度
>  我住在二楼
   我住在四楼
>  用户在学韩语
   用户放弃学韩语了
>  我的地址是中山路5号
   我的地址是中山路7号
>  用户用现金付款
   用户不用现金付款了
>  我最喜欢的作家是村上春树
   我最喜欢的作家不是村上春树
>  牙医预约在5月12日上午9点
   牙医预约在5月12日上午11点半
>  用户住在广州天河区
   用户住在广州越秀区
>  浇花每3天一次
   浇花每5天一次
>  我上班开车
   我现在上班骑车，不开车了
>  用户的昵称是小白
   用户的昵称改成了大白
>  猫可以出门
   猫不可以出门
>  我以前抽烟
   我抽烟
>  用户吃肉
   用户从不吃肉
>  我把闹钟设为7点
   我把闹钟设为6点
>  用户喜欢住在城里
   用户不喜欢住在城里
>? 快递周二到
   快递周三到
|  User's favourite sport is handball
   User's favourite season is autumn
|  Anna from accounting is on leave
   Anna from sales is on leave
|  User's sister works at Bosch
   User works at Bosch
|  User has a daughter named Clara
   User has a daughter named Frieda
|  User does yoga every Tuesday
   User does Pilates every Thursday
|  User's right eye has -2.5 dioptres
   User's left eye has -1.75 dioptres
|  The office in Berlin has 40 employees
   The office in Munich has 25 employees
|  User wants a dog
   User has a dog
|  User's grandmother turns 90 in June
   User's grandfather turns 92 in June
|  Mona beat Karl at chess
   Karl beat Mona at chess
|  The coffee costs 2.80
   The tea costs 2.20
|  User knows Rust
   User knows Go
|  User donated blood in March
   User donated blood in August
|  Server A replicates to server B
   Server B replicates to server A
|  User visited the office in Haidian, Beijing
   User visited the office in Chaoyang, Beijing
|  Turn on the heating when it is below 18 °C
   Turn off the heating when it is above 22 °C
|  User is good at maths
   User is bad at names
|  Ben's e-mail is ben@x.org
   Bea's e-mail is bea@x.org
|  User does not like tea
   User does not like coffee
|  User's mother is from Poland
   User's mother is a nurse
|  The first lesson starts at 8:00
   The second lesson starts at 8:50
|  User plays football with colleagues
   User plays football with his son
|  User ate sushi on Friday
   User ate pizza on Saturday
|  用户想养狗
   用户养了狗
|  我右眼近视250度
   我左眼近视175度
|  北京办公室有40人
   上海办公室有25人
|  用户参观了海淀区的办公室
   用户参观了朝阳区的办公室
|  我数学很好
   我记性不好
|  第一节课8点开始
   第二节课8点50开始
|  张三把钱给了李四
   李四把钱给了张三
|  我不喜欢茶
   我不喜欢咖啡
|  咖啡28元
   茶22元
|  我外婆90岁
   我外公92岁
|  用户在博世工作
   用户的姐姐在博世工作
|  陈刚是我老板
   陈刚是我邻居
|  我懂Rust
   我懂Go
"""
