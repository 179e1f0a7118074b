"""The module `network`, with the networks that are in the air."""

from fakes import chip_socket, world

STA_IF, AP_IF = 0, 1

_IDLE, _CONNECTING, _GOT_IP = 1000, 1001, 1010
_ASSOC_LEAVE, _WRONG_KEY, _NO_AP = 8, 15, 201

air = {}
"""By name: (password or None, signal in dBm, hidden, milliseconds until the address comes)."""

has_room = True
"""Whether the driver gets the memory that it needs."""

ending_ms = 300
"""How long the driver ends an attempt after disconnect(), and refuses settings and another one."""

calls = []
"""The names that connect() was called with."""

_hostname = "mpy-esp32"
_wlan = None


def begin_anew() -> None:
    """As after power was lost, with nothing in the air."""
    global _wlan, _hostname, has_room
    air.clear()
    calls.clear()
    world.forget_all()
    _wlan, _hostname, has_room = None, "mpy-esp32", True


def hostname(name=None):
    """The board's name, or set it: at most 32 bytes."""
    global _hostname
    if name is None:
        return _hostname
    if len(name) > 32:
        raise ValueError
    _hostname = name
    return None


class _Wlan:
    PM_NONE, PM_PERFORMANCE, PM_POWERSAVE = 0, 1, 2

    def __init__(self):
        self.is_active = False
        self.power = self.PM_PERFORMANCE
        self.reconnects = -1
        self.name = ""
        self._key = None
        self._attempt = 0
        self._requested = self._taken = self._connected = False
        self._reason = 0
        self._failures = 0
        self._ending_until = 0

    def active(self, yes=None):
        if yes is None:
            return self.is_active
        self.is_active = yes
        return yes

    def config(self, what=None, **values):
        if what:
            assert what == "ssid"
            # The field has 32 bytes, no end, and the password behind it.
            full = len(self.name.encode()) == 32
            return self.name + (self._key or "") if full else self.name
        if self._is_connecting() or world.now < self._ending_until:
            raise OSError("Wifi Internal State Error")
        for name, value in values.items():
            if name == "reconnects":
                self.reconnects = value
            elif name == "pm":
                self.power = value
            else:
                raise ValueError("unknown config param")
        return None

    def scan(self):
        if not self.is_active:
            raise OSError("STA must be active")
        if self._is_connecting():
            return []
        world.advance(2000)
        return [
            (b"" if hidden else name.encode(), b"\0" * 6, 6, signal, 3 if password else 0, False)
            for name, (password, signal, hidden, _) in air.items()
        ]

    def connect(self, name, key=None):
        if not self.is_active:
            raise OSError("Wifi Not Started")
        if self._is_connecting() or world.now < self._ending_until:
            raise OSError("Wifi Internal Error")
        assert isinstance(name, str)
        calls.append(name)
        self.name, self._key = name, key
        self._requested, self._failures = True, 0
        self._try()

    def _try(self):
        self._attempt += 1
        attempt = self._attempt
        password, _, _, wait = air.get(self.name, (None, 0, False, 0))

        def if_current(happens):
            return lambda: happens() if attempt == self._attempt else None

        if self.name not in air:
            world.after(2500, if_current(lambda: self._fail(_NO_AP)))
        elif password != self._key:
            world.after(4000, if_current(lambda: self._fail(_WRONG_KEY)))
        else:
            world.after(1500, if_current(self._take))
            world.after(1500 + wait, if_current(self._address))

    def _take(self):
        self._taken = True

    def _address(self):
        chip_socket.has_network = True
        self._connected = True
        self._reason = 0

    def _fail(self, reason):
        self._reason = reason
        self._taken = self._connected = False
        self._failures += 1
        if self.reconnects < 0 or self._failures <= self.reconnects:
            self._try()

    def lose(self):
        """The network has gone."""
        chip_socket.lose_network()
        self._attempt += 1
        self._fail(200)

    def disconnect(self):
        if not self.is_active:
            raise OSError("Wifi Not Started")
        if self._taken:
            self._reason = _ASSOC_LEAVE
        if self._requested:
            self._ending_until = world.now + ending_ms
        self._attempt += 1
        self._requested = self._taken = self._connected = False
        self._failures = 1

    def _is_connecting(self):
        return self._requested and not self._connected and (self.reconnects < 0 or self._failures <= self.reconnects)

    def isconnected(self):
        return self._connected

    def status(self, what=None):
        if what == "rssi":
            if not self._taken:
                raise OSError("Wifi Not Connected")
            return air[self.name][1]
        if self._connected:
            return _GOT_IP
        if self._reason == _NO_AP:
            return _NO_AP
        if self._reason == _ASSOC_LEAVE:
            return _IDLE
        if self._requested and (self.reconnects < 0 or self._failures <= self.reconnects):
            return _CONNECTING
        return self._reason or _IDLE

    def ifconfig(self):
        return ("192.168.1.7" if self._connected else "0.0.0.0", "255.255.255.0", "192.168.1.1", "192.168.1.1")


def WLAN(interface=STA_IF):
    """The station; the first call starts the driver."""
    global _wlan
    assert interface == STA_IF
    if _wlan is None:
        if not has_room:
            raise OSError("Wifi Out of Memory")
        _wlan = _Wlan()
    return _wlan
