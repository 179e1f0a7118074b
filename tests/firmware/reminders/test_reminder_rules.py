"""Standing intents by rule: what is plainly asked for, in whose words, and what is no such request."""

from engram.agent.offline import is_command
from engram.reminders.rules import match, may_be
from support import rounds

# A message, what is to come up, and what to remind of.
ASKED = (
    ("when the paint shop comes up, remind me to buy brushes", "the paint shop", "buy brushes"),
    ("When I mention paint, remind me of the brushes.", "paint", "the brushes"),
    ("when I mention paint remind me of the brushes", "paint", "the brushes"),
    ("WHEN PAINT COMES UP, REMIND ME TO BUY BRUSHES", "PAINT", "BUY BRUSHES"),
    ("if tax comes up, remind me about the deadline", "tax", "the deadline"),
    ("if “tax” is mentioned, then remind me about the deadline", "tax", "the deadline"),
    ("remind me of the brushes when paint comes up", "paint", "the brushes"),
    (
        "Please remind me to ask when the shop opens when the paint shop comes up!",
        "the paint shop",
        "ask when the shop opens",
    ),
    ("the next time Bob comes up, remind me that he owes me 5.50 euros", "Bob", "he owes me 5.50 euros"),
    ("next time I talk about Bob, please remind me that he is back", "Bob", "he is back"),
    ("Whenever anyone brings up Spain, remind us to book", "Spain", "book"),
    ("every time Dr. Smith comes up you should remind me to pay his bill", "Dr. Smith", "pay his bill"),
    ("can you remind me to call Eve when the garden comes up?", "the garden", "call Eve"),
    ("Hey Engram, could you please remind me of Ana when Spain is mentioned?", "Spain", "Ana"),
    ("when the garden comes up, remind me to call Eve, ok?", "the garden", "call Eve"),
    ("don't forget to remind me of Ana when Spain comes up", "Spain", "Ana"),
    (
        "From now on, when I ask about trains remind me: the card is in the drawer",
        "trains",
        "the card is in the drawer",
    ),
    ("if the word Spain comes up, remind me of Ana", "Spain", "Ana"),
    ("as soon as I say good night, remind me to lock the door", "good night", "lock the door"),
    ("remind me not to spoil it when the film comes up", "the film", "not to spoil it"),
    ("when the film comes up, don't forget to remind me of Ana", "the film", "Ana"),
    ("when 油漆 comes up, remind me 买刷子", "油漆", "买刷子"),
    ("当提到油漆时提醒我买刷子", "油漆", "买刷子"),
    ("提到油漆的时候提醒我买刷子。", "油漆", "买刷子"),
    ("说到老板就提醒我加薪的事", "老板", "加薪的事"),
    ("下次聊到旅行，请提醒我订酒店", "旅行", "订酒店"),
    ("當我說到油漆時，提醒我買刷子", "油漆", "買刷子"),
    ("如果有人问起小明，记得提醒我他欠我五块钱", "小明", "他欠我五块钱"),
    ("以后提到加班小时就提醒我填表", "加班小时", "填表"),
    ("每当我提到「妈妈」的时候，你要提醒我打电话！", "妈妈", "打电话"),
    ("我们再说起北京的话，麻烦提醒一下我买票", "北京", "买票"),
    ("提到 Spain 时提醒我：订酒店", "Spain", "订酒店"),
)

NOT_ASKED = (
    "when I was young, my mother reminded me of school",
    "when I was young, you did not have to remind me of school",
    "When I was young, remind me to tell you, we had no phones",
    "when I get home, remind me to water the plants",
    "remind me to water the plants when I get home",
    "remind me at five to call Bob",
    "remind me to buy milk",
    "remind me when paint comes up",
    "remind me of it when paint comes up",
    "when paint comes up, remind me",
    "when paint comes up, remind me of that",
    "when it comes up, remind me to go",
    "when this comes up, remind me to go",
    "when something comes up, remind me to move the date",
    "when paint came up, you had to remind me to buy brushes",
    "when paint came up, remind me to buy brushes",
    "when paint comes up, he will remind me of my father",
    "when paint comes up, people remind me of my father",
    "when I mention my father, songs remind me of him",
    "when I mention paint, it reminds me of my father",
    "don't remind me of the brushes when paint comes up",
    "when paint comes up, don't remind me of the brushes",
    "when I mention paint don't remind me of the brushes",
    "never remind me of Bob when the money comes up",
    "he said: when paint comes up, remind me to buy brushes",
    '"when paint comes up, remind me to buy brushes"',
    "My mother always says when paint comes up, remind me to buy brushes",
    "I think when paint comes up you remind me of my uncle",
    "did you remind me of paint when Bob came up?",
    "what do you do when paint comes up, remind me?",
    "do you remind me of the brushes when paint comes up?",
    "when paint, brushes or nails come up, remind me to go",
    "when a ship comes up the river, remind me to look",
    "the sun comes up at six, remind me to look",
    "when the paint shop comes up",
    "Things that remind me of Spain when I mention them",
    "You remind me of Bob when you talk about paint",
    "this reminds me of Spain",
    "",
    "remind me",
    "你提醒我买油漆",
    "提醒我",
    "提醒我明天买油漆",
    "提到油漆的时候他提醒我买刷子",
    "上次提到油漆时你提醒我买刷子",
    "提到妈妈总是提醒我回家",
    "提到油漆的时候不要提醒我买刷子",
    "提到油漆时你提醒我买刷子了吗？",
    "当我年轻的时候，妈妈提醒我要努力",
    "谁提到油漆了，提醒我什么？",
    "提到他就提醒我买刷子",
    "提到油漆、刷子的时候提醒我去",
    "他说提到油漆时提醒我买刷子",
    "当我到家时提醒我浇花",
)


def test_what_is_plainly_asked_for_is_found_in_the_words_of_the_person():
    for said, when, remind in ASKED:
        found = match(said)
        assert found and (found.when, found.remind) == (when, remind), said
        assert may_be(said), said


def test_what_is_no_clear_request_is_none():
    for said in NOT_ASKED:
        assert match(said) is None, said


def test_what_follows_in_a_message_is_left_over():
    found = match("When paint comes up, remind me of brushes. What is the weather like?")
    assert found and found.rest == "What is the weather like?"


def test_a_sentence_of_any_length_is_looked_at_without_failing():
    for count in (10, 100, 1000, 4000):
        for said in ("when paint comes up, remind me of " + "b" * count, "当提到" + "油" * count + "时提醒我买"):
            found = match(said)
            assert found is None or len(found.remind) in (1, count)
    assert match("when paint comes up, remind me of " + "b" * 4000) is None


def test_a_request_that_is_cut_anywhere_does_not_fail():
    for said, _, _ in ASKED:
        for size in range(0, len(said), rounds(1, 3)):
            match(said[:size])
            match(said[size:])


def test_commands_are_distinguished_from_conversation():
    for said in (
        "remember that paint is wet",
        "forget paint",
        "when paint comes up, remind me of Ana",
        "list",
        "forget i3",
    ):
        assert is_command(said), said
    for said in (
        "I was at the paint shop",
        "what is paint?",
        "find paint",
        "I prefer paint",
        "remember when we painted?",
        "",
    ):
        assert not is_command(said), said
