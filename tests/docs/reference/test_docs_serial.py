"""The serial line's protocol: the tables name the fields that there are, and the examples' crcs are right."""

import asyncio
import json
from binascii import crc32

from engram.agent.agent import Outcome
from engram.app import App
from engram.channels.console import json_lines
from engram.channels.console.json_lines import JsonLines
from engram.channels.deliveries import SavedReply
from engram.channels.message import MID_LONGEST
from engram.memory.access import OWNER
from pages import fences, plain, read, rows, section

PAGE = "docs/reference/serial.md"


def _played() -> list[dict]:
    """One line of each kind, as a board sends them."""
    sent: list[str] = []

    async def answer(message, sink):
        await sink.line("x" * 1001)
        await sink.report({"counts": {}})
        await sink.text("x")
        await sink.on_saved_reply(SavedReply("t1", "x", "", False, False))
        await sink.notice("x")
        await sink.problem("x")
        await sink.end(Outcome("t1", "x", "x"))

    lines = JsonLines(answer, sent.append, 12000)
    asyncio.run(lines.handle(bytearray(b'{"id":1,"say":"x"}')))
    return [json.loads(line) for line in "".join(sent).split("\n") if line]


def _tables() -> tuple[set[str], set[str]]:
    """The fields of requests and of answers, as the page has them."""
    documented = [plain(row[0]) for row in rows(section(read(PAGE), "## JSON lines"))]
    at = documented.index("crc") + 1
    return set(documented[:at]), set(documented[at:])


def _errors(request: dict) -> list[str]:
    """What a request is refused with."""
    sent: list[str] = []

    async def answer(message, sink):
        return None

    lines = JsonLines(answer, sent.append, 12000)
    asyncio.run(lines.handle(bytearray(json.dumps(request).encode())))
    return [line["error"] for line in map(json.loads, "".join(sent).split("\n")[2:-1]) if "error" in line]


def test_the_table_of_a_requests_fields_is_what_is_taken():
    requested, answered = _tables()
    assert requested == {"id", "say", "command", "mid", "crc"}
    for request in ({"id": 1, "say": "x"}, {"id": 1, "command": "/help"}):
        assert not _errors(request)
    for name in answered:
        assert _errors({"say": "x", name: "x"}), name


def test_the_table_of_an_answers_fields_is_what_is_sent():
    greeting, *answers = _played()
    _, documented = _tables()
    sent = set().union(*answers)
    assert sent - {"id", "crc", "more", "turn"} == documented
    assert '"more":true' in read(PAGE) and "`turn`" in read(PAGE)
    assert set(greeting) == {"engram", "json", "line_bytes", "crc"}


def test_the_reports_of_an_import_are_those_of_the_page(tmp_path):
    board = App(str(tmp_path), {}).board
    commands = ('/import {"content":"x","importance":2}', '/import {"content":"x"}')
    answers = [output for command in commands for output in board.commands.run(OWNER, command)]
    sent = [output for output in answers if isinstance(output, dict)]
    below = section(read(PAGE), "## Reports")
    assert [json.loads(fence.text)["report"] for fence in fences(below, "json")] == sent
    for report in sent:
        assert all(f"\n- `{name}`: " in below for name in report)


def test_the_crcs_of_the_examples_are_right():
    checked = 0
    for fence in fences(read(PAGE), "json"):
        head, mark, tail = fence.text.strip().encode().rpartition(b',"crc":"')
        if mark:
            checked += 1
            assert tail == b'%08x"}' % crc32(head)
    assert checked == 3


def test_the_bounds_are_the_codes():
    page = read(PAGE)
    assert f"at most {json_lines._ID_LONGEST} characters" in page
    assert f"at most {MID_LONGEST} printable ASCII characters" in page
    assert json.loads(fences(read(PAGE), "json")[0].text)["json"] == json_lines._PROTOCOL
