"""What can go wrong between the board and Telegram: nothing is lost, nothing is sent twice without a mark, all is told."""

from pathlib import Path

import pytest

import chip
import get_micropython
from chatting import Chatting, chatting

pytestmark = pytest.mark.skipif(
    not get_micropython.usable(chip.MICROPYTHON, 32), reason="there is no 32-bit MicroPython for this machine"
)

HELLO = {"reply": "Hello."}
AGAIN = "(Sent again: this may have arrived before.)\n"


def asked(talk: Chatting) -> int:
    """How many times the model was asked."""
    return len(talk.model.requests)


def test_a_flood_is_waited_for(tmp_path: Path):
    with chatting(tmp_path, HELLO) as talk:
        ann = talk.person("Ann")
        talk.telegram.faults.flood(2, method="sendMessage")
        talk.write(ann, "hello")
        talk.sees(ann, "Hello.")
        refused, sent = talk.calls("sendMessage")
        assert (refused.status, sent.status) == (429, 200) and sent.date - refused.date >= 2


def test_a_flood_of_one_chat_holds_up_no_other_one(tmp_path: Path):
    with chatting(tmp_path, HELLO) as talk:
        ann, bob = talk.person("Ann"), talk.person("Bob")
        talk.telegram.faults.flood(8, method="sendMessage")
        talk.write(ann, "hello")
        talk.wait(lambda: talk.server.ledger.of_method("sendMessage"))
        talk.write(bob, "hello")
        talk.sees(bob, "Hello.")
        assert talk.shown(ann) == []
        talk.sees(ann, "Hello.")
        refused, _, late = talk.calls("sendMessage")
        assert refused.status == 429 and late.date - refused.date >= 8


def test_several_messages_of_a_flooded_chat_hold_up_no_other_one_and_keep_their_order(tmp_path: Path):
    with chatting(tmp_path, {"reply": "Heard: {last}"}) as talk:
        ann, bob = talk.person("Ann"), talk.person("Bob")
        talk.telegram.faults.flood(20, method="sendMessage")
        for number in range(3):
            talk.write(ann, f"hello {number}")
        talk.console.heard("an answer was not delivered and is kept: t")
        talk.write(bob, "hello")
        talk.sees(bob, "Heard: hello")
        assert talk.shown(ann) == []
        flooded = next(call for call in talk.calls("sendMessage") if call.status == 429)
        other = next(call for call in talk.calls("sendMessage") if call.status == 200)
        assert other.date - flooded.date < 20
        talk.wait(lambda: len(talk.server.people.from_bot(talk.server.people.private_chat(ann))) == 3)
        assert talk.shown(ann) == [f"Heard: hello {number}" for number in range(3)]


def test_commands_of_a_flooded_chat_hold_up_no_other_one(tmp_path: Path):
    with chatting(tmp_path, HELLO) as talk:
        ann, bob = talk.person("Ann"), talk.person("Bob")
        talk.telegram.faults.flood(50, method="sendMessage")
        for _ in range(3):
            talk.write(ann, "/mode")
        talk.console.heard("an answer is given up")
        talk.write(bob, "hello")
        talk.sees(bob, "Hello.")
        assert talk.shown(ann) == []


def test_a_flood_of_the_polls_lets_the_whole_bot_wait(tmp_path: Path):
    slow = {"reply": [{"text": "Hello.", "delay": 6}]}
    with chatting(tmp_path, slow, people__policy="allowlist") as talk:
        ann, stranger = talk.person("Ann"), talk.telegram.people.add_user("Eve")
        talk.write(ann, "hello")
        talk.wait(lambda: talk.server.ledger.of_method("sendChatAction"))
        talk.telegram.faults.flood(10, method="getUpdates")
        talk.write(stranger, "hello")  # ends the poll that is under way
        talk.sees(ann, "Hello.")
        [refused] = [call for call in talk.calls("getUpdates") if call.status == 429]
        sent = talk.calls("sendMessage")[0]
        assert sent.date - refused.date >= 10


def test_an_answer_that_telegram_refuses_is_told_and_not_taken_for_delivered(tmp_path: Path):
    with chatting(tmp_path, HELLO) as talk:
        ann = talk.person("Ann")
        talk.telegram.faults.refuse("strange", method="sendMessage", count=2)
        talk.write(ann, "hello")
        assert "Telegram does not take this answer" in talk.answer(ann)
        status = talk.command("/stats")
        assert "refused" in status and "Bad Request: strange" in status


def test_a_cut_before_the_message_was_handled_is_sent_again_with_a_mark(tmp_path: Path):
    with chatting(tmp_path, HELLO) as talk:
        ann = talk.person("Ann")
        talk.telegram.faults.cut_before(method="sendMessage")
        talk.write(ann, "hello")
        talk.sees(ann, AGAIN + "Hello.")
        assert asked(talk) == 1


def test_a_cut_after_the_message_was_handled_is_no_silent_repetition(tmp_path: Path):
    with chatting(tmp_path, HELLO) as talk:
        ann = talk.person("Ann")
        talk.telegram.faults.cut_after(method="sendMessage")
        talk.write(ann, "hello")
        talk.sees(ann, "Hello.", AGAIN + "Hello.")


def test_a_command_that_reads_is_marked_when_it_is_sent_again_and_given_up_after_two_times(tmp_path: Path):
    with chatting(tmp_path, HELLO) as talk:
        ann = talk.person("Ann")
        talk.telegram.faults.cut_after(method="sendMessage", count=2)
        talk.write(ann, "/mode")
        *shown, said = talk.answers(ann, 3)
        assert shown == ["full mode", AGAIN + "full mode"]
        assert said == "Your message was not answered, or the answer may not have arrived: say it again."


