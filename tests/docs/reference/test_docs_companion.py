"""The companion's page: its table of settings is the code's, and the example is taken."""

from dataclasses import fields
from pathlib import Path

from engram_host.companion import bridge_settings
from engram_host.companion.bridges.kinds import KINDS
from engram_host.companion.folders.sources import folder_sources
from engram_host.companion.settings import (
    AlertSettings,
    ChatSettings,
    FoldersSettings,
    GatewaySettings,
    HttpSettings,
    MediaSettings,
    MqttSettings,
    PeopleSettings,
    SearchSettings,
    SecuritySettings,
    StoreSettings,
    read_settings,
)
from engram_host.companion.supervisor import TASKS
from one_case import in_one_case
from pages import fences, plain, read, rows, section

PAGE = "docs/reference/companion-settings.md"
START = "docs/start/companion.md"
GUIDES = tuple(f"docs/guides/{name}.md" for name in ("gateway", "embedding", "folders", "bridges", "networks"))
SECTIONS = {
    "http": HttpSettings,
    "mqtt": MqttSettings,
    "store": StoreSettings,
    "search": SearchSettings,
    "security": SecuritySettings,
    "gateway": GatewaySettings,
    "folders": FoldersSettings,
    "chat": ChatSettings,
    "people": PeopleSettings,
    "alerts": AlertSettings,
    "media": MediaSettings,
}


def _default(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def test_the_table_of_settings_is_the_codes():
    told = [[plain(cell) for cell in row[:3]] for row in rows(section(read(PAGE), "## Settings"))]
    known = [
        [f"{name}.{each.name}", each.metadata["environment"], _default(each.default)]
        for name, kind in SECTIONS.items()
        for each in fields(kind)
    ]
    assert told == known


def test_the_table_of_bridges_fields_is_the_codes():
    told = [[plain(cell) for cell in row] for row in rows(section(read(PAGE), "## Bridges"))[6:]]
    known = [
        [
            f"{kind.name}: {field.name}",
            field.default or ("" if field.is_optional else "required"),
            field.question + ("; a secret" if field.is_secret else ""),
        ]
        for kind in KINDS.values()
        for field in kind.fields
    ]
    assert told == known


def test_the_table_of_a_bridges_own_settings_is_the_codes():
    told = {plain(row[0]) for row in rows(section(read(PAGE), "## Bridges"))[:6]}
    assert told == set(bridge_settings.OWN_SETTINGS)


def test_the_networks_of_the_guide_are_the_codes():
    assert [plain(row[1]) for row in rows(section(read("docs/guides/bridges.md"), "# Bridges", below=False))][
        :6
    ] == list(KINDS)


def test_the_table_of_background_tasks_is_the_codes():
    assert (
        tuple(plain(row[0]) for row in rows(section(read("docs/design/companion.md"), "## Background tasks"))) == TASKS
    )


def test_the_example_of_folders_is_taken(tmp_path: Path):
    (tmp_path / "companion.toml").write_text(fences(read("docs/guides/folders.md"), "toml")[0].text, encoding="utf-8")
    folders = folder_sources(read_settings(tmp_path, {}, {}).folders, "test")
    assert [(place.name, place.form, place.scope) for place in folders] == [
        ("agent", "memory", "user:owner"),
        ("notes", "all", "user:owner"),
        ("todo.md", "file", "user:owner"),
        ("house rules", "all", "all"),
    ]


def test_the_example_of_a_file_is_taken(tmp_path: Path):
    (tmp_path / "companion.toml").write_text(fences(read(PAGE), "toml")[0].text, encoding="utf-8")
    assert read_settings(tmp_path, {}, {}).mqtt.url.startswith("mqtt://")


@in_one_case("fence", [fence for page in (PAGE, START, *GUIDES) for fence in fences(read(page), "toml")])
def test_each_example_of_settings_is_taken(fence, tmp_path: Path):
    (tmp_path / "companion.toml").write_text(fence.text, encoding="utf-8")
    assert read_settings(tmp_path, {}, {})


def test_the_gateways_page_shows_the_limits_defaults():
    told = {
        plain(row[0]).removeprefix("gateway."): row[1]
        for row in rows(section(read("docs/guides/gateway.md"), "## Limits"))
    }
    known = {each.name: str(each.default) for each in fields(GatewaySettings) if each.name in told}
    assert told == known and len(told) == 4
