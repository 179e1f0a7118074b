"""Stand-ins for what only a chip has: `import fakes; fakes.install()` before the module under test is imported.

They do as the port's source says (README.md beside it), also where that is odd: a failed attempt's status stays until a
later one has succeeded, Wi-Fi takes no setting while it joins, timers stop at a soft reset and the watchdog does not, time
counts from 2000. Where releases differ, `machine.version` decides.
"""

import sys

from fakes import machine, network


def install() -> None:
    """Put the stand-ins in the place of the modules."""
    sys.modules["machine"] = machine
    sys.modules["network"] = network
