"""A search for secrets and other boards' words in all that a companion writes while hostile clients try to get at them."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from zlib import crc32

import httpx
import pytest

from cli_case import fine
from device_tokens import make_tokens
from engram.link import messages
from engram_host.companion.auth.mosquitto import COMPANION, GROUP, broker_secret
from engram_host.companion.auth.tokens import OPERATOR_FILE
from engram_host.companion.store import open_store
from extent import extent
from leak_search import Attacked, hostile_requests, places_of
from leaky_service import LeakyService, Talkative
from peers import Broker, Companion
from sending import Sent

pytestmark = pytest.mark.shortened

CLIENTS = extent(2000, 60)
"""Over HTTP; each asks several times."""

KEY = "sk-the-services-key-0123456789abcdef"
PASSWORD = "the-companions-password-at-its-broker"
PLANTED = "planted-canary-5f0c"


class Trial:
    """What a companion wrote during the trial, by where it stands, and what may be in none of it."""

    def __init__(self) -> None:
        self.written: dict[str, bytes] = {}
        self.secrets: dict[str, str] = {}


@pytest.fixture(scope="module")
def trial(mosquitto: Broker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trial]:
    """Both boards keep their words and look for them, beside the hostile clients."""
    home = tmp_path_factory.mktemp("leaks") / "home"
    tokens = make_tokens(home, "kitchen", "garden", "mallory")
    trial = Trial()
    trial.secrets |= {f"token of {name}": token for name, token in tokens.items()}
    viewer = fine("token", "add", "viewer", "--read-only", "--home", home, "--json").json["token"]
    trial.secrets |= {"token of a viewer": viewer, "key of the service": KEY, "password": PASSWORD}
    settings = {"ENGRAM_TOKENS": "on", "ENGRAM_GATEWAY_KEY": KEY, "ENGRAM_GATEWAY_DEVICE_CALLS": "0"}
    settings |= {"ENGRAM_GATEWAY_ALL_CALLS": "0", "ENGRAM_MESSAGES_A_SECOND": "0"}
    settings |= {"ENGRAM_MQTT_USERNAME": "companion", "ENGRAM_MQTT_PASSWORD": PASSWORD}
    with (
        LeakyService() as service,
        Talkative(home, mosquitto.url, ENGRAM_GATEWAY_URL=service.url, **settings) as companion,
    ):
        trial.secrets["operator's token"] = (home / OPERATOR_FILE).read_text().strip()
        where = Attacked(companion.http_port, tokens["mallory"])
        words = {name: f"canary-of-{name}-7b1e" for name in where.victims}
        trial.secrets |= {f"words of {name}": word for name, word in words.items()}
        assert httpx.get(f"{companion.url}/v1/{PLANTED}").status_code == 401  # it is in the log
        for name, word in words.items():
            _fill(companion, name, tokens[name], word)
        trial.written["answers over HTTP"] = _attack_over_http(where, companion)
        _collect(trial, companion, viewer, tokens["mallory"])
        companion.stop()
        trial.written["log"] = Path(companion._output.name).read_bytes()
    _collect_files(trial, home)
    yield trial


def _fill(companion: Companion, name: str, token: str, word: str) -> None:
    """Let a board keep a word, as memory and turn, and find it again."""

    def post(device: str, message: bytes) -> bytes:
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/octet-stream"}
        answer = httpx.post(f"{companion.url}/v1/devices/{device}/messages", content=message, headers=headers)
        answer.raise_for_status()
        return answer.content

    board = Sent(post, name, f"board-{name}")
    board.keep(f"the hidden word is {word}")
    board.say(f"my hidden word is {word}")
    board.sync()
    note = f"- 08:15 the word that nobody else hears is {word}\n".encode()
    board.ask("note", note, epoch=board.epoch, file="MEMORY.md", digest=messages.shown(crc32(note)))
    found = companion.client.post("/v1/search", json={"query": word, "devices": [name]})
    kinds = {hit["kind"] for hit in found.json()["hits"] if word in hit["text"]}
    assert kinds == {"memory", "turn", "note"}, "the words have to be there to be stolen"


def _attack_over_http(where: Attacked, companion: Companion) -> bytes:
    paths = companion.client.get("/openapi.json").json()["paths"]
    with ThreadPoolExecutor(16) as threads:
        answers = threads.map(lambda seed: hostile_requests(where, paths, seed), range(CLIENTS))
        found = [answer for each in answers for answer in each]
    assert len(found) > 5 * CLIENTS and sum(b'"problem"' in answer for answer in found) > CLIENTS
    return b"\n".join(found)


def _collect(trial: Trial, companion: Companion, viewer: str, mallory: str) -> None:
    """All that the companion tells of itself."""
    headers = {"Authorization": f"Bearer {viewer}"}
    assert companion.client.get(f"/v1/devices/{PLANTED}", headers=headers).status_code == 404  # it is in the audit log
    for path in ("/metrics", "/v1/health", "/v1/stats", "/v1/audit", "/v1/gateway", "/v1/devices/mallory/events"):
        answer = companion.client.get(path)
        trial.written[path] = json.dumps(dict(answer.headers)).encode() + answer.content
    for path in ("/v1/health", "/v1/alive", "/openapi.json", "/docs"):
        answer = httpx.get(companion.url + path, headers={"Authorization": f"Bearer {mallory}"})
        trial.written[f"{path} of a board"] = json.dumps(dict(answer.headers)).encode() + answer.content


def _collect_files(trial: Trial, home: Path) -> None:
    """The files of the folder; those of the database may have boards' words, and no login."""
    store = open_store(f"sqlite:///{home}/companion.db")
    for name in (GROUP, COMPANION):
        trial.secrets[name] = broker_secret(store.values, name)
    store.close()
    for path in sorted(home.iterdir()):
        if path.is_file() and path.name != OPERATOR_FILE:
            trial.written[f"file {path.name}"] = path.read_bytes()


def _is_kept_in(where: str, name: str) -> bool:
    """Whether a secret belongs there: the database has the boards' words, and the secrets of the broker."""
    return where.startswith("file companion.db") and (name.startswith("words of") or name in (GROUP, COMPANION))


def test_no_secret_and_no_word_of_another_board_is_written_anywhere(trial: Trial):
    assert len(trial.secrets) == 11 and all(len(secret) > 12 for secret in trial.secrets.values())
    found = places_of(trial.secrets, trial.written)
    assert [(name, where) for name, where in found if not _is_kept_in(where, name)] == []
