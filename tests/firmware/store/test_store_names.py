"""Tags, speakers, keywords and texts of every allowed length, in characters of 1 to 4 bytes, stay whole and are found."""

import random

from board import Board
from engram.compat import finish
from engram.memory.access import NAME_BYTES, WORKSPACE_CHARS
from engram.memory.records.fields import TAG_LONGEST
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


def test_the_longest_tags_stay_whole_through_sealing_restart_and_compaction():
    board = Board()
    tags = {(letters * 2)[:TAG_LONGEST]: 1 for letters in LETTERS}
    for tag in tags:
        board.remember("the lamp hums", [tag])
    for step in (lambda: finish(board.records_store.upkeep.sealing_segment()), board.restart, board.compact):
        assert dict(board.records.tags()) == tags
        step()
    assert dict(board.records.tags()) == tags
