"""The watchdog bites only a board that hangs, and starts that ended badly are counted through resets."""

import fakes

fakes.install()

from engram.device import boot_count  # noqa: E402
from engram.device import watchdog as watchdog_module  # noqa: E402
from engram.device.watchdog import Watchdog  # noqa: E402
from engram.errors import ConfigError  # noqa: E402
from fakes import machine, world  # noqa: E402
from support import raises  # noqa: E402

watchdog_module.ticks_ms = world.ticks_ms

MINUTE = 60000
HOUR = 60 * MINUTE


VERSIONS = machine.OLDEST, machine.NEWEST


def _new_board(version=machine.NEWEST, timers=4):
    world.forget_all()
    machine.version, machine.timers = version, timers
    machine.power_on()
    watchdog_module._timer = None
    return Watchdog()


def _restarted(cause):
    """The watchdog of boot.py after a reset, which loads the module anew."""
    machine.restart(cause)
    watchdog_module._timer = None
    return Watchdog()


# --- the watchdog


def test_an_app_that_beats_is_not_reset():
    watchdog = _new_board()
    watchdog.guard(60)
    watchdog.watch()
    for _ in range(60):
        world.advance(50000)
        watchdog.beat()
    assert not machine.was_reset


def test_an_app_that_goes_on_after_a_stop_has_to_beat_again():
    watchdog = _new_board()
    watchdog.guard(60)
    watchdog.watch()
    watchdog.rest()
    world.advance(HOUR)
    watchdog.watch()
    world.advance(3 * MINUTE)
    assert machine.was_reset


def test_a_soft_reset_goes_on_feeding_a_watchdog_that_runs():
    for version in VERSIONS:
        _new_board(version).guard(60)
        _restarted(machine.SOFT_RESET).resume()
        world.advance(HOUR)
        assert not machine.was_reset


def test_an_app_that_hangs_after_a_soft_reset_is_reset():
    for version in VERSIONS:
        _new_board(version).guard(60)
        _restarted(machine.SOFT_RESET).resume()
        watchdog = Watchdog()
        watchdog.guard(60)
        watchdog.watch()
        world.advance(3 * MINUTE)
        assert machine.was_reset


def test_a_time_that_is_too_short_is_refused():
    watchdog = _new_board()
    with raises(ConfigError) as caught:
        watchdog.guard(29)
    assert caught.error.key == "watchdog.seconds" and not machine.watchdog_runs()


def test_a_chip_with_two_timers_or_one_is_guarded_too():
    for version in VERSIONS:
        for timers in (1, 2):
            _new_board(version, timers).guard(60)
            world.advance(HOUR)
            assert not machine.was_reset


def test_a_virtual_timer_leaves_the_chips_own_to_a_persons_code():
    _new_board((1, 29)).guard(60)
    assert machine.taken_timers() == []


# --- starts


def _starts(count, cause):
    """What so many starts count, one after the other."""
    found = []
    for _ in range(count):
        machine.restart(cause)
        found.append(boot_count.count())
    return found


def test_each_start_counts_as_bad_until_it_is_known_better():
    _new_board()
    assert _starts(5, machine.WDT_RESET) == [0, 1, 2, 3, 4]


def test_a_start_that_ended_well_resets_the_count():
    _new_board()
    _starts(2, machine.HARD_RESET)
    boot_count.set_bad(0)
    assert _starts(2, machine.HARD_RESET) == [0, 1]


def test_a_run_of_a_minute_was_no_bad_start():
    watchdog = _new_board()
    boot_count.count()
    watchdog.watch()
    world.advance(59000)
    watchdog.beat()
    assert _starts(1, machine.WDT_RESET) == [1]
    world.advance(1000)
    watchdog.beat()
    assert _starts(1, machine.WDT_RESET) == [0]


def test_what_others_keep_in_the_clocks_memory_stays():
    watchdog = _new_board()
    machine.RTC().memory(b"ours, for deep sleep")
    boot_count.count()
    watchdog.guard(300)
    boot_count.set_bad(7)
    memory = machine.RTC().memory()
    assert memory and memory.startswith(b"ours, for deep sleep") and len(memory) == 20 + 9
