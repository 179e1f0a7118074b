"""Settings, secrets, the environment and the root certificates: the page's tables are the code's."""

import json
import re
from collections.abc import Iterator
from dataclasses import fields

from engram.config import SECRETS, SETTINGS, Config
from engram_host.companion.auth.secrets import SecretStore
from engram_host.companion.bridge_settings import PeopleSettings
from engram_host.companion.bridges.kinds import KINDS, BridgeField, NetworkKind, secret_name
from engram_host.companion.gateway import service as gateway
from engram_host.root_certificates import ROOTS
from engram_host.services import all_services
from one_case import in_one_case
from pages import PAGES, ROOT, fences, in_backticks, plain, read, rows, section

PAGE = "docs/reference/settings.md"
ALL = {name: json.loads(row) for name, row in (line.split(" ", 1) for line in SETTINGS.strip().splitlines())}

_VARIABLE = re.compile(r"\bENGRAM_[A-Z_]*[A-Z]\b|environ\.get\(\"([A-Z_]+)\"\)")
_FILES = (".json", ".jsonl", ".md", ".py", ".pem", ".bin", ".bad", ".new", ".lock", ".sha256", ".toml")


def _bounds(default, low=None, high=None) -> str:
    if isinstance(default, bool):
        return "`true`, `false`"
    if isinstance(default, int):
        return f"{low} to {high}"
    return ", ".join(f"`{value}`" for value in low) if isinstance(low, list) else f"{low} to {high} characters"


def test_the_table_of_settings_is_the_codes():
    documented = [tuple(row[:3]) for row in rows(section(read(PAGE), "## All settings"))]
    expected = [(f"`{name}`", f"`{json.dumps(row[0])}`", _bounds(*row)) for name, row in ALL.items()]
    assert documented == expected


def test_the_table_of_services_is_the_firmwares():
    documented = [tuple(row) for row in rows(section(read("docs/start/model.md"), "## Try it with a service"))]
    assert documented == [
        (each.name, f"`{each.url}`", "yes" if each.needs_key else "no", f"`{each.model}`", each.note)
        for each in all_services()
    ]


def test_each_setting_says_what_it_is_for():
    for row in rows(section(read(PAGE), "## All settings")):
        assert len(row) == 4 and len(row[3]) > 10, row


@in_one_case("heading, name", [("# Settings of the board", "config.json"), ("## Secrets", "secrets.json")])
def test_the_example_of_a_file_is_taken(heading, name, tmp_path):
    for fence in fences(section(read(PAGE), heading, below=False), "json"):
        (tmp_path / name).write_text(fence.text, encoding="utf-8")
        Config(str(tmp_path))
    assert (tmp_path / name).exists()


def test_the_table_of_secrets_is_the_codes():
    assert [plain(row[0]) for row in rows(section(read(PAGE), "## Secrets"))] == list(SECRETS)


@in_one_case("page", PAGES)
def test_no_page_names_a_setting_that_there_is_not(page):
    known = set(ALL) | set(SECRETS)
    # Who may talk is set at the companion, too, under the same names.
    known |= {f"people.{each.name}" for each in fields(PeopleSettings)}
    groups = {name.split(".")[0] for name in known if "." in name}
    for code in in_backticks(read(page)):
        if re.fullmatch(r"[a-z]+\.[a-z_]+", code) and code.split(".")[0] in groups and not code.endswith(_FILES):
            assert code in known, code


def test_the_table_of_the_environment_is_what_the_code_reads():
    found = set()
    for folder in ("host/engram_host/simulator", "boards"):
        for path in (ROOT / folder).rglob("*.py"):
            for match in _VARIABLE.finditer(path.read_text(encoding="utf-8")):
                found.add(match[1] or match[0])
    documented = [plain(row[0]) for row in rows(section(read(PAGE), "## Environment of `make run`"))]
    assert len(documented) == len(set(documented))
    assert set(documented) == found


@in_one_case("page", PAGES)
def test_no_page_names_a_variable_that_there_is_not(page):
    documented = {plain(row[0]) for row in rows(section(read(PAGE), "## Environment of `make run`"))}
    # Those of the companion stand in its own table.
    documented |= {plain(row[1]) for row in rows(section(read("docs/reference/companion-settings.md"), "## Settings"))}
    documented.add(SecretStore(ROOT).variable(gateway.NAME))  # a secret, told of on the gateway's page alone
    documented |= {plain(row[0]) for row in rows(section(read("docs/reference/cli.md"), "## Which companion"))}
    documented |= set(re.findall(r"\$\{(ENGRAM_[A-Z_]+)", read("deploy/compose.yaml")))
    documented |= {SecretStore(ROOT).variable(secret_name(kind.name, each.name)) for kind, each in _secrets()}
    assert set(re.findall(r"\bENGRAM_[A-Z_]+", read(page))) <= documented


def _secrets() -> Iterator[tuple[NetworkKind, BridgeField]]:
    return ((kind, each) for kind in KINDS.values() for each in kind.fields if each.is_secret)


def test_the_list_of_roots_is_the_codes():
    listed = re.findall(r"^- (.+)$", section(read(PAGE), "## Root certificates"), re.MULTILINE)
    assert listed == list(ROOTS.values())
