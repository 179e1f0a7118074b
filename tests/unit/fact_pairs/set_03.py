"""Code, school, family, money, hobbies."""

PAIRS = """
=  The team indents with four spaces
   The team indents with 4 spaces
=  Pull requests need two approvals
   Pull requests need 2 approvals
=  The repository's default branch is main
   The default branch of the repository is main
=  Leo starts school in September
   In September Leo starts school
=  User's daughter Mia is in the 3rd grade
   User's daughter Mia is in third grade
=  User's wife is called Sabine
   User's wife's name is Sabine
=  Rent is 950 euros a month
   The rent is €950 a month
=  User plays guitar
   The user plays the guitar
=  User loves spicy food
   The user likes spicy food
=  The standup is at 9:30 every day
   The standup is every day at 9:30
=  User's parents live in Graz
   The parents of the user live in Graz
=  User is learning Japanese
   The user learns Japanese
=  The user's mom is 62 years old
   The user's mother is 62
=  User can't eat shellfish
   The user can not eat shellfish
=  User works as a freelance photographer
   The user is a freelance photographer
=  User collects old cameras
   The user collects old cameras.
=  Choir practice is on Wednesdays at 8 pm
   Choir practice is every Wednesday at 20:00
=  The anniversary is on 14/08/2010
   The anniversary is on 14 August 2010
=  User goes jogging three times a week
   The user goes jogging 3 times a week
=  我女儿上三年级
   用户的女儿上3年级
=  房租每个月3500元
   房租每月3500元
=  我弹吉他
   用户会弹吉他
=  我妈妈今年62岁
   我母亲62岁
=  代码缩进用四个空格
   代码缩进用4个空格
=  我每周跑步三次
   我每周跑步3次
=  用户的太太叫李娜
   用户的妻子叫李娜
=  例会每天早上9点半
   例会每天9:30
=  我不吃辣
   用户不吃辣
=  用户的老家在成都
   用户老家是成都
>  The team indents with four spaces
   The team indents with two spaces
>  Pull requests need two approvals
   Pull requests need one approval
>  The default branch is master
   The default branch is main
>  Commit messages are written in German
   Commit messages are written in English
>  The project uses Python 3.10
   The project uses Python 3.12
>  Mia is in the 3rd grade
   Mia is in the 4th grade
>  Mia's teacher is Mrs. Huber
   Mia's teacher is Mr. Lang
>  Leo goes to Pestalozzi school
   Leo now goes to Goethe school
>  Rent is 950 euros a month
   Rent is 1,020 euros a month
>  User's salary is 4200 euros
   User's salary is 4500 euros
>  User banks with Sparkasse
   User no longer banks with Sparkasse
>  User plays guitar
   User doesn't play guitar any more
>  The standup is at 9:30
   The standup is now at 10:00
>  User's girlfriend is Clara
   User and Clara broke up
>  User's favourite band is Radiohead
   User's favorite band is Muse
>  User goes jogging three times a week
   User goes jogging twice a week
>  User is vegetarian
   User is not vegetarian
>  The book club meets on Tuesday
   The book club meets on Thursday
>  The exam is on June 3
   The exam has been postponed to June 17
>  User is working on his thesis
   User finished his thesis
>  User's goal is to run 10 km
   User's goal is to run a half marathon
>  User drives a Golf
   User sold his Golf
>  Savings goal is 5,000 euros
   Savings goal is 50,000 euros
>  User's car insurance is with Allianz
   User's car insurance is with HUK
>  User likes spicy food
   User hates spicy food
>  我女儿上三年级
   我女儿上四年级
>  房租每月3500元
   房租每月3800元
>  我的班主任是王老师
   我的班主任是李老师
>  默认分支是master
   默认分支是main
>  代码缩进用四个空格
   代码缩进用两个空格
>  我弹吉他
   我不弹吉他了
>  例会是9点半
   例会改成10点了
>  我的工资是8000元
   我的工资是9500元
>  考试在6月3日
   考试推迟到6月17日
>  用户单身
   用户结婚了
>  我吃辣
   我不吃辣
>  用户在读研究生
   用户研究生毕业了
>  我的目标是跑10公里
   我的目标是跑半程马拉松
>  我开大众
   我把大众卖了
>  晚饭是6点
   晚饭其实是7点
|  Commit messages are written in English
   Comments are written in English
|  The team indents Python with four spaces
   The team indents C with tabs
|  The repository firmware has branch protection
   The repository website has branch protection
|  User's daughter Mia is in the 3rd grade
   User's son Leo is in the 1st grade
|  User plays guitar
   User plays tennis
|  User likes spicy food
   User likes sweet wine
|  User's parents live in Graz
   User's parents-in-law live in Linz
|  Rent is 950 euros a month
   Electricity is 60 euros a month
|  User's uncle Karl is a pilot
   User's uncle Franz is a pilot
|  User owes Ben 20 euros
   Ben owes the user 20 euros
|  User collects stamps
   User collects coins
|  User read Dune
   User read Neuromancer
|  Choir practice is on Wednesdays
   User has yoga on Thursdays
|  User's wife is called Sabine
   User's sister is called Sabine
|  Mia likes maths
   Mia likes maths and physics
|  User cooks lasagne on Sundays
   User cooks curry on Fridays
|  User bought 100 shares of Siemens
   User bought 50 shares of SAP
|  User pays 12 euros for Netflix
   User pays 10 euros for Spotify
|  User is learning Japanese
   User is learning to dance
|  The kitchen light is on at night
   The hall light is off at night
|  我女儿上三年级
   我儿子上一年级
|  我弹吉他
   我弹钢琴
|  房租每月3500元
   电费每月200元
|  我欠小王20元
   小王欠我20元
|  我读过三体
   我读过流浪地球
|  提交信息用英文写
   注释用中文写
|  我爸妈住在成都
   我岳父母住在重庆
|  周日做红烧肉
   周五做饺子
|  我喜欢辣的菜
   我喜欢甜的酒
|  我正在学日语
   我正在学游泳
"""
