"""Joining one of several Wi-Fi networks: the strongest first, then those that are not seen and may be hidden.

The chip's ways, from the port's source: status() tells why an earlier attempt failed for as long as no later one has
succeeded, even while one is under way, so it is asked only at the end; a scan stops the board for two seconds.
"""

from engram.compat import const, sleep_ms

_STEP_MS = const(250)
_GIVE_UP_STEPS = const(80)  # 20 s in all, for a slow DHCP server
_REACHED_STEPS = const(24)  # 6 s, in which the network has to take the board or there is none
_REFUSED_STEPS = const(8)  # 2 s, in which the driver may refuse an attempt since an earlier one is still ending

_REASONS = const((
    ((2, 15, 202, 204), "the password was not taken"),
    ((200, 212), "the signal is too weak"),
    ((201,), "it is not in reach"),
    ((203,), "it does not take the board"),
    ((210, 211), "its security does not fit: has it a password, or none?"),
))  # fmt: skip


async def join(wlan, networks: list) -> tuple:
    """(the name of the network that was joined, "") or ("", why there is none)."""
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
    """The networks, those with the strongest signal first; what is not seen keeps its place after them."""
    if len(networks) < 2:
        return networks
    found = {}
    try:
        for seen in wlan.scan():
            found[seen[0]] = max(seen[3], found.get(seen[0], -200))
    except OSError:
        pass  # then they are tried as they stand
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
    """Return True once the network has taken the board, which then waits for its address."""
    try:
        wlan.status("rssi")
        return True
    except OSError:
        return False


async def configure(wlan, saves_power: bool) -> None:
    """Give the driver its settings; OSError or RuntimeError if it does not take them."""
    if not wlan.isconnected():
        _leave(wlan)  # a soft reset does not end an attempt, and meanwhile no setting is taken
    # The firmware's own reconnecting knows one network only, and hides why it fails.
    await _repeat(wlan.config, reconnects=0)
    if not saves_power:
        await _repeat(wlan.config, pm=wlan.PM_NONE)


async def _repeat(call, *arguments, **settings) -> None:
    """Call the driver, again for a while if it refuses; its last error if it goes on with that."""
    for _ in range(_REFUSED_STEPS):
        try:
            call(*arguments, **settings)
            return
        except OSError:
            await sleep_ms(_STEP_MS)
    call(*arguments, **settings)


def _leave(wlan) -> None:
    """End what is under way: the chip refuses a second attempt meanwhile."""
    try:
        wlan.disconnect()
    except OSError:
        pass


def _reason(wlan) -> str:
    if _is_reached(wlan):
        return "it gave no address"
    status = wlan.status()
    for numbers, reason in _REASONS:
        if status in numbers:
            return reason
    return "it could not be joined (status %d)" % status
