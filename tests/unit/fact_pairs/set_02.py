"""Pets, medicine, devices, networks, travel."""

PAIRS = """
=? The user's cat Luna eats only wet food
   Luna, the user's cat, eats only wet food
=  The vet appointment is on Friday at 10 am
   The vet appointment is Friday at 10:00
=  User takes 20 mg of atorvastatin every evening
   The user takes 20mg atorvastatin every evening
=? The router is at 192.168.178.1
   The router's address is 192.168.178.1
=  I'm allergic to penicillin
   The user is allergic to penicillin
=  User's blood type is 0 negative
   The user's blood type: 0 negative
=  The greenhouse sensor reports every 5 minutes
   The greenhouse sensor reports every five minutes
=  User is flying to Lisbon on June 12
   The user flies to Lisbon on 12 June
=  User has a golden retriever called Bruno
   User owns a golden retriever named Bruno
=  The user's flight leaves at 6:45 pm
   The user's flight departs at 18:45
=  MQTT broker runs on port 1883
   The MQTT broker runs on port 1883
=  User prefers window seats
   The user prefers a window seat
=  我家猫叫咪咪
   我家的猫名字叫咪咪
=  用户每天早上跑步
   用户每天早晨跑步
=  路由器的地址是192.168.1.1
   路由器地址：192.168.1.1
=  我下周三要去看牙医
   下周三我要去看牙医
=  用户每天吃两片降压药
   用户每天吃2片降压药
=  传感器每十分钟上报一次
   传感器每10分钟上报一次
=? 用户喜欢坐靠窗的座位
   用户喜欢靠窗的座位
=  我是素食者
   用户是素食者
=  User is a vegetarian
   The user is vegetarian
=  Wi-Fi name is HomeNet
   The WiFi name is HomeNet
=  Bella weighs 12 kg
   Bella weighs 12 kilograms
=  I don't eat gluten
   User does not eat gluten
=  User has an appointment with Dr. Meier on 4 March at 2 pm
   User has an appointment with Dr Meier on March 4 at 14:00
>  User takes 20 mg of atorvastatin
   User takes 40 mg of atorvastatin
>  The vet appointment is on Friday at 10 am
   The vet appointment is on Monday at 10 am
>  The vet's phone number is 030 123456
   The vet's phone number is 030 654321
>  Bruno is 3 years old
   Bruno is 4 years old
>  Bruno weighs 28 kg
   Bruno weighs 31 kg
>  User has a cat named Luna
   User's cat Luna died
>  User takes ibuprofen for back pain
   User stopped taking ibuprofen
>  The router's IP address is 192.168.1.1
   The router's IP address is 192.168.0.1
>  The Wi-Fi channel is 6
   The Wi-Fi channel is 11
>  The Wi-Fi password is Sommer2023
   The Wi-Fi password is sommer2023
>  The greenhouse sensor reports every 5 minutes
   The greenhouse sensor reports every 10 minutes
>  The soil sensor is connected to GPIO 4
   The soil sensor is connected to GPIO 5
>  The heating is on
   The heating is switched off
>  The pump is enabled
   The pump is disabled
>  The humidity alarm threshold is 70 %
   The humidity alarm threshold is 75 %
>  User's flight leaves at 6:45 pm
   User's flight leaves at 7:15 pm
>  User stays at the Hotel Astoria in Vienna
   User does not stay at the Hotel Astoria in Vienna
>? User is flying to Lisbon on June 12
   User's flight to Lisbon was cancelled
>  User uses DHCP
   User does not use DHCP any more
>  User drinks coffee
   User gave up coffee
>  DNS server is 8.8.8.8
   DNS server is 1.1.1.1
>  我家的猫叫咪咪
   我家的猫叫花花
>  我每天吃一片阿司匹林
   我不再吃阿司匹林了
>  我的血压药是5毫克
   我的血压药是10毫克
>  路由器地址是192.168.1.1
   路由器地址改成了192.168.1.254
>  传感器每10分钟上报一次
   传感器每30分钟上报一次
>  水泵是打开的
   水泵是关闭的
>  用户的航班是早上8点
   用户的航班是早上9点半
>  用户养了一只猫
   用户的猫去世了
>  用户住在朝阳区
   用户搬到了丰台区
>  阈值是30.5度
   阈值是35度
>  闹钟设在7点
   闹钟设在6点半
>  体检在周五
   体检改到下周一
>  用户喝咖啡
   用户戒咖啡了
|  User's cat Luna eats only wet food
   User's cat Mia eats only dry food
|  User is allergic to penicillin
   User is allergic to cats
|  User takes ibuprofen
   User takes aspirin
|  The greenhouse sensor reports every 5 minutes
   The garage sensor reports every 10 minutes
|  The router's IP address is 192.168.1.1
   The printer's IP address is 192.168.1.20
|  The soil sensor is connected to GPIO 4
   The light sensor is connected to GPIO 5
|  User flew to Lisbon in June
   User flew to Porto in July
|  User has been to Japan
   User has been to Korea
|  The 2.4 GHz network is called Home
   The 5 GHz network is called Home5
|  Bruno is afraid of thunder
   Bruno is afraid of fireworks
|  Bruno weighs 28 kg
   Bruno is 3 years old
|  Luna was vaccinated on May 3
   Luna was vaccinated on November 7
|  User takes vitamin D in the morning
   User takes magnesium in the evening
|  User's mother has diabetes
   User's father has diabetes
|  The pump is in the cellar
   The pump is enabled
|  User likes Lisbon
   User likes Lisbon in spring
|  User likes train journeys
   User doesn't like train journeys with many changes
|  Ping from A to B takes 5 ms
   Ping from B to A takes 7 ms
|  Dr. Meier is the user's dentist
   Dr. Meier is the user's neighbour
|  我家的猫叫咪咪
   我家的狗叫旺财
|  用户对青霉素过敏
   用户对花粉过敏
|  我去过日本
   我去过韩国
|  卧室传感器每10分钟上报一次
   厨房传感器每30分钟上报一次
|  早上吃维生素D
   晚上吃镁片
|  路由器地址是192.168.1.1
   打印机地址是192.168.1.20
|  我妈妈有糖尿病
   我爸爸有糖尿病
|  用户喜欢狗
   用户害怕狗
|  小明把书借给了小红
   小红把书借给了小明
|  用户喜欢坐火车
   用户喜欢坐飞机
"""
