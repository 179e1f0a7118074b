"""The time zone of a board at the companion: days by the firmware's rules, one by one and of many moments at once."""

import random

import numpy as np

from engram_host.companion.search.fusion import days_of
from engram_host.time_zones import BoardZone, is_rule
from one_case import in_one_case

BERLIN = BoardZone(60, "CET-1CEST,M3.5.0,M10.5.0/3")
SANTIAGO = BoardZone(-240, "<-04>4<-03>,M9.1.6/24,M4.1.6/24")
DAY = 86400


@in_one_case("zone", [BERLIN, SANTIAGO, BoardZone(-330), BoardZone(60, "<+01>-1")])
def test_days_of_many_moments_are_those_of_each(zone: BoardZone):
    dice = random.Random(1)
    moments = [dice.randrange(1 << 32) for _ in range(500)]
    assert days_of(np.array(moments), zone).tolist() == [zone.day_of(at) for at in moments]


def test_moments_of_wrong_clocks_have_days_at_once():
    moments = [-(1 << 50), -1, 0, 1_790_000_000, 1 << 50]
    days = days_of(np.array(moments), BERLIN).tolist()
    assert days[:2] + days[4:] == [(at + 3600) // DAY for at in moments[:2] + moments[4:]]
    assert days_of(np.array([], np.int64), BERLIN).tolist() == []


@in_one_case("zone", [BERLIN, SANTIAGO, BoardZone(-330)])
def test_a_day_begins_where_the_one_before_ends(zone: BoardZone):
    for day in range(20_000, 21_500):
        start = zone.start_of(day)
        assert (zone.day_of(start - 1), zone.day_of(start)) == (day - 1, day)


def test_a_text_is_a_rule_if_the_firmware_reads_it():
    assert is_rule(BERLIN.rule) and not is_rule("Europe/Berlin") and not is_rule("")
