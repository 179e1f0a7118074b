"""Things with numbers."""

PAIRS = """
|  Box 3 holds the tea lights
   Box 4 holds the tea lights
|  Garden box 3 grows beans
   Garden box 4 grows beans
|  Lamp 1 blinks
   Lamp 2 blinks
|  Bus 12 stops at the zoo
   Bus 15 stops at the zoo
|  Room 101 smells of paint
   Room 102 smells of paint
|  Player 7 wears red boots
   Player 9 wears red boots
|  Locker 14 belongs to Emma
   Locker 15 belongs to Emma
|  Chapter 2 explains tides
   Chapter 3 explains tides
|  Line 4 crosses the river
   Line 5 crosses the river
|  Exit 9 leads to the station
   Exit 11 leads to the station
|  Pump 1 is noisy
   Pump 2 is noisy
|  User read chapter 3
   User read chapter 4
|  User takes bus 12 to work
   User takes bus 15 to work
|  Task 41 blocks the release
   Task 42 blocks the release
|  1号机器人扫地
   2号机器人扫地
|  3号箱子装着蜡烛
   4号箱子装着蜡烛
|  101房间有油漆味
   102房间有油漆味
|  12路公交经过动物园
   15路公交经过动物园
|  第2章讲潮汐
   第3章讲潮汐
|  我读了第3章
   我读了第4章
>  The hive holds 5 kg of honey
   The hive holds 8 kg of honey
>  User runs 5 km every morning
   User runs 8 km every morning
>  传感器每10分钟上报一次
   传感器每20分钟上报一次
>  我每天跑5公里
   我每天跑8公里
>  Box 3 holds 5 kg of apples
   Box 3 holds 7 kg of apples
"""
