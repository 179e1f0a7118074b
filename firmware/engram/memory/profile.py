"""The profile: three small texts that stand in every prompt, edited by the agent and by people, with undo.

    user.md      who the person is, long-term preferences and agreements
    soul.md      the agent's personality and values
    identity.md  the agent's name, role and limits

A change is first noted in the log of changes with the old text, so that it can be undone after a restart too.
"""

from engram import files
from engram.errors import ArgumentError
from engram.memory import edit

FILES = ("identity.md", "soul.md", "user.md")

TEMPLATES = {
    "identity.md": """# Identity
Name: Engram
Role: a personal assistant that runs on a small board and remembers.
Limits: says so when it does not know or cannot do something.
""",
    "soul.md": """# Soul
Warm, direct and brief. Honest about what is remembered and what is guessed.
Careful with what people tell in private.
""",
    "user.md": """# User
Nothing is known yet. Long-term preferences and agreements go here.
""",
}


class Profile:
    """The three files in a folder, each at most `limit` characters; `changes` keeps what undo needs."""

    def __init__(self, folder: str, changes, limit: int = 2000):
        self._folder = folder
        self._changes = changes
        self._limit = limit

    def seed(self) -> None:
        """Write the templates of files that are missing."""
        files.make_folder(self._folder)
        for name in FILES:
            if files.size(self._path(name)) < 0:
                files.write(self._path(name), TEMPLATES[name])

    def text(self, name: str) -> str:
        """The text of a file; what a person wrote over the limit is cut, which `overlong` tells."""
        return self._whole(name)[: self._limit]

    def overlong(self, name: str) -> int:
        """By how many characters a file is longer than the limit."""
        return max(0, len(self._whole(name)) - self._limit)

    def _whole(self, name: str) -> str:
        self._check(name)
        return edit.read(self._path(name), self._limit * 8)

    def write(self, name: str, content: str) -> None:
        """Give a file a new text."""
        self._check(name)
        edit.check("text", content, self._limit, name)
        self._changes.note("profile", name, self._whole(name))
        files.write(self._path(name), content)

    def append(self, name: str, line: str) -> None:
        """Add a line to a file."""
        self.write(name, edit.appended(self._whole(name), line))

    def replace(self, name: str, old: str, new: str) -> None:
        """Put `new` in the place of `old`, which must stand in the file exactly once."""
        self.write(name, edit.replaced(self._whole(name), old, new, name))

    def put_back(self, name: str, content: str) -> None:
        """Give a file the text that it had before a change."""
        files.write(self._path(name), content)

    def _path(self, name: str) -> str:
        return self._folder + "/" + name

    def _check(self, name: str) -> None:
        if name not in FILES:
            raise ArgumentError("file", "must be one of " + ", ".join(FILES) + ".")
