"""The rules without a model: what is kept of a message, in whose words, and what is no clear statement."""

from engram.agent.phrase_rules import is_question, match
from engram.agent.post_turn import may_state
from engram.memory.records.fields import TYPES
from samples import Digest, Numbers

# A message, what is kept of it, and the record's tag.
ASKED = (
    ("remember that my bike is green", "my bike is green", "note"),
    ("Remember that my bike is green.", "my bike is green.", "note"),
    ("REMEMBER my bike is green", "my bike is green", "note"),
    ("remember: the garage code is 1234", "the garage code is 1234", "note"),
    ("Remember, I'm allergic to nuts", "I'm allergic to nuts", "note"),
    ("remember this: the garage code is 1234", "the garage code is 1234", "note"),
    ("Remember this:\nmy bike is green", "my bike is green", "note"),
    ("please remember that my bike is green!", "my bike is green!", "note"),
    ("Hey Engram, please remember that my bike is green", "my bike is green", "note"),
    ("OK. Remember that my bike is green", "my bike is green", "note"),
    ("I want you to remember that my bike is green", "my bike is green", "note"),
    ("note that my bike is green", "my bike is green", "note"),
    ("Note: my bike is green", "my bike is green", "note"),
    ("Please keep in mind that I work nights", "I work nights", "note"),
    ("save that my bike is green", "my bike is green", "note"),
    ("don't forget that my bike is green", "my bike is green", "note"),
    ("Don’t forget that I’m vegetarian", "I’m vegetarian", "note"),
    ("dont forget I have a dog", "I have a dog", "note"),
    ("don't forget my birthday is June 3", "my birthday is June 3", "note"),
    ("remember that my name is Ann", "my name is Ann", "name"),
    ("remember that I prefer tea", "I prefer tea", "preference"),
    ("remember that it costs 3.5 at Dr. Smith's", "it costs 3.5 at Dr. Smith's", "note"),
    ("remember 我的自行车是绿色的", "我的自行车是绿色的", "note"),
    ("记住我的自行车是绿色的", "我的自行车是绿色的", "note"),
    ("记住：我的自行车是绿色的。", "我的自行车是绿色的。", "note"),
    ("请记住，我对花生过敏", "我对花生过敏", "note"),
    ("請記住我對花生過敏", "我對花生過敏", "note"),
    ("帮我记一下：明天三点开会", "明天三点开会", "note"),
    ("麻烦你记一下我的车牌是京A12345", "我的车牌是京A12345", "note"),
    ("别忘了我吃素", "我吃素", "note"),
    ("不要忘记我的生日是六月三号", "我的生日是六月三号", "note"),
    ("记得我不吃辣", "我不吃辣", "note"),
    ("记住我喜欢苹果", "我喜欢苹果", "preference"),
    ("记住 my bike is green", "my bike is green", "note"),
)

# What is to be done is kept with the words that ask for it: "to call Bob" would not read well.
REMINDERS = (
    "remember to call Bob",
    "remember not to call Bob",
    "Don't forget to call Bob",
    "don't forget the milk",
    "别忘了买牛奶",
    "记得买牛奶",
    "不要忘记给妈妈打电话",
)

# These are kept as they are said.
SAID = (
    ("my name is Ann", "name"),
    ("My name is not Ann", "name"),
    ("My name's J. Smith.", "name"),
    ("I'm called Ann", "name"),
    ("I’m called Ann", "name"),
    ("call me Ann", "name"),
    ("I live in St. Louis", "home"),
    ("I no longer live in Rome", "home"),
    ("I moved to Milan last year because the rent was lower", "home"),
    ("I prefer tea", "preference"),
    ("I prefer not to eat meat", "preference"),
    ("I'd rather have tea than coffee", "preference"),
    ("I really like hiking", "preference"),
    ("I don't like apples", "preference"),
    ("I no longer like apples", "preference"),
    ("my favourite colour is blue", "preference"),
    ("My favorite language is C", "preference"),
    ("我叫小明", "name"),
    ("我的名字是李雷", "name"),
    ("叫我小明", "name"),
    ("我住在北京", "home"),
    ("我搬到上海了", "home"),
    ("我喜欢苹果", "preference"),
    ("我不喜欢苹果了", "preference"),
    ("我更喜欢喝茶", "preference"),
    ("我不爱吃辣", "preference"),
    ("我最喜欢的颜色是蓝色", "preference"),
    ("我最喜歡的顏色是藍色", "preference"),
)

FORGOTTEN = (
    ("forget m1", "m1"),
    ("Forget that my bike is green.", "my bike is green"),
    ("please forget about my bike", "my bike"),
    ("forget my bike", "my bike"),
    ("忘记m1", "m1"),
    ("忘记我的自行车", "我的自行车"),
    ("请忘掉我的自行车", "我的自行车"),
    ("忘掉自行车的事吧", "自行车"),
    ("忘记关于自行车的事", "自行车"),
    ("别再记我的地址", "我的地址"),
    ("忘記我的自行車", "我的自行車"),
)

