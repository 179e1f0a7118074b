"""IRC's lines, read and written."""

from hypothesis import given, settings
from hypothesis import strategies as st

from engram_host.companion.bridges.irc.lines import lines_of, parse_line, pasted, room_for, said
from extent import HEALTH_CHECKS
from one_case import in_one_case


def test_a_line_has_tags_a_source_a_command_and_parameters():
    line = parse_line(b"@time=2026-11-26T11:00:00.000Z;account=ann;bot :Ann!~a@host PRIVMSG #home :hello: you\r\n")
    assert line is not None
    assert line.tags == {"time": "2026-11-26T11:00:00.000Z", "account": "ann", "bot": ""}
    assert (line.source, line.source.nick, line.source.userhost) == ("Ann!~a@host", "Ann", "~a@host")
    assert (line.command, line.parameters) == ("PRIVMSG", ("#home", "hello: you"))
    assert (line.parameter(-1), line.parameter(5), line.parameter(-5)) == ("hello: you", "", "")


@in_one_case(
    "raw, command, parameters",
    [
        (b"PING :irc.example\r\n", "PING", ("irc.example",)),
        (b":irc.example 376\r\n", "376", ()),
        (b":a!b@c PRIVMSG #home :\r\n", "PRIVMSG", ("#home", "")),
        ("PRIVMSG #home :caf\u00e9".encode("latin-1"), "PRIVMSG", ("#home", "caf\u00e9")),
    ],
)
def test_short_and_old_lines_are_read(raw: bytes, command: str, parameters: tuple[str, ...]):
    line = parse_line(raw)
    assert line is not None
    assert (line.command, line.parameters) == (command, parameters)


@given(st.binary(max_size=200))
@settings(suppress_health_check=HEALTH_CHECKS)
def test_no_line_raises(raw: bytes):
    line = parse_line(raw)
    if line is not None:
        said(line.parameter(-1))


@given(st.text(max_size=300), st.integers(8, 80))
@settings(max_examples=40, suppress_health_check=HEALTH_CHECKS)
def test_lines_are_short_enough_and_have_all_words(text: str, most: int):
    lines = lines_of(text, most)
    assert all(len(line.encode()) <= most and line and "\n" not in line and "\r" not in line for line in lines)
    kept = text.replace("\r", "").replace("\0", "").replace("\x01", "")
    assert "".join("".join(lines).split()) == "".join(kept.split())


def test_a_long_nickname_and_channel_leave_less_room_for_text():
    assert room_for("engram", "#home") == 400
    nickname, channel = "n" * 30, "#" + "c" * 63
    line = f":{nickname}!{'u' * 10}@{'h' * 63} PRIVMSG {channel} :{'x' * room_for(nickname, channel)}\r\n"
    assert len(line) == 512


def test_formatting_is_taken_off_what_was_said():
    assert said("\x0312,4a\x03b\x02c\x1dd\x1fe\x1ef\x16g\x11h\x04ff0000i\x0f") == "abcdefghi"
    assert said("\x031") == ""
    assert said("\x01ACTION waves \x01") == "waves"
    assert said("\x01PING 123\x01") == ""
    assert said("\x01DCC SEND a 1 2 3\x01") == ""


@in_one_case(
    "text, expected",
    [
        ("<bob> /new", ("bob", "/new")),
        ("[12:30] <@bob|away> yes", ("bob|away", "yes")),
        ("9:05:59 < bob> I live in Lyon", ("bob", "I live in Lyon")),
        ("<3 you", ("", "")),
        ("say <bob> hello", ("", "")),
        ("<bob>", ("", "")),
    ],
)
def test_a_pasted_line_names_who_wrote_it(text: str, expected: tuple[str, str]):
    assert pasted(text) == expected
