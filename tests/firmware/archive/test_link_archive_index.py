"""The archive's index: what is lost of it comes back from the companion, and what it says is so after a restore, too."""

import os

from archiving import Archiving, full_archive
from board import ANN, Board
from engram import log_line
from engram.errors import NetError, NotFound
from engram.memory.access import OWNER
from engram.memory.records.schema import Archived
from support import raises


async def _away(count=14):
    """A board of whose memories some have left its flash for good."""
    linked, _ = await full_archive(count)
    linked.board.compact()
    await linked.work()
    assert linked.board.archived.total == len(linked.kept()) > 1
    return linked


def _restarted(linked):
    linked.board.restart()
    linked.connect()


async def test_where_the_index_was_lost_the_companions_number_holds_and_counts_on():
    linked = await _away()
    linked.board.records.entries.owner.archived = Archived(0, 0, 0, 0)
    await linked.work()
    linked.connect()
    await linked.work()
    assert linked.board.archived.total == len(linked.kept())
    gone = linked.kept()[0]
    assert (await linked.archive.fetched("m%d" % gone, OWNER))[0] is not None
    linked.board.forgetting.forget("m%d" % gone)
    await linked.work()
    assert gone not in linked.kept() and linked.board.archived.total == len(linked.kept())
    _restarted(linked)
    assert linked.board.archived.total == len(linked.kept())


async def test_what_was_not_shown_is_not_forgotten_once_only_the_companion_knows_whose_it_is():
    linked = await _away()
    gone = linked.kept()[0]
    with raises(NotFound):
        linked.board.forgetting.forget("m%d" % gone)
    await linked.archive.fetched("m%d" % gone, OWNER)
    with raises(NotFound):
        linked.board.forgetting.forget("m%d" % gone, ANN)
    assert linked.board.forgetting.forget("m%d" % gone)[0]["archived"]


# --- a database that is an older one


async def test_lines_about_the_archive_stay_until_it_is_noted_what_the_companion_knows():
    linked, _ = await full_archive()
    archived = linked.board.archived
    assert archived.durable_seq == 0
    linked.board.compact()
    assert archived.durable_seq == linked.board.records.entries.owner.archived.seq
    _restarted(linked)
    assert linked.board.archived.durable_seq == archived.durable_seq


async def test_where_it_cannot_be_noted_the_lines_stay():
    linked, _ = await full_archive()
    gone = linked.kept()[0]
    noting = linked.board.archived._link_state
    path, noting._path = noting._path, linked.board.place + "/none/link.json"
    linked.board.compact()
    assert linked.board.records.entries.line(gone) is not None
    noting._path = path
    linked.board.compact()
    assert linked.board.records.entries.line(gone) is None


async def test_a_companion_that_asks_gets_what_the_index_has():
    linked = await _away()
    copy = linked.companion.copy("records")
    copy.doubted, copy.kept = copy.kept, {}
    copy.doubted[9999] = log_line.encode([("seq", 9999), ("id", "m9999"), ("content", "x"), ("scope", "all")])
    await linked.work()
    assert len(linked.kept()) == linked.board.archived.total and 9999 not in linked.kept()
    assert linked.board.archived.lost == 0


# --- turns


def _talk(board, count=110):
    for number in range(count):
        board.journal.add(OWNER, "user", "owner", "turn %d " % number + "x" * 400)


async def _talk_until(linked, has_left):
    """Talk with the companion there, until so much has left."""
    for number in range(200):
        if has_left():
            return
        linked.board.journal.add(OWNER, "user", "owner", "turn %d " % number + "x" * 400)
        await linked.work()
    raise AssertionError("nothing left")


def _day(linked):
    """The day of the oldest turn on the board."""
    board = linked.board
    return board.clock.day(next(board.journal.later(0))["at"])


async def test_turns_that_left_before_a_companion_was_set_up_are_not_said_to_be_with_it():
    board = Board(companion_url="http://companion", journal_bytes=40960)
    _talk(board)
    missed = board.journal.entries.oldest - 1
    assert missed > 0
    linked = Archiving(board)
    await linked.copy()
    assert linked.archive.status() == "" and linked.archive.missed == missed
    linked.exchange.close(NetError("it is not there"))
    assert "may be with the companion" in (await linked.archive.fetched("t2", OWNER))[1]


async def test_turns_that_left_at_the_cap_unsent_are_known_after_a_restart():
    linked = Archiving(journal_bytes=40960)
    linked.exchange.close(NetError("gone"))
    _talk(linked.board)
    missed = linked.board.journal.entries.oldest - 1
    assert missed > 0 and linked.archive.missed == missed
    _restarted(linked)
    await linked.copy()
    _restarted(linked)
    assert linked.archive.missed == missed and linked.archive.status() == ""
    await _talk_until(linked, lambda: linked.board.journal.entries.oldest > missed + 1)
    oldest = linked.board.journal.entries.oldest
    assert linked.archive.status() == "turns t%d to t%d, until %s" % (missed + 1, oldest - 1, _day(linked))
    assert os.stat(linked.board.place + "/memory/link.json")[6] <= 128


async def test_turns_that_left_just_before_the_power_failed_stay_with_the_companion():
    linked = Archiving(journal_bytes=40960)
    _talk(linked.board, 60)
    await linked.copy()
    seqs = sorted(linked.companion.copy("journal").lines)
    assert linked.board.journal_store.log.drop_oldest()
    _restarted(linked)
    linked.sync.compare("journal")
    await linked.copy()
    assert sorted(linked.companion.copy("journal").lines) == seqs


async def test_turns_that_a_companion_without_its_database_has_lost_are_not_said_to_be_there():
    linked = Archiving(journal_bytes=40960)
    await _talk_until(linked, lambda: linked.board.journal.entries.oldest > 1)
    linked.companion.copies.clear()
    await linked.copy()
    assert linked.archive.missed == linked.board.journal.entries.oldest - 1 and linked.archive.status() == ""
