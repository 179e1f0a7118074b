"""P"""

import os
import pwd
import stat
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from engram_host.companion.auth.tokens import new_token

GROUP = "mqtt.group"
"""The name of the group in which workers share a subscription. Who knows it can take messages of others."""

COMPANION = "mqtt.companion"
"""The password of the companion itself in the files that `engram device mosquitto` writes."""

CHECKER = "mqtt.checker"
"""The password of the user with which `engram doctor` finds out what a broker lets boards do."""


class Notes(Protocol):
    """Values by name in the database; NoteTable is one, which commands need not load."""

    def get(self, name: str) -> str:
        """The value of a note, "" if there is none."""
        ...

    def put_first(self, name: str, value: str) -> str:
        """Keep a note unless there is one of that name; the one that is kept."""
        ...


def broker_secret(notes: Notes, name: str) -> str:
    """The secret of a name, made if there is none yet. StoreUnavailable."""
    return notes.get(name) or notes.put_first(name, new_token())


MOSQUITTO_SYSTEM_USER = "mosquitto"
"""As whom mosquitto runs, unless its configuration names another user."""

_KEEP = -1
"""The owner or group that a file has already."""


@dataclass(frozen=True)
class FileAccess:
    """Owner, group and mode of a file; `advice` is a sentence on what a person has to do, "" if nothing."""

    mode: int = 0o600
    uid: int = _KEEP
    gid: int = _KEEP
    advice: str = ""

    def apply(self, file: int) -> None:
        """Give them to an open file. OSError."""
        os.fchmod(file, self.mode)
        if (self.uid, self.gid) != (_KEEP, _KEEP):
            os.fchown(file, self.uid, self.gid)


def access_for(user: str, folder: Path) -> FileAccess:
    """How the files of a folder have to be for a user of this computer to read them."""
    try:
        found = pwd.getpwnam(user)
    except KeyError:
        sentence = f"there is no user {user} on this computer: where mosquitto runs, its user has to be able to read the files."
        return FileAccess(advice=sentence)
    access = _access(found, os.geteuid(), {os.getegid(), *os.getgroups()}, folder)
    closed = next((place for place in (folder, *folder.parents) if not _may_enter(found, place)), None)
    if closed and not access.advice:
        sentence = f"the user {user} cannot open {closed}: name one that it can, such as /etc/mosquitto/engram."
        return FileAccess(access.mode, access.uid, access.gid, sentence)
    return access


def _access(user: pwd.struct_passwd, uid: int, groups: Collection[int], folder: Path) -> FileAccess:
    """Likewise, for somebody who writes them as `uid` with these groups."""
    if user.pw_uid == uid:
        return FileAccess()
    if uid == 0:
        # mosquitto complains of files that are not its own.
        return FileAccess(0o600, user.pw_uid, user.pw_gid)
    if user.pw_gid in groups:
        return FileAccess(0o640, _KEEP, user.pw_gid)
    name = user.pw_name
    sentence = (
        f"the user {name}, as whom mosquitto runs, cannot read the files: `sudo chown {name}: {folder}/engram.*`, or"
    )
    return FileAccess(advice=f"{sentence} join the group of {name} once and run this again.")


def _may_enter(user: pwd.struct_passwd, folder: Path) -> bool:
    if user.pw_uid == 0 or not folder.exists():
        return True
    found = folder.stat()
    if found.st_uid == user.pw_uid:
        return bool(found.st_mode & stat.S_IXUSR)
    if found.st_gid in os.getgrouplist(user.pw_name, user.pw_gid):
        return bool(found.st_mode & stat.S_IXGRP)
    return bool(found.st_mode & stat.S_IXOTH)
