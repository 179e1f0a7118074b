"""The companion's page: its table of settings is the code's, and the example is taken."""

from dataclasses import fields
from pathlib import Path

from engram_host.companion.settings import HttpSettings, MqttSettings, SearchSettings, StoreSettings
from engram_host.companion.start import read_settings
from pages import fences, plain, read, rows, section

PAGE = "docs/companion.md"
SECTIONS = {"http": HttpSettings, "mqtt": MqttSettings, "store": StoreSettings, "search": SearchSettings}


def _default(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def test_the_table_of_settings_is_the_codes():
    told = [[plain(cell) for cell in row[:3]] for row in rows(section(read(PAGE), "## Settings"))]
    known = [
        [f"{name}.{each.name}", each.metadata["environment"], _default(each.default)]
        for name, kind in SECTIONS.items()
        for each in fields(kind)
    ]
    assert told == known


def test_the_example_of_a_file_is_taken(tmp_path: Path):
    (tmp_path / "companion.toml").write_text(fences(read(PAGE), "toml")[0].text, encoding="utf-8")
    assert read_settings(tmp_path, {}, {}).mqtt.url.startswith("mqtt://")
