"""HTTP client of a running companion."""

import ipaddress
import json
import os
import ssl
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

import httpx

from engram_host.cli import ANSWER_SECONDS, API_VARIABLE
from engram_host.cli.exit_status import FAILED, NOT_FOUND, WRONG_USAGE, CommandError, CompanionRefused
from engram_host.companion.auth.exposure import trust_authority, trust_certificate
from engram_host.companion.auth.tokens import OPERATOR_FILE, read_secret
from engram_host.companion.lockfile import reachable_host, running_addresses
from engram_host.companion.settings import HttpSettings
from engram_host.companion.settings_reader import read_file, read_section

TOKEN_VARIABLE = "ENGRAM_OPERATOR_TOKEN"

AUTHORITY_VARIABLE = "ENGRAM_COMPANION_AUTHORITY"
"""Environment variable: a PEM file with the authorities of companions elsewhere."""

_CONNECT_SECONDS = 5.0

_PAGE = 1000

_MOST_NAMED = 10

_NOBODY = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""For plain HTTP: otherwise all certificates of the system are read for nothing."""

_STATUSES = {400: WRONG_USAGE, 404: NOT_FOUND, 422: WRONG_USAGE}


class RequestRefused(CompanionRefused):
    def __init__(self, status: int, sentence: str):
        super().__init__(sentence)
        self.status = _STATUSES.get(status, FAILED)


class ApiClient:
    """Client of the companion at `url`, or of the folder `home`; calls raise CommandError."""

    def __init__(self, url: str, home: Path, seconds: float = ANSWER_SECONDS):
        own = _Own(home)
        self.url = (url or running_addresses(home).get("http", "") or own.url).rstrip("/")
        where = urlsplit(self.url)
        if where.scheme not in ("http", "https") or not where.hostname:
            raise RequestRefused(400, f"{self.url} is not the URL of a companion, such as http://127.0.0.1:8765.")
        is_plain = where.scheme == "http"
        token, is_of_file = os.environ.get(TOKEN_VARIABLE, ""), False
        # The file's token is sent to its own companion only, or over a private connection.
        if not token and (not url or not is_plain or _is_loopback(where.hostname)):
            is_of_file = (home / OPERATOR_FILE).exists()
            token = read_secret(home / OPERATOR_FILE) if is_of_file else ""
        self._client = httpx.Client(
            base_url=self.url,
            timeout=httpx.Timeout(seconds, connect=min(seconds, _CONNECT_SECONDS)),
            headers={"Authorization": f"Bearer {token}"} if token else {},
            verify=_NOBODY if is_plain else _trusted() if url else own.trusted(),
            # A proxy could read the token.
            trust_env=not (_is_loopback(where.hostname) or (is_plain and is_of_file)),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.close()

    def get(self, path: str, /, **parameters: Any) -> Any:
        """Return the answer to a GET; empty parameters are left out."""
        return self._ask("GET", path, params={name: value for name, value in parameters.items() if value or value == 0})

    def post(self, path: str, value: dict[str, Any]) -> Any:
        return self._ask("POST", path, json=value)

    def request(self, method: str, path: str, body: bytes = b"") -> httpx.Response:
        headers = {"Content-Type": "application/json"} if body else {}
        return self._send(method, path, content=body, headers=headers)

    def lines(self, path: str, /, **parameters: Any) -> Iterator[str]:
        return self._stream("GET", path, params=parameters)

    def delete(self, path: str) -> Any:
        return self._ask("DELETE", path)

    def events(self, method: str, path: str, value: dict[str, Any] | None = None) -> Iterator[tuple[int, str, Any]]:
        """Yield the server-sent events of an answer: (number or 0, name, JSON)."""
        return _parse_events(self._stream(method, path, json=value))

    def devices(self, after: str = "") -> Iterator[dict[str, Any]]:
        """Yield all boards with names after `after`, page by page."""
        while page := self.get("/v1/devices", after=after, limit=_PAGE):
            yield from page
            if len(page) < _PAGE:
                return
            after = page[-1]["name"]

    def device(self, name: str) -> str:
        """Return `name`, or the name of the only board."""
        if name:
            return name
        names = [device["name"] for device in self.get("/v1/devices", limit=_MOST_NAMED + 1)]
        if len(names) == 1:
            return names[0]
        if not names:
            raise RequestRefused(
                404, "no board has connected yet: set companion.url on a board, see docs/start/companion.md."
            )
        listed = ", ".join(names[:_MOST_NAMED]) + (", ...; `engram boards` lists all" * (len(names) > _MOST_NAMED))
        raise RequestRefused(422, f"several boards are known: choose one with --device ({listed}).")

    def _ask(self, method: str, path: str, **more: Any) -> Any:
        answer = self._send(method, path, **more)
        try:
            return answer.json() if answer.content else None
        except ValueError:
            raise CommandError(f"{self.url} is not an Engram companion.") from None

    def _send(self, method: str, path: str, **more: Any) -> httpx.Response:
        try:
            answer = self._client.request(method, path, **more)
        except httpx.HTTPError as error:
            raise self._unreached(error) from None
        if answer.is_error:
            raise _as_refusal(answer)
        return answer

    def _stream(self, method: str, path: str, **more: Any) -> Iterator[str]:
        try:
            with self._client.stream(method, path, **more) as answer:
                if answer.is_error:
                    answer.read()
                    raise _as_refusal(answer)
                yield from lines_of(answer.iter_bytes())
        except httpx.HTTPError as error:
            raise self._unreached(error) from None

    def _unreached(self, error: httpx.HTTPError) -> CommandError:
        if isinstance(error, httpx.ReadTimeout):
            return CommandError(f"the companion at {self.url} did not answer in time: try again.")
        return CommandError(
            f"no companion answers at {self.url} ({error}): start it with `engram serve`, or give its URL with --url or"
            f" {API_VARIABLE}."
        )


def lines_of(pieces: Iterable[bytes]) -> Iterator[str]:
    """Yield lines that end with a newline; httpx's own are also cut at U+2028 and others that texts have."""
    rest = b""
    for piece in pieces:
        *lines, rest = (rest + piece).split(b"\n")
        yield from (line.decode().removesuffix("\r") for line in lines)
    if rest:
        yield rest.decode()


