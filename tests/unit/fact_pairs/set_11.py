"""Clubs, shops, gardens."""

PAIRS = """
=  User's favourite ice cream flavour is pistachio
   The user's favorite ice cream flavor is pistachio
=  The user rents a garage for 80 euros a month
   User rents a garage for €80 per month
=  The user was promoted to team lead in January
   In January the user was promoted to team lead
=  Marta's cello lesson is on Tuesdays at 17:30
   Marta's cello lesson is every Tuesday at 5:30 pm
=  The user's cat is called Pixel
   User has a cat named Pixel
=  User avoids sugar
   The user avoids sugar
=  The humidity in the cellar is 65 percent
   The humidity in the cellar is 65 %
=  I've been learning Dutch for two years
   User has been learning Dutch for 2 years
=  The user's license plate is K-AB 1234
   User's licence plate is K-AB 1234
=  The user is allergic to wasps
   User's allergic to wasps
=  The cabin sleeps six people
   The cabin sleeps 6 people
=  My username on Mastodon is @luna
   The user's username on Mastodon is @luna
=  The user's dad repairs clocks
   User's father repairs clocks
=  The trash is picked up on Wednesday mornings
   Trash is picked up on Wednesday mornings
=  User is the captain of his volleyball team
   The user is the captain of his volleyball team
=  Rehearsals begin at 7 pm
   Rehearsals start at 19:00
=  Emma doesn't eat fish
   Emma does not eat fish
=  User does not have any siblings
   User doesn't have any siblings
=  The bike shop opens at nine
   The bike shop opens at 9:00
=  User wears contact lenses
   The user wears contact lenses
=  The user owes Clara 15 dollars
   User owes Clara $15
=  The blue notebook is for recipes
   The blue notebook's for recipes
=  用户最喜欢的冰淇淋口味是开心果
   我最喜欢的冰淇淋口味是开心果
=  我租车库每月80欧元
   用户租车库每个月80欧元
=  地窖湿度是65%
   地窖的湿度是百分之65
=  玛塔的大提琴课是每周二17:30
   玛塔的大提琴课是每周二下午5点半
=  我学荷兰语两年了
   用户学荷兰语2年了
=? 我的车牌是京A12345
   用户的车牌号是京A12345
=  我爸修钟表
   用户的爸爸修钟表
=  用户戴隐形眼镜
   我戴隐形眼镜
=  排练晚上7点开始
   排练19:00开始
=  我没有兄弟姐妹
   用户没有兄弟姐妹
=  车行九点开门
   车行9点开门
=  用户的猫叫皮皮
   我的猫名叫皮皮
>  User's favourite ice cream flavour is pistachio
   User's favourite ice cream flavour is mango
>  The user rents a garage for 80 euros a month
   The user rents a garage for 95 euros a month
>  Marta's cello lesson is on Tuesdays at 17:30
   Marta's cello lesson is on Tuesdays at 18:15
>  The humidity in the cellar is 65 percent
   The humidity in the cellar is 58 percent
>  User avoids sugar
   User no longer avoids sugar
>  The user's license plate is K-AB 1234
   The user's license plate is K-XY 987
>? The cabin sleeps six people
   The cabin sleeps eight people
>  User is the captain of his volleyball team
   User is no longer the captain of his volleyball team
>  Rehearsals begin at 7 pm
   Rehearsals begin at 6 pm
>  The bike shop opens at nine
   The bike shop opens at ten
>? User has no siblings
   User has a sister
>  The contract with the gas supplier ends on 31 March
   The contract with the gas supplier ends on 30 June
>  The user takes his coffee with milk
   The user takes his coffee without milk
>  User uses Signal instead of WhatsApp
   User uses WhatsApp
>  User wants a wake-up call at 6
   User doesn't want a wake-up call at 6
>  Emma's teacher is called Ms. Stone
   Emma's teacher is called Mr. Wood
>  User has an annual ticket for the zoo
   User no longer has an annual ticket for the zoo
>  The greenhouse door is unlocked
   The greenhouse door is locked
>  The minimum stock of filters is 4
   The minimum stock of filters is 6
>  The user's mother is in hospital
   The user's mother is no longer in hospital
>  The user collects vinyl records
   The user stopped collecting vinyl records
>  User's resting heart rate is 58
   User's resting heart rate is 62
>  The dog gets 300 g of food a day
   The dog gets 350 g of food a day
>  The user's Wi-Fi is called Nebula
   The user's Wi-Fi is called Quasar
>  User intends to buy the house in Elm Street
   User no longer intends to buy the house in Elm Street
>  Emma's curfew is 21:00
   Emma's curfew is 22:00
>  User lives at 12 Park Lane
   User lives at 48 Mill Road
>  The printer uses black toner only
   The printer does not use black toner only
>  The project is written in Python
   The project is written in Go
>  The project is licensed under MIT
   The project is licensed under GPL
>  User is in Lisbon until Sunday
   User is in Lisbon until Wednesday
>  User weighs himself every day
   User doesn't weigh himself every day
>  The gym is on Baker Street
   The gym is on Oxford Street
>  The user believes the earth is warming
   The user does not believe the earth is warming
>  The spare tyre is in the trunk
   The spare tyre is in the cellar
>  用户最喜欢的冰淇淋口味是开心果
   用户最喜欢的冰淇淋口味是芒果
>  地窖湿度是65%
   地窖湿度是58%
>  玛塔的大提琴课是每周二17:30
   玛塔的大提琴课是每周二18:15
>? 我没有兄弟姐妹
   我有一个妹妹
>  排练晚上7点开始
   排练晚上6点开始
>  我的车牌是京A12345
   我的车牌是京B67890
>  车行九点开门
   车行十点开门
>  用户收集唱片
   用户不再收集唱片
>  温室门锁着
   温室门没锁
>  用户用Signal
   用户不用Signal，用WhatsApp
>  我妈妈在住院
   我妈妈不在住院了
>  项目用Python写
   项目用Go写
>  我住在公园路12号
   我住在磨坊路48号
>  备胎在后备箱
   备胎在地窖
>  煤气合同3月31日到期
   煤气合同6月30日到期
>  狗每天吃300克狗粮
   狗每天吃350克狗粮
>  我是排球队队长
   我不再是排球队队长
>  艾玛的老师是石老师
   艾玛的老师是林老师
>  健身房在贝克街
   健身房在牛津街
>  我喝咖啡加奶
   我喝咖啡不加奶
|  Marta's cello lesson is on Tuesdays
   Marta's choir is on Thursdays
|  The user rents a garage for 80 euros a month
   The user rents a storage unit for 40 euros a month
|  User avoids sugar
   User avoids gluten
|  The humidity in the cellar is 65 percent
   The humidity in the attic is 40 percent
|  The user's dad repairs clocks
   The user's dad grows tomatoes
|  Emma doesn't eat fish
   Emma doesn't eat mushrooms
|  The bike shop opens at nine
   The bakery opens at six
|  User has been to Reykjavik
   User has been to Tromsø
|  The blue notebook is for recipes
   The red notebook is for sketches
|  User owes Clara 15 dollars
   User owes Martin 15 dollars
|  My username on Mastodon is @luna
   My username on Reddit is @moon
|  User was promoted in January 2021
   User was promoted in March 2024
|  The cabin sleeps six people
   The cabin has a sauna
|  Emma lent Marta a bow
   Marta lent Emma a bow
|  The user saw an owl in the garden
   The user saw a fox in the garden
|  Chris Brown plays bass
   Chris Green plays drums
|  Input A is inverted
   Input B is inverted
|  User's grandpa fought in the war
   User's grandpa was a baker
|  Python code is formatted with black
   C code is formatted with clang-format
|  User likes hiking in the Alps
   User likes hiking in the Pyrenees
|  User has a meeting on Monday at 9 with Clara
   User has a meeting on Monday at 11 with Martin
|  Remind the user to call Clara
   Remind the user to call Martin
|  The user is a godfather of Emma
   The user is a godfather of Felix
|  The user trusts Clara with the keys
   Clara trusts the user with the keys
|  Water the basil in the morning
   Water the basil in the evening
|  User bought shoes for 90 dollars in May
   User bought a coat for 200 dollars in June
|  The user finds jazz relaxing
   The user finds podcasts relaxing
|  用户不吃糖
   用户不吃麸质
|  地窖湿度是65%
   阁楼湿度是40%
|  我爸修钟表
   我爸种番茄
|  车行九点开门
   面包店六点开门
|  蓝色笔记本记菜谱
   红色笔记本画素描
|  我欠小美15元
   我欠小军15元
|  输入A是反相的
   输入B是反相的
|  提醒我给小美打电话
   提醒我给小军打电话
|  我在花园里看见了猫头鹰
   我在花园里看见了狐狸
|  玛塔借给艾玛一把琴弓
   艾玛借给玛塔一把琴弓
|  我去过冰岛
   我去过挪威
|  陈明弹贝斯
   陈亮打鼓
"""
