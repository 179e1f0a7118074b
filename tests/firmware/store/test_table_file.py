"""Small tables: rows are whole or unchanged, whatever the flash does."""

from engram import files
from engram.errors import ArgumentError, StoreFull
from engram.store.table_file import TableFile, needed, optional
from support import folder, raises, rounds

SCHEMA = (needed("name", str), optional("low", int), optional("on", bool), optional("pair", list))


def _table(path, most=4, is_valid=None):
    table = TableFile(path, "shelf", "l", SCHEMA, most, is_valid)
    table.open()
    return table


def _path():
    return folder() + "/shelves.jsonl"


def _names(table):
    return [row["name"] for row in table.rows]


def test_rows_are_read_as_they_were_written():
    path = _path()
    table = _table(path)
    table.add({"name": "a", "low": -5, "on": True, "pair": [1, 2]})
    table.add({"name": "b", "low": None})
    rows = [{"id": "l1", "name": "a", "low": -5, "on": True, "pair": [1, 2]}, {"id": "l2", "name": "b"}]
    assert table.rows == rows
    assert _table(path).rows == rows


def test_no_id_is_given_twice():
    path = _path()
    table = _table(path)
    table.add({"name": "a"})
    table.change({"l1": None})
    assert _table(path).add({"name": "b"})["id"] == "l2"


def test_a_file_takes_no_more_bytes_than_it_may():
    path = _path()
    table = _table(path, most=100)
    with raises(ArgumentError):
        while True:
            table.add({"name": "x" * 900})
    assert files.size(path) < 20600 and len(_table(path).rows) == len(table.rows) > 20


def test_damage_of_any_byte_costs_its_line_and_no_number():
    path = _path()
    table = _table(path)
    for name in ("first", "second"):
        table.add({"name": name})
    whole = files.read(path, 4096) or b""
    lines = whole.split(b"\n")
    at = 0
    for line in lines[:-1]:
        for place in range(at, at + len(line), rounds(1, 7)):
            files.write(path, whole[:place] + b"#" + whole[place + 1 :])
            read = _table(path)
            assert read.damaged == 1 and read.next == 3, place
            assert _names(read) == [name for name in ("first", "second") if name.encode() not in line]
            assert _table(path).damaged == 0, "it was set aside"
        at += len(line) + 1


def test_a_file_that_was_cut_anywhere_keeps_its_whole_rows():
    path = _path()
    table = _table(path)
    for name in ("first", "second"):
        table.add({"name": name})
    whole = files.read(path, 4096) or b""
    for size in range(len(whole)):
        files.write(path, whole[:size])
        count = max(0, whole[:size].count(b"\n") - 1)
        assert _names(_table(path))[:count] == ["first", "second"][:count], size


def test_rows_of_another_form_are_passed_over():
    path = _path()
    other = TableFile(path, "shelf", "l", (needed("name", int), optional("low", str)), 4)
    other.open()
    other.add({"name": 5})
    assert _table(path).rows == [] and _table(path).next == 2


def test_a_refused_write_leaves_the_rows_as_they_were():
    path = _path()
    table = _table(path)
    table.add({"name": "a"})
    keep, files.write_parts = files.write_parts, _refuse
    try:
        for change in (lambda: table.add({"name": "b"}), lambda: table.change({"l1": None})):
            with raises(StoreFull):
                change()
    finally:
        files.write_parts = keep
    assert _names(table) == ["a"] and table.next == 2


def _refuse(_path, _parts):
    raise StoreFull("the flash is full")
