"""A companion without a bridge is as it was before there were any: it loads no network's library, and runs nothing for them."""

import subprocess
import sys
from pathlib import Path

from companion_thread import companion_thread
from engram_host.extras import EXTRAS
from peers import ROOT

NETWORKS = ("xmpp", "irc", "matrix", "telegram", "discord", "slack", "alerts")
_LOADED = "import engram_host.companion.serving.running, engram_host.cli.commands, sys; print(*sys.modules)"


def test_no_library_of_a_network_is_loaded():
    variables = {"PYTHONPATH": f"{ROOT / 'host'}:{ROOT / 'firmware'}"}
    words = [sys.executable, "-c", _LOADED]
    loaded = subprocess.run(words, env=variables, capture_output=True, text=True, check=True).stdout.split()
    libraries = {module for extra in NETWORKS for module in EXTRAS[extra].values()} | {"keyring", "tomlkit"}
    assert libraries & set(loaded) == set()


def test_nothing_runs_and_no_file_is_made_for_bridges_or_alerts(tmp_path: Path):
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    with companion_thread(home) as running:
        names = {status.name for status in running.app.supervisor.statuses()}
        assert names & {"alerts", "bridges"} == set() and running.app.problems() == []
        assert not any("bridges" in name for name in running.app.gauges())
        assert {path.name for path in home.iterdir()} & {"bridges.lock", "alerts.lock", "secrets"} == set()
