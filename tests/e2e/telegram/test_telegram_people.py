"""Who may talk over Telegram, in private, in groups and in topics."""

from pathlib import Path

from chatting import chatting
from driving import said
from skips import needs_32_bit

pytestmark = needs_32_bit

ECHO = {"reply": "You said: {last}"}


REPLIED = "You said: ann: (in reply to: You said: bob: hello)\nand me?"


def test_a_group_is_answered_only_if_it_is_listed_and_the_bot_is_named(tmp_path: Path):
    with chatting(tmp_path, ECHO, reads_all=True) as talk:
        ann, bob = talk.person("Ann"), talk.person("Bob")
        group = talk.telegram.people.supergroup("Garden", [ann, bob])
        talk.write(ann, "@engram_fake_bot hello", chat=group)
        talk.answers(group, 0)
        assert talk.shown(group) == []
        assert f"/people group telegram:{group.id} mention opens it" in talk.command("/stats")
        talk.command(f"/people group telegram:{group.id} mention")
        talk.write(ann, "we two talk", chat=group)
        asks = talk.write(bob, "@engram_fake_bot hello", chat=group)
        [message] = talk.sees(group, "You said: bob: hello")
        assert message.reply_to is not None and message.reply_to.id == asks.id
        talk.write(ann, "and me?", chat=group, reply_to=message)
        talk.sees(group, "You said: bob: hello", REPLIED)
        talk.write(ann, "/memory@other_bot", chat=group)
        talk.write(ann, "/mode@engram_fake_bot", chat=group)
        talk.sees(group, "You said: bob: hello", REPLIED, "full mode")


def test_topics_are_sessions_of_their_own(tmp_path: Path):
    with chatting(tmp_path, ECHO) as talk:
        ann = talk.person("Ann")
        forum = talk.telegram.people.supergroup("Club", [ann], is_forum=True)
        first, second = (talk.telegram.people.topic(forum, name, ann) for name in ("Chess", "Go"))
        talk.command(f"/people group telegram:{forum.id} mention")
        talk.write(ann, "@engram_fake_bot one", chat=forum, thread_id=first)
        talk.sees(forum, "You said: ann: one")
        talk.write(ann, "@engram_fake_bot two", chat=forum, thread_id=second)
        messages = talk.sees(forum, "You said: ann: one", "You said: ann: two")
        assert [message.thread_id for message in messages] == [first, second]
        assert "ann: one" not in said(talk.model.requests[-1])


def test_a_kept_answer_follows_its_group_to_the_supergroup_after_a_power_cut(tmp_path: Path):
    with chatting(tmp_path, ECHO) as talk:
        ann = talk.person("Ann")
        group = talk.telegram.people.group("Garden", [ann])
        talk.command(f"/people group telegram:{group.id} mention")
        talk.telegram.faults.flood(100, method="sendMessage")
        talk.write(ann, "@engram_fake_bot hello", chat=group)
        talk.console.heard("an answer was not delivered and is kept: t")
        garden = talk.telegram.people.upgrade(group, ann)
        talk.console.heard("is a supergroup now")
        talk.kill()
        talk.telegram.faults.clear()
        talk.start()
        talk.sees(garden, "You said: ann: hello")
