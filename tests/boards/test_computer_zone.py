"""The computer's time zone as a board takes it: from the variable TZ, or from the file that the computer has."""

import zoneinfo
from pathlib import Path

import pytest

from engram.config import zone_of
from engram_host.time_zones import computer_zone

BERLIN = "CET-1CEST,M3.5.0,M10.5.0/3"
NOWHERE = Path("nowhere")


def zone_file(folder: Path, rule: bytes, name: str = "localtime") -> Path:
    path = folder / name
    path.write_bytes(b"TZif2" + bytes(80) + b"\n" + rule + b"\n")
    return path


@pytest.mark.parametrize(
    ("rule", "expected"),
    [(BERLIN.encode(), BERLIN), (b"<+0545>-5:45", "+05:45"), (b"<-03>3", "-03:00"), (b"UTC0", "+00:00")],
)
def test_a_zone_is_its_rule_or_without_daylight_saving_its_offset(tmp_path: Path, rule: bytes, expected: str):
    assert computer_zone({}, zone_file(tmp_path, rule)) == expected


@pytest.mark.parametrize(
    ("named", "expected"),
    [("Europe/Berlin", BERLIN), ("America/New_York", "EST5EDT,M3.2.0,M11.1.0"), ("Asia/Kathmandu", "+05:45")],
)
def test_the_variable_may_name_a_zone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str, expected: str):
    rule = {"Asia/Kathmandu": "<+0545>-5:45"}.get(named, expected)
    (tmp_path / named).parent.mkdir(parents=True)
    zone_file(tmp_path, rule.encode(), named)
    monkeypatch.setattr(zoneinfo, "TZPATH", ("/nowhere", str(tmp_path)))
    assert computer_zone({"TZ": named}, NOWHERE) == expected


def test_without_a_rule_it_is_the_offset_of_now(tmp_path: Path):
    path = tmp_path / "localtime"
    for data in (b"", b"TZif2", b"TZif2\n\n", b"TZif2\n\xff\xfe\n", BERLIN.encode() + b"\n", b"TZif2\nno rule\n"):
        path.write_bytes(data)
        for here in (path, tmp_path, NOWHERE):
            found = computer_zone({}, here)
            assert found == "" or zone_of(found)[1] is None, (data, here)
