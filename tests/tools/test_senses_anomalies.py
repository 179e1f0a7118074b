"""Hours that are unusual are found in made-up years of senses."""

import bench_senses_anomalies as bench
import sense_signals as signals

DAYS = 200
SEED = 41


def test_the_board_finds_spikes_and_no_drift():
    place = [kind.name for kind in signals.KINDS].index("humidity %")
    result = bench.play(("board", 0.0, place, SEED, DAYS, [bench.AIMED_SIZE]))
    found = [kind for kind, after in result.planted[bench.AIMED_SIZE] if after >= 0]
    assert "spike" in found and "drift" not in found


def test_anomalies_are_planted_apart_and_as_large_as_is_said():
    kind = signals.KINDS[0]
    values = signals.clean(kind, SEED, DAYS)
    spread = signals.usual_spread(values)
    planned = signals.plan(kind, SEED, DAYS, 60, 10, 6.0)
    planted = signals.plant(kind, values, planned, spread)
    assert {anomaly.kind for anomaly in planned} == set(signals.PLANTED)
    for anomaly, following in zip(planned, [*planned[1:], signals.Anomaly("", 0, DAYS * 1440, 0)], strict=True):
        assert anomaly.begin < anomaly.end < following.begin
        off = planted[anomaly.end - 1] - values[anomaly.end - 1]
        if anomaly.size:
            assert abs(abs(off) - 6 * spread) < 1e-6


def test_judging_counts_what_begins_in_time():
    planted = [signals.Anomaly("spike", 6.0, 1000, 1300), signals.Anomaly("silent", 0.0, 9000, 9300)]
    events = [("unusual", 900), ("unusual", 1010), ("unusual", 1900), ("unusual", 9100), ("silent", 9290)]
    false, found = bench.judge(events, planted)
    assert false == [("unusual", 900)]
    assert found == {0: 10, 1: 290}
