"""Messages to boards in the database: offered until they are answered, answered once, bounded, and gone in the end."""

import threading
from collections.abc import Callable, Sequence

import pytest

from engram.config import SECRETS
from engram_host.companion.errors import Refused, TooManyWaiting, UnknownConversation
from engram_host.companion.store import CompanionStore
from engram_host.companion.store.conversations.table import MOST_BEGUN, MOST_UNNAMED, Reply
from engram_host.companion.store.rows import Rows
from engram_host.companion.types import LOGS, ConversationLimits, Hello, LogState, PieceKind, Said, Sender
from extent import matrix
from waiting import SECONDS

NOW = 1_795_000_000
LIMITS = ConversationLimits(board_messages=4, person_messages=3, board_bytes=100, answer_bytes=50)
BOARD = Sender("b1", 3, 9)


@pytest.fixture
def kitchen(store: CompanionStore) -> CompanionStore:
    """A store that knows a board."""
    hello(store, BOARD)
    return store


def hello(store: CompanionStore, sender: Sender, device: str = "kitchen") -> None:
    store.replication.greet(Hello(device, sender, 0, {name: LogState(7, 1, 1, 0) for name in LOGS}), NOW)


def add(store: CompanionStore, mid: str = "a", text: str = "hi", principal: str = "ann"):
    return store.conversations.add_conversation("kitchen", Said(mid, principal, text, "phone"), LIMITS, NOW)


def reply(
    store: CompanionStore, mid: str, offer: int, k: int, *texts: str, end: bool = False, kind: PieceKind = "text"
):
    return store.conversations.add_reply(
        BOARD, "kitchen", mid, Reply(offer, k, [(kind, text) for text in texts], end), LIMITS, NOW
    )


def read(store: CompanionStore, mid: str = "a", after: int = 0) -> tuple[str, list[tuple[str, str]]]:
    found, pieces = store.conversations.conversation_after("kitchen", mid, after)
    return found.state, [(piece.kind, piece.text) for piece in pieces]


# --- secrets


@pytest.mark.parametrize("name, end", matrix(SECRETS, ["answer", "cancel"]))
def test_a_secret_that_somebody_typed_is_removed_with_the_end_of_its_message(
    kitchen: CompanionStore, name: str, end: str
):
    said = Said("a", "owner", f"/setting  {name} sk-42 and more", "phone", is_command=True)
    kitchen.conversations.add_conversation("kitchen", said, LIMITS, NOW)
    if end == "answer":
        offered = kitchen.conversations.next_message(BOARD, "kitchen", NOW)
        assert offered and offered.said == said, "the board is given it"
        reply(kitchen, "a", 1, 1, "x", end=True)
    else:
        kitchen.conversations.cancel_conversation("kitchen", "a", NOW)
    assert kitchen.conversations.conversation("kitchen", "a").said.text == f"/setting {name}"
    repeated = kitchen.conversations.add_conversation("kitchen", said, LIMITS, NOW)
    assert not repeated.is_open, "it is the same message when it comes again"


# --- from waiting to done


def test_what_comes_twice_or_late_changes_nothing(kitchen: CompanionStore):
    add(kitchen)
    kitchen.conversations.next_message(BOARD, "kitchen", NOW)
    for _ in range(2):
        reply(kitchen, "a", 1, 1, "Hel")
    reply(kitchen, "a", 1, 2, "lo")
    reply(kitchen, "a", 1, 1, "Hel")
    assert read(kitchen)[1] == [("text", "Hel"), ("text", "lo")]
    reply(kitchen, "a", 1, 3, "!", end=True)
    assert not reply(kitchen, "a", 1, 3, "!", end=True) and not reply(kitchen, "a", 1, 4, "?")
    assert read(kitchen) == ("done", [("text", "Hel"), ("text", "lo"), ("text", "!")])


def test_an_answer_that_starts_again_takes_the_place_of_the_first_one(kitchen: CompanionStore):
    add(kitchen)
    kitchen.conversations.next_message(BOARD, "kitchen", NOW)
    reply(kitchen, "a", 1, 1, "Hel", "lo")
    kitchen.conversations.next_message(BOARD, "kitchen", NOW)
    reply(kitchen, "a", 2, 1, "Hello", end=True)
    assert not reply(kitchen, "a", 1, 2, "late")
    assert read(kitchen) == ("done", [("again", ""), ("text", "Hello")])
    assert read(kitchen, after=2) == ("done", [("again", ""), ("text", "Hello")]), "who has read two pieces goes on"


