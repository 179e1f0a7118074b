"""The board joins the strongest network that it knows, comes back to one that was lost, and says how it stands."""

import fakes

fakes.install()

from engram.config import Config  # noqa: E402
from engram.device import wifi  # noqa: E402
from fakes import network, world  # noqa: E402
from support import folder  # noqa: E402

MINUTE = 60000

HOME = {"ssid": "Home", "password": "correct horse"}
WORK = {"ssid": "Büro 5", "password": "battery staple"}
CAFE = {"ssid": "Cafe"}


class Enough(BaseException):
    """The network was there, or not, for as long as the test wants."""


def _board(*known, **settings):
    """A board that has just started, with nothing in the air."""
    network.begin_anew()
    overrides = {"network." + name: value for name, value in settings.items()}
    overrides.setdefault("network.ntp", "")
    overrides["wifi"] = list(known)
    return wifi.Wifi(Config(folder(), overrides))


def _station(board) -> network._Wlan:
    """The stand-in for the driver."""
    return board.wlan


def _hear(known, signal=-60, hidden=False, wait=500, password=None):
    """Let a network be in the air."""
    network.air[known["ssid"]] = (password or known.get("password"), signal, hidden, wait)


async def _run(board, milliseconds):
    """Let the board do its work for some time."""
    end = world.now + milliseconds

    async def sleep_ms(pause):
        if world.now >= end:
            raise Enough
        await world.sleep_ms(pause)

    wifi.sleep_ms = sleep_ms
    try:
        await board.run()
    except Enough:
        pass


async def test_a_known_network_is_joined():
    board = _board(HOME)
    _hear(HOME)
    await _run(board, MINUTE)
    assert board.status() == "Home, 192.168.1.7, -60 dBm"


async def test_the_strongest_of_several_is_joined():
    board = _board(HOME, WORK, CAFE)
    _hear(HOME, -80)
    _hear(WORK, -50)
    _hear(CAFE, -70)
    await _run(board, MINUTE)
    assert board.joined == "Büro 5" and network.calls == ["Büro 5"]


async def test_hidden_networks_are_tried_in_their_order_after_those_that_are_seen():
    board = _board(HOME, WORK, CAFE)
    _hear(WORK, hidden=True)
    _hear(CAFE, password="changed since")
    await _run(board, MINUTE)
    assert network.calls == ["Cafe", "Home", "Büro 5"] and board.joined == "Büro 5"


async def test_attempts_become_rarer_and_never_stop():
    board = _board(HOME)
    moments = []
    connect = _station(board).connect

    def note(name, key=None):
        moments.append(world.now)
        connect(name, key)

    _station(board).connect = note
    await _run(board, 60 * MINUTE)
    pauses = [later - earlier for earlier, later in zip(moments, moments[1:])]
    assert pauses[0] < 12000
    assert 60000 <= pauses[-1] <= 160000 and len(pauses) > 20


async def test_a_slow_server_of_addresses_is_waited_for_though_an_earlier_attempt_failed():
    # The status of the earlier attempt stays: it must not end the later one.
    board = _board(HOME)
    world.after(5000, lambda: _hear(HOME, wait=15000))
    await _run(board, MINUTE)
    assert board.joined == "Home" and len(network.calls) == 2


async def test_why_there_is_no_network_is_reported():
    for hear, why in (
        (lambda: None, "down: Home: it is not in reach"),
        (lambda: _hear(HOME, password="changed since"), "down: Home: the password was not taken"),
        (lambda: _hear(HOME, wait=MINUTE * 60), "down: Home: it gave no address"),
    ):
        board = _board(HOME)
        hear()
        await _run(board, 35000)
        assert board.status() == why, board.status()


async def test_a_network_that_is_still_joined_after_a_soft_reset_is_kept():
    _hear_after = _board(HOME)
    _hear(HOME)
    await _run(_hear_after, MINUTE)
    config = Config(folder(), {"wifi": [HOME], "network.ntp": ""})
    board = wifi.Wifi(config)
    await _run(board, MINUTE)
    assert board.joined == "Home" and network.calls == ["Home"]


async def test_an_attempt_that_the_driver_refuses_is_reported_and_repeated():
    board = _board(HOME)

    def refuse(name, key=None):
        raise RuntimeError("Wifi Unknown Error 0x3001")

    _station(board).connect = refuse
    await _run(board, MINUTE)
    assert board.status() == "down: Home: Wifi Unknown Error 0x3001"


# --- settings


async def test_power_is_saved_unless_it_is_switched_off():
    for saves, power in ((True, 1), (False, 0)):
        board = _board(HOME, power_save=saves)
        await _run(board, 1000)
        assert _station(board).power == power


async def test_a_join_that_a_soft_reset_left_under_way_keeps_no_board_from_its_network():
    _board(HOME).wlan.connect("Office", "of another start")
    overrides = {"network.ntp": "", "network.power_save": False, "wifi": [HOME]}
    board = wifi.Wifi(Config(folder(), overrides))
    _hear(HOME)
    await _run(board, MINUTE)
    assert board.joined == "Home" and (_station(board).reconnects, _station(board).power) == (0, 0)


async def test_each_of_several_networks_is_tried_although_the_driver_is_slow_to_end_an_attempt():
    board = _board(HOME, WORK, CAFE)
    await _run(board, MINUTE)
    assert network.calls[:3] == ["Home", "Büro 5", "Cafe"]


async def test_a_password_is_never_shown_with_a_name_of_32_bytes():
    known = {"ssid": "n" * 32, "password": "the password"}
    board = _board(known)
    _hear(known)
    await _run(board, MINUTE)
    assert board.wlan.config("ssid") == "n" * 32 + "the password", "the driver's own way"
    after = wifi.Wifi(Config(folder(), {"network.ntp": "", "wifi": [known]}))
    for each in (board, after):
        assert each.status().startswith("n" * 32 + ", 192.168.1.7")
    await _run(after, 1000)
    assert after.joined == "n" * 32


# --- the clock


class Server:
    """Stands in for engram.device.ntp: gives the time, or not, as it is told."""

    def __init__(self):
        self.asked = []
        self.fails = 0

    async def set_clock(self, name):
        self.asked.append(world.now)
        if len(self.asked) <= self.fails:
            raise OSError("no answer in time")
        return "set by " + name


async def _asks(milliseconds, fails=0, **settings):
    """At which moments the server was asked, after the network was there."""
    board = _board(HOME, **settings)
    _hear(HOME)
    server = Server()
    server.fails = fails
    wifi.ntp = server  # pyright: ignore[reportAttributeAccessIssue]
    await _run(board, milliseconds)
    return server.asked


async def test_the_time_is_asked_for_when_the_network_is_there_and_then_daily():
    asked = await _asks(25 * 60 * MINUTE, ntp="time.example")
    assert len(asked) == 2 and asked[1] - asked[0] == 24 * 60 * MINUTE


async def test_a_server_that_does_not_answer_is_asked_again_more_and_more_seldom():
    asked = await _asks(3 * 60 * MINUTE, fails=5, ntp="time.example")
    pauses = [later - earlier for earlier, later in zip(asked, asked[1:])]
    for pause, most in zip(pauses, (16000, 32000, 64000, 128000, 256000)):
        assert most // 2 - 2000 <= pause <= most
