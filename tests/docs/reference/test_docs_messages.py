"""The messages between board and companion: the page's tables have the fields that the code takes, in its order."""

from engram.link import messages
from one_case import in_one_case
from pages import in_backticks, read, rows, section

PAGE = "docs/reference/messages.md"
SIDES = {"From a board": messages.FROM_BOARD, "To a board": messages.TO_BOARD}


def _told(heading: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    name = ""
    for message, field, *_ in rows(section(read(PAGE), f"## {heading}")):
        name = in_backticks(message)[0] if message else name
        found.setdefault(name, []).extend(in_backticks(field))
    return found


@in_one_case("heading", SIDES)
def test_the_page_shows_each_message_with_its_fields_in_order(heading):
    taken = {name: [field for field, _ in table] for name, table in SIDES[heading].items()}
    assert _told(heading) == taken


def test_the_page_explains_the_fields_of_all_messages():
    about = section(read(PAGE), "## Fields of every message")
    assert [in_backticks(row[0]) for row in rows(about)] == [["board"], ["link"], ["n"]]
