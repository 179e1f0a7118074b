"""`engram doctor`: checks the setup, and says how to fix it."""

import itertools
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from engram_host.cli import output
from engram_host.cli.doctor import checks
from engram_host.cli.options import HOME, JSON, Context, takes
from engram_host.companion.diagnosis import computer
from engram_host.companion.diagnosis.findings import WATCH, WELL, WRONG, Finding, wrong

if TYPE_CHECKING:
    from engram_host.companion.settings import Settings

_MARKS = {WELL: "ok", WATCH: "look", WRONG: "WRONG"}


@takes(HOME, JSON)
def doctor(context: Context) -> None:
    """Diagnose the setup and say how to fix what is wrong; exits with status 1 then. Needs no companion.

    Example: engram doctor

    Example: engram doctor --home ~/.engram/companion --json
    """
    found = list(_findings(context.home))
    is_well = all(finding.state != WRONG for finding in found)
    if context.json:
        output.print_json({"well": is_well, "checks": [_as_json(finding) for finding in found]})
    else:
        rows = [
            (_MARKS[each.state], each.name, f"{each.detail}: {each.advice}" if each.advice else each.detail)
            for each in found
        ]
        output.print_table(("", "what", "how it is"), rows)
    raise typer.Exit(0 if is_well else 1)


def _as_json(finding: Finding) -> dict[str, str]:
    return {"name": finding.name, "state": finding.state, "told": finding.detail, "do": finding.advice}


def _findings(home: Path) -> Iterator[Finding]:
    yield checks.python()
    try:
        from engram_host.cli.doctor import bridge_checks
        from engram_host.cli.doctor import companion_checks as companion
        from engram_host.cli.doctor.broker_checks import broker
        from engram_host.companion.diagnosis import setup
        from engram_host.companion.errors import SettingError
        from engram_host.companion.settings import read_settings
    except ModuleNotFoundError:
        # Without the companion's packages its settings cannot be read, nor checked.
        yield from checks.packages(())
        yield from (computer.disk(home), computer.clock(home), checks.micropython())
        return
    from engram_host.companion.lockfile import running_addresses

    try:
        settings = read_settings(home, {}, os.environ)
    except SettingError as problem:
        yield wrong("settings", "one is wrong", str(problem))
        return
    running = running_addresses(home)
    found: list[Iterable[Finding]] = [
        checks.packages(_extras(settings)),
        [checks.embedder(settings), computer.disk(home), computer.clock(home), checks.micropython()],
        setup.files(settings),
        companion.starting(settings),
        companion.ports(settings, running),
        companion.database(settings),
        broker(settings, lambda note: companion.broker_password(settings, note)),
        bridge_checks.bridges(settings),
        setup.alerts(settings),
        companion.companion(settings, running),
    ]
    yield from itertools.chain.from_iterable(found)


def _extras(settings: "Settings") -> set[str]:
    postgres = {"postgres"} if settings.store.url.startswith("postgres") else set[str]()
    return postgres | {bridge.network for bridge in settings.bridges if bridge.is_on}
