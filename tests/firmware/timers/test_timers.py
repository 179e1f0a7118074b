"""Timers: each due one is told once, in the chat where it was set, whatever the clock does."""

import os

from engram import diag, files
from engram.errors import ArgumentError, NotFound, StoreError
from engram.memory.access import OWNER, Caller
from support import raises
from timed import ANN, CHAT, DAY, EIGHT, GROUP, HOUR, MINUTE, OTHER_GROUP, Timed

PLANTS = "reminder: water the plants (w1)"


async def test_those_of_a_missed_while_are_told_once_with_their_age():
    timed = Timed()
    timed.add(at=EIGHT)
    timed.add(what="feed the cat", minute=480, days=127)
    timed.add(what="stretch", every=30)
    timed.board.now = EIGHT + 3 * HOUR
    timed.restart()
    await timed.look()
    told = timed.told()
    assert ("net 1", "reminder: water the plants, was due Tuesday 2026-09-22 08:00, 3 h ago (w1)") in told
    assert ("net 1", "reminder: feed the cat, was due Tuesday 2026-09-22 08:00, 3 h ago (w2)") in told
    assert len(told) == 3 and "stretch, was due Tuesday 2026-09-22 10:43, 17 min ago" in str(told)
    assert await timed.pass_time(10 * MINUTE) == []


async def test_what_could_not_be_delivered_is_delivered_after_a_restart_and_not_said_anew():
    timed = Timed()
    timed.add(at=EIGHT)
    timed.network.is_up = False
    assert await timed.pass_time(EIGHT - timed.board.now + MINUTE, 600) == []
    timed.restart()
    await timed.look()
    await timed.board.inbox.deliveries.redeliver("net")
    assert [text for _, text in timed.told()] == [PLANTS]


async def test_while_the_outbox_is_full_the_rest_waits_and_none_is_lost():
    timed = Timed()
    for number in range(20):
        timed.add(what="thing %d" % number, at=EIGHT)
    timed.network.is_up = False
    assert await timed.pass_time(EIGHT - timed.board.now + MINUTE, 600) == []
    timed.network.is_up = True
    sent = []
    for _ in range(5):
        await timed.board.inbox.deliveries.redeliver("net")
        sent += [text for _, text in timed.told()]
        sent += [text for _, text in await timed.pass_time(MINUTE)]
    assert sorted({text.partition("thing ")[2].partition(" ")[0].strip(",") for text in sent}, key=int) == [
        str(number) for number in range(20)
    ]
    assert len(sent) == 20


async def test_a_chat_whose_channel_is_not_there_gets_it_when_it_is():
    timed = Timed()
    timed.add(at=EIGHT)
    channels = timed.board.inbox.deliveries.channels
    away = channels.pop("net")
    assert await timed.pass_time(EIGHT - timed.board.now + HOUR, 600) == []
    channels["net"] = away
    (told,) = await timed.pass_time(MINUTE)
    assert told[1].startswith("reminder: water the plants, was due")


async def test_for_who_is_not_let_in_any_more_nothing_is_said():
    timed = Timed()
    timed.add(minute=480, days=127)
    open_sink, _ = timed.board.inbox.deliveries.channels["net"]
    timed.board.inbox.deliveries.channels["net"] = open_sink, lambda caller: False
    assert await timed.pass_time(3 * DAY, HOUR) == []


async def test_a_flash_that_refuses_delays_it_and_doubles_nothing():
    timed = Timed()
    timed.add(at=EIGHT)
    add = timed.board.journal.add
    failures = []

    def fail(*arguments, **more):
        failures.append(1)
        raise StoreError("there is no room.")

    timed.board.journal.add = fail
    assert await timed.pass_time(EIGHT - timed.board.now + MINUTE, 600) == []
    assert failures
    timed.board.journal.add = add
    assert await timed.pass_time(MINUTE) == [("net 1", PLANTS)]
    assert await timed.pass_time(DAY, HOUR) == []


async def test_a_clock_that_was_wrong_for_long_silences_nothing_for_ever():
    for days in (365, 5):
        timed = Timed()
        timed.add(minute=480, days=127)
        await timed.pass_time(HOUR, MINUTE)
        timed.board.now += days * DAY
        assert len(await timed.pass_time(2 * HOUR, MINUTE)) == 1
        timed.board.now -= days * DAY
        await timed.pass_time(HOUR, MINUTE)
        assert len(await timed.pass_time(3 * DAY, 600)) == 3, days


