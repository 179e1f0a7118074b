"""Checks of `engram doctor`: what one finds, and those of this computer (packages, the model, disk, clock, MicroPython)."""

import importlib.util
import shutil
import sys
import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from engram_host.cli.output import format_size
from engram_host.extras import EXTRAS, install_command

if TYPE_CHECKING:  # it brings numpy, and without the companion's packages the other checks are done all the same
    from engram_host.companion.settings import Settings

# --- findings

WELL, WATCH, WRONG = "well", "watch", "wrong"
"""watch: it works, and a person may want to know."""

REFUSED = "`engram serve` does not start with this setting"
"""How it is where a setting is one that the companion refuses."""


@dataclass(frozen=True)
class Finding:
    """`detail` says how it is, `advice` what to do about it, "" if nothing."""

    name: str
    state: str
    detail: str
    advice: str = ""


def well(name: str, detail: str) -> Finding:
    """All as it should be."""
    return Finding(name, WELL, detail)


def watch(name: str, detail: str, advice: str = "") -> Finding:
    """It works all the same."""
    return Finding(name, WATCH, detail, advice)


def wrong(name: str, detail: str, advice: str) -> Finding:
    """It does not work."""
    return Finding(name, WRONG, detail, advice)


# --- this computer


OLDEST = (3, 11)
LITTLE_ROOM = 1 << 30
NO_ROOM = 100 << 20
"""Bytes of disk below which is warned, and below which the companion will soon stop taking lines."""

BEGINNING = 1_760_000_000
"""A moment before which this program was not written: a clock that says so is wrong."""

_REMOTE = ("openai", "gemini")
_OTHERS = ("auto", *_REMOTE)
"""Providers that name no local model."""

_SLACK_SECONDS = 120


def python() -> Finding:
    """The interpreter."""
    version = ".".join(str(part) for part in sys.version_info[:3])
    if sys.version_info[:2] < OLDEST:
        return wrong("python", version, "install Python 3.11 or newer, and Engram with it.")
    return well("python", version)


ALWAYS = ("companion", "board")
"""The extras that are looked at whatever the settings are."""


def packages(needed: Collection[str]) -> Iterator[Finding]:
    """What the parts of Engram need; `needed` are the extras beside ALWAYS."""
    for extra, packages in EXTRAS.items():
        if extra not in ALWAYS and extra not in needed:
            continue
        missing = [name for name, module in packages.items() if importlib.util.find_spec(module) is None]
        what = f"packages: {extra}"
        if not missing:
            yield well(what, f"{len(packages)} packages are installed")
        elif extra == "board":
            yield watch(what, f"not installed: {', '.join(missing)}", f"for `engram board`: {install_command(extra)}")
        else:
            yield wrong(what, f"not installed: {', '.join(missing)}", install_command(extra))


def embedder(settings: "Settings") -> Finding:
    """Who makes vectors."""
    provider = settings.embedding.provider
    name = "embedder"
    if provider == "none":
        return watch(name, "none: searches use words only", 'set embedding.provider to "auto" to search by meaning.')
    try:
        from engram_host.companion.embedding.local_models import LOCAL, local_models

        model = local_models(LOCAL if provider in _OTHERS else provider)[0]
        model.check(model.folder())
    except ImportError as missing:
        return wrong(name, f"the package {missing.name} is not installed", install_command("companion"))
    except Exception as problem:  # noqa: BLE001 - whatever is wrong with the model is what is looked for
        detail = str(problem)
        what = "the local model cannot be used"
        if provider not in _REMOTE:
            return wrong(name, what, detail)
        return watch(name, f"{provider}; {what} in its place", detail)
    return well(name, f"{provider}, and the local model {model.name} is complete")


def disk(home: Path) -> Finding:
    """Room for the database."""
    place = home
    while not place.exists():
        place = place.parent
    free = shutil.disk_usage(place).free
    detail = f"{format_size(free)} free for {home}"
    if free < NO_ROOM:
        return wrong("disk", detail, "free space: the companion stops storing lines when the disk is full.")
    if free < LITTLE_ROOM:
        return watch("disk", detail, "free space before it is full; boards keep what is not copied.")
    return well("disk", detail)


def clock(home: Path) -> Finding:
    """Whether the time may be true: it is older than what was written before, or than this program, if it is not."""
    now = time.time()
    detail = time.strftime("%Y-%m-%d %H:%M:%S %Z", time.localtime(now))
    newest = (
        max((path.stat().st_mtime for path in home.glob("*") if path.is_file()), default=0.0) if home.is_dir() else 0.0
    )
    if now < BEGINNING or newest > now + _SLACK_SECONDS:
        return wrong(
            "clock",
            f"{detail} is too early",
            "set the clock (NTP): the companion files what boards send under its time.",
        )
    return well("clock", detail)


def micropython() -> Finding:
    """What runs the simulated board."""
    from engram_host.simulator import board

    try:
        return well("micropython", f"{board.find_micropython()}")
    except board.NoMicroPython as problem:
        return watch("micropython", "only `engram run` and --sim need it, and it is not there", str(problem))