def _parse_events(lines: Iterator[str]) -> Iterator[tuple[int, str, Any]]:
    number, name = 0, ""
    for line in lines:
        field, _, value = line.partition(": ")
        if field == "id":
            number = int(value)
        elif field == "event":
            name = value
        elif field == "data":
            yield number, name, json.loads(value)
            number, name = 0, ""


def _as_refusal(answer: httpx.Response) -> RequestRefused:
    try:
        sentence = answer.json()["problem"]
    except (ValueError, KeyError, TypeError):
        sentence = f"the companion answered with status {answer.status_code}."
    if answer.status_code == httpx.codes.UNAUTHORIZED:
        sentence += f" The command reads it from there, or from {TOKEN_VARIABLE}."
    return RequestRefused(answer.status_code, sentence)


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class _Own:
    def __init__(self, home: Path):
        # Not read_settings(), which would load the whole companion.
        http = read_section(HttpSettings, "http", read_file(home).get("http", {}))
        scheme = "https" if http.certificate else "http"
        host = reachable_host(http.host)
        self.url = f"{scheme}://{f'[{host}]' if ':' in host else host}:{http.port}"
        self._certificate = home / Path(http.certificate).expanduser() if http.certificate else None

    def trusted(self) -> ssl.SSLContext | bool:
        return trust_certificate("http.certificate", self._certificate) if self._certificate else True


def _trusted() -> ssl.SSLContext | bool:
    """Return the trusted authorities: the system's, or those that a person names."""
    authority = os.environ.get(AUTHORITY_VARIABLE, "")
    return trust_authority(AUTHORITY_VARIABLE, Path(authority).expanduser()) if authority else True