async def test_what_is_confirmed_is_on_flash():
    timed = Timed()
    timed.add(at=EIGHT)
    write = files.write_parts

    def refuse(path, parts):
        raise StoreError("there is no room.")

    files.write_parts = refuse
    try:
        with raises(StoreError):
            timed.add(what="feed the cat", at=EIGHT)
        with raises(StoreError):
            timed.timers.remove(CHAT, "w1")
    finally:
        files.write_parts = write
    assert [fields["what"] for fields in timed.timers.owned_by(CHAT)] == ["water the plants"]
    timed.restart()
    assert [fields["what"] for fields in timed.timers.owned_by(CHAT)] == ["water the plants"]


def test_timers_are_seen_and_removed_by_whom_they_belong_to():
    timed = Timed()
    for caller in (OWNER, CHAT, ANN, GROUP, OTHER_GROUP):
        timed.add(caller, at=EIGHT, what="of %s in %s" % (caller.principal, caller.room))
    seen = {
        caller: [fields["id"] for fields in timed.timers.owned_by(caller)]
        for caller in (OWNER, CHAT, ANN, GROUP, OTHER_GROUP)
    }
    assert seen == {OWNER: ["w1", "w2"], CHAT: ["w1", "w2"], ANN: ["w3"], GROUP: ["w4"], OTHER_GROUP: ["w5"]}
    for caller, own in list(seen.items()):
        for number in range(1, 6):
            if "w%d" % number not in own:
                with raises(NotFound):
                    timed.timers.remove(caller, "w%d" % number)
    # A group's timers are of all who are in it.
    assert timed.timers.remove(Caller("bo", "net 3", True, ""), "w4")["id"] == "w4"


def test_no_more_than_fit_and_no_number_comes_twice():
    timed = Timed()
    timed.timers.table.most = 3
    for number in range(3):
        timed.add(at=EIGHT + number)
    with raises(ArgumentError) as caught:
        timed.add(at=EIGHT + 4)
    assert "there are 3 already" in str(caught.error)
    timed.timers.remove(CHAT, "w3")
    timed.restart()
    assert timed.add(at=EIGHT + 4)["id"] == "w4"


def test_what_cannot_be_is_refused_with_the_reason():
    timed = Timed()
    for words, why in (
        ({"at": timed.board.now - 1}, "has passed"),
        ({"at": timed.board.now + 4000 * DAY}, "ten years"),
        ({"after": 4000 * DAY}, "ten years"),
        ({"every": 4}, "5 to"),
        ({"kind": "ask", "every": 30}, "60 to"),
        ({"what": " ", "at": EIGHT}, "not empty"),
        ({"what": "x" * 301, "at": EIGHT}, "at most 300"),
    ):
        with raises(ArgumentError) as caught:
            timed.add(**words)  # pyright: ignore[reportArgumentType]  # a text or a number
        assert why in str(caught.error), caught.error
    timed.add(at=EIGHT)
    with raises(ArgumentError) as caught:
        timed.add(at=EIGHT)
    assert "there already as w1" in str(caught.error)


def test_without_a_clock_no_timer_is_set():
    timed = Timed()
    timed.board.now = 1000
    timed.restart()
    for when in ({"after": 20 * MINUTE}, {"words": "paint"}):
        with raises(ArgumentError) as caught:
            timed.add(**when)  # pyright: ignore[reportArgumentType]  # a text or a number
        assert "needs the clock" in str(caught.error)


def test_damage_is_set_aside_and_the_rest_stays():
    timed = Timed()
    timed.add(at=EIGHT)
    timed.add(what="feed the cat", at=EIGHT)
    path = timed.board.place + "/memory/timers.jsonl"
    data = files.read(path, 8192)
    files.write(path, data.replace(b"water", b"wafer"))
    timed.restart()
    assert timed.timers.table.damaged == 1
    assert [fields["what"] for fields in timed.timers.owned_by(CHAT)] == ["feed the cat"]
    assert timed.add(at=EIGHT)["id"] == "w3"


def _hide(timed):
    """Put a folder, which cannot be read, in the place of the file; the file's path."""
    path = timed.board.place + "/memory/timers.jsonl"
    files.rename(path, path + ".kept")
    os.mkdir(path)
    return path


def _show(path):
    os.rmdir(path)
    files.rename(path + ".kept", path)


async def test_a_file_that_cannot_be_read_is_kept_and_reported_once_and_stops_no_start():
    timed = Timed()
    timed.add(at=EIGHT)
    path = _hide(timed)
    before = len([line for line in diag.lines() if "timers: " in line])
    timed.restart()
    assert await timed.pass_time(HOUR, 600) == []
    for use in (lambda: timed.add(what="feed the cat", at=EIGHT), lambda: timed.timers.owned_by(CHAT)):
        with raises(StoreError):
            use()
    warnings = [line for line in diag.lines() if "timers: " in line][before:]
    assert len(warnings) == 1, warnings
    _show(path)
    assert [fields["id"] for fields in timed.timers.owned_by(CHAT)] == ["w1"]
