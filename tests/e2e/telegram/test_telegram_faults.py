"""What can go wrong between the board and Telegram: nothing is lost, nothing is sent twice without a mark, all is told."""

from pathlib import Path

import pytest

from chatting import Chatting, chatting
from extent import with_more
from skips import needs_32_bit

pytestmark = needs_32_bit

HELLO = {"reply": "Hello."}
AGAIN = "(Sent again: this may have arrived before.)\n"


def asked(talk: Chatting) -> int:
    """How many times the model was asked."""
    return len(talk.model.requests)


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


@pytest.mark.parametrize("kind", with_more(["cut_within", "fail"], ["cut_before", "cut_after", "cut_within", "fail"]))
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
