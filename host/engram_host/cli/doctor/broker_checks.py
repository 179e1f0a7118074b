"""Checks of the broker: connection, logins, rights of a board, and Home Assistant."""

import asyncio
import secrets
import ssl
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from engram_host.companion.auth.exposure import tokens_required
from engram_host.companion.auth.mosquitto import CHECKER, HOME_ASSISTANT, MOSQUITTO_CHECKER, MOSQUITTO_HOME_ASSISTANT
from engram_host.companion.diagnosis.findings import REFUSED, Finding, watch, well, wrong
from engram_host.companion.errors import SettingError
from engram_host.companion.home_assistant.discovery import device_messages, discovery_prefix
from engram_host.companion.settings import Settings
from engram_host.companion.store.senses.types import StoredSense
from engram_host.wording import listed

if TYPE_CHECKING:
    import aiomqtt

_SECONDS = 5.0

_OWN = f"engram/v1/{MOSQUITTO_CHECKER}/down"
_OTHER = f"engram/v1/{MOSQUITTO_CHECKER}.other/down"
"""Topics of the user that checks, and of another one; no board can have such a name."""

_REFUSED_CODE = 128


_WRITE_AGAIN = "run `engram device mosquitto FOLDER`, and let the broker read the files again."

Passwords = Callable[[str], str]
"""Takes a note's name; returns the password of the user it is about, or ""."""


def broker(settings: Settings, passwords: Passwords) -> Iterator[Finding]:
    if not settings.mqtt.url:
        yield well("broker", "none: boards connect over HTTP")
    else:
        try:
            yield from asyncio.run(_Broker(settings, passwords).check())
        except SettingError as problem:
            yield wrong("broker", REFUSED, str(problem))


class _Broker:
    def __init__(self, settings: Settings, passwords: Passwords):
        from engram_host.companion.mqtt.client import broker_login, parse_broker_url

        self._where = where = parse_broker_url(settings.mqtt.url)
        self._login = broker_login(settings.mqtt, settings.home)
        self._requires_tokens = tokens_required(settings.security, settings.http.host)
        self._port = where.port or (8883 if where.scheme == "mqtts" else 1883)
        self._name = f"{where.hostname}:{self._port}"
        self._passwords = passwords
        self._prefix = discovery_prefix(settings.mqtt)

    async def check(self) -> list[Finding]:
        import aiomqtt

        try:
            own = self._client(self._where.username or self._login.name, self._where.password or self._login.password)
            async with own:
                found = [well("broker", f"{self._name} is reached"), await self._rights(own)]
                return found + ([await self._home_assistant(own)] if self._prefix else [])
        except (aiomqtt.MqttError, OSError, ValueError) as error:
            return [wrong("broker", f"{self._name}: {error}", "check that it runs, and check the mqtt settings.")]

    async def _rights(self, own: "aiomqtt.Client") -> Finding:
        import aiomqtt

        name = "broker rights"
        checker = self._passwords(CHECKER)
        if await self._lets_in("", ""):
            finding = wrong if self._requires_tokens else watch
            return finding(name, "anybody connects to it without a password, and reads what boards send", _WRITE_AGAIN)
        if not checker:
            return watch(name, "not checked: there is no user to check them with", _WRITE_AGAIN)
        try:
            async with self._client(MOSQUITTO_CHECKER, checker) as probe:
                return await _compare(name, own, probe)
        except aiomqtt.MqttError as error:
            return watch(name, f"not checked: the broker refuses the user {MOSQUITTO_CHECKER} ({error})", _WRITE_AGAIN)
        except TimeoutError:
            return wrong(name, "a board does not get what the companion writes to it", _WRITE_AGAIN)

    async def _home_assistant(self, own: "aiomqtt.Client") -> Finding:
        import aiomqtt

        password = self._passwords(HOME_ASSISTANT)
        try:
            if password:
                async with self._client(MOSQUITTO_HOME_ASSISTANT, password) as reader:
                    return await _hears(own, reader, self._prefix)
        except aiomqtt.MqttError:
            pass  # the broker has users of its own
        return await _hears(own, own, self._prefix)

    async def _lets_in(self, user: str, password: str) -> bool:
        import aiomqtt

        try:
            async with self._client(user, password):
                return True
        except aiomqtt.MqttError:
            return False

    def _client(self, user: str, password: str) -> "aiomqtt.Client":
        import aiomqtt

        secure = self._where.scheme == "mqtts"
        return aiomqtt.Client(
            self._where.hostname or "",
            self._port,
            username=user or None,
            password=password or None,
            tls_context=(self._login.tls or ssl.create_default_context()) if secure else None,
            timeout=_SECONDS,
        )


async def _compare(name: str, own: "aiomqtt.Client", probe: "aiomqtt.Client") -> Finding:
    """Check what a board's user reads of messages to others; raises TimeoutError if nothing."""
    for topic in (_OWN, "engram/v1/+/down"):
        await probe.subscribe(topic, qos=1)
    granted = await probe.subscribe(f"$share/{secrets.token_urlsafe(16)}/engram/v1/+/up", qos=1)
    await own.publish(_OTHER, b"another board's", qos=1)
    await own.publish(_OWN, b"its own", qos=1)
    async with asyncio.timeout(_SECONDS):
        async for message in probe.messages:
            if message.topic.value == _OTHER:
                advice = "use the topic access that `engram device mosquitto FOLDER` writes."
                return wrong(name, "a board reads what other boards are sent", advice)
            if message.topic.value == _OWN:
                break
    if all((code if isinstance(code, int) else code.value) >= _REFUSED_CODE for code in granted):
        return well(name, "a board reads its own topic only, and joins no shared subscription")
    return well(
        name, "a board reads its own topic only; it may join shared subscriptions, but the companion's name is secret"
    )


async def _hears(own: "aiomqtt.Client", reader: "aiomqtt.Client", prefix: str) -> Finding:
    """Check that a reader gets all topics of a sense that no board has."""
    name, device = "home assistant", f"check-{secrets.token_hex(8)}"
    missing = list(device_messages(prefix, device, [StoredSense(0, 0, "check", "", 0, 1, 0)], ()))
    for topic in missing:
        await reader.subscribe(topic, qos=1)
    for topic in missing:
        await own.publish(topic, b"", qos=1)
    try:
        async with asyncio.timeout(_SECONDS):
            async for message in reader.messages:
                missing = [topic for topic in missing if topic != message.topic.value]
                if not missing:
                    return well(name, f"the broker passes on {prefix}/# and the states of senses")
    except TimeoutError:
        pass
    shown = listed([topic.replace(device, "NAME").replace("/0", "/KEY") for topic in missing])
    return wrong(name, f"the broker does not pass on {shown}, so Home Assistant hears nothing", _WRITE_AGAIN)