def test_an_answer_is_given_up_and_told_after_two_copies_that_may_have_arrived(tmp_path: Path):
    with chatting(tmp_path, HELLO) as talk:
        ann = talk.person("Ann")
        talk.telegram.faults.cut_after(method="sendMessage", count=2)
        talk.write(ann, "hello")
        talk.console.heard("given up: the answer to t")
        talk.write(ann, "/mode")
        assert talk.answers(ann, 3) == ["Hello.", AGAIN + "Hello.", "full mode"]


@pytest.mark.parametrize("kind", ["cut_before", "cut_after", "cut_within", "fail"])
def test_polls_that_fail_lose_no_message_and_double_none(tmp_path: Path, kind: str):
    with chatting(tmp_path, HELLO) as talk:
        ann = talk.person("Ann")
        getattr(talk.telegram.faults, kind)(method="getUpdates", count=2)
        for number in range(1, 4):
            # Each poll brings a message, or is cut when it would.
            talk.write(ann, f"hello {number}")
            talk.sees(ann, *["Hello."] * number)
        talk.wait(lambda: not talk.server.faults.waiting)
        talk.idles()
        assert asked(talk) == 3
        assert "not connected" not in talk.command("/stats")


def test_an_outage_is_told_and_its_messages_are_answered_afterwards(tmp_path: Path):
    with chatting(tmp_path, HELLO) as talk:
        ann = talk.person("Ann")
        # By method: which of them would take the last of three faults is a matter of time.
        for method in ("sendChatAction", "getUpdates", "sendMessage"):
            talk.telegram.faults.fail(502, method=method)
        talk.write(ann, "hello")
        talk.console.heard("Telegram answers 502")
        talk.sees(ann, AGAIN + "Hello.")
        assert asked(talk) == 1


def test_a_second_program_that_polls_is_named(tmp_path: Path):
    with chatting(tmp_path, HELLO) as talk:
        ann = talk.person("Ann")
        talk.telegram.faults.conflict()
        talk.write(ann, "hello")
        talk.console.heard("another program takes this bot's messages")
        assert "not connected since" in talk.command("/stats")


def test_a_refused_token_stops_the_channel_with_one_sentence(tmp_path: Path):
    with chatting(tmp_path, HELLO) as talk:
        ann = talk.person("Ann")
        talk.telegram.faults.is_token_refused = True
        talk.write(ann, "hello")
        talk.console.heard("Telegram does not know the bot: set telegram.token")
        talk.console.heard("restart the board.")
        talk.console.heard("\n")
        assert "telegram  stopped since" in talk.command("/stats")
        # Another request, such as that of the command menu, may have been under way when the poll was refused, and the fake
        # counts a request after its answer: what would go on polls far more than once.
        polls = talk.server.ledger.by_method["getUpdates"]
        talk.write(ann, "hello again")
        assert "nothing" in talk.command("/recall hello again").lower()
        assert talk.server.ledger.by_method["getUpdates"] <= polls + 1
        assert talk.console.seen.count(b"does not know the bot") == 3  # the log, and twice in /stats


@pytest.mark.parametrize("same_id", [True, False])
def test_a_message_that_comes_twice_is_answered_once(tmp_path: Path, same_id: bool):
    with chatting(tmp_path, HELLO) as talk:
        ann = talk.person("Ann")
        talk.write(ann, "hello")
        talk.sees(ann, "Hello.")
        talk.telegram.people.repeat_update(talk.telegram.people.last_update_id, same_id=same_id)
        talk.write(ann, "/mode")
        talk.sees(ann, "Hello.", "full mode")
        assert asked(talk) == 1


def test_after_a_power_cut_in_the_last_exchange_the_answer_is_not_doubled(tmp_path: Path):
    with chatting(tmp_path, HELLO) as talk:
        ann = talk.person("Ann")
        talk.telegram.faults.delay(60, method="sendMessage")
        talk.write(ann, "hello")
        talk.wait(lambda: talk.server.ledger.of_method("sendMessage"))
        talk.kill()
        talk.start()
        shown = talk.answers(ann, 2)
        assert shown == ["Hello.", AGAIN + "Hello."]
        assert asked(talk) == 1


def test_an_answer_of_an_outage_is_delivered_when_the_link_is_back(tmp_path: Path):
    with chatting(tmp_path, HELLO) as talk:
        ann = talk.person("Ann")
        talk.telegram.faults.fail(502, method="sendMessage")
        talk.write(ann, "hello")
        talk.console.heard("an answer was not delivered and is kept: t")
        talk.write(ann, "/mode")
        talk.wait(lambda: len(talk.server.people.from_bot(talk.server.people.private_chat(ann))) == 2)
        assert sorted(talk.shown(ann)) == [AGAIN + "Hello.", "full mode"]
        assert asked(talk) == 1


def test_after_a_power_cut_messages_that_waited_are_answered_one_by_one(tmp_path: Path):
    slow = {"reply": ["Heard: ", {"text": "{last}", "delay": 1.5}]}
    too_slow = {"when": {"contains": "three"}, "reply": [{"text": "never", "delay": 30.0}], "times": 1}
    with chatting(tmp_path, too_slow, slow) as talk:
        ann, bob = talk.person("Ann"), talk.person("Bob")
        talk.write(ann, "one")
        talk.write(ann, "two")
        talk.write(bob, "three")
        # The second waits for the first, and is not on flash; Bob's, which came later, is.
        talk.model.wait_for_requests(2, 60)
        talk.kill()
        talk.start()
        talk.sees(bob, "Heard: three")
        talk.sees(ann, "Heard: one", "Heard: two")
