"""The archive: memories leave only with the companion's promise, are found and come back, and nothing is lost or doubled."""

from archiving import Archiving, full_archive, store_many
from board import ANN, ROOM
from engram import log_line
from engram.archive import transfer
from engram.errors import NetError, NotFound
from engram.memory.access import OWNER
from samples import Numbers, distinct_content
from support import raises, rounds


async def test_at_the_cap_no_more_than_needed_leaves_to_the_trash_while_it_is_away():
    linked = Archiving(records_most=100)
    linked.exchange.close(NetError("gone"))
    store_many(linked.board, 103)
    assert len(linked.live()) == 100
    assert len(linked.board.left()) == 3


async def test_too_many_bytes_leave_the_flash_only_once_the_companion_has_them():
    linked = Archiving(records_bytes=65536, records_most=5000)
    numbers = []
    for at in range(25):
        linked.board.now += 1
        numbers.append(int(linked.board.remember(distinct_content(at) + " " + "filler " * 450, ["t"])[1:]))
        await linked.work(400)
    assert linked.kept() and sorted(linked.kept() + linked.live()) == numbers
    assert linked.board.records.entries.bytes < 65536
    assert not linked.board.holds(distinct_content(0))
    assert linked.board.archived.total == len(linked.kept())


async def test_one_that_changes_while_the_promise_is_on_its_way_stays():
    linked = Archiving(records_most=100)
    first, second, third = store_many(linked.board, 3)
    await linked.copy()
    promised = await linked.archive._promised([first, second, third])
    linked.board.records.update("m%d" % first, {"content": "another text altogether"})
    linked.board.records.update("m%d" % second, {"pinned": True})
    assert transfer.archive(linked.board.records, promised) == 1
    await linked.copy()
    assert linked.live() == [first, second] and linked.kept() == [third]


async def test_a_companion_that_has_another_line_gets_nothing():
    linked = Archiving(records_most=10)
    store_many(linked.board, 10)
    await linked.copy()
    copy = linked.companion.copy("records")
    for seq in copy.lines:
        copy.lines[seq] = log_line.encode([("seq", seq), ("op", "compacted")])
    linked.board.eviction.tick()
    for _ in range(3):  # the first may only count what it gave before
        await linked.archive.step()
    assert len(linked.live()) == 10
    assert "compared again" in linked.archive.why
    assert not linked.archive.is_open()


# --- finding


async def test_a_text_for_what_is_live_or_unknown_is_not_taken():
    linked, _ = await full_archive()
    live = linked.live()[0]
    told = [1700000000, "", "a lie"]
    linked.companion.finds = [["m%d" % live, 900] + told, ["m99999", 900] + told]
    found = await linked.recalled("zebra")
    assert [item.id for item in found] == ["m%d" % live] and found[0].text != "a lie"


async def test_others_do_not_see_what_is_archived_of_the_owner():
    linked, _ = await full_archive()
    gone = linked.kept()[0]
    linked.companion.finds = [["m%d" % gone, 900, 1700000000, "", distinct_content(0)]]
    for caller in (ANN, ROOM):
        assert await linked.recalled("zebra", caller) == []
        assert not linked.archive.may_be_archived("m%d" % gone, caller)


async def test_an_answer_that_is_not_what_was_asked_for_is_not_shown():
    linked, _ = await full_archive(14)
    first, second = linked.kept()[:2]
    kept = linked.companion.copy("records").kept
    private = log_line.encode(
        [("seq", 3), ("id", "m%d" % first), ("content", "x"), ("created", 1), ("scope", "user:ann")]
    )
    for lie in (kept[second], kept[first][:-5], b"", b"{}", private):
        linked.companion.lies["m%d" % first] = lie
        assert (await linked.archive.fetched("m%d" % first, OWNER))[0] is None


async def test_what_cannot_be_reached_is_reported():
    linked, _ = await full_archive()
    linked.exchange.close(NetError("it is not there"))
    line, why = await linked.archive.fetched("m%d" % linked.kept()[0], OWNER)
    assert line is None and why.endswith("is with the companion: it is not there.")
    found = await linked.ask.found(linked.board.rank("zebra", OWNER), 10)
    assert "without the archive (memories: %d)" % len(linked.kept()) in found.note


async def test_turns_that_left_are_read_by_their_id():
    linked = Archiving(journal_bytes=65536)
    for number in range(80):
        linked.board.journal.add(OWNER, "user", "owner", "turn %d " % number + "x" * 900)
        await linked.work()
    journal = linked.board.journal
    assert journal.entries.oldest > 1 and journal.dropped_segments == journal.unsent == 0
    line, _ = await linked.archive.fetched("t5", OWNER)
    assert line["text"].startswith("turn ")
    assert (await linked.archive.fetched("t5", ANN))[0] is None


# --- the journal


