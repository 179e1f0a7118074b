"""A made-up household at a companion: three boards with memories, talk, notes, states; people, folders, a conversation.

Each text that a person, a model or a file could have written passes through a function: `plainly` leaves it as it is, and
hostile_texts.py puts something into it that would be markup, if a view let it.
"""

import math
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal
from zlib import crc32

import media_samples as samples
from engram.link import messages
from engram_host.companion.store import open_store
from engram_host.companion.store.bridges.types import PairingRequest
from engram_host.companion.types import Hello, LogState, Sender
from page_client import PageClient
from perceiving_board import HOUR, PerceivingBoard, add_anomaly
from sending import Sent
from server_process import CompanionProcess

Kind = Literal["text", "name", "label", "file"]
"""What a text is: anything, the name of somebody or something, a tag or another short label, the name of a file."""

Write = Callable[[Kind, str], str]

DAY = 86400
ZONE = 120
"""Minutes east of Greenwich of the household's boards."""

MAIN = "kitchen"

END = ["end", "t9"]
"""Of an answer, with its turn."""


def plainly(_kind: Kind, text: str) -> str:
    """A text as it is."""
    return text


_FACTS: tuple[tuple[int, str, tuple[str, ...], tuple[str, ...], str], ...] = (
    (29, "The spare key hangs behind the blue door.", ("house", "key"), (), "fact"),
    (28, "Mira takes her tea without sugar.", ("tea", "mira"), ("Mira",), "preference"),
    (27, "The boiler needs its service each October.", ("house", "boiler"), (), "convention"),
    (25, "Tom is allergic to walnuts.", ("food", "tom"), ("Tom",), "fact"),
    (24, "The bread knife is in the second drawer.", ("kitchen",), (), "fact"),
    (22, "We decided to paint the hall green.", ("house", "paint"), (), "decision"),
    (21, "The recipe for lentil soup is from Aunt Ada.", ("food", "recipe"), ("Ada",), "fact"),
    (18, "Bins go out on Tuesday evening.", ("house", "bins"), (), "convention"),
    (17, "Mira's train leaves at 7:42.", ("mira", "train"), ("Mira",), "fact"),
    (15, "The dentist's number is on the fridge.", ("health",), (), "fact"),
    (13, "Tom wants a bicycle lamp for his birthday.", ("tom", "present"), ("Tom",), "fact"),
    (11, "The window in the bath sticks when it rains.", ("house", "window"), (), "fact"),
    (9, "喜欢绿茶，不喜欢红茶。", ("tea",), (), "preference"),
    (8, "The library books are due on Friday.", ("books",), (), "event"),
    (6, "Strawberries grow beside the shed.", ("garden", "food"), (), "fact"),
    (4, "The neighbours feed the cat while we are away.", ("cat",), ("Lena",), "convention"),
    (3, "The cat's name is Mikado.", ("cat",), ("Mikado",), "fact"),
    (2, "The new lamp takes a small bulb, E14.", ("house", "lamp"), (), "fact"),
    (1, "Dinner with Ada on Sunday at six.", ("food", "plan"), ("Ada",), "event"),
    (0, "The tea is in the blue tin.", ("tea", "kitchen"), (), "fact"),
)

_TALK: tuple[tuple[int, str, str], ...] = (
    (9, "Mira", "Where did we put the tea?"),
    (9, "Engram", "The tea is in the blue tin."),
    (4, "Mira", "Lena feeds the cat while we are away."),
    (4, "Engram", "I will remember that."),
    (1, "Tom", "When is dinner with Ada?"),
    (1, "Engram", "On Sunday at six."),
    (0, "Mira", "Is there a bulb for the new lamp?"),
    (0, "Engram", "It takes a small one, E14. You have none noted down."),
)

_ANSWER = """\
You keep **two** kinds:

| tea | where |
|---|---|
| green | the blue tin |
| rooibos | beside the kettle |

Mira takes hers *without sugar*."""

_STATUS: dict[str, int | str] = {
    "run": 7, "seconds": 8 * DAY, "firmware": "0.1.0", "mode": "full", "reset": "power", "flash": 2_310_000,
    "flash_size": 6_291_456, "records_bytes": 310_000, "records_cap": 1_048_576, "memories": 21, "kept_turns": 8,
    "heap": 3_650_000, "heap_size": 4_180_000, "model": "llama3.2", "model_problem": "", "telegram": "on",
    "telegram_problem": "", "turns": 41, "failed": 1, "calls": 58, "tokens": 61_400, "searches": 23, "searches_empty": 4,
    "errors": 0,
}  # fmt: skip


@dataclass
class Household:
    """The household's boards as programs of the host speak for them, and what stands in braces in the paths of views."""

    kitchen: Sent
    workshop: Sent
    places: dict[str, str]


_BRIDGE = """
[bridges.family]
network = "irc"
server = "irc.invalid:6697"
"""
"""A network that cannot be reached: people on it reach all boards."""


