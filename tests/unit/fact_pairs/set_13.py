"""Texts that look alike and are not."""

PAIRS = """
|  User visited Rome with Anna
   User visited Anna with Rome
|  The user's brother Tom likes tea
   The user's brother Tim likes tea
>  The parcel weighs 1.5 kg
   The parcel weighs 15 kg
>  The limit is 1,000
   The limit is 1,000,000
>  The deadline is 2024-05-03
   The deadline is 2024-03-05
>  The meeting is at 7 am
   The meeting is at 7 pm
>  The wire is 2 m long
   The wire is 2 mm long
>  User likes coffee
   User likes no coffee
>  User has children
   User has no children
|  User likes tea with milk
   User likes milk with tea
>? The flight goes from Oslo to Bergen
   The flight goes from Oslo to Bodø
|  The dog bit the postman
   The postman bit the dog
|  User likes dogs more than cats
   User likes cats more than dogs
>  The server is up
   The server is down
|  User knows that Anna lied
   User knows that Anna left
|  User works for Anna
   User works with Anna
|  User lives with Anna
   User lives near Anna
>  All lights are on
   Not all lights are on
|  All lights are on
   Some lights are on
|  User sometimes drinks wine
   User likes wine
>  User always locks the door
   User sometimes locks the door
>  The heating is on in winter
   The heating is off in winter
|  User drinks at least 2 litres a day
   User drinks at most 2 litres a day
|  The value is above 30
   The value is below 30
>  The threshold is > 30
   The threshold is < 30
|  User can see well
   User can hear well
|  User lent 50 euros to Ben
   User borrowed 50 euros from Ben
|  User will visit Rome
   User visited Rome
|  User must call Ben
   User may call Ben
|  User started smoking
   User stopped smoking
|  User's ex-wife is Ana
   User's wife is Ana
|  Anna's brother's dog is old
   Anna's dog's brother is old
>  The password is abc123
   The password is ABC123
>  Version is 1.10
   Version is 1.1
>  Room 12 is free
   Room 12 is occupied
|  Room 12 is free
   Room 21 is free
>  The address is 12 Main St
   The address is 21 Main St
|  User went to school in Bonn
   User goes to school in Bonn
|  User had a dog
   User has a cat
|  User likes the film Up
   User likes the film It
|  User speaks English
   User speaks English fluently and teaches it
|  User wants a red bike and a blue helmet
   User wants a blue bike and a red helmet
|  Add salt before boiling
   Add salt after boiling
>  Never restart the server on Friday
   Always restart the server on Friday
|  User sold the house
   User lost the house
|  Tom told Ann about Bob
   Tom told Bob about Ann
|  User owns a German car
   User owns a car in Germany
|  user likes Java
   user likes JavaScript
|  User likes Go
   User likes to go out
|  Sensor A1 is dry
   Sensor A2 is dry
|  User met Li Wei
   User met Wei Li
|  The user is a light sleeper
   The user is a lighter sleeper
|  用户去过北京和上海
   用户去过北京但没去过上海
|  我借给他钱
   他借给我钱
>  体重是65公斤
   体重是65斤
>  会议是上午7点
   会议是晚上7点
|  我爱我的猫
   我的猫爱我
|  我要去北京
   我去过北京
|  我想养猫
   我养了猫
|  李雷比韩梅梅大三岁
   韩梅梅比李雷大三岁
|  我买了房
   我租了房
|  我喜欢红色的花
   我喜欢花的红色
|  他送我花
   我送他花
|  我用左手写字
   我用右手吃饭
>? 灯开了
   灯关了
|  我在看书
   我在写书
>? 所有灯都开着
   不是所有灯都开着
|  我先吃饭后洗澡
   我先洗澡后吃饭
|  从家到公司
   从公司到家
|  我看过这部电影
   我没看过那部电影
|  张伟是李娜的老师
   李娜是张伟的老师
>  水温高于30度
   水温低于30度
"""
