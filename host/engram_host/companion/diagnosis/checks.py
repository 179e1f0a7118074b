"""Checks of a running companion; `engram doctor` runs these and more from outside."""

from collections.abc import Callable, Iterator

from engram_host.companion.diagnosis import computer, setup
from engram_host.companion.diagnosis.findings import CHECKS, REFUSED, Finding, wrong
from engram_host.companion.errors import SettingError
from engram_host.companion.settings import Settings


def check_companion(settings: Settings) -> list[Finding]:
    """Check disk, clock, secrets, certificates, gateway and alerts; blocks for some ms."""
    found = [computer.disk(settings.home), computer.clock(settings.home)]
    checks: dict[str, Callable[[Settings], Iterator[Finding]]] = {
        "files": setup.files,
        "tls": setup.tls,
        "gateway": setup.gateway,
        "alerts": setup.alerts,
    }
    for name, check in checks.items():
        try:
            found += check(settings)
        except SettingError as problem:
            found.append(wrong(name, REFUSED, str(problem)))
        except OSError as error:  # such as a file that vanishes meanwhile
            found.append(
                wrong(name, CHECKS.say("unreadable"), CHECKS.say("look_again", problem=str(error.strerror or error)))
            )
    return found