def write_folders(home: Path, notes: Path, write: Write = plainly) -> None:
    """Write a folder of Markdown notes, and companion.toml with it, into a companion's folder before it starts."""
    notes.mkdir(parents=True, exist_ok=True)
    for name, text in (
        ("garden", "# Garden\n\n## Beds\n\nStrawberries beside the shed, beans at the fence.\n"),
        ("house rules", "# House rules\n\nShoes off in the hall.\n\n- lamp: E14\n- boiler: service in October\n"),
    ):
        (notes / f"{write('file', name)}.md").write_text(write("text", text), encoding="utf-8")
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    (home / "companion.toml").write_text(
        f'[folders]\npaths = [{{ path = "{notes}", scope = "all", name = "notes" }}]\n{_BRIDGE}', encoding="utf-8"
    )


def fill_household(companion: CompanionProcess, now: int, write: Write = plainly) -> Household:
    """Let the household's boards, people and chats come to a companion that runs."""

    def post(device: str, message: bytes) -> bytes:
        headers = {"Content-Type": "application/octet-stream"}
        answer = companion.client.post(f"/v1/devices/{device}/messages", content=message, headers=headers)
        answer.raise_for_status()
        return answer.content

    _greet_absent_board(companion.home, now, write)
    house = Household(
        Sent(post, MAIN, board=write("name", "b1"), zone=ZONE),
        Sent(post, "workshop", board=write("name", "b2"), zone=ZONE),
        {"day": _day(now - DAY)},
    )
    _remember(house.kitchen, now, write)
    _talk(house.kitchen, now, write)
    house.kitchen.sync()
    _tell_status(house.kitchen, write)
    _send_notes(house.kitchen, now, write)
    _perceive(companion.home, house.kitchen, now, write)
    tools = {12: "The saw is at the repair shop.", 5: "Screws are sorted by length.", 1: "Glue is empty."}
    for days, text in tools.items():
        house.workshop.keep(write("text", text), tags=[write("label", "tools")], created=now - days * DAY)
    house.workshop.sync()
    _tell_status(house.workshop, write, memories=3, model="", telegram="off", records_bytes=4000, flash=410_000)
    _add_people(companion, now, write)
    _converse(companion.url, house.kitchen, write)
    _send_photo(companion, house.kitchen, now, write)
    house.places["import_id"] = _begin_import(companion.url, write)
    return house


def _greet_absent_board(home: Path, now: int, write: Write) -> None:
    """A board that has not been here for two days, and has more than is copied."""
    store = open_store(f"sqlite:///{home}/companion.db")
    states: Any = {"records": LogState(1, 1, 8, 0), "journal": LogState(1, 1, 15, 0)}
    store.replication.greet(Hello("greenhouse", Sender(write("name", "b3"), 1, 1), ZONE, states), now - 2 * DAY)
    store.close()


def _remember(board: Sent, now: int, write: Write) -> None:
    for days, content, tags, names, kind in _FACTS:
        created = now - days * DAY - (days * 2311) % 20000
        board.keep(
            write("text", content),
            tags=[write("label", tag) for tag in tags],
            keywords=[write("label", name) for name in names],
            type=kind,
            importance=round(0.3 + (days % 7) / 10, 1),
            source="manual" if days % 3 else "auto_llm",
            scope="user:owner" if days % 4 == 0 else "user:mira" if "mira" in tags else "all",
            created=created,
            turns=["t2"] if days == 9 else [],
            origin=write("label", "notes") if days == 13 else "",
            pinned=days == 25,
        )
    # The first fact again, in other words; one whose time is over; one that is forgotten.
    board.keep(
        write("text", "The spare key is with the neighbours."),
        tags=[write("label", "key")],
        supersedes="m1",
        created=now - DAY,
    )
    board.keep(
        write("text", "Parking is free this week."),
        tags=[write("label", "car")],
        created=now - 9 * DAY,
        expires=now - DAY,
    )
    board.keep(write("text", "The cake is a surprise."), tags=[write("label", "cake")], created=now - 3 * DAY)
    board.write("records", op="forget", id=f"m{len(_FACTS) + 3}", at=now - DAY, was=len(_FACTS) + 3)


def _talk(board: Sent, now: int, write: Write) -> None:
    board.write(
        "journal", op="session", sid="s1", title=write("text", "About the house"), scope="all", at=now - 9 * DAY
    )
    for number, (days, who, text) in enumerate(_TALK):
        role = "assistant" if who == "Engram" else "user"
        at = now - days * DAY - 600 + number
        board.say(
            write("text", text),
            role=role,
            who=write("name", who),
            at=at,
            prev=number + 1 if number else 0,
            n=number,
            scope="user:mira",
        )


def _send_photo(companion: CompanionProcess, board: Sent, now: int, write: Write) -> None:
    """A photo that Mira sent yesterday, and again today."""
    sent = companion.client.post(f"/v1/boards/{MAIN}/media", content=samples.PHOTO, params={"principal": "mira"})
    reference = f"media/{sent.raise_for_status().json()['id']}"
    for at in (now - DAY, now - 60):
        said = write("text", f"[photo, {reference}] The new lamp in the hall")
        board.say(said, who=write("name", "Mira"), at=at, scope="user:mira")
    board.sync()