def test_a_board_that_has_not_said_hello_is_given_nothing(kitchen: CompanionStore):
    add(kitchen)
    for sender in (Sender("other", 3, 9), Sender("b1", 4, 1)):
        with pytest.raises(Refused):
            kitchen.conversations.next_message(sender, "kitchen", NOW)
        with pytest.raises(Refused):
            kitchen.conversations.add_reply(sender, "kitchen", "a", Reply(1, 1, [("text", "x")], True), LIMITS, NOW)
        with pytest.raises(Refused):
            kitchen.conversations.add_push(sender, "kitchen", Said("push:1", "", "x", "phone"), NOW)
    assert read(kitchen) == ("waiting", [])


def test_a_board_is_given_its_own_messages_only(kitchen: CompanionStore):
    hello(kitchen, Sender("b2", 1, 1), "garden")
    add(kitchen)
    assert kitchen.conversations.next_message(Sender("b2", 1, 1), "garden", NOW) is None
    assert kitchen.conversations.add_reply(
        Sender("b2", 1, 1), "garden", "a", Reply(1, 1, [("text", "x")], True), LIMITS, NOW
    )
    assert read(kitchen) == ("waiting", []) and kitchen.conversations.boards_with_messages() == {"kitchen"}


# --- cancelling, and what never ends


def test_a_board_is_told_to_stop_and_has_the_last_word(kitchen: CompanionStore):
    add(kitchen)
    kitchen.conversations.next_message(BOARD, "kitchen", NOW)
    reply(kitchen, "a", 1, 1, "Hel")
    assert kitchen.conversations.cancel_conversation("kitchen", "a", NOW).state == "answering"
    assert kitchen.conversations.mark_taken(BOARD, "kitchen", "a", "t3", NOW) and reply(kitchen, "a", 1, 2, "lo")
    assert reply(kitchen, "a", 1, 3, "cancelled", end=True, kind="problem")
    assert read(kitchen)[0] == "cancelled"


def offer(store: CompanionStore, times: int = 1, *, is_named: bool) -> bool:
    """Give a board its message so often; whether it was given it each time. It names it, then begins again as after a crash."""
    for _ in range(times):
        if not store.conversations.next_message(BOARD, "kitchen", NOW):
            return False
        if is_named:
            store.conversations.mark_taken(BOARD, "kitchen", "a", "t3", NOW)
            store.conversations.mark_taken(BOARD, "kitchen", "a", "t3", NOW)
    return True


def test_a_message_that_the_board_begins_to_answer_again_and_again_is_given_up(kitchen: CompanionStore):
    add(kitchen)
    assert offer(kitchen, MOST_BEGUN, is_named=True) and not offer(kitchen, is_named=True)
    told = f"the board began {MOST_BEGUN} times to answer this and never came to an end: it is not given it any more."
    assert read(kitchen) == ("undeliverable", [("problem", told)])


def test_a_message_that_the_board_never_names_is_given_up_later_and_with_its_own_reason(kitchen: CompanionStore):
    add(kitchen)
    assert MOST_UNNAMED >= 10 * MOST_BEGUN
    assert offer(kitchen, MOST_UNNAMED, is_named=False) and not offer(kitchen, is_named=False)
    told = (
        f"the board was given this {MOST_UNNAMED} times and never said that it had got it: it is not given it any more."
    )
    assert read(kitchen) == ("undeliverable", [("problem", told)])


def test_what_waits_too_long_is_undeliverable_and_what_is_done_goes(kitchen: CompanionStore):
    add(kitchen, "a")
    add(kitchen, "b")
    kitchen.conversations.next_message(BOARD, "kitchen", NOW)
    reply(kitchen, "a", 1, 1, "x", end=True)
    assert kitchen.conversations.end_old_conversations(NOW, NOW, "too old", NOW + 1) == []
    assert kitchen.conversations.end_old_conversations(NOW + 1, NOW, "too old", NOW + 1) == [("kitchen", "b")]
    assert read(kitchen, "b") == ("undeliverable", [("problem", "too old")])
    kitchen.conversations.end_old_conversations(0, NOW + 1, "too old", NOW + 2)
    with pytest.raises(UnknownConversation):
        kitchen.conversations.conversation("kitchen", "a")
    assert read(kitchen, "b")[0] == "undeliverable"


