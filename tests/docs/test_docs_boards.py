"""The pages on boards: they name the boards that there are folders for, with what their profiles say."""

import json
import re

from one_case import in_one_case
from pages import ROOT, in_backticks, plain, read, rows, section

PROFILES = {
    path.parent.name: json.loads(path.read_text(encoding="utf-8")) for path in (ROOT / "boards").glob("*/board.json")
}
TABLE = {plain(row[0]): row for row in rows(section(read("docs/start/boards.md"), "## Which board"))}
CHIPS = {"esp32": "ESP32", "esp32s3": "ESP32-S3"}


def test_the_table_of_boards_has_a_row_for_each_profile_and_no_other():
    assert set(TABLE) == set(PROFILES)


@in_one_case("name", sorted(PROFILES))
def test_a_row_of_the_table_is_what_the_profile_says(name):
    profile, (_, chip, flash, _, micropython) = PROFILES[name], TABLE[name]
    assert chip.split()[0] == CHIPS[profile["chip"]]
    assert int(flash.split()[0]) << 20 == profile["flash_bytes"]
    assert profile["micropython_board"] in in_backticks(micropython)
    assert re.findall(r"variant (\w+)", micropython) == [profile["micropython_variant"]][: "variant" in micropython]
    assert ("variant" in micropython) == bool(profile["micropython_variant"])


@in_one_case("name", sorted(PROFILES))
def test_the_list_to_choose_from_names_the_board(name):
    assert name in in_backticks(section(read("boards/README.md"), "## How to choose"))