def _tell_status(board: Sent, write: Write, **more: int | str) -> None:
    figures = _STATUS | more
    for name in ("firmware", "model"):
        figures[name] = write("label", str(figures[name])) if figures[name] else ""
    items = [[name, value] for name, value in figures.items()]
    board.ask("status", items=items)


def _perceive(home: Path, board: Sent, now: int, write: Write) -> None:
    """Two senses over a week: a cellar that was cold one night, and a door."""
    hours = range(7 * 24)
    with tempfile.TemporaryDirectory() as folder:
        perceiving = PerceivingBoard(board, Path(folder), now // HOUR * HOUR - len(hours) * HOUR)
        perceiving.shared = {write("label", "cellar")}
        for hour in hours:
            warm = 11.5 + 2.5 * math.sin((hour - 9) * math.pi / 12) - (6 if 128 <= hour < 134 else 0)
            for part in range(4):
                perceiving.senses.observe(write("label", "cellar"), round(warm + part / 10, 1), "°C")
                perceiving.senses.observe(write("label", "door"), int(hour % 24 in (7, 8, 18) and part < 2), "")
                perceiving.now += HOUR // 4
                perceiving.work()
        begin = perceiving.now - (len(hours) - 128) * HOUR
        perceiving.tell()
        add_anomaly(home, write("label", "cellar"), begin, begin + 6 * HOUR, 31)


def _send_notes(board: Sent, now: int, write: Write) -> None:
    days = [_day(now - DAY * back) for back in (2, 1)]
    files = {
        "MEMORY.md": "# The house\n\nFour rooms, one cat, too many lamps.\n",
        f"{days[0]}.md": "- 08:10 the boiler was loud this morning\n- 19:30 soup from Aunt Ada's recipe\n",
        f"{days[1]}.md": "- 07:20 Mira left early for the train\n",
    }
    found = {name: write("text", text).encode() for name, text in sorted(files.items())}
    listed = [[name, len(body), messages.shown(crc32(body))] for name, body in found.items()]
    board.ask("notes", epoch=board.epoch, after="", to="", files=listed)
    for name, body in found.items():
        board.ask("note", body, epoch=board.epoch, file=name, digest=messages.shown(crc32(body)))


def _day(at: int) -> str:
    """The day of a time in the household's zone, as notes are named."""
    return datetime.fromtimestamp(at + ZONE * 60, UTC).strftime("%Y-%m-%d")


def _add_people(companion: CompanionProcess, now: int, write: Write) -> None:
    def post(path: str, **fields: str) -> None:
        companion.client.post(f"/v1/people/{path}", json=fields).raise_for_status()

    post("approve", who="telegram:1001", name="mira")
    post("rename", who="telegram:1001", name=write("name", "Mira"))
    post("link", who="telegram:1001", other="irc:mira")
    post("approve", who="xmpp:tom@example.org", name="tom")
    post("block", who="irc:" + write("file", "salesman").replace(" ", "-"))
    post("groups", id=write("file", "telegram:-2002").replace(" ", "-"), mode="mention")
    store = open_store(f"sqlite:///{companion.home}/companion.db")
    store.people.add_code(PairingRequest("K7QM2P", "telegram:1003", write("name", "Lena from next door"), now - 300))
    store.close()


def _converse(url: str, board: Sent, write: Write) -> None:
    """A message with its answer on the page, one that is still open, and what the board says by itself."""
    path = f"/boards/{board.device}/chat"
    browser = PageClient(url)
    browser.send(path, {"id": "page:tea", "text": write("text", "Which teas do we have?")}, seen=path)
    board.offered(0)
    items = [["text", write("text", _ANSWER)], ["notice", write("text", "2 memories were recalled")]]
    board.ask("reply", mid="page:tea", offer=1, k=1, items=[*items, END])
    browser.send(path, {"id": "page:list", "text": "/memories tea"}, seen=path)
    board.offered(0)
    lines = [
        ["line", write("text", line)]
        for line in ("m2 Mira takes her tea without sugar.", "m20 The tea is in the blue tin.")
    ]
    board.ask(
        "reply", mid="page:list", offer=1, k=1, items=[*lines, ["problem", write("text", "1 more needs --all.")], END]
    )
    board.ask("push", mid="push:bins", room="page", text=write("text", "Reminder: the bins go out **tonight**."))
    browser.close()


def _begin_import(url: str, write: Write) -> str:
    """A file that somebody wants to import, and has not sent to the board yet; the import's id."""
    lines = ("- Mira plays the cello", "- The tea is in the blue tin.", "- Tom's shoe size is 42")
    text = "\n".join(write("text", line) for line in lines)
    path = f"/boards/{MAIN}/import"
    browser = PageClient(url)
    file = {"file": (f"{write('file', 'notes')}.md", text.encode(), "text/markdown")}
    answer = browser.send(path, {}, seen=path, files=file)
    browser.close()
    assert answer.status_code == 303, answer.text
    return answer.headers["location"].rpartition("/")[2]
