"""The gateway's key: where it comes from, and that nobody but the service ever sees it."""

import json
from pathlib import Path

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from device_tokens import make_tokens
from engram_host.companion.auth.secrets import SecretStore
from engram_host.companion.errors import SettingError
from engram_host.companion.gateway import service as keys
from engram_host.companion.gateway.dialects import ServiceFailed
from engram_host.companion.gateway.proxy import Gateway
from engram_host.companion.gateway.quota import TokenCounter
from engram_host.companion.gateway.service import ApiKey, find_api_key
from engram_host.companion.gateway.streaming import EventParser
from engram_host.companion.metrics import Metrics
from engram_host.companion.settings import GatewaySettings
from engram_host.companion.store import open_store
from leaky_service import WAYS, LeakyService, Talkative
from one_case import in_one_case
from peers import Companion
from serve_process import failed_start
from server_process import PLAIN
from waiting import SECONDS

KEY = "sk-nobody-may-see-this-0123456789abcdef"


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What a companion says and logs, at its most talkative, when its service does all that it can to tell the key."""
    home = tmp_path_factory.mktemp("key") / "home"
    made = make_tokens(home, "kitchen")
    found: dict[str, bytes] = {}
    headers = {"Authorization": f"Bearer {made['kitchen']}"}

    def ask(companion: Companion, way: str) -> None:
        for stream in (False, True):
            body = {"model": "m", "messages": [{"role": "user", "content": way}], "stream": stream}
            url = f"{companion.url}/gateway/v1/chat/completions"
            answer = httpx.post(url, headers=headers, json=body, timeout=SECONDS, verify=PLAIN)
            found[f"{way} {stream}"] = (
                str(answer.status_code).encode() + repr(answer.headers.raw).encode() + answer.content
            )

    with LeakyService() as behind:
        with Talkative(home, ENGRAM_GATEWAY_URL=behind.url, ENGRAM_GATEWAY_KEY=KEY) as companion:
            for way in WAYS:
                ask(companion, way)
            for path in ("/gateway/v1/models", "/v1/health", "/openapi.json", "/v1/devices", "/gateway/v1/nothing"):
                found[path] = httpx.get(companion.url + path, headers=headers, timeout=SECONDS, verify=PLAIN).content
            companion.stop()
            found["log"] = Path(companion._output.name).read_bytes()
        # One that does not wait long, for a service that is silent: any other answer may take its time.
        with Talkative(
            home, ENGRAM_GATEWAY_URL=behind.url, ENGRAM_GATEWAY_KEY=KEY, ENGRAM_GATEWAY_TIMEOUT="1"
        ) as companion:
            ask(companion, "silent")
            companion.stop()
            found["log"] += Path(companion._output.name).read_bytes()
    found["files"] = b"".join(path.read_bytes() for path in sorted(home.rglob("*")) if path.is_file())
    return found


def test_the_key_is_in_no_answer_log_or_file(answers: dict[str, bytes]):
    assert [where for where, data in answers.items() if KEY.encode() in data] == []


@in_one_case("way", ["html 200", "json cut", "event cut", "page stream"])
def test_a_success_without_a_readable_answer_is_the_services_failure(answers: dict[str, bytes], way: str):
    for stream in (False, True):
        answer = answers[f"{way} {stream}"]
        assert answer.startswith(b"502") and b'"upstream_failed"' in answer and b"gateway.url" in answer


def test_no_repr_shows_it(tmp_path: Path):
    key = ApiKey(KEY)
    store = open_store(f"sqlite:///{tmp_path}/companion.db")
    gateway = Gateway(store.gateway, GatewaySettings(url="http://127.0.0.1:9/v1"), key, Metrics())
    gateway.start()
    assert KEY not in f"{key!r} {key} {gateway!r} {vars(gateway)!r}"
    store.close()


# --- where it comes from


def _found(home: Path, **environment: str) -> dict[str, str]:
    return find_api_key(SecretStore(home, environment)).headers()


def test_the_environment_goes_before_the_file_and_that_before_the_keyring(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    import keyring

    monkeypatch.setattr(keyring, "get_password", lambda service, user: "from-the-keyring")
    assert _found(tmp_path) == {"Authorization": "Bearer from-the-keyring"}
    SecretStore(tmp_path, {}).keep(keys.NAME, "from-the-file")
    assert _found(tmp_path) == {"Authorization": "Bearer from-the-file"}
    assert _found(tmp_path, ENGRAM_GATEWAY_KEY="given") == {"Authorization": "Bearer given"}


def test_without_a_keyring_there_is_no_key(tmp_path: Path):
    assert _found(tmp_path) == {}


def test_a_file_that_others_may_read_ends_the_start_with_a_sentence(tmp_path: Path):
    home = tmp_path / "home"
    SecretStore(home, {}).keep(keys.NAME, KEY)
    (home / "secrets" / keys.NAME).chmod(0o640)
    status, told = failed_start(home, ENGRAM_GATEWAY_URL="http://127.0.0.1:9/v1")
    assert status == 2 and "chmod 600" in told and KEY not in told and "Traceback" not in told


@in_one_case("value", [f"{KEY}\nX: y", f"{KEY} {KEY}", f"{KEY}é"])
def test_a_key_that_is_no_key_is_refused_unshown(tmp_path: Path, value: str):
    with pytest.raises(SettingError) as refused:
        _found(tmp_path, ENGRAM_GATEWAY_KEY=value)
    assert KEY not in str(refused.value)


@in_one_case("url", ["ftp://x/v1", "x", "https://u:p@x/v1", "https://x/v1?key=1", "http://[", "https:///v1"])
def test_an_address_that_is_none_or_has_a_key_in_it_is_refused(tmp_path: Path, url: str):
    store = open_store(f"sqlite:///{tmp_path}/companion.db")
    with pytest.raises(SettingError, match=r"gateway\.url"):
        Gateway(store.gateway, GatewaySettings(url=url), ApiKey(), Metrics())
    store.close()


# --- counting


def _events(*values: object) -> bytes:
    return b"".join(b"data: " + json.dumps(value).encode() + b"\n\n" for value in values)


@given(st.lists(st.integers(1, 40), min_size=1, max_size=30), st.integers(0, 9999), st.integers(0, 9999))
def test_usage_is_found_however_a_stream_is_cut(sizes: list[int], prompt: int, answer: int):
    usage = {"prompt_tokens": prompt, "completion_tokens": answer, "total_tokens": prompt + answer}
    data = (
        _events({"choices": [{"delta": {"content": "日本 hello"}}]}, {"choices": [], "usage": usage})
        + b"data: [DONE]\n\n"
    )
    count, parser = TokenCounter(5), EventParser()
    start = turn = 0
    while start < len(data):
        for event in parser.feed(data[start : start + sizes[turn % len(sizes)]]):
            count.read(event.data or b"")
        start, turn = start + sizes[turn % len(sizes)], turn + 1
    assert count.used == prompt + answer


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=9)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(["choices", "delta", "message", "usage", "tool_calls", "function", "content"]), inner
        ),
    ),
    max_leaves=20,
)


@given(JSON)
def test_an_odd_answer_is_counted_as_something(value: object):
    count = TokenCounter(3)
    count.read(json.dumps(value).encode())
    assert count.used >= 0


def test_an_event_without_end_takes_bounded_memory():
    parser = EventParser()
    with pytest.raises(ServiceFailed, match="too long"):
        for _ in range(64):
            parser.feed(b"data: " + b"x" * 65530)
