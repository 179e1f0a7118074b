"""Tags, speakers, keywords and texts of every allowed length, in characters of 1 to 4 bytes, stay whole and are found."""

import random

from board import Board
from engram import diag
from engram.compat import finish
from engram.memory.access import NAME_BYTES, OWNER, WORKSPACE_CHARS, Caller, check_caller
from engram.memory.records.fields import KEYWORD_LONGEST, TAG_LONGEST
from engram.store.index.memtable import LONGEST_NAME
from engram.store.index.table import Footer, Table
from engram.store.index.table_writer import TableWriter, pack_row
from support import folder, rounds

LETTERS = (
    "abcdefghijklmnop",
    "äöüßéèñçøåабвгде",
    "家物置場所表説明東京都市場猫犬魚",
    "😀😁😂🎉🎂🚲🚀🌍🌙🍎🍊🎵🎸🏠🏡🐈",
)
"""Sixteen characters of each length in bytes."""


def _name(size: int, width: int, place: int) -> str:
    """A name of so many characters of so many bytes, another one for each place."""
    letters = LETTERS[width - 1]
    return "".join(letters[(place >> 4 * at % 12) + at & 15] for at in range(size))


def _bytes_name(size: int) -> str:
    """A name of exactly so many bytes, of characters of any length."""
    name = ""
    while size:
        width = random.randrange(1, 1 + min(4, size))
        name += LETTERS[width - 1][random.randrange(16)]
        size -= width
    return name


def _names_written(names) -> list:
    """What a table gives of the names that were written to it."""
    path = folder() + "/x"
    writer = TableWriter(path, 1)
    footer = Footer()
    writer.end_terms(footer)
    footer.rows = footer.first = footer.last = footer.words = footer.log_bytes = footer.epoch = 1
    writer.write(pack_row(1, 0, 0))
    for _ in writer.finish(footer, iter([(0, 1)]), iter(names)):
        pass
    table = Table(path, 1)
    found = list(table.names())
    table.close()
    return found


def test_a_table_gives_back_names_of_each_length():
    random.seed(21)
    names = [_bytes_name(size) for size in range(1, LONGEST_NAME + 1)]
    assert _names_written(names) == names
    for _ in range(rounds(200, 20)):
        some = [_bytes_name(random.randrange(1, LONGEST_NAME + 1)) for _ in range(random.randrange(9))]
        assert _names_written(some) == some


def test_a_table_has_room_for_the_longest_label():
    longest = max(4 * TAG_LONGEST, len("user:") + NAME_BYTES, len("ws:") + 4 * WORKSPACE_CHARS)
    assert 1 + longest <= LONGEST_NAME


# --- on a board


def _seal(board):
    for store in (board.records_store, board.journal_store):
        finish(store.upkeep.sealing_segment())


def _tick(board):
    while board.records.entries.tick() or board.journal.entries.tick():
        pass


def _restart(board):
    board.restart()
    _tick(board)


def _agree(board, tags, words, speakers, when):
    counts = dict(board.records.tags())
    assert {tag: counts.get(tag) for tag in tags} == tags and len(counts) == len(tags), when
    names = [label[1:] for label in board.journal_store.names("%")]
    assert sorted(names) == sorted(speakers), when
    for place, (word, ref) in enumerate(words.items()):
        if place % rounds(1, 5) == 0:
            assert ref in [record["id"] for _, record in board.search(word, 5)], (when, word)
    assert not board.records.entries.partial and not board.journal.entries.partial, when
    assert not [line for line in diag.lines() if "damaged" in line or "read back" in line], when


def _filled(board):
    """Fill a board with names of each length: {tag: number of memories}, {word: id of the memory that has it}, speakers."""
    tags, words, speakers = {}, {}, {"engram"}
    merged = 0
    for width in (1, 2, 3, 4):
        for size in range(3, TAG_LONGEST + 1):
            tag = _name(size, width, size)
            word = "word%dx%d" % (width, size)
            keyword = _name(min(KEYWORD_LONGEST, size + 8), width, 1)
            content = word + " " + _name(random.choice((1, 40, 41, 400, 2000)), random.randrange(1, 5), size)
            words[word] = board.remember(content, [tag], keywords=[keyword])
            tags[tag] = tags.get(tag, 0) + 1
            if width * size <= NAME_BYTES:
                caller = check_caller(Caller(_name(size, width, size), "chat#1", False, ""))
                board.journal.add(caller, "user", caller.principal, content)
                speakers.add(caller.principal)
            if size % 6 == 0:
                _seal(board)
                _tick(board)
                merged += board.records_store.index.tables[0].rows > 6
    assert merged
    return tags, words, speakers - {"engram"}


def test_names_of_each_length_stay_whole_through_sealing_merging_restart_and_compaction():
    random.seed(22)
    board = Board(segment_bytes=6000)
    tags, words, speakers = _filled(board)
    _agree(board, tags, words, speakers, "filled")
    _restart(board)
    _agree(board, tags, words, speakers, "after a restart")
    gone = list(words)[::3]
    for word in gone:
        record = board.records.get(words.pop(word))
        board.records.forget(record["id"])
        tags[record["tags"][0]] -= 1
    tags = {tag: count for tag, count in tags.items() if count}
    board.compact()
    _tick(board)
    _agree(board, tags, words, speakers, "after a compaction")
    _restart(board)
    _agree(board, tags, words, speakers, "after a compaction and a restart")
    for word in gone:
        assert not [record for _, record in board.search(word, 5) if word in record["content"].split()]


def test_workspaces_of_each_length_are_found_by_who_is_in_them():
    board = Board(segment_bytes=6000)
    spaces = [_name(size, width, size) for width in (1, 2, 3, 4) for size in range(3, WORKSPACE_CHARS + 1, 2)]
    refs = {}
    for space in spaces:
        refs[space] = board.remember("the lamp is here", ["ws:" + space], scope="ws:" + space)
    _seal(board)
    _restart(board)
    for space in spaces:
        caller = check_caller(Caller("ann", "chat#1", False, space))
        assert [record["id"] for _, record in board.search("lamp", 5, caller)] == [refs[space]]
    assert OWNER and board.records.count(OWNER) == 0
