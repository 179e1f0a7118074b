"""Long and short sentences of a person."""

PAIRS = """
=  The user keeps the spare batteries for the remote control in the second drawer of the kitchen cupboard
   User keeps the spare batteries for the remote control in the second drawer of the kitchen cupboard.
=  I have a meeting with the tax adviser on March 12 at 10:30
   The user has a meeting with the tax adviser on 12 March at 10:30 am
=  User's son Emil was born on 2 February 2019
   User's son Emil was born on February 2, 2019
=  My boss is Mrs. Tanaka
   The user's boss is Mrs Tanaka
=  I never drink coffee after 4 pm
   The user never drinks coffee after 16:00
=  User's favourite composer is Bach
   Bach is the user's favorite composer
=  Luisa lives in Porto and works as a translator
   Luisa lives in Porto and works as a translator.
=  User doesn't want to be called before 9 am
   The user does not want to be called before 9:00
=  The living room has two windows
   The living room has 2 windows
=  The user has an appointment at the hairdresser's on Saturday at 11
   The user has an appointment at the hairdresser's on Saturday at 11:00
=  User is afraid of flying
   The user is afraid of flying
=  User's car is a grey Audi A3
   The user's car is a gray Audi A3
=  Use snake_case for function names
   use snake_case for function names
=  I'm 29 years old
   The user is 29
=  User keeps bees
   The user keeps bees
=  The user's blood pressure medication is ramipril 5 mg
   The user's blood pressure medication is ramipril 5mg
=  The basement floods when it rains hard
   The basement floods when it rains hard!
=  我三月十二日上午十点半和税务顾问有会
   用户3月12日10:30和税务顾问有会
=  我的老板是田中女士
   用户的老板是田中女士
=  我下午四点以后不喝咖啡
   用户下午4点以后不喝咖啡
=  用户最喜欢的作曲家是巴赫
   巴赫是用户最喜欢的作曲家
=  我29岁
   用户今年29岁
=  儿子生于2019年2月2日
   儿子生于2019-02-02
=  客厅有两扇窗
   客厅有2扇窗
=  请不要在早上9点前给我打电话
   请不要在早上九点前给我打电话
=  我的车是灰色奥迪A3
   用户的车是灰色奥迪A3
=  遥控器的备用电池放在厨房第二个抽屉里
   遥控器备用电池放在厨房第二个抽屉里
=  用户害怕坐飞机
   我害怕坐飞机
=  函数名用snake_case
   函数名使用snake_case
=  我養蜂
   我养蜂
>  The user keeps the spare batteries for the remote control in the second drawer of the kitchen cupboard
   The user keeps the spare batteries for the remote control in the third drawer of the kitchen cupboard
>  I have a meeting with the tax adviser on March 12 at 10:30
   The meeting with the tax adviser was moved to March 14 at 9:00
>  My boss is Mrs. Tanaka
   My boss is Mr. Sato
>  Luisa lives in Porto
   Luisa doesn't live in Porto any more, she lives in Lisbon
>  User's car is a grey Audi A3
   User's car is a red Audi A3
>  I'm 29 years old
   Actually I'm 28 years old
>  User keeps bees
   User no longer keeps bees
>  The user's blood pressure medication is ramipril 5 mg
   The user's blood pressure medication is ramipril 10 mg
>  The user is allowed to eat nuts
   The user is not allowed to eat nuts
>  Emil is allergic to milk
   Emil is no longer allergic to milk
>  User's favourite composer is Bach
   User's favourite composer is Brahms
>  I work in marketing
   I work in sales now
>  I take the train to work
   I don't take the train to work any more, I cycle
>  The router's firmware is 7.29
   The router's firmware is 7.57
>  My landlord is Mr. Weiss
   My landlord is Mrs. Schwarz
>  The user's preferred units are imperial
   The user's preferred units are metric
>  I have an account at ING
   I closed my account at ING
>  I own two guitars
   I own three guitars
>  User wants to lose 5 kg
   User wants to lose 8 kg
>  Piano lesson is on Wednesday at 16:00
   Piano lesson is on Wednesday at 17:00
>  The rabbit cage is cleaned every Sunday
   The rabbit cage is cleaned every Saturday
>  I believe in ghosts
   I do not believe in ghosts
>  The oven preheats in 12 minutes
   The oven preheats in 8 minutes
>  My GitHub username is mkoch
   My GitHub username is m-koch
>  My current project is the weather station
   My current project is the irrigation system
>  The washing machine takes 2 hours
   The washing machine takes 3 hours
>  The speed limit in our street is 50 km/h
   The speed limit in our street is 30 km/h
>  I sleep with the window open
   I sleep with the window closed
>  User's desktop runs Ubuntu 22.04
   User's desktop runs Ubuntu 24.04
>  User lives in a shared flat
   User no longer lives in a shared flat
>  我的老板是田中女士
   我的老板是佐藤先生
>  遥控器的备用电池放在厨房第二个抽屉里
   遥控器的备用电池放在厨房第三个抽屉里
>  我29岁
   其实我28岁
>  我的车是灰色奥迪A3
   我的车是红色奥迪A3
>  用户养蜂
   用户不再养蜂
>  用户在市场部工作
   用户在销售部工作
>  我有两把吉他
   我有三把吉他
>  钢琴课是周三下午4点
   钢琴课是周三下午5点
>  我想减5公斤
   我想减8公斤
>  我相信有鬼
   我不相信有鬼
>  烤箱预热要12分钟
   烤箱预热要8分钟
>  我的房东是魏先生
   我的房东是施女士
>  我们街上限速50公里
   我们街上限速30公里
>  路由器固件是7.29
   路由器固件是7.57
>  埃米尔对牛奶过敏
   埃米尔不再对牛奶过敏
>? 我坐火车上班
   我不坐火车上班了，改骑车
>  用户可以吃坚果
   用户不可以吃坚果
>  我的GitHub用户名是mkoch
   我的GitHub用户名是m-koch
>  我合租
   我不合租了
>  最喜欢的作曲家是巴赫
   最喜欢的作曲家是勃拉姆斯
|  The user keeps the spare batteries in the kitchen
   The user keeps the spare keys in the hall
|  My boss is Mrs. Tanaka
   My neighbour is Mr. Sato
|  User's son Emil was born on 2 February 2019
   User's daughter Ida was born on 14 May 2021
|  I have a meeting with the tax adviser on March 12
   I have a meeting with the architect on March 12
|  User's blood pressure medication is ramipril
   User's thyroid medication is levothyroxine
|  Luisa lives in Porto
   Luisa's parents live in Porto
|  User likes the smell of coffee
   User likes the smell of rain
|  The living room has two windows
   The bedroom has one window
|  User told Emil that Ida was sick
   User told Ida that Emil was sick
|  User is afraid of flying
   User is afraid of dogs
|  Use snake_case for function names
   Use SCREAMING_SNAKE_CASE for constants
|  I own a guitar
   I own a violin
|  I watched a film with Luisa
   I watched a film with Emil
|  The train from Porto to Lisbon takes 3 hours
   The train from Lisbon to Porto takes 3 hours
|  I promised Ida a bike
   Ida promised me a drawing
|  The user can touch-type
   The user can whistle
|  User had the flu in January
   User had a cold in March
|  I am reading Middlemarch
   I am listening to Middlemarch
|  My GitHub username is mkoch
   My GitLab username is mkoch2
|  The blue bin is for paper
   The yellow bin is for plastic
|  User finds cats cute
   User finds cats annoying at night
|  User visited Madeira in 2016
   User visited Madeira in 2022
|  If it rains, close the roof window
   If it snows, clear the driveway
|  User's first car was a Polo
   User's second car was a Golf
|  The user's aunt Rosa bakes bread
   The user's aunt Berta bakes bread
|  我的老板是田中女士
   我的邻居是佐藤先生
|  我儿子2019年2月2日出生
   我女儿2021年5月14日出生
|  客厅有两扇窗
   卧室有一扇窗
|  我告诉小明小红病了
   我告诉小红小明病了
|  我害怕坐飞机
   我害怕狗
|  我有一把吉他
   我有一把小提琴
|  从上海到北京的火车要5小时
   从北京到上海的火车要5小时
|  蓝色的桶装纸
   黄色的桶装塑料
|  我的GitHub用户名是mkoch
   我的GitLab用户名是mkoch2
|  下雨就关天窗
   下雪就扫车道
|  我第一辆车是Polo
   我第二辆车是Golf
|  我和小红看了电影
   我和小明看了电影
|  我姑姑会做面包
   我姨妈会做面包
"""
