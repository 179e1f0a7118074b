"""`engram import` of JSON Lines: each line reaches the board as it is, or is refused with its number."""

import json
from pathlib import Path

from cli_case import engram
from engram.memory.access import OWNER
from importing_board import Importing
from movers import answered, mover, rows

REFUSED: tuple[tuple[bytes, str], ...] = (
    (b"{", "is no JSON object."),
    (b'{"content":"cut', "is no JSON object."),
    (b"[1]", "is no JSON object."),
    (b'{"content":"\xff","tags":["a"]}', "is not UTF-8."),
    (b'{"tags":["a"]}', "content: is missing."),
    (b'{"content":"x","importance":2}', "importance: "),
    (b'{"content":"x","origin":"m12"}', "origin: "),
    (b'{"engram_export":9}', "engram_export: "),
    (b'{"engram_export_end":"x"}', "engram_export_end: "),
    (b'{"content":"' + b"x" * 20000 + b'"}', "has 20015 bytes, at most 16384 fit."),
)


def test_a_refused_line_is_reported_with_its_number_and_the_others_are_stored(importing: Importing):
    told = importing.run((b'{"content":"Bob sings"}\n\n', *(line + b"\n" for line, _ in REFUSED)))
    for number, (line, why) in enumerate(REFUSED):
        assert told[number].startswith(f"line {number + 3}: {why}"), (line, told[number])
    assert told[len(REFUSED) :] == [f"1 stored, {len(REFUSED)} refused"]


def test_many_refused_lines_are_counted(importing: Importing):
    told = importing.run("{\n" * 120)
    assert len(told) == 102 and told[100:] == ["more problems: 20", "0 stored, 120 refused"]


def test_an_export_arrives_with_its_texts_and_long_contents(importing: Importing):
    board = mover()
    board.remember("a" + "\u202e" * 1900, ["t"])
    board.notes.for_caller(OWNER).write("MEMORY.md", "x" * 5000)
    lines, was = "\n".join(answered(board, "/export")) + "\n", rows(board)
    importing.board = other = mover()
    assert importing.run(b"\xef\xbb\xbf" + lines.encode()) == ["1 stored, 1 texts put in their place, 0 refused"]
    assert rows(other) == was and other.notes.for_caller(OWNER).text("MEMORY.md") == "x" * 5000


def test_an_export_that_lacks_lines_is_reported(importing: Importing):
    board = mover()
    for content in ("Ann plays chess", "Bob sings"):
        board.records.store(content, ["a"])
    lines = [line + "\n" for line in answered(board, "/export")]
    importing.new_board()
    assert importing.run("".join(lines[:-1]))[-1] == "the file is not whole: its last line is missing"
    assert importing.run("".join(lines[:1] + lines[2:]))[-1] == "the file is not whole: it had 5 lines, 4 were read"


def test_fields_that_are_not_known_are_named_once(importing: Importing):
    lines = [{"content": "Bob sings", "mood": "good"}, {"content": "Ann plays chess", "mood": "bad", "place": "here"}]
    assert importing.run(lines) == ["2 stored, 0 refused", "left out, since a memory has no place for it: mood, place"]


def test_problems_and_notes_are_in_the_json_document(importing: Importing, tmp_path: Path):
    (tmp_path / "in.md").write_text("words\n- Bob sings\n-  \n")
    ran = engram("import", tmp_path / "in.md", "--json")
    document = json.loads(ran.out)
    assert (ran.status, document["stored"], document["refused"]) == (1, 1, 1)
    assert document["problems"] == [
        "line 3: content: must be a text that is not empty.",
        "1 line is in no list and was left out",
    ]


def test_lines_for_which_memory_has_no_room_are_refused(importing: Importing):
    importing.board = mover(records_most=4)
    told = importing.run([{"content": f"thing number {number}"} for number in range(6)])
    assert [line.partition(":")[0] for line in told] == ["line 5", "line 6", "4 stored, 2 refused"]
    assert told[0].startswith("line 5: memory is full")
