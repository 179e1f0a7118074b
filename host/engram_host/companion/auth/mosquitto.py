"""Files and secrets of an own mosquitto broker.

The files must be readable for the user that mosquitto runs as. Secrets are made once and stored in
the database, which all processes of the companion share.
"""

import os
import pwd
import stat
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from engram_host.companion.auth.tokens import mosquitto_hash, new_token, write_atomically
from engram_host.companion.errors import SettingError
from engram_host.companion.types import DeviceToken

if TYPE_CHECKING:
    from engram_host.companion.store.values import ValueTable  # it needs what only a companion has

GROUP = "mqtt.group"
"""Secret name of the shared-subscription group, whose members take each other's messages."""

COMPANION = "mqtt.companion"


def broker_secret(values: "ValueTable", name: str) -> str:
    return values.get(name) or values.put_first(name, new_token())


MOSQUITTO_SYSTEM_USER = "mosquitto"

_KEEP = -1


@dataclass(frozen=True)
class FileAccess:
    """Owner, group and mode of a file; `advice` is for a person, "" for none."""

    mode: int = 0o600
    uid: int = _KEEP
    gid: int = _KEEP
    advice: str = ""


def access_for(user: str, folder: Path) -> FileAccess:
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
    if user.pw_uid == uid:
        return FileAccess()
    if uid == 0:
        # mosquitto warns of files of other owners.
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


MOSQUITTO_USER = "engram.companion"
"""The companion's user at the broker; its dot keeps boards from the same name."""

PASSWORDS = "engram.passwords"
TOPICS = "engram.topics"
CONFIG = "engram.conf"

_TOPICS = """\
# Made by `engram device mosquitto`. The companion reads what boards say and writes to them; a board only its own.
# mosquitto looks at this when it passes a message on, never at a subscription: a board may join any group of `$share`. So the
# companion's group has a secret name. A broker that checks subscriptions should refuse boards `$share/#`.
"""
_BOARD_TOPICS = """\

pattern write engram/v1/%u/up
pattern read engram/v1/%u/down
"""
COMPANION_TOPICS = (
    "read engram/v1/+/up",
    "write engram/v1/+/down",
    "read engram/v1/+/chat/in",
    "write engram/v1/+/chat/out",
)
PROGRAM_TOPICS = ("write engram/v1/+/chat/in", "read engram/v1/+/chat/out")
_CONFIG = """\
# Made by `engram device mosquitto`: name it in mosquitto.conf with include_dir, or copy these lines.
allow_anonymous false
password_file {folder}/{passwords}
acl_file {folder}/{topics}
message_size_limit 65536
# A process of the companion takes what a whole fleet sends: with 20 messages under way and 1000 waiting, which mosquitto allows
# unless told otherwise, a fleet that comes back at once waits and loses messages here.
max_inflight_messages 0
max_queued_messages 10000
"""


PROGRAM = "mqtt.program"

MOSQUITTO_PROGRAM = "engram.program"

HOME_ASSISTANT = "mqtt.home_assistant"

MOSQUITTO_HOME_ASSISTANT = "engram.home-assistant"


def sense_topics(prefix: str, right: str) -> tuple[str, ...]:
    return (f"{right} {prefix}/#", f"{right} engram/v1/+/senses/#")


@dataclass(frozen=True)
class MosquittoUser:
    name: str
    password: str = field(repr=False)
    topics: tuple[str, ...] = ()


def write_mosquitto_files(
    folder: Path, devices: Sequence[DeviceToken], users: Sequence[MosquittoUser], access: FileAccess
) -> list[Path]:
    """Write the three files and return their paths. Raise SettingError."""
    lines = [f"{user.name}:{mosquitto_hash(user.password)}" for user in users]
    lines += [f"{token.device}:{token.mosquitto}" for token in devices]
    rights = [f"\nuser {user.name}\n" + "".join(f"topic {topic}\n" for topic in user.topics) for user in users]
    where = folder.absolute()
    texts = {
        PASSWORDS: "\n".join(lines) + "\n",
        TOPICS: _TOPICS + "".join(rights) + _BOARD_TOPICS,
        CONFIG: _CONFIG.format(folder=where, passwords=PASSWORDS, topics=TOPICS),
    }
    try:
        where.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            write_atomically(where / name, text.encode(), access.mode, (access.uid, access.gid))
    except OSError as error:
        raise SettingError(str(folder), f"the files cannot be written there: {error.strerror}.") from None
    return [where / name for name in texts]
