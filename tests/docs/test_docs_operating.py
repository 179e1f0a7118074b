"""The page on operating and the files of deploy/: units that systemd takes, metrics and settings that there are, a drill."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest
import trustme
import yaml
from prometheus_client.parser import text_string_to_metric_families

from cli_case import engram
from engram_host.companion import settings
from engram_host.companion.api.server import MOST_CONNECTIONS
from engram_host.companion.metrics import GAUGES, Metrics
from pages import ROOT, in_backticks, plain, read, rows, section
from peers import Companion
from waiting import wait_until

PAGE = "docs/guides/operating.md"
DEPLOY = ROOT / "deploy"
INSTALLED = "/opt/engram/bin/engram"
UNITS = sorted(path.name for path in DEPLOY.glob("engram*.*") if path.suffix in (".service", ".timer"))

OTHER_DESCRIPTORS = 1024
"""Of the database, folders, services and logs, with room to spare."""


def _directives(unit: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, value in re.findall(r"^(\w+)=(.*)$", (DEPLOY / unit).read_text(), re.MULTILINE):
        found.setdefault(name, []).append(value)
    return found


# --- systemd


@pytest.fixture
def units(tmp_path: Path) -> Path:
    """The units, with a command that is there in the place of the installed one."""
    if not shutil.which("systemd-analyze"):
        pytest.skip("systemd-analyze is not on this machine")
    for unit in UNITS:
        (tmp_path / unit).write_text((DEPLOY / unit).read_text().replace(INSTALLED, "/bin/true"))
    return tmp_path


def test_systemd_takes_the_units(units: Path):
    done = subprocess.run(
        ["systemd-analyze", "verify", *(units / name for name in UNITS)], capture_output=True, text=True
    )
    assert len(UNITS) == 4 and (done.returncode, done.stdout + done.stderr) == (0, "")


def test_the_service_has_descriptors_for_all_connections():
    assert int(_directives("engram.service")["LimitNOFILE"][0]) >= MOST_CONNECTIONS + OTHER_DESCRIPTORS


@pytest.mark.parametrize("unit", [unit for unit in UNITS if INSTALLED in (DEPLOY / unit).read_text()])
def test_a_unit_runs_a_command_that_there_is(unit: str):
    (line,) = _directives(unit)["ExecStart"]
    words = shlex.split(line[line.index(INSTALLED) :].rstrip("'"))
    shown = engram(words[1], "--help").out
    assert all(word in shown for word in words if word.startswith("--"))
    assert "ENGRAM_COMPANION_HOME=/var/lib/engram" in _directives(unit)["Environment"]


@pytest.mark.parametrize("has_hook", [False, True])
def test_a_backup_that_failed_is_reported(tmp_path: Path, has_hook: bool):
    (reporter,) = _directives("engram-backup.service")["OnFailure"]
    assert reporter == "engram-failed@%n.service"
    (line,) = _directives("engram-failed@.service")["ExecStart"]
    hook = tmp_path / "on-failure"
    if has_hook:
        hook.write_text('#!/bin/sh\necho "mail: $1"\n')
        hook.chmod(0o755)
    # As systemd reads it: the name of the unit that failed for %i, and one dollar for two.
    line = line.replace("/etc/engram/on-failure", str(hook)).replace("%i", "engram-backup.service").replace("$$", "$")
    done = subprocess.run(shlex.split(line), capture_output=True, text=True, check=True)
    said = "<2>engram-backup.service failed: look at journalctl -u engram-backup.service\n"
    assert done.stdout == ("mail: engram-backup.service\n" if has_hook else said)


# --- compose


def _variables() -> set[str]:
    sections = [
        each for each in vars(settings).values() if isinstance(each, type) and each.__name__.endswith("Settings")
    ]
    return {each.metadata.get("environment", "") for kind in sections for each in fields(kind)}


def test_the_compose_file_sets_what_there_is_and_builds_what_is_beside_it():
    service = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]["companion"]
    assert set(service["environment"]) <= _variables()
    assert service["environment"]["ENGRAM_TOKENS"] == "on"
    dockerfile = (DEPLOY / service["build"]["context"] / service["build"]["dockerfile"]).read_text()
    copied = {name for line in re.findall(r"^COPY (.+)$", dockerfile, re.MULTILINE) for name in line.split()[:-1]}
    assert {"host", "firmware", "boards", "pyproject.toml"} <= copied
    assert [name for name in copied if not (ROOT / name).exists()] == []
    assert service["ulimits"]["nofile"] == int(_directives("engram.service")["LimitNOFILE"][0])
    assert all(port.startswith("${ENGRAM_BIND:-127.0.0.1}:") for port in service["ports"])


@pytest.mark.parametrize("has_tls", [pytest.param(False, marks=pytest.mark.soak), True])
def test_the_health_check_of_the_compose_file_asks_as_the_companion_listens(tmp_path: Path, has_tls: bool):
    service = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]["companion"]
    kind, python, *words = service["healthcheck"]["test"]
    assert (kind, python) == ("CMD", "python")
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    trustme.CA().issue_cert("companion.example").private_key_and_cert_chain_pem.write_to_path(home / "both.pem")
    tls = {"ENGRAM_HTTP_CERTIFICATE": "both.pem", "ENGRAM_HTTP_KEY": "both.pem"} if has_tls else {}
    variables = os.environ | {"ENGRAM_COMPANION_HOME": str(home), "https_proxy": "http://127.0.0.1:1"}

    def check() -> int:
        return subprocess.run([sys.executable, *words], env=variables, capture_output=True, timeout=60).returncode

    assert check() == 1
    companion = Companion(home, ENGRAM_TOKENS="on", **tls)
    companion.begin()
    try:
        wait_until("it is healthy", lambda: check() == 0)
        assert f"http{'s' * has_tls}://127.0.0.1:{companion.http_port}" in companion.printed()
    finally:
        companion.kill()
    assert check() == 1


# --- alarms


def _known_metrics() -> set[str]:
    families = text_string_to_metric_families(Metrics().render().decode())
    series = {sample.name for family in families for sample in family.samples}
    return series | {name.removesuffix("_bucket") for name in series} | set(GAUGES)


def _rules() -> dict[str, str]:
    groups = yaml.safe_load((DEPLOY / "alerts.yaml").read_text())["groups"]
    return {rule["alert"]: rule["expr"] for group in groups for rule in group["rules"]}


def _metrics_in(text: str) -> set[str]:
    return set(re.findall(r"\bengram_\w+", text))


def test_each_alarm_looks_at_metrics_that_there_are():
    unknown = {name: _metrics_in(rule) - _known_metrics() for name, rule in _rules().items()}
    assert unknown and not any(unknown.values()), unknown
    looked_at = {metric for rule in _rules().values() for metric in _metrics_in(rule)}
    assert {"engram_disk_free_bytes", "engram_last_backup_timestamp_seconds"} <= looked_at


def test_the_table_of_alarms_is_the_file():
    table = {plain(row[0]): set(in_backticks(row[1])) for row in rows(section(read(PAGE), "## Alarms"))}
    wanted = {name: {each.removesuffix("_bucket") for each in _metrics_in(rule)} for name, rule in _rules().items()}
    assert {name: metrics - {"up"} for name, metrics in table.items()} == wanted


def test_the_page_names_metrics_that_there_are():
    assert _metrics_in(section(read(PAGE), "## Alarms")) <= _known_metrics()


# --- the restore drill
