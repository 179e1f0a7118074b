"""The files that a mosquitto of one's own needs: passwords (hashed), who may use which topic, a piece of configuration."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from engram_host.companion.auth.tokens import mosquitto_hash
from engram_host.companion.errors import SettingError
from engram_host.companion.types import DeviceToken

USER = "engram.companion"
"""The companion's own name at the broker: with a dot, so that no board can be called so."""

PASSWORDS = "engram.passwords"
TOPICS = "engram.topics"
CONFIG = "engram.conf"

_TOPICS = """\
# Made by `engram device mosquitto`. The companion reads what boards say and writes to them; a board only its own.
user {user}
topic read engram/v1/+/up
topic write engram/v1/+/down

pattern write engram/v1/%u/up
pattern read engram/v1/%u/down
"""
_CONFIG = """\
# Made by `engram device mosquitto`: name it in mosquitto.conf with include_dir, or copy these lines.
allow_anonymous false
password_file {folder}/{passwords}
acl_file {folder}/{topics}
message_size_limit 65536
"""


@dataclass(frozen=True)
class MosquittoUser:
    """A user of the broker."""

    name: str
    password: str = field(repr=False)


def write_mosquitto_files(folder: Path, devices: Sequence[DeviceToken], companion: MosquittoUser) -> list[Path]:
    """Write the three files to a folder, for their owner alone; their paths. SettingError."""
    lines = [f"{companion.name}:{mosquitto_hash(companion.password)}"]
    lines += [f"{token.device}:{token.mosquitto}" for token in devices]
    where = folder.absolute()
    texts = {
        PASSWORDS: "\n".join(lines) + "\n",
        TOPICS: _TOPICS.format(user=companion.name),
        CONFIG: _CONFIG.format(folder=where, passwords=PASSWORDS, topics=TOPICS),
    }
    try:
        where.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            draft = where / f"{name}.new"
            with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
                file.write(text)
            draft.replace(where / name)
    except OSError as error:
        raise SettingError(str(folder), f"the files cannot be written there: {error.strerror}.") from None
    return [where / name for name in texts]
