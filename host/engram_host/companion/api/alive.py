"""A container's health check: asks this computer's companion if it serves, with or without TLS.

Run it as `python -m engram_host.companion.api.alive`.
"""

import os
import ssl
import sys
from pathlib import Path
from urllib.error import URLError
from urllib.request import HTTPSHandler, ProxyHandler, build_opener

from engram_host.companion.lockfile import DEFAULT_HOME, HOME_VARIABLE, running_addresses

SECONDS = 10.0
"""Timeout; the database's probe takes at most three."""


def problem_of(home: Path) -> str:
    """Return the reason why the companion of a folder does not serve, or ""."""
    url = running_addresses(home).get("http")
    if not url:
        return f"no companion runs on {home}."
    # Nothing secret is sent, so the server need not prove its identity: an expired certificate is no reason for a restart.
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    opener = build_opener(ProxyHandler({}), HTTPSHandler(context=context))
    try:
        with opener.open(f"{url}/v1/alive", timeout=SECONDS):
            return ""
    except (OSError, URLError) as error:
        return f"the companion at {url} does not serve: {error}"


if __name__ == "__main__":
    sys.exit(problem_of(Path(os.environ.get(HOME_VARIABLE) or DEFAULT_HOME).expanduser()) or 0)
