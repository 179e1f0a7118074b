"""/import of a page of Markdown on the board: as `engram import` reads it on a computer (tests/cli/test_import_markdown.py)."""

import gc
import random

from board import ANN, NOW, error_of
from engram.clock import MONTHS, civil, days_from_civil
from engram.compat import heap_used
from engram.transfer.headings import find_day
from engram.transfer.markdown_reader import MarkdownReader
from engram.zone import Zone
from markdown_pages import CASES, DAYS, LIST, LISTED
from movers import MANY, answered, fill, imported, live, mover
from support import on_micropython, rounds


def _page(board):
    return "\n".join(answered(board, "/export md")) + "\n"


def _rows(board):
    return sorted(live(board), key=lambda row: (row["created"], row["content"]))


def test_a_page_keeps_all_fields_of_a_memory():
    random.seed(3)
    board = fill(mover(), MANY)
    page, was = _page(board), _rows(board)
    other = mover()
    assert imported(other, page, "in.md") == ["%d stored, 0 refused" % len(was)]
    assert _rows(other) == was and _page(other) == page


def test_a_persons_list_is_read():
    board = mover()
    assert imported(board, LIST, "in.md") == ["5 stored, 0 refused", "1 lines are in no list and were left out"]
    assert [(row["content"], row["tags"], row["source"]) for row in live(board)] == LISTED


def test_marks_of_markdown_are_read():
    for page, rows in CASES:
        board = mover()
        imported(board, page, "in.md")
        assert [(row["content"], row["tags"], row["keywords"]) for row in live(board)] == rows, page


def test_an_item_has_the_texts_of_all_items_that_it_is_below():
    random.seed(11)
    for _ in range(rounds(40, 10)):
        reader = MarkdownReader(None, lambda local: local)
        leaves, found, path = [], [], []
        indent = ("  ", "   ", "\t", "    ")[random.getrandbits(2)]
        for number in range(30):
            depth = random.getrandbits(4) % (len(path) + 1)
            del path[depth:]
            path.append("猫%d" % number if number % 3 else "word %d" % number)
            leaves.append((depth, ": ".join(path)))
            mark = ("- ", "* ", "+ ", "7. ", "12) ")[random.getrandbits(4) % 5]
            found.append(reader.read_line(number, indent * depth + mark + path[-1]))
        found.append(reader.end())
        wanted = [
            text for at, (depth, text) in enumerate(leaves) if at + 1 == len(leaves) or leaves[at + 1][0] <= depth
        ]
        assert [each[1]["content"] for each in found if each] == wanted


def test_a_text_above_that_is_too_long_is_a_memory_and_is_shortened_before_others():
    above = "Ada " + "likes tea " * 50
    board = mover()
    imported(board, "- one\n  - %s\n    - green\n" % above, "in.md")
    first, second = [row["content"] for row in live(board)]
    assert first == "one: " + above.strip() and len(second) < 420
    assert second.startswith("Ada likes tea ") and second.endswith("…: green")


def test_any_depth_of_items_stays_within_the_length_of_a_memory():
    board = mover()
    count = 40
    imported(board, "".join(["  " * depth + "- %d %s\n" % (depth, "x" * 90) for depth in range(count)]), "in.md")
    contents = [row["content"] for row in live(board)]
    assert max([len(content) for content in contents]) < 600
    for depth in range(count):
        assert [True for content in contents if "%d xxx" % depth in content], depth


def test_a_heading_that_names_a_day_dates_its_items():
    for heading, day, tag in DAYS:
        board = mover()
        imported(board, "## %s\n- it rains\n" % heading, "in.md")
        row = live(board)[0]
        assert board.clock.day(row["created"]) == (day or board.clock.day(NOW)), heading
        assert row["tags"] == [tag], heading


def test_every_day_of_a_century_is_read_from_a_heading():
    random.seed(5)
    for _ in range(rounds(300, 60)):
        day = days_from_civil(1971, 1, 1) + random.getrandbits(15)
        year, month, of_month = civil(day)
        for form in (
            "%(y)d-%(m)02d-%(d)02d",
            "%(d)d.%(m)d.%(y)d",
            "%(n)s %(d)d, %(y)d",
            "%(d)d %(s)s %(y)d",
            "%(y)d年%(m)d月%(d)d日",
        ):
            name = MONTHS[month - 1]
            heading = form % {"y": year, "m": month, "d": of_month, "n": name, "s": name[:3]}
            assert find_day(heading) == (day, year, ""), heading


def test_a_day_without_a_year_is_one_of_the_heading_around_it():
    board = mover()
    page = "# Diary 2024\n## March 16\n- one\n## 3月17日\n- two\n## Notes\n- three\n# Else\n## March 18\n- four\n"
    imported(board, page, "in.md")
    today = board.clock.day(NOW)
    assert sorted([(row["content"], board.clock.day(row["created"])) for row in live(board)]) == [
        ("four", today), ("one", "2024-03-16"), ("three", today), ("two", "2024-03-17"),
    ]  # fmt: skip


def test_times_are_those_of_the_pages_zone_or_the_boards():
    page = "## 2026-09-21\n- It rains\n  (10:43:20)\n"
    for title, zone, created in (("# Memories, times at -03:30\n", 0, NOW), ("", 60, NOW - 270 * 60)):
        board = mover()
        board.clock.zone_minutes = zone
        imported(board, title + page, "in.md")
        assert [row["created"] for row in live(board)] == [created], title


def test_a_page_has_times_of_one_offset_and_a_list_those_of_the_boards_rule():
    zone = Zone("CET-1CEST,M3.5.0,M10.5.0/3")
    board = mover()
    board.clock.zone_minutes, board.clock.zone = zone.standard, zone
    board.records.store("It rains", ["a"])
    page = _page(board)
    assert page.startswith("# Memories, times at +01:00\n") and "(15:13:20;" in page
    for listed in (page, "## 2026-09-21\n- It rains\n  (16:13:20)\n"):
        board = mover()
        board.clock.zone = zone
        imported(board, listed, "in.md")
        assert [row["created"] for row in live(board)] == [NOW], listed


def test_what_cannot_be_read_is_reported_with_its_line():
    long = (b"  more\n" * 100,) * 24
    before, behind = b"- one\n- \xff\xfe\n- #food\n- two\n", b"- %s\n- %s\n- last\n" % (b"x" * 3000, b"y" * 17000)
    told = imported(mover(), (before,) + long + (behind,), "in.md")
    assert told[0] == "line 2: is not UTF-8."
    assert told[1].startswith("line 3: content: must be a text that is not empty")
    assert told[2].startswith("line 4: has ") and told[3].startswith("line 2405: content: has 3000 characters")
    assert told[4].startswith("line 2406: has 170") and told[4].endswith("too long for one memory.")
    assert told[5] == "2 stored, 5 refused"


def test_pages_are_for_the_owner():
    assert "for the owner only" in error_of(mover(), "/import in.md", ANN)


def test_codes_of_characters_stay_in_no_memory():
    # On MicroPython what chr() gives is kept for ever.
    _last_content(0x4E00)
    gc.collect()
    before = heap_used()
    assert _last_content(0x5440).encode()[-3:] == b"\xe5\xa0\xa7"
    gc.collect()
    assert not on_micropython() or heap_used() - before < 1000


def _last_content(first):
    """The content of the last item of a list that has 1000 characters as codes."""
    reader = MarkdownReader(None, None)
    for code in range(first, first + 1000, 20):
        reader.read_line(1, "- " + "".join(["&#%d;" % each for each in range(code, code + 20)]))
    last = reader.end()
    assert last and isinstance(last[1], dict)
    return last[1]["content"]