# --- bounds


def test_a_person_and_a_board_have_a_bound_of_what_waits(kitchen: CompanionStore):
    for mid in "abc":
        add(kitchen, mid)
    with pytest.raises(TooManyWaiting, match="3 messages of ann wait for kitchen"):
        add(kitchen, "d")
    add(kitchen, "d", principal="bob")
    with pytest.raises(TooManyWaiting, match="4 messages wait for kitchen"):
        add(kitchen, "e", principal="eve")
    assert add(kitchen, "a").state == "waiting", "what came before is there"


def test_the_bytes_that_wait_have_a_bound(kitchen: CompanionStore):
    add(kitchen, "a", "x" * 60)
    with pytest.raises(TooManyWaiting):
        add(kitchen, "b", "x" * 60)


def test_a_long_answer_is_cut_and_says_so(kitchen: CompanionStore):
    add(kitchen)
    kitchen.conversations.next_message(BOARD, "kitchen", NOW)
    reply(kitchen, "a", 1, 1, "x" * 40, "y" * 40, "z")
    reply(kitchen, "a", 1, 2, "more", end=True)
    state, pieces = read(kitchen)
    assert state == "done" and [kind for kind, _ in pieces] == ["text", "problem"] and "journal" in pieces[1][1]


def test_a_room_in_which_much_is_answered_drives_out_nothing_of_another_one(
    kitchen: CompanionStore, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("engram_host.companion.store.conversations.table.DONE_KEPT", 2)
    kitchen.conversations.add_push(BOARD, "kitchen", Said("push:chat", "", "hello", "page"), NOW)
    for number in range(5):
        kitchen.conversations.add_push(BOARD, "kitchen", Said(f"push:{number}", "", "stored", "import"), NOW)
    kitchen.conversations.end_old_conversations(0, 0, "too old", NOW)
    assert [each.said.mid for each in kitchen.conversations.conversations("kitchen", 10)] == [
        "push:4",
        "push:3",
        "push:chat",
    ]


# --- lists, and what the board begins


def test_no_push_becomes_visible_after_one_with_a_higher_number(
    kitchen: CompanionStore, open_store: Callable[[], CompanionStore], monkeypatch: pytest.MonkeyPatch
):
    garden_board = Sender("b2", 1, 2)
    hello(kitchen, garden_board, "garden")
    garden, reader = open_store(), open_store()
    seen: list[int] = []

    def push_garden() -> None:
        garden.conversations.add_push(garden_board, "garden", Said("push:1:t1", "", "it rains", "phone"), NOW)

    other = threading.Thread(target=push_garden)

    def pause(_rows: Rows, _table: str, _where: str, values: Sequence[str], _most: int) -> int:
        if values == ("kitchen",):  # its row is written and not committed yet
            other.start()
            other.join(0.3)
            seen.extend(number for number, *_ in reader.conversations.pushes_after(0, 10))
        return 0

    monkeypatch.setattr(Rows, "keep_newest", pause)
    kitchen.conversations.add_push(BOARD, "kitchen", Said("push:7:t1", "", "it rains", "phone"), NOW)
    other.join(SECONDS)
    seen.extend(number for number, *_ in reader.conversations.pushes_after(max(seen, default=0), 10))
    assert len(seen) == 2


def test_what_a_board_says_by_itself_has_a_bound_and_drives_out_no_message(
    kitchen: CompanionStore, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("engram_host.companion.store.conversations.table.PUSHES_KEPT", 3)
    add(kitchen, "open")
    hello(kitchen, Sender("b2", 1, 1), "garden")
    kitchen.conversations.add_push(Sender("b2", 1, 2), "garden", Said("push:1:t1", "", "it rains here", "phone"), NOW)
    for number in range(6):
        kitchen.conversations.add_push(BOARD, "kitchen", Said(f"push:{number}", "", "it rains", "phone"), NOW)
    kept = [each.said.mid for each in kitchen.conversations.conversations("kitchen", 10)]
    assert kept == ["push:5", "push:4", "push:3", "open"]
    assert [each.said.mid for each in kitchen.conversations.conversations("garden", 10)] == ["push:1:t1"]
