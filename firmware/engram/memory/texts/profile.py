"""The profile: small texts that stand in every prompt, edited by the agent and by people, with undo.

    user.md      who the person is, long-term preferences and agreements
    task.md      the person's one open task, until it is emptied
    soul.md      the agent's personality and values
    identity.md  the agent's name, role and limits
    agent.md     the agent's rules

Everybody has a user.md and a task.md of their own; the others are the agent's, the same for all, and only the owner changes
them. A change is first noted in the log of changes with the old text, so that it can be undone after a restart too.
"""

from engram import files, tables
from engram.errors import ArgumentError
from engram.memory import principal_files
from engram.memory.access import OWNER

USER = "user.md"
TASK = "task.md"
RULES = "agent.md"
FILES = ("identity.md", "soul.md", RULES, USER, TASK)
"""The files, private ones last."""
_PRIVATE = (USER, TASK)
_LIMITS = {RULES: 1000, TASK: 300}  # characters

TEMPLATES = ("identity.md", "soul.md")
"""Files that begin with a text; see template()."""
STABLE = TEMPLATES + (USER,)
"""Files that seldom change."""


def template(name: str) -> str:
    """Return the text with which a file begins, "" for none."""
    return tables.read("memory/texts/" + name[:-3]) if name in TEMPLATES else ""


class Profile:
    """The profile files in a folder; `changes` serves undo, `people` owns files, on_closed(caller, task) ends a task."""

    limit = 2000
    """Maximum characters of a file: all are in every prompt."""

    def __init__(self, folder: str, changes, people, on_closed):
        self.folder = folder
        self.changes = changes
        self.people = people
        self.on_closed = on_closed

    def seed(self) -> None:
        files.make_folder(self.folder)
        there = files.names(self.folder)  # one look at the flash, in place of one for each file
        for name in TEMPLATES:
            if name not in there:
                files.write(self.folder + "/" + name, template(name))

    def put(self, path: str, content: str) -> None:
        files.write(path, content)

    def for_caller(self, caller):
        """Return the caller's profile: in a group read-only and without user.md."""
        return PrincipalProfile(self, caller.principal, caller)

    def named(self, principal: str):
        return PrincipalProfile(self, principal)


class PrincipalProfile(principal_files.PrincipalTexts):
    """The profile of one principal, for a caller if given."""

    kind = "profile"
    most_bytes = 8

    def __init__(self, profile: Profile, principal: str, caller=None):
        super().__init__(profile, principal)
        self._caller = caller
        self._group = caller.group if caller else False

    def names(self) -> list:
        """Return the files that have a text."""
        return [name for name in FILES if not (self._group and name in _PRIVATE) and self.text(name)]

    def text(self, name: str) -> str:
        return self._whole(name)[: self._limit(name)]

    def overlong(self, name: str) -> int:
        return max(0, len(self._whole(name)) - self._limit(name))

    def _limit(self, name: str) -> int:
        return _LIMITS.get(name) or self._texts.limit

    def _change(self, name: str, content: str) -> None:
        task = self._whole(TASK) if name == TASK else ""
        super()._change(name, content)
        if task.strip() and not content.strip():
            self._texts.on_closed(self._caller, task)
            # Once more, as the latest change: /undo takes it back first.
            self._texts.changes.note(self.kind, name, task, self._principal)

    def _check_writable(self, name: str) -> None:
        self._path(name)
        if self._group:
            raise ArgumentError("file", "the profile can be changed only in a private room.")
        if name not in _PRIVATE and self._principal != OWNER.principal:
            raise ArgumentError("file", name + " is the same for everybody: only the owner changes it, on the console.")

    def _path(self, name: str) -> str:
        if name not in FILES:
            raise ArgumentError("file", "must be one of " + ", ".join(FILES) + ".")
        if name not in _PRIVATE:
            return self._texts.folder + "/" + name
        if self._group:
            raise ArgumentError("file", name + " is private and stays out of group rooms.")
        return self._texts.folder + "/" + principal_files.file_name_of(name, self._principal)
