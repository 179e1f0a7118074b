"""A look beyond the end of a log, as an index of an earlier state of it makes one, leaves no gap before the next line."""

from pathlib import Path

from playing import look, play


def test_a_line_that_comes_after_a_look_beyond_the_end_of_the_log_is_whole(blank: bytes, tmp_path: Path):
    flash = tmp_path / "flash.bin"
    flash.write_bytes(blank)
    turn = {"do": "turn", "who": "ann", "room": "chat#1"}
    operations = [{**turn, "text": "before it"}, {"do": "overlook"}, {**turn, "text": "after it"}, {"do": "reopen"}]
    played = play([*operations, look()], flash=str(flash))
    assert not played.refused() and not played.status, played.errors
    told = played.looks()[0]
    assert ["damaged", 0, 0] in told
    assert [answer[-1] for answer in told if answer[0] == "turn"] == ["before it", "after it"]
