"""`engram import` of Markdown that people write by hand, and of pages of `engram export --markdown`."""

import json
import random

from hypothesis import given
from hypothesis import strategies as st

from board import NOW
from engram_host.transfer.markdown import write_page
from engram_host.transfer.reader import MemoryFile
from extent import extent
from importing_board import Importing
from markdown_pages import CASES, DAYS, LIST, LISTED
from movers import live, memories


def test_a_persons_list_is_read(importing: Importing):
    board = importing.board
    assert importing.run(LIST, "in.md") == ["5 stored, 0 refused", "1 line is in no list and was left out"]
    assert [(row["content"], row["tags"], row["source"]) for row in live(board)] == LISTED


def test_marks_of_markdown_are_read(importing: Importing):
    for page, rows in CASES:
        board = importing.new_board()
        importing.run(page, "in.md")
        assert [(row["content"], row["tags"], row["keywords"]) for row in live(board)] == rows, page


def _contents(page: str) -> list[str]:
    return [fields["content"] for _, fields in MemoryFile("in.md", page.encode()).lines() if isinstance(fields, dict)]


def test_an_item_has_the_texts_of_all_items_that_it_is_below():
    random.seed(11)
    for _ in range(extent(400, 40)):
        path: list[str] = []
        page = ""
        leaves: list[tuple[int, str]] = []
        indent = random.choice(("  ", "   ", "\t", "    "))
        for number in range(30):
            depth = random.randrange(len(path) + 1)
            path[depth:] = [f"猫{number}" if number % 3 else f"word {number}"]
            leaves.append((depth, ": ".join(path)))
            page += indent * depth + random.choice(("- ", "* ", "+ ", "7. ", "12) ")) + path[-1] + "\n"
        depths = [depth for depth, _ in leaves[1:]] + [0]
        assert _contents(page) == [text for (depth, text), after in zip(leaves, depths, strict=True) if after <= depth]


def test_a_text_above_that_is_too_long_is_a_memory_and_is_shortened_before_others():
    above = "Ada " + "likes tea " * 50
    first, second = _contents(f"- one\n  - {above}\n    - green\n")
    assert first.strip() == "one: " + above.strip() and len(second) < 420
    assert second.startswith("Ada likes tea ") and second.endswith("…: green")


def test_any_depth_of_items_stays_within_the_length_of_a_memory():
    contents = _contents("".join("  " * depth + f"- {depth} {'x' * 90}\n" for depth in range(40)))
    assert max(map(len, contents)) < 600
    assert all(any(f"{depth} xxx" in content for content in contents) for depth in range(40))


def test_a_heading_that_names_a_day_dates_its_items(importing: Importing):
    for heading, day, tag in DAYS:
        board = importing.new_board()
        importing.run(f"## {heading}\n- it rains\n", "in.md")
        row = live(board)[0]
        assert board.clock.day(row["created"]) == (day or board.clock.day(NOW)), heading
        assert row["tags"] == [tag], heading


TEXTS = st.text(" \t\n\r#-*+.)0129\\&;ax猫\x1b\x85\u2028", min_size=1, max_size=40).map(str.strip).filter(bool)
TAGS = st.lists(st.text("ab#&\\-猫12;", min_size=1, max_size=8), min_size=1, max_size=3, unique=True)


@given(st.lists(st.tuples(st.integers(0, 2_000_000_000), TEXTS, TAGS), max_size=5))
def test_a_page_that_is_written_is_read_with_all_texts_and_tags(rows: list[tuple[int, str, list[str]]]):
    written = write_page({"created": at, "content": content, "tags": tags} for at, content, tags in rows)
    page = "".join(line + "\n" for line in written)
    found = [fields for _, fields in MemoryFile("in.md", page.encode()).lines() if isinstance(fields, dict)]
    expected = [(content, tags) for _, content, tags in sorted(rows, key=lambda row: row[0])]
    assert [(fields["content"], fields["tags"]) for fields in found] == expected


