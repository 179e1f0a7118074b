"""The place of a worker among those that one `engram serve --workers` has started."""

import json
import os
from collections.abc import MutableMapping
from dataclasses import asdict, dataclass
from pathlib import Path

from engram_host.companion.errors import SettingError
from engram_host.companion.settings import Settings, store_url

VARIABLE = "ENGRAM_WORKER_PLACE"
"""How a worker is given its place: in the environment of its process, for nobody else."""

_SQLITE = "sqlite:"


@dataclass(frozen=True)
class WorkerPlace:
    """A worker's number from 0 on, how many there are, the descriptor of the socket that they share, the one on which it says
    that it is ready, and a folder in which workers reach each other.
    """

    number: int
    count: int
    listener: int
    report: int
    folder: str

    def encode(self) -> str:
        """The place as the environment has it."""
        return json.dumps(asdict(self))

    def socket_of(self, number: int) -> Path:
        """Where a worker listens for the others."""
        return Path(self.folder) / f"{number}.sock"


def take_place(environment: MutableMapping[str, str] = os.environ) -> WorkerPlace | None:
    """The place that this process was started for, None if it is a companion of its own; what it starts inherits none."""
    found = environment.pop(VARIABLE, "")
    return WorkerPlace(**json.loads(found)) if found else None


def check_shareable(settings: Settings) -> None:
    """Refuse settings with which several workers cannot share their work. SettingError."""
    if store_url(settings.store, settings.home).startswith(_SQLITE):
        raise SettingError("store.url", "must name a PostgreSQL database for several workers: SQLite is for one.")
    if settings.mqtt.on and not settings.mqtt.url:
        raise SettingError(
            "mqtt.url", "must name a mosquitto of your own for several workers: the built-in broker is for one."
        )
