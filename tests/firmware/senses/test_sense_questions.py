"""Questions about readings, answered without a model, English and Chinese."""

from board import ANN, ROOM
from engram.memory.access import OWNER
from perceiving import MONDAY, NOW, house
from support import at_once


class _Talk:
    def __init__(self, **settings):
        self.board = house(**settings)
        self.offline = self.board.make_offline()

    def ask(self, said, caller=OWNER):
        seq = self.board.journal.add(caller, "user", caller.principal, said, command=True)
        return at_once(self.offline.answer(caller, said, "t%d" % seq))

for q in """how warm was it last night?
how warm was it last night
How cold was the bedroom last night?
what is the temperature in the bedroom
what's the bedroom temperature?
when was the door open yesterday?
how often did the door open yesterday?
how often did the door open today?
is the door open?
when was the door last open?
when did the door last open?
how warm was the bedroom at 7 yesterday?
how warm was the bedroom between 7 and 9 yesterday
what was the lowest temperature outside on Monday?
how humid is the bedroom?
was it cold outside this morning?
how warm was it outside 2 hours ago?
how warm was the bedroom in the last 3 hours?
how warm was the bedroom on 2026-01-03?
was the door closed yesterday afternoon?
was the door open at noon yesterday?
what was the temperature in the bedroom last week?
昨晚多少度
昨晚卧室多少度？
卧室现在温度多少
门昨天什么时候开过
门昨天开了几次？
门现在开着吗
昨天早上七点卧室多少度
昨天下午外面几度？
卧室湿度是多少
周一卧室最高温度是多少""".split("\n"):
    pass


def test_print():
    talk = _Talk()
    from perceiving import NOW
    for q in Q:
        print(repr(q), "->", talk.ask(q))
Q = """how warm was it last night?
how warm was it last night
How cold was the bedroom last night?
what is the temperature in the bedroom
what's the bedroom temperature?
when was the door open yesterday?
how often did the door open yesterday?
how often did the door open today?
is the door open?
when was the door last open?
when did the door last open?
how warm was the bedroom at 7 yesterday?
how warm was the bedroom between 7 and 9 yesterday
what was the lowest temperature outside on Monday?
how humid is the bedroom?
was it cold outside this morning?
how warm was it outside 2 hours ago?
how warm was the bedroom in the last 3 hours?
how warm was the bedroom on 2026-01-03?
was the door closed yesterday afternoon?
was the door open at noon yesterday?
what was the temperature in the bedroom last week?
昨晚多少度
昨晚卧室多少度？
卧室现在温度多少
门昨天什么时候开过
门昨天开了几次？
门现在开着吗
昨天早上七点卧室多少度
昨天下午外面几度？
卧室湿度是多少
周一卧室最高温度是多少
where is the door key?
what is the temperature of the sun?
who was at the door?
what is my favourite colour?
how cold was it when Anna called?""".split("\n")
