"""The console for programs: every request is answered to its end, and what is no request is told and harms nothing."""

import json
import random
from binascii import crc32

from board import Board, Script
from engram import log_line
from engram.agent.agent import Outcome
from engram.channels.console.json_lines import JsonLines
from engram.channels.message import Message
from engram.memory.access import OWNER
from support import rounds

LIMIT = 4000


class Console:
    """What a console does for a request, as a test says: `does(sink)` is a coroutine function."""

    def __init__(self, does=None):
        self.taken = []
        self.sent = []
        self.does = does
        self.json = JsonLines(self.answer, self.sent.append, LIMIT)
        self.greeting = self.lines()

    async def answer(self, message, sink):
        self.taken.append((message.text, message.is_command))
        outcome = await self.does(sink) if self.does else None
        await sink.end(outcome)
        return outcome

    def lines(self):
        """What was sent since the last call, each line with its crc checked."""
        sent, self.sent[:] = "".join(self.sent), []
        lines = [line for line in sent.split("\n") if line]
        assert not sent or sent.endswith("\n")
        return [log_line.decode((line + "\n").encode()) for line in lines]

    async def ask(self, line):
        """What is sent for a line, without the word that it was taken."""
        assert await self.json.handle(bytearray(line if isinstance(line, bytes) else line.encode())) is True
        told = self.lines()
        if told and "taken" in told[0]:
            assert self.taken
            assert told.pop(0) == {key: value for key, value in told[-1].items() if key == "id"} | {"taken": True}
        return told


def _with_crc(line):
    head = line.encode()[:-1]
    return head + b',"crc":"%08x"}' % crc32(head)


async def _error(line):
    """The sentence that a line is refused with."""
    console = Console()
    told = await console.ask(line)
    assert console.taken == [] and (len(told) == 1 or told[1:] == [{"id": told[0]["id"], "done": True}]), told
    return told[0]["error"]


async def test_pieces_lines_reports_notices_and_problems_carry_the_id_and_the_end_comes_last():
    async def does(sink):
        await sink.text("One ")
        await sink.notice("remembered m1: x")
        await sink.text("two.")
        await sink.line("a line")
        await sink.report({"counts": {"stored": 1}})
        await sink.problem("the link broke")
        return Outcome("t7", "One two.", "the link broke")

    told = await Console(does).ask('{"id":"a","say":"hello"}')
    assert told == [
        {"id": "a", "text": "One "},
        {"id": "a", "notice": "remembered m1: x"},
        {"id": "a", "text": "two."},
        {"id": "a", "line": "a line"},
        {"id": "a", "report": {"counts": {"stored": 1}}},
        {"id": "a", "error": "the link broke"},
        {"id": "a", "done": True, "turn": "t7"},
    ]


async def test_an_id_that_is_no_name_is_refused():
    for name in ("true", "[1]", "{}", '"' + "x" * 65 + '"'):
        assert "an id must" in await _error('{"say":"x","id":%s}' % name)


async def test_what_is_no_request_is_reported():
    for line in (
        '{"id":1}',
        '{"say":"a","command":"/help"}',
        '{"say":1}',
        '{"say":"a","more":1}',
        '{"id":1,"text":"x"}',
    ):
        assert "either say or command" in await _error(line)


async def test_what_is_no_json_is_reported_with_the_way_out():
    for line in ("hello", "{", '{"say":"x"', "[1]", '"say"', '{"say":"x"} x', b'{"say":"\xff"}', "[[[[" * 900):
        assert "/json off" in await _error(line)


async def test_it_ends_with_a_line_of_its_own():
    assert await Console().json.handle(bytearray(b"/json off")) is False


async def test_who_begins_again_is_greeted_again():
    console = Console()
    assert await console.ask("/json on") == console.greeting


async def test_a_long_line_comes_in_pieces():
    async def does(sink):
        await sink.line("语" * 2500)
        await sink.line("end")

    told = await Console(does).ask('{"command":"/export"}')
    assert [line.get("more") for line in told] == [True, True, None, None, None]
    assert "".join([line["line"] for line in told[:3]]) == "语" * 2500 and told[3] == {"line": "end"}


async def test_any_text_arrives_as_it_was_sent():
    random.seed(7)
    for _ in range(60):
        letters = [
            chr(random.choice((random.randrange(1, 0x250), random.randrange(0x4E00, 0x4F00), 0x1F600)))
            for _ in range(20)
        ]
        message = "x" + "".join(letters) + "x"
        for data in (json.dumps({"say": message}), _ascii(message)):
            console = Console()
            await console.ask(_with_crc(data))
            assert console.taken == [(message, False)], message


def _ascii(message):
    """The request with all letters as escapes."""
    pairs = []
    for letter in message:
        code = ord(letter)
        if code > 0xFFFF:
            code -= 0x10000
            pairs += [0xD800 + (code >> 10), 0xDC00 + (code & 0x3FF)]
        else:
            pairs.append(code)
    return '{"say":"' + "".join(["\\u%04x" % code for code in pairs]) + '"}'


# --- the crc


async def test_a_line_that_lost_any_bytes_is_refused():
    whole = _with_crc('{"id":1,"say":"hello"}')
    console = Console()
    await console.ask(_with_crc('{"id":0,"command":"/help"}'))
    console.taken.clear()
    for start in range(0, len(whole), rounds(1, 3)):
        for end in range(start + 1, len(whole) + 1, rounds(1, 2)):
            part = whole[:start] + whole[end:]
            told = await console.ask(part)
            assert console.taken == [] and (not part or "error" in told[0]), part


async def test_once_a_line_had_its_crc_one_without_is_refused():
    console = Console()
    await console.ask(_with_crc('{"id":1,"say":"hello"}'))
    assert "send it again" in (await console.ask('{"id":2,"say":"hel"}'))[0]["error"]


async def test_random_bytes_are_refused_or_taken_and_never_raise():
    random.seed(11)
    pieces = (
        b'{"id":', b'"say":', b'"command":', b'"/help"', b"1", b",", b"}", b"[", b'"x"', b"\xff", b"\x00", b"\\u12",
        b'"crc":"00000000"}',
    )  # fmt: skip
    for _ in range(rounds(300, 100)):
        line = b"".join([random.choice(pieces) for _ in range(random.randrange(8))])
        console = Console()
        told = await console.ask(line)
        assert all("error" in answer or "done" in answer for answer in told)


async def test_a_reply_that_was_given_before_is_marked():
    board = Board().serve(Script("Hello."))
    console = Console()

    async def take(message, sink):
        asked = Message(message.mid, OWNER, *message[2:])
        return await board.inbox.handle(asked, sink)

    console.json = JsonLines(take, console.sent.append, LIMIT)
    told = []
    for _ in range(2):
        console.lines()
        await console.json.handle(bytearray(b'{"say":"hi","mid":"net:1:2"}'))
        told.append(console.lines())
    assert told[0] == [{"taken": True}, {"text": "Hello."}, {"done": True, "turn": "t3"}]
    assert told[1] == [{"taken": True}, {"kept": True}, {"text": "Hello."}, {"done": True, "turn": "t3"}]
