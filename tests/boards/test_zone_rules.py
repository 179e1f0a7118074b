"""The firmware's time zones by a rule and those of Python agree, for each rule of the time zone database."""

import io
import random
import struct
import zoneinfo
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path

from engram.clock import Clock, Zone, day_number
from engram_host.time_zones import read_rule
from one_case import in_one_case

DAY = 86400
OF_EACH = 200
"""Moments that are compared in a zone."""


@cache
def rules() -> dict[str, str]:
    """The rule at the end of each zone's file, by the zone's name."""
    files = {name: [Path(folder, name) for folder in zoneinfo.TZPATH] for name in zoneinfo.available_timezones()}
    found = {name: next(filter(None, map(read_rule, paths)), "") for name, paths in files.items()}
    return {name: rule for name, rule in sorted(found.items()) if rule}


RULES = sorted(set(rules().values()))


def by_python(rule: str) -> zoneinfo.ZoneInfo:
    """A zone of Python that has the rule, and nothing else."""
    empty = b"TZif2" + bytes(15) + struct.pack(">6I", 0, 0, 0, 0, 1, 1) + struct.pack(">iBB", 0, 0, 0) + b"\0"
    return zoneinfo.ZoneInfo.from_file(io.BytesIO(empty + empty + b"\n" + rule.encode() + b"\n"))


def minutes(at: int, zone: zoneinfo.ZoneInfo) -> int:
    offset = datetime.fromtimestamp(at, zone).utcoffset()
    assert offset is not None and not offset % timedelta(minutes=1)
    return offset // timedelta(minutes=1)


def year(number: int) -> int:
    """Unix seconds of the beginning of a year."""
    return int(datetime(number, 1, 1, tzinfo=UTC).timestamp())


def moments(seed: str, first: int, end: int) -> list[int]:
    """Random moments between two years, half of them full quarters of an hour, at which clocks change."""
    dice = random.Random(seed)
    return [dice.randrange(year(first), year(end)) // step * step for step in (1, 900) for _ in range(OF_EACH // 2)]


@in_one_case("rule", RULES)
def test_offsets_by_a_rule_are_those_of_python(rule: str):
    zone, known = Zone(rule), by_python(rule)
    for at in moments(rule, 2020, 2045):
        assert zone.offset_minutes(at) == minutes(at, known), at


@in_one_case("rule", RULES)
def test_offsets_change_at_the_same_second_as_those_of_python(rule: str):
    zone, known = Zone(rule), by_python(rule)
    changes = 0
    for begin in range(year(2027), year(2029), DAY):
        before = minutes(begin, known)
        if before == minutes(begin + DAY, known):
            continue
        second = begin
        while minutes(second, known) == before:
            second += 900
        changes += 1
        assert (zone.offset_minutes(second - 1), zone.offset_minutes(second)) == (before, minutes(second, known)), (
            second
        )
    assert changes == (4 if "," in rule else 0)


@in_one_case("rule", [rule for rule in RULES if "," in rule])
def test_local_times_become_moments_as_in_python(rule: str):
    zone, known = Zone(rule), by_python(rule)
    clock = Clock(zone.standard, None, zone)
    for day in range(day_number("2027-01-01"), day_number("2028-01-01")):
        for minute in (0, 30, 60, 90, 120, 150, 180, 240, 720, 1410):
            local = datetime(1970, 1, 1) + timedelta(days=day, minutes=minute)
            first, moment = int(local.replace(tzinfo=known).timestamp()), clock.moment(day, minute)
            if datetime.fromtimestamp(first, known).replace(tzinfo=None) == local:
                assert moment == first, local
            else:
                before, after = (datetime.fromtimestamp(at, known).replace(tzinfo=None) for at in (moment - 1, moment))
                assert before < local < after, local