QUESTIONS = (
    "remember that my bike is green?",
    "do you remember my bike",
    "do you remember that my bike is green?",
    "Remember when we went to Rome",
    "remember how we met",
    "remember that time in Rome",
    "can you remember that day?",
    "my name is?",
    "I live in Rome, right?",
    "I prefer tea, don't I?",
    "你记得我叫什么吗",
    "你还记得我吗？",
    "记得吗",
    "记住了吗",
    "我叫什么名字",
    "我叫安，对吗？",
    "我住在哪里",
    "记住我住在哪儿",
    "我住在北京吗",
    "我喜欢苹果吗",
    "我最喜欢的颜色是什么",
    "我喜欢苹果，是不是？",
)

# No statement of the person's own that lasts.
UNCLEAR = (
    "",
    "?",
    "💡",
    "remember",
    "remember that",
    "remember it",
    "记住了",
    "forget it",
    "忘记吧",
    "keep that in mind",
    "save that file",
    "don't remember that",
    "don't remember that my bike is green",
    "I don't remember that",
    "I don't remember my name",
    "remembering is hard",
    "forgetting is easy",
    "I forget things",
    "I forgot my keys",
    "forget to call Bob",
    "忘记带钥匙了",
    "he said my name is Ann",
    "she told me to remember that my bike is green",
    "他说我叫小明",
    '"My name is Ann" is a song',
    "“我叫小明”是一首歌",
    "I like apples, he said",
    "what does my name is Ann mean",
    "my name is on the list",
    "my names are many",
    "call me later",
    "CALL ME LATER",
    "call me Monday",
    "call me a taxi",
    "I'm called in for jury duty",
    "I moved to the next slide",
    "I prefer not to say",
    "I prefer if you answer shortly",
    "I would prefer if you answered shortly",
    "I prefer your second idea",
    "I prefer this one",
    "I'd rather have you do it",
    "I'd rather not",
    "I like it",
    "I like that idea",
    "I like the plan",
    "I love seeing them eat fruit",
    "I'd like a poem",
    "I would like to know the time",
    "my favourite is the second",
    "if I live in Rome",
    "I planted tomatoes today",
    "I am tired",
    "我叫了外卖",
    "我叫他来",
    "叫我起床",
    "我喜欢你",
    "我喜欢这个",
    "我更喜欢第二个",
    "如果我住在北京",
    "我种了西红柿",
)

# A message, what is kept of it, and what is not.
PARTS = (
    ("remember that my bike is green. And it is fast.", "my bike is green. And it is fast.", ""),
    ("remember that Mom's birthday is June 3. She likes orchids.", "Mom's birthday is June 3. She likes orchids.", ""),
    ("remember that X is y. Also what is the weather?", "X is y.", "Also what is the weather?"),
    ("remember that X is y. What is the weather?", "X is y.", "What is the weather?"),
    ("remember that X is y. And tell me a joke.", "X is y.", "And tell me a joke."),
    ("Remember that I'm vegetarian. Plan a dinner for six.", "I'm vegetarian.", "Plan a dinner for six."),
    ("remember that X is y, what is the weather?", "X is y", "what is the weather?"),
    ("remember that X is y. Thanks!", "X is y.", ""),
    ("remember that X is y, ok?", "X is y", ""),
    ("remember that it is at 5 p.m. tomorrow. Is that late?", "it is at 5 p.m. tomorrow.", "Is that late?"),
    ("remember that my bike is green. Forget my old bike.", "my bike is green.", "Forget my old bike."),
    ("Remember that my name is Ann. I live in Rome.", "my name is Ann.", "I live in Rome."),
    ("remember to call Bob. What is his number?", "remember to call Bob.", "What is his number?"),
    ("remember my bike is green\nwhat is the weather", "my bike is green", "what is the weather"),
    ("My name is Ann, what's yours?", "My name is Ann", "what's yours?"),
    ("My name is J. Smith. I live in Rome.", "My name is J. Smith.", "I live in Rome."),
    ("My favourite language is C. What is yours?", "My favourite language is C.", "What is yours?"),
    ("I prefer tea. Write a poem about it.", "I prefer tea.", "Write a poem about it."),
    ("Hi! My name is Ann. How are you?", "My name is Ann.", "How are you?"),
    ("我叫小明，你叫什么名字？", "我叫小明", "你叫什么名字？"),
    ("你好，我叫小红。今天天气怎么样？", "我叫小红。", "今天天气怎么样？"),
    ("记住我的车是绿色的，另外今天天气怎么样？", "我的车是绿色的", "另外今天天气怎么样？"),
    ("记住我的车是绿色的。而且它很快。", "我的车是绿色的。而且它很快。", ""),
    ("记住我的车是绿色的。今天天气怎么样？", "我的车是绿色的。", "今天天气怎么样？"),
    ("请记住我住在北京，好吗？", "我住在北京", ""),
    ("忘掉我的车。我住在北京市朝阳区。", "我的车", "我住在北京市朝阳区。"),
)

