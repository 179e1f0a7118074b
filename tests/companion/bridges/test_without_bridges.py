"""A companion without a bridge is as it was before there were any: it loads no network's library, and runs nothing for them."""

import subprocess
import sys

from engram_host.extras import EXTRAS
from peers import ROOT

NETWORKS = ("xmpp", "irc", "matrix", "telegram", "discord", "slack", "alerts")
_LOADED = "import engram_host.companion.serving, engram_host.cli.commands, sys; print(*sys.modules)"


def test_no_library_of_a_network_is_loaded():
    variables = {"PYTHONPATH": f"{ROOT / 'host'}:{ROOT / 'firmware'}"}
    words = [sys.executable, "-c", _LOADED]
    loaded = subprocess.run(words, env=variables, capture_output=True, text=True, check=True).stdout.split()
    libraries = {module for extra in NETWORKS for module in EXTRAS[extra].values()} | {"keyring", "tomlkit"}
    assert libraries & set(loaded) == set()
