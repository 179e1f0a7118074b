"""The board's Wi-Fi: joins the strongest network that it knows, again when it is lost, and keeps the clock set."""

import network

from engram import diag, text
from engram.compat import const, sleep_ms
from engram.device import ntp, wifi_join
from engram.errors import ConfigError
from engram.net.backoff import Backoff

_LOOK_MS = const(2000)  # between two looks at whether the network is still there
_FIRST_PAUSE_MS = const(2000)  # before joining is tried again; doubles up to the longest
_LONGEST_PAUSE_MS = const(120000)
_DAY_LOOKS = const(43200)  # looks until the clock is set again: a day
_FIRST_RETRY_LOOKS = const(8)  # looks until the time is asked for again after a failure; doubles up to the longest
_LONGEST_RETRY_LOOKS = const(512)
_NAME_BYTES = const(32)  # the longest name of a network
_LETTERS = const("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-")


class Wifi:
    """The networks of secrets.json; ConfigError if a setting is wrong, OSError if the chip has no room for Wi-Fi."""

    def __init__(self, config):
        hostname = config.get("network.hostname")
        for letter in hostname:
            if letter not in _LETTERS or hostname[0] == "-":
                raise ConfigError("network.hostname", "must be letters, digits and hyphens, such as engram-2.")
        self.networks = config.secret("wifi")
        self.joined = ""
        self.problem = "not joined yet"
        self.changes = 0
        """Count of networks joined and of clocks set: who waits before a new try looks at it."""
        self._server = config.get("network.ntp")
        self._saves_power = config.get("network.power_save")
        self._looks = 1
        self._has_time = False
        self._retry_looks = _FIRST_RETRY_LOOKS
        # The name comes before the interface is active: DHCP and mDNS take it from there.
        network.hostname(hostname)
        self.wlan = wlan = network.WLAN(network.STA_IF)
        wlan.active(True)

    def status(self) -> str:
        """The network's state, for /stats."""
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
        """Keep the board in a network, for ever."""
        backoff = Backoff(_FIRST_PAUSE_MS, _LONGEST_PAUSE_MS)
        await self._configure()
        while True:
            if await self._join():
                backoff.reset()
                self.changes += 1
                if not self._has_time:
                    self._looks, self._retry_looks = 1, _FIRST_RETRY_LOOKS
                await self._stay()
                self.problem = "%s was lost" % self.joined
                diag.warning("network", self.problem + "; joining again")
            else:
                diag.info("network", self.problem)
                await sleep_ms(backoff.next_ms())

    async def _configure(self) -> None:
        try:
            await wifi_join.configure(self.wlan, self._saves_power)
        except (OSError, RuntimeError) as error:  # the port raises either
            diag.warning("network", "Wi-Fi did not take its settings: %s" % error)

    async def _join(self) -> bool:
        if self.wlan.isconnected():
            self.joined = self._name()  # still, after a soft reset or a stop of the app
            return True
        self.joined, self.problem = await wifi_join.join(self.wlan, self.networks)
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
        """Set the clock from the network; in how many looks to do so again."""
        try:
            diag.info("clock", await ntp.set_clock(self._server))
            self._retry_looks = _FIRST_RETRY_LOOKS
            self.changes += not self._has_time
            self._has_time = True
            return _DAY_LOOKS
        except OSError as error:
            diag.info("clock", "%s gave no time: %s" % (self._server, error))
        looks = self._retry_looks
        self._retry_looks = min(2 * looks, _LONGEST_RETRY_LOOKS)
        return looks
