"""The views of the page, each by a name and an address that shows what the household of household.py has.

The tests in a browser and the pictures of the documentation go through them. A test compares the list with the routes of the
page, so a new view is looked at by all of these.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode


@dataclass(frozen=True)
class PageView:
    """A view, where it is, and how it is called in file names and tables.

    What stands in braces in its path is found by the household (see household.py), such as the day of a note.
    """

    name: str
    path: str
    status: int = 200

    def address(self, places: Mapping[str, str], **parameters: str) -> str:
        """The path with what is found, and with more parameters."""
        path = self.path.format(**places)
        more = urlencode(parameters)
        return path + (f"{'&' if '?' in path else '?'}{more}" if more else "")


VIEWS = (
    PageView("boards", "/"),
    PageView("board", "/boards/kitchen"),
    PageView("chat", "/boards/kitchen/chat"),
    PageView("chat-boards", "/chat?find=e"),
    PageView("message", "/boards/kitchen/chat/message?id=page:tea"),
    PageView("memories", "/boards/kitchen/memories"),
    PageView("memories-trash", "/boards/kitchen/memories?state=trash"),
    PageView("memory", "/boards/kitchen/memories/m13"),
    PageView("merge-pick", "/boards/kitchen/memories/m2/merge"),
    PageView("merge", "/boards/kitchen/memories/m2/merge?other=m20"),
    PageView("search", "/search"),
    PageView("search-found", "/search?q=tea"),
    PageView("search-board", "/boards/kitchen/search?q=tea"),
    PageView("file", "/search/file?path=MEMORY.md&board=kitchen"),
    PageView("days", "/boards/kitchen/days"),
    PageView("day", "/boards/kitchen/days/{day}"),
    PageView("senses", "/boards/kitchen/senses"),
    PageView("sense", "/boards/kitchen/senses/cellar?days=7"),
    PageView("import", "/boards/kitchen/import"),
    PageView("import-one", "/boards/kitchen/import/{import_id}"),
    PageView("settings", "/boards/kitchen/settings?section=model"),
    PageView("people", "/people"),
    PageView("person", "/people/person?who=mira"),
    PageView("health", "/health"),
    PageView("sign-out", "/signout"),
    PageView("problem", "/nothing-here", 404),
)