@given(st.text("-#*+. \n\t();\\&12a猫", max_size=60))
def test_a_page_of_chance_is_read_or_refused(page: str):
    assert all(isinstance(fields, dict | str) for _, fields in MemoryFile("in.md", page.encode()).lines())


def test_a_page_that_is_written_has_a_heading_a_day(importing: Importing):
    rows = ((NOW + 86_400, "it rains"), (NOW, "Ann likes tea\n- green"), (NOW + 1, "Bob sings"))
    page = list(write_page({"created": at, "content": content, "tags": ["a"]} for at, content in rows))
    days = [importing.board.clock.day(NOW + after) for after in (0, 86_400)]
    first = [f"## {days[0]}", "", "- Ann likes tea", "  \\- green #a", "- Bob sings #a", ""]
    assert page == [*first, f"## {days[1]}", "", "- it rains #a"]


def test_what_cannot_be_read_is_reported_with_its_line(importing: Importing):
    page = (b"- one\n- \xff\xfe\n- #food\n- two\n" + b"  more\n" * 2400 + b"- " + b"x" * 3000 + b"\n- last\n",)
    told = importing.run(page, "in.md")
    assert told[0] == "line 2: is not UTF-8."
    assert told[1].startswith("line 3: content: must be a text that is not empty")
    assert told[2].startswith("line 4: content: has 12003") and told[3].startswith(
        "line 2405: content: has 3000 characters"
    )
    assert told[4] == "2 stored, 4 refused"


# --- a JSON list

TWO = '[\n {"content": "Ann: \\"]}\\\\", "tags": ["a"]},\n {"content": "Bob", "tags": ["b"],\n  "keywords": ["x"]}\n]\n'


def test_the_objects_of_a_list_are_memories(importing: Importing):
    assert importing.run(TWO, "in.json") == ["2 stored, 0 refused"]
    assert [row["content"] for row in live(importing.board)] == ['Ann: "]}\\', "Bob"]


def test_lists_within_an_object_are_read(importing: Importing):
    assert importing.run('{"version":1,"memories":' + TWO + "}", "in.json") == ["2 stored, 0 refused"]


def test_a_list_of_exported_memories_is_recognised(importing: Importing):
    board = importing.board
    board.records.store("Ann plays chess", ["a"])
    assert importing.run(json.dumps(memories(board)), "in.json") == ["0 stored, 1 there already, 0 refused"]


def test_lines_and_an_object_are_read_though_the_name_is_that_of_a_list(importing: Importing):
    line = '{"content": "Bob", "tags": ["b"]}'
    for content, last in (
        (line, "1 stored, 0 refused"),
        ("\ufeff" + line + '\n{"content": "Ann", "tags": ["a"]}\n', "2 stored, 0 refused"),
        (line.replace(",", ",\n"), "1 stored, 0 refused"),
    ):
        importing.new_board()
        assert importing.run(content, "in.json")[-1] == last, content


def test_a_file_without_objects_is_refused(importing: Importing):
    for content in ("", "hello", '["a", "b"]', "[]"):
        told = importing.run(content, "in.json")
        assert told == ["line 1: the file has no JSON object.", "0 stored, 1 refused"], content


def test_what_cannot_be_read_of_a_list_is_reported_with_its_line(importing: Importing):
    long = '[{"content": "%s", "tags": ["a"]},\n{"content": "b", "tags": 7}, {"content": "c", "tags": ["c"]}\n'
    told = importing.run(long % ("x" * 17000), "in.json")
    assert told[0].startswith("line 1: has 170") and told[1].startswith("line 2: tags: ")
    assert told[2:] == ["line 3: the file has no end.", "1 stored, 3 refused"]
    told = importing.run("[" * 100000, "in.json")
    assert told[0].startswith("line 1: the file has more than 64 brackets") and told[-1] == "0 stored, 1 refused"
