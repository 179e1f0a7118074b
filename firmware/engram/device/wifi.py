"""The board's Wi-Fi: joins the strongest known network, rejoins after a loss, and keeps the clock set.

From the port's source: status() reports an earlier attempt's failure until a later one succeeds, so it is
read only at the end; a scan blocks the board for two seconds.
"""

import network

from engram import diag, tables, text
from engram.clock import Backoff
from engram.compat import sleep_ms
from engram.device import ntp
from engram.errors import ConfigError

_LOOK_MS = const(2000)  # between two looks at whether the network is still there
_FIRST_PAUSE_MS = const(2000)  # before joining is tried again; doubles up to the longest
_LONGEST_PAUSE_MS = const(120000)
_DAY_LOOKS = const(43200)  # looks until the clock is set again: a day
_FIRST_RETRY_MS = const(16000)  # until the time is asked for again after a failure; doubles up to the longest
_LONGEST_RETRY_MS = const(1024000)
_NAME_BYTES = const(32)  # the longest name of a network
_LETTERS = const("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-")

_STEP_MS = const(250)
_GIVE_UP_STEPS = const(80)  # 20 s in all, for a slow DHCP server
_REACHED_STEPS = const(24)  # 6 s, in which the network has to take the board or there is none
_REFUSED_STEPS = const(8)  # 2 s, in which the driver may refuse an attempt since an earlier one is still ending


class Wifi:
    """The networks of secrets.json; ConfigError, or OSError if Wi-Fi does not fit."""

    def __init__(self, config):
        hostname = config.get("network.hostname")
        if hostname[0] == "-" or not all(letter in _LETTERS for letter in hostname):
            raise ConfigError("network.hostname", "must be letters, digits and hyphens, such as engram-2.")
        self.networks = config.secret("wifi")
        self.joined = ""
        self.problem = "not joined yet"
        self._server = config.get("network.ntp")
        self._saves_power = config.get("network.power_save")
        self._looks = 1
        self._has_time = False
        self._clock_backoff = Backoff(_FIRST_RETRY_MS, _LONGEST_RETRY_MS)
        # The name comes before the interface is active: DHCP and mDNS take it from there.
        network.hostname(hostname)
        self.wlan = wlan = network.WLAN(network.STA_IF)
        wlan.active(True)

    def status(self) -> str:
        if not self.wlan.isconnected():
            return "down: " + self.problem
        signal = ""
        try:
            signal = ", %d dBm" % self.wlan.status("rssi")
        except OSError:
            pass  # it left in this moment
        return "%s, %s%s" % (self._name(), self.wlan.ifconfig()[0], signal)

    def _name(self) -> str:
        # The driver has no end behind a name of 32 bytes: MicroPython reads on, and the password is what comes next.
        return self.joined or text.decode(self.wlan.config("ssid").encode()[:_NAME_BYTES])

    async def run(self) -> None:
        """Keep the board connected, forever."""
        backoff = Backoff(_FIRST_PAUSE_MS, _LONGEST_PAUSE_MS)
        await self._configure()
        while True:
            if await self._join():
                backoff.reset()
                if not self._has_time:
                    self._looks = 1
                    self._clock_backoff.reset()
                await self._stay()
                self.problem = "%s was lost" % self.joined
                diag.warning("network", self.problem + "; joining again")
            else:
                diag.info("network", self.problem)
                await sleep_ms(backoff.next_ms())

    async def _configure(self) -> None:
        wlan = self.wlan
        try:
            if not wlan.isconnected():
                _leave(wlan)  # a soft reset does not end an attempt, and meanwhile no setting is taken
            # The firmware's own reconnecting knows one network only, and hides why it fails.
            await _repeat(wlan.config, reconnects=0)
            if not self._saves_power:
                await _repeat(wlan.config, pm=wlan.PM_NONE)
        except (OSError, RuntimeError) as error:  # the port raises either
            diag.warning("network", "Wi-Fi did not take its settings: %s" % error)

    async def _join(self) -> bool:
        if self.wlan.isconnected():
            self.joined = self._name()  # still, after a soft reset or a stop of the app
            return True
        self.joined, self.problem = await _join(self.wlan, self.networks)
        if self.joined:
            diag.info("network", "joined %s as %s" % (self.joined, self.wlan.ifconfig()[0]))
        return bool(self.joined)

    async def _stay(self) -> None:
        while self.wlan.isconnected():
            self._looks -= 1
            if not self._looks:
                self._looks = await self._set_clock() if self._server else _DAY_LOOKS
            await sleep_ms(_LOOK_MS)

    async def _set_clock(self) -> int:
        """Set the clock from the network; return the number of looks until the next time."""
        try:
            diag.info("clock", await ntp.set_clock(self._server))
        except OSError as error:
            diag.info("clock", "%s gave no time: %s" % (self._server, error))
            return self._clock_backoff.next_ms() // _LOOK_MS
        self._clock_backoff.reset()
        self._has_time = True
        return _DAY_LOOKS


async def _join(wlan, networks: list) -> tuple:
    problem = "secrets.json names no network"
    for known in _in_order(wlan, networks):
        name = known["ssid"]
        try:
            if await _connect(wlan, name, known.get("password") or None):
                return name, ""
            problem = name + ": " + _reason(wlan)
        except (OSError, RuntimeError) as error:  # the port raises either
            problem = name + ": " + str(error)
        _leave(wlan)
    return "", problem


def _in_order(wlan, networks: list) -> list:
    if len(networks) < 2:
        return networks
    found = {}
    try:
        for seen in wlan.scan():
            found[seen[0]] = max(seen[3], found.get(seen[0], -200))
    except OSError:
        pass  # then try them in their order
    order = [(-found.get(known["ssid"].encode(), -200), at) for at, known in enumerate(networks)]
    order.sort()
    return [networks[at] for _, at in order]


async def _connect(wlan, name: str, password) -> bool:
    _leave(wlan)
    await _repeat(wlan.connect, name, password)
    for step in range(_GIVE_UP_STEPS):
        await sleep_ms(_STEP_MS)
        if wlan.isconnected():
            return True
        if step >= _REACHED_STEPS and not _is_reached(wlan):
            return False
    return False


def _is_reached(wlan) -> bool:
    try:
        wlan.status("rssi")
        return True
    except OSError:
        return False


async def _repeat(call, *arguments, **settings) -> None:
    for _ in range(_REFUSED_STEPS):
        try:
            call(*arguments, **settings)
            return
        except OSError:
            await sleep_ms(_STEP_MS)
    call(*arguments, **settings)


def _leave(wlan) -> None:
    try:
        wlan.disconnect()
    except OSError:
        pass


def _reason(wlan) -> str:
    if _is_reached(wlan):
        return "it gave no address"
    status = str(wlan.status())
    for row in tables.rows("device/wifi"):
        numbers, _, reason = row.partition(": ")
        if status in numbers.split(" "):
            return reason
    return "it could not be joined (status %s)" % status
