"""People and projects, as a model writes them down."""

PAIRS = """
=  The user's wife, Maria, works as a nurse
   The user's wife Maria works as a nurse.
=  User is based in Zurich
   User lives in Zurich
=  The user runs a small bakery in Lyon
   User runs a small bakery in Lyon
=  User's preferred editor is Neovim
   The preferred editor of the user is Neovim
=  The user is interested in astronomy
   User is interested in astronomy
=  User weighs 72 kg
   The user's weight is 72 kg
=  I'm planning a trip to Norway in August
   The user is planning a trip to Norway in August
=  User's dentist is Dr. Lindqvist
   Dr. Lindqvist is the user's dentist
=  The kitchen sensor is connected to pin 14
   The kitchen sensor is attached to pin 14
=  Standup meetings take place at 9:15 every weekday
   Standup meetings take place every weekday at 9:15
=  User reads two books a month
   The user reads 2 books per month
=  User is left-handed
   The user is left handed
=  Anna's phone number is +49 170 1234567
   Anna's phone number is +491701234567
=  User has been a vegetarian since 2010
   The user has been a vegetarian since 2010
=  The printer is out of toner
   The printer's out of toner
=  User wants the heating off at 22:00
   User wants the heating off at 10 pm
=  The user enjoys cooking Thai food
   User likes cooking Thai food
=  User goes to the gym on Mondays and Thursdays
   The user goes to the gym on Mondays and Thursdays
=  The dog is called Bella
   The dog's name is Bella
=  Water the plants every two days
   Water the plants every 2 days
=  User is 180 cm tall
   The user's height is 180 cm
=  User's grandmother is from Sicily
   The user's grandmother comes from Sicily
=  Max speaks fluent Polish
   Max speaks fluent Polish!
=  The server has 64 GB of RAM
   The server has 64 GB RAM
=  用户的太太是护士
   用户的妻子是护士
=  用户对天文学感兴趣
   我对天文学感兴趣
=  我体重72公斤
   用户的体重是72公斤
=  厨房的传感器接在14号引脚
   厨房传感器接在14号引脚
=  用户每个月读两本书
   用户每月读2本书
=  我是左撇子
   用户是左撇子。
=  我从2010年开始吃素
   用户从2010年开始吃素
=  狗的名字叫贝拉
   狗叫贝拉
=  用户希望晚上10点关暖气
   用户希望22点关暖气
=  奶奶来自苏州
   我奶奶来自苏州
=  服务器有64GB内存
   服务器有64 GB内存
>  The user's wife, Maria, works as a nurse
   The user's wife, Maria, works as a teacher
>  User is based in Zurich
   User relocated to Geneva
>  The user runs a small bakery in Lyon
   The user closed the bakery in Lyon
>  User's dentist is Dr. Lindqvist
   User's dentist is now Dr. Berg
>  The kitchen sensor is connected to pin 14
   The kitchen sensor is connected to pin 27
>  Standup meetings take place at 9:15 every weekday
   Standup meetings take place at 9:45 every weekday
>  User weighs 72 kg
   User weighs 70 kg
>? User prefers answers in bullet points
   User no longer wants answers in bullet points
>  The user's trip to Norway is in August
   The user's trip to Norway is in September
>  User is interested in astronomy
   User is not interested in astronomy
>  User's favorite restaurant is Da Luigi
   User's favorite restaurant is Chez Paul
>  The NAS has 4 TB of storage
   The NAS has 8 TB of storage
>  User is a member of the chess club
   User is no longer a member of the chess club
>  The user's rent is 890 €
   The user's rent went up to 930 €
>  User uses an iPhone
   User switched from an iPhone to a Pixel
>  User has three siblings
   User has two siblings
>  Project Falcon's lead is Dana
   Project Falcon's lead is Omar
>  Project Falcon's deadline is 30 June
   The deadline of project Falcon was postponed to 15 July
>  The basement light is off
   The basement light is on
>  The user does not own a car
   The user owns a car
>  Releases are tagged with v1.2.3
   Releases are not tagged with v1.2.3
>  The wifi password is hunter2
   The wifi password was changed to hunter3
>  Call the user Tom
   Don't call the user Tom
>  The user allows notifications after 20:00
   The user doesn't allow notifications after 20:00
>  User's Japanese level is N4
   User's Japanese level is N3
>  Max is in kindergarten
   Max is no longer in kindergarten
>  User has two appointments on Friday
   User has three appointments on Friday
>  Timeout for HTTP requests is 10 s
   Timeout for HTTP requests is 30 s
>  The spare key is at Olga's
   The spare key is at Peter's
>  User drinks four cups of coffee a day
   User drinks two cups of coffee a day
>  User supports Arsenal
   User doesn't support Arsenal
>  The user is a student
   The user is no longer a student
>  User is dating Sam
   User is not dating Sam anymore
>  用户的太太是护士
   用户的太太是老师
>  用户对天文学感兴趣
   用户对天文学不感兴趣
>  厨房的传感器接在14号引脚
   厨房的传感器接在27号引脚
>  我体重72公斤
   我体重70公斤
>  用户常驻苏黎世
   用户不再常驻苏黎世
>  用户最喜欢的餐厅是小江南
   用户最喜欢的餐厅是老北京
>  猎鹰项目的负责人是丹丹
   猎鹰项目的负责人是欧阳
>? 项目的截止日期是6月30日
   项目推迟到7月15日
>  地下室的灯是关着的
   地下室的灯是开着的
>  用户没有车
   用户有车
>  请叫我小李
   不要叫我小李
>  我的日语水平是N4
   我的日语水平是N3
>  备用钥匙在奥尔加家
   备用钥匙在彼得家
>  我每天喝四杯咖啡
   我每天喝两杯咖啡
>  用户是学生
   用户已经不是学生了
>  房租是890欧元
   房租涨到930欧元
>  用户用iPhone
   用户从iPhone换成了Pixel
>  我有三个兄弟姐妹
   我有两个兄弟姐妹
>  用户想要要点式的回答
   用户不再想要要点式的回答
>  Wi-Fi密码是hunter2
   Wi-Fi密码改成了hunter3
>? 我和小张在谈恋爱
   我和小张分手了
>  用户支持皇马
   用户不支持皇马
|  The user's wife, Maria, works as a nurse
   The user's sister, Martha, works as a nurse
|  User is interested in astronomy
   User is interested in botany
|  The kitchen sensor is connected to pin 14
   The hallway sensor is connected to pin 27
|  User wants to read Ulysses
   User wants to read Moby Dick
|  User is a member of the chess club
   User is a member of the rowing club
|  Project Falcon's lead is Dana
   Project Heron's lead is Omar
|  Maria Lopez is the user's accountant
   Maria Perez is the user's accountant
|  The NAS has 4 TB of storage
   The NAS has two network ports
|  User's grandmother is from Sicily
   User's grandfather is from Genoa
|  User bought a Pixel in May
   User sold a bike in May
|  User met Olga in 2018
   User met Peter in 2020
|  Timeout for HTTP requests is 10 s
   Timeout for MQTT connections is 60 s
|  User's son Max likes trains
   User's son Max likes dinosaurs
|  The basement light is on
   The attic light is off
|  User recommended the film to Olga
   Olga recommended the film to the user
|  User likes Thai food
   User likes cooking Thai food for friends
|  Releases are tagged with v1.2.3
   Release notes are written by Dana
|  User has a cousin in Toronto
   User has a cousin in Montreal
|  The user's trip to Norway is in August
   The user's trip to Spain is in October
|  User finds meetings before 9 am exhausting
   User finds meetings after 5 pm exhausting
|  Never call the user before 9
   Never call the user's mother before 10
|  User's bike was stolen in 2021
   User's phone was stolen in 2022
|  Max is 5 years old
   Max is in kindergarten
|  User has a scar on the left hand
   User has a scar on the right knee
|  User is the treasurer of the chess club
   User is the president of the rowing club
|  用户对天文学感兴趣
   用户对植物学感兴趣
|  厨房传感器接在14号引脚
   走廊传感器接在27号引脚
|  用户的太太是护士
   用户的妹妹是护士
|  猎鹰项目的负责人是丹丹
   白鹭项目的负责人是欧阳
|  李娜是我的会计
   李敏是我的会计
|  我2018年认识了小张
   我2020年认识了小王
|  我儿子喜欢火车
   我儿子喜欢恐龙
|  地下室的灯是开着的
   阁楼的灯是关着的
|  小张把电影推荐给了我
   我把电影推荐给了小张
|  用户八月去挪威
   用户十月去西班牙
|  我是象棋社的成员
   我是划船社的成员
|  用户想读红楼梦
   用户想读西游记
|  我外公来自热那亚
   我外婆来自西西里
"""
