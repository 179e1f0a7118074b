"""Offices, contracts, children."""

PAIRS = """
=  User's daughter attends the Montessori school
   The user's daughter attends the Montessori school
=  The balcony plants are watered at 6 am
   The balcony plants are watered at 6:00
=  User got a new job at Bosch in April
   In April the user got a new job at Bosch
=  The user likes his steak rare
   User likes his steak rare
=  The desk is 140 cm wide
   The width of the desk is 140 cm
=  User's native language is Finnish
   Finnish is the user's native language
=  The user is lactose intolerant
   User is lactose intolerant.
=  The modem is in bridge mode
   The modem is in bridge mode.
=  User takes the dog out at 7 and at 18:00
   The user takes the dog out at 7 and at 18:00
=  User pays 30 euros per month for the phone contract
   The user pays 30 euros a month for the phone contract
=  The user's doctor is Dr. Amari
   Dr. Amari is the user's doctor
=  User doesn't use social media
   The user does not use social media
=  Robert is 1.9 m tall
   Robert's height is 1.9 m
=  The user has been divorced since 2018
   User has been divorced since 2018
=? Tests run on every push
   The tests run on every push
=  User's kids are 4, 7 and 11 years old
   The user's kids are 4, 7 and 11 years old
=  User was born in Tampere
   The user was born in Tampere
=  The soup needs two cloves of garlic
   The soup needs 2 cloves of garlic
=  The user enjoys classical music
   The user likes classical music
=  The router restarts each night at 4:00
   The router restarts every night at 4 am
=  The lease ends on 31.12.2026
   The lease ends on 31 December 2026
=  用户的母语是芬兰语
   芬兰语是用户的母语
=  书桌宽140厘米
   书桌宽140cm
=  我每月手机费30元
   用户每月手机费30元
=  我的医生是王大夫
   用户的医生是王大夫
=  用户不用社交媒体
   我不用社交媒体
=  光猫是桥接模式
   光猫是桥接模式。
=  租约到2026年12月31日为止
   租约到2026-12-31为止
=  我喜欢古典音乐
   用户喜爱古典音乐
=  路由器每天凌晨4点重启
   路由器每天凌晨四点重启
=  我出生在坦佩雷
   用户出生在坦佩雷
=  汤里放两瓣蒜
   汤里放2瓣蒜
=  我孩子四岁、七岁和十一岁
   我孩子4岁、7岁和11岁
>  User's daughter attends the Montessori school
   User's daughter no longer attends the Montessori school
>  The balcony plants are watered at 6 am
   The balcony plants are watered at 8 pm
>  The desk is 140 cm wide
   The desk is 160 cm wide
>  The modem is in bridge mode
   The modem is in router mode
>  The user's doctor is Dr. Amari
   The user's doctor is Dr. Voss
>  User pays 30 euros per month for the phone contract
   User pays 25 euros per month for the phone contract
>  User doesn't use social media
   User uses social media
>  The lease ends on 31 December 2026
   The lease ends on 30 June 2027
>  User's Wi-Fi signal in the attic is weak
   User's Wi-Fi signal in the attic is strong
>  User's printer is an HP LaserJet
   User's printer is a Brother MFC
>  The user drinks decaf
   The user doesn't drink decaf
>  User's meeting with Robert is at 10:00
   User's meeting with Robert is at 10:30
>  The user's pension starts at 67
   The user's pension starts at 65
>  The display brightness is 80 %
   The display brightness is 40 %
>  The user's running shoes are size 44
   The user's running shoes are size 45
>  The chat language is English
   The chat language is Finnish
>  Robert is on parental leave
   Robert is no longer on parental leave
>  The user wants weekly reports
   The user no longer wants weekly reports
>  User's team plays in the second division
   User's team plays in the first division
>? The smoke detector in the hall has a low battery
   The smoke detector in the hall has a new battery
>  User's default payment method is PayPal
   User's default payment method is credit card
>  The user meditates for 10 minutes a day
   The user meditates for 20 minutes a day
>  The car needs its next service at 60,000 km
   The car needs its next service at 75,000 km
>  User shares an office with Robert
   User doesn't share an office with Robert
>  User's mother tongue is Finnish
   User's mother tongue is Swedish
>  The fence is green
   The fence is brown
>  The camera is pointed at the gate
   The camera is not pointed at the gate
>  The user has a cold
   The user no longer has a cold
>? User's electricity provider is Vattenfall
   User switched electricity provider from Vattenfall to EON
>  The ferry departs at 9:20
   The ferry departs at 9:50
>  Robert's sister is a vet
   Robert's sister is a lawyer
>  User will attend the wedding
   User will not attend the wedding
>? The irrigation runs on Mondays and Thursdays
   The irrigation runs on Tuesdays and Fridays
>  The user's favourite season is autumn
   The user's favourite season is spring
>  User's alarm is set for 6:45
   User's alarm is set for 7:15
>  User has not been vaccinated against flu
   User has been vaccinated against flu
>  The user's address is in Kallio, Helsinki
   The user's address is in Töölö, Helsinki
>  书桌宽140厘米
   书桌宽160厘米
>  我的医生是王大夫
   我的医生是赵大夫
>  用户不用社交媒体
   用户用社交媒体
>  光猫是桥接模式
   光猫是路由模式
>  租约2026年12月31日到期
   租约2027年6月30日到期
>  我每月手机费30元
   我每月手机费25元
>  屏幕亮度是80%
   屏幕亮度是40%
>  用户女儿上国际学校
   用户女儿不再上国际学校
>  聊天语言是英文
   聊天语言是中文
>  我每天冥想10分钟
   我每天冥想20分钟
>? 我感冒了
   我感冒好了
>  用户的母语是芬兰语
   用户的母语是瑞典语
>  栅栏是绿色的
   栅栏是棕色的
>  轮渡9点20分开
   轮渡9点50分开
>  我跑鞋是44码
   我跑鞋是45码
>  用户会参加婚礼
   用户不会参加婚礼
>  我的闹钟是6:45
   我的闹钟是7:15
>  用户最喜欢的季节是秋天
   用户最喜欢的季节是春天
>  和罗伯特的会是10点
   和罗伯特的会改到10点半
>  我住在重庆渝中区
   我住在重庆江北区
>  用户想要每周报告
   用户不想要每周报告了
>  摄像头对着大门
   摄像头没对着大门
>  我以前不喝咖啡
   我喝咖啡
|  User's daughter attends the Montessori school
   User's son attends the sports academy
|  The desk is 140 cm wide
   The desk is made of oak
|  The user's doctor is Dr. Amari
   The user's physiotherapist is Ms. Koch
|  User was born in Tampere
   User's wife was born in Turku
|  User likes his steak rare
   User likes his eggs hard-boiled
|  Robert Lang is the user's landlord
   Robert Kern is the user's plumber
|  User's kids like swimming
   User's kids like football
|  The soup needs two cloves of garlic
   The sauce needs three tomatoes
|  User got a new job in April
   User got a new bike in May
|  The smoke detector is in the hall
   The smoke detector has a low battery
|  User visited the office in Helsinki
   User visited the office in Oslo
|  Robert beat the user at tennis
   The user beat Robert at tennis
|  User uses Anki for vocabulary
   User uses Obsidian for notes
|  The user pays 30 euros for the phone contract
   The user pays 45 euros for internet
|  Pin 4 is an input
   Pin 5 is an output
|  User has a cold
   User has a fever
|  The ferry to Tallinn departs at 9:20
   The ferry to Stockholm departs at 17:00
|  User wants weekly reports
   User wants daily backups
|  Robert's sister is a vet
   Robert's brother is a lawyer
|  The user drinks decaf in the evening
   The user drinks espresso in the morning
|  User thinks Robert is honest
   Robert thinks the user is honest
|  User has seen the northern lights
   User has seen a whale
|  User is scared of needles
   User is scared of snakes
|  The fence is green
   The fence is 2 m high
|  The user's kitchen radio is tuned to Yle
   The user's car radio is tuned to Nova
|  User finished the book on Monday
   User finished the puzzle on Sunday
|  Never water the cactus in winter
   Never feed the dog chocolate
|  用户女儿上国际学校
   用户儿子上体校
|  我的医生是王大夫
   我的理疗师是柯女士
|  书桌宽140厘米
   书桌是橡木的
|  罗伯特是我的房东
   罗杰是我的水管工
|  我打网球赢了罗伯特
   罗伯特打网球赢了我
|  4号引脚是输入
   5号引脚是输出
|  我怕针
   我怕蛇
|  我见过北极光
   我见过鲸鱼
|  去塔林的轮渡9点20分开
   去斯德哥尔摩的轮渡17点开
|  我感冒了
   我发烧了
|  用户用Anki背单词
   用户用Obsidian记笔记
"""