COURTESIES = ("please ", "you can just ", "Hey Engram, ", "OK, ", "Hi! ", "well... ", "请", "麻烦你", "你好，", " \n")


def kept(message):
    rule = match(message)
    return rule and (rule.kind, rule.content, rule.tags, rule.asked)


def test_what_is_asked_to_be_kept_is_kept_without_the_words_that_ask():
    for message, content, tag in ASKED:
        assert kept(message) == ("remember", content, [tag], True), (message, kept(message))


def test_what_is_to_be_done_is_kept_with_the_words_that_ask():
    for message in REMINDERS:
        assert kept(message) == ("remember", message, ["reminder"], True), (message, kept(message))


def test_what_people_say_of_themselves_is_kept_as_they_say_it():
    for message, tag in SAID:
        assert kept(message) == ("remember", message, [tag], False), (message, kept(message))


def test_what_is_to_be_forgotten_is_a_query():
    for message, content in FORGOTTEN:
        assert kept(message) == ("forget", content, ["note"], True), (message, kept(message))


def test_a_question_is_no_statement():
    for message in QUESTIONS:
        assert match(message) is None, (message, match(message))


def test_what_is_not_clear_is_no_statement():
    for message in UNCLEAR:
        assert match(message) is None, (message, match(message))


def test_only_what_belongs_together_is_kept_of_a_message():
    for message, content, rest in PARTS:
        rule = match(message)
        assert rule and (rule.content, rule.rest) == (content, rest), (message, rule)


def test_words_of_courtesy_change_nothing():
    for before in COURTESIES:
        for message, content, _ in ASKED:
            assert match(before + message).content == content, (before, message)
        for message, _ in SAID:
            assert match(before + message).content == message, (before, message)
        for message, content in FORGOTTEN:
            assert match(before + message).content == content, (before, message)


def test_a_statement_within_a_message_is_none():
    for message, _ in SAID:
        for before in ("In the story ", "He thinks: ", "Translate “", "假如", "他问"):
            assert match(before + message) is None, (before, message, match(before + message))


def test_a_question_mark_makes_a_question_of_each_statement():
    for message, _ in SAID:
        for mark in ("?", "？", " ?!", "吗", "吗？"):
            assert match(message.rstrip(".") + mark) is None, (message, mark)


def test_a_preference_has_its_type_and_all_else_is_a_fact():
    for message, tag in SAID:
        assert match(message).type == ("preference" if tag == "preference" else "fact")
    assert "preference" in TYPES and "fact" in TYPES


def test_of_a_long_message_only_the_first_sentence_is_kept():
    more = "And it is fast. " * 20
    rule = match("remember that my bike is green. " + more)
    assert rule.content == "my bike is green." and rule.rest == more.strip()


def test_a_long_content_is_kept_whole():
    content = "word " * 500 + "end"
    assert match("remember that " + content).content == content


def test_a_long_sentence_is_no_statement_of_oneself():
    assert match("I like apples and " + "pears and " * 100 + "plums") is None


def test_whether_a_text_asks_is_seen_at_its_end():
    for said in ("why?", "为什么？", "ما لون دراجتي؟", "我叫安吗", '"why?"', "why?!", "why? "):
        assert is_question(said), said
    for said in ("", "?why", "why", "我叫安", "ok!"):
        assert not is_question(said), said


def test_each_content_stands_in_the_message_and_is_the_same_on_every_runtime():
    parts = (
        "remember", "that", "to", "please", "forget", "about", "don't", "my name is", "I", "like", "prefer", "call me", "Ann",
        "I live in", "Rome", "记住", "别忘了", "忘记", "我", "喜欢", "叫", "住在", "苹果", "请", "吗", "的事", "了", "我的",
        ",", ". ", "?", "！", "，", "。", "？", "：", " ", " ", "\n", "’", '"', "ü", "🙂", "Dr.", "is", "you", "什么", "今天",
        "it",
    )  # fmt: skip
    numbers = Numbers(7)
    digest = Digest()
    matched = 0
    for _ in range(600):
        message = "".join([numbers.pick(parts) + numbers.pick(("", " ")) for _ in range(1 + numbers.below(9))])
        rule = match(message)
        if rule:
            matched += 1
            assert rule.content and rule.content in message and message.strip().endswith(rule.rest), (message, rule)
            digest.add(rule.kind + rule.content + rule.tags[0] + rule.rest)
    assert matched > 50
    assert digest.hex() == "446a6c9b"


def test_the_rules_are_loaded_for_all_that_they_keep():
    for said in [row[0] for row in ASKED + SAID] + list(REMINDERS):
        assert may_state(said), said


def test_the_rules_are_not_loaded_for_a_question():
    for said in ("what is the capital of France?", "how are you?", "tell me a story", "", "  "):
        assert not may_state(said), said
