"""People, things, numbers: what the rules were written with."""

PAIRS = """
=  User's favorite color is blue
   The user's favourite colour is blue.
=  My favourite colour is blue
   Blue is my favourite colour
=  User lives in Berlin
   The user resides in Berlin
=  I live in Berlin
   User lives in Berlin
=  User likes apples
   I like apples
=  The user likes apples.
   likes apples
=  User doesn't like apples
   User does not like apples
=  User works for Siemens
   User works at Siemens
=  User was born on 3 May 1990
   The user's birthday is May 3, 1990
=  User has a dog named Rex
   User has a dog called Rex
=  User's dog is called Rex
   The name of the user's dog is Rex
=  The meeting is at 7 pm
   The meeting is at 19:00
=  User has five cats
   User has 5 cats
=  The budget is 1,000 euros
   The budget is 1000 euros
=  The price is 3.50 euros
   The price is 3.5 euros
=  User drinks coffee every morning
   Every morning the user drinks coffee
=  User is 30 years old
   User's age is 30
=  User is allergic to peanuts
   User has a peanut allergy
=  User speaks English and French
   User speaks French and English
=  User works as a teacher
   User is a teacher
=  User enjoys hiking
   User likes to hike
=  On Monday the user has a dentist appointment
   The user has a dentist appointment on Monday
=  The router's IP is 192.168.1.1
   The IP of the router is 192.168.1.1
=  用户喜欢喝咖啡
   用户爱喝咖啡
=  我住在北京
   用户居住在北京
=  用户的生日是五月三日
   用户生日是5月3日
=  我最喜欢的颜色是蓝色
   蓝色是我最喜欢的颜色
=  我对花生过敏
   用户对花生过敏。
=  会议在下午三点
   会议是下午3点
=  用户今年三十岁
   用户30岁
=  我的狗叫旺财
   我的狗的名字是旺财
=  我在谷歌工作
   用户在谷歌上班
=  客厅温度是２１度
   客厅温度是21度
=  我喜歡蘋果
   我喜欢苹果
=  User's phone number is 555-1234-567
   The user's phone number is 5551234567
=  Anna's favourite food is pizza
   Pizza is Anna's favorite food
=  The deadline is May 5
   The deadline is 5 May
=  The deadline is 2024-05-05
   The deadline is May 5, 2024
=  Thermostat is set to 21 °C
   The thermostat is set to 21 degrees
=  User can't swim
   User cannot swim
>  User's favourite language is C
   User's favourite language is Rust
>  User's favourite language is C
   The user's favourite language is C++
>  User's favorite color is blue
   User's favorite color is green
>  My favourite food is pizza
   Sushi is my favourite food
>  User lives in Haidian, Beijing
   User lives in Chaoyang, Beijing
>  User lives in Berlin
   User moved to Munich
>  User lives in Berlin
   User moved from Berlin to Munich
>  User likes apples
   User no longer likes apples
>  User likes apples
   User doesn't like apples
>  User does not like apples
   User likes apples
>  User likes apples
   User likes apples no longer
>  User likes apples
   User doesn't like apples anymore
>  User smokes
   User stopped smoking
>  User smokes
   User quit smoking
>  User works at Google
   User works at Apple
>  User works at Google
   User no longer works at Google
>  User works at Google
   User used to work at Google
>  User uses Vim
   User switched from Vim to Emacs
>  User uses Vim
   User uses Emacs instead of Vim
>  User's name is Anna
   Actually, the user's name is Hanna, not Anna
>  The threshold is 30.5
   The threshold is 305
>  The freezer is at -5 degrees
   The freezer is at 5 degrees
>  The parcel weighs 5 kg
   The parcel weighs 5 g
>  User is 30 years old
   User is 31 years old
>  User has two cats
   User has three cats
>  The dentist appointment is on Tuesday
   The dentist appointment is on Thursday
>  The meeting is at 3 pm
   The meeting was moved to 4 pm
>  User has a dentist appointment on May 3
   User has a dentist appointment on May 10
>  User's e-mail is anna@example.com
   User's e-mail is anna.s@example.com
>  The lamp is on
   The lamp is off
>  User prefers dark mode
   User prefers light mode
>  User prefers tea over coffee
   User prefers coffee over tea
>  User is a teacher
   User is a nurse
>  User is single
   User is married
>  User eats meat
   User doesn't eat meat
>  The firmware version is 2.1
   The firmware version is 2.10
>  The keys are in the drawer
   The keys are on the shelf
>  User wakes up at 6
   User wakes up at 7
>  User has a Tesla
   User sold the Tesla
>  The project uses tabs
   The project uses spaces
>  我最喜欢的语言是C
   我最喜欢的语言是Rust
>  用户住在北京海淀区
   用户住在北京朝阳区
>  用户喜欢苹果
   用户不再喜欢苹果
>  用户喜欢苹果
   用户不喜欢苹果
>  我喜欢苹果
   我不喜欢苹果了
>  用户抽烟
   用户戒烟了
>  我在谷歌工作
   我在苹果公司工作
>  我住在上海
   我搬到了深圳
>  会议在周二
   会议改到周三
>  我用Vim
   我从Vim换成了Emacs
>  我的名字是王伟
   我的名字不是王伟而是王维
>  客厅温度是21度
   客厅温度是23度
>  我有两只猫
   我有三只猫
>  灯是开的
   灯是关的
>  我的手机号是13800001111
   我的手机号是13900002222
>  我以前住在北京
   我住在北京
>  用户今年30岁
   用户今年31岁
|  User likes apples
   User likes pears
|  User speaks French
   User speaks German
|  User has a cat
   User has a dog
|  User is allergic to nuts
   User is allergic to eggs
|  User visited Rome
   User visited Paris
|  Anna Schmidt lives in Berlin
   Anna Weber lives in Berlin
|  My brother likes tea
   My sister likes tea
|  Tom's birthday is May 3
   Tim's birthday is May 3
|  Tom is my brother
   Tim is my brother
|  The living room temperature is 21
   The bedroom temperature is 19
|  User's work e-mail is a@x.com
   User's private e-mail is a@y.com
|  Breakfast is at 8
   Dinner is at 19:00
|  The Monday class is at 9
   The Tuesday class is at 10
|  Anna is taller than Ben
   Ben is taller than Anna
|  Tom gave Anna a book
   Anna gave Tom a book
|  User likes coffee
   User likes coffee with oat milk
|  User likes coffee with milk
   User likes coffee
|  The company has an office in Haidian, Beijing
   The company has an office in Chaoyang, Beijing
|  User visited Haidian, Beijing
   User visited Chaoyang, Beijing
|  User's favourite language for firmware is C
   User's favourite language for web is TypeScript
|  User doesn't like apples
   User doesn't like pears
|  User doesn't like apples
   User likes apple juice
|  User lives in Berlin
   User works in Berlin
|  User works at Google
   User works as an engineer
|  User likes fish
   User likes fishing
|  User visited Rome in 2019
   User visited Rome in 2021
|  Sensor 1 is in the kitchen
   Sensor 2 is in the kitchen
|  User has a dog named Rex
   User has a cat named Mia
|  User's wife is a doctor
   User's sister is a doctor
|  User wants to buy a new laptop for work
   User wants to buy a new laptop for his daughter
|  User lives in Berlin and works in Munich
   User lives in Munich and works in Berlin
|  User visited Rome
   User wants to visit Rome
|  User likes C
   User likes C#
|  User is vegetarian
   User is tall
|  User plays chess
   User plays the piano
|  User's mother lives in Hamburg
   User's father lives in Hamburg
|  我喜欢苹果
   我喜欢梨
|  用户会说法语
   用户会说德语
|  我有一只猫
   我有一只狗
|  我去过北京海淀区
   我去过北京朝阳区
|  我哥哥喜欢喝茶
   我姐姐喜欢喝茶
|  张伟是我的同事
   张强是我的同事
|  客厅温度是21度
   卧室温度是19度
|  公司在海淀区有办公室
   公司在朝阳区有办公室
|  我喜欢咖啡
   我喜欢加牛奶的咖啡
|  我对花生过敏
   我对鸡蛋过敏
|  小王比小李高
   小李比小王高
|  我不喜欢苹果
   我喜欢苹果汁
|  周一的课是9点
   周二的课是10点
|  我去过罗马
   我想去罗马
|  我女儿在北京上学
   我儿子在北京上学
"""