async def test_turns_stay_while_the_companion_is_away_until_the_cap():
    linked = Archiving(journal_bytes=65536)
    linked.exchange.close(NetError("gone"))
    board = linked.board
    number = 0
    while board.journal.entries.bytes < 64000:
        board.journal.add(OWNER, "user", "owner", "turn %d " % number + "x" * 400)
        number += 1
    assert board.journal.surplus() and board.journal.entries.oldest == 1
    for _ in range(20):
        board.journal.add(OWNER, "user", "owner", "turn again " + "x" * 400)
    assert board.journal.dropped_segments == 1 and board.journal.unsent == board.journal.entries.oldest - 1


# --- coming back


async def _used_often(linked, gone, times=3):
    linked.board.archived.uses_wanted = 3
    linked.companion.finds = [["m%d" % gone, 900, 1700000000, "", distinct_content(0)]]
    for _ in range(times):
        await linked.recalled("zebra")


async def test_what_is_used_often_comes_back_with_its_id_once():
    linked, _ = await full_archive()
    gone = linked.kept()[0]
    for other in linked.live()[:4]:
        linked.board.records.forget("m%d" % other)
    await _used_often(linked, gone)
    await linked.work()
    record = linked.board.records.get("m%d" % gone)
    assert record["content"] == distinct_content(0) and record["restored"] == linked.board.now
    assert gone not in linked.kept() and linked.board.archived.total == len(linked.kept())
    await _used_often(linked, gone, 5)
    await linked.work()
    assert linked.live().count(gone) == 1


# --- forgetting


async def test_a_forgotten_one_goes_at_the_companion_too():
    for compacts in (False, True):
        linked, _ = await full_archive()
        gone = linked.kept()[0]
        if compacts:
            linked.board.compact()
            await linked.archive.fetched("m%d" % gone, OWNER)
        linked.board.forgetting.forget("m%d" % gone)
        assert not linked.archive.may_be_archived("m%d" % gone, OWNER)
        linked.companion.finds = [["m%d" % gone, 900, 1700000000, "", distinct_content(0)]]
        assert await linked.recalled("zebra") == []
        await linked.copy()
        assert gone not in linked.kept() and linked.board.archived.total == len(linked.kept())


async def test_forgetting_waits_through_a_compaction_until_the_companion_knows_it():
    linked, _ = await full_archive()
    gone = linked.kept()[0]
    linked.board.compact()
    await linked.archive.fetched("m%d" % gone, OWNER)
    linked.board.forgetting.forget("m%d" % gone)
    linked.board.compact()
    linked.board.restart()
    linked.connect()
    assert not linked.archive.may_be_archived("m%d" % gone, OWNER)
    await linked.copy()
    assert gone not in linked.kept()


async def _came_back():
    """A board with a memory that came back, of which the companion has not heard; its number."""
    linked, _ = await full_archive()
    number = linked.kept()[0]
    linked.board.records.forget("m%d" % linked.live()[0])
    await linked.copy()
    line = await linked.archive.line("m%d" % number, OWNER)
    assert line and transfer.restore(linked.board.records, linked.board.archived, line, OWNER)
    return linked, number


async def test_one_that_came_back_and_went_before_the_companion_heard_of_it_leaves_the_archive():
    for changes in (False, True):
        for forgets in (True, False):
            linked, number = await _came_back()
            if changes:
                linked.board.records.update("m%d" % number, {"importance": 0.3})
            if forgets:
                linked.board.records.forget("m%d" % number)
            else:
                linked.board.records.evict([number])
            linked.board.compact()
            await linked.copy()
            assert number not in linked.kept()


async def test_nobody_forgets_what_they_may_not_see():
    for compacts in (False, True):
        linked, _ = await full_archive()
        gone = linked.kept()[0]
        store_many(linked.board, 1, 50, scope="user:ann")
        if compacts:
            linked.board.compact()
            await linked.copy()
        with raises(NotFound):
            linked.board.forgetting.forget("m%d" % gone, ANN)
        await linked.copy()
        assert gone in linked.kept()


# --- the index


async def test_the_index_is_the_same_after_restarts_and_compactions():
    linked, _ = await full_archive(16)
    board = linked.board
    before = board.archived.held
    assert before.count > 1
    for step in (board.restart, board.compact, board.restart):
        step()
        assert board.archived.held == before


async def test_a_lost_database_is_an_error_in_the_log():
    linked, _ = await full_archive()
    count = len(linked.kept())
    linked.board.compact()
    await linked.copy()
    assert linked.board.archived.lost == 0
    linked.companion = linked.way.companion = type(linked.companion)()
    await linked.work()
    assert linked.board.archived.lost == count


# --- faults


async def test_whatever_the_way_does_nothing_is_lost_or_doubled():
    for seed in range(rounds(3, 1)):
        linked = Archiving(records_most=10, numbers=Numbers(seed))
        stored = []
        for at in range(18):
            stored += store_many(linked.board, 1, at)
            try:
                await linked.work(12)
            except NetError:
                pass
            if at % 5 == 4:
                linked.board.compact()
            if at % 7 == 6:
                linked.board.restart()
                linked.connect()
        linked.way.numbers = None
        linked.archive._pause.end()
        await linked.work()
        trashed = [int(record["id"][1:]) for record in linked.board.left()]
        assert sorted(linked.live() + linked.kept() + trashed) == stored, seed
        assert linked.board.archived.total == len(linked.kept())
