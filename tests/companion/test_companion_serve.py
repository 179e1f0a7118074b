"""`engram serve` as a person uses it: it starts, says where it is, ends when told to, and explains what does not work."""

import signal
from pathlib import Path

import pytest

from cli_case import engram
from engram_host.companion.errors import SettingError
from engram_host.companion.settings import StoreSettings, store_url
from one_case import in_one_case
from serve_process import failed_start, serve_once


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_says_where_it_is_and_ends_on_a_signal(tmp_path: Path, number: int):
    served = serve_once(tmp_path / "home", number=number)
    assert served.where["http"] in served.shown and "mqtt" not in served.where
    assert (served.status, served.told) == (0, "")
    assert served.where["page"] == f"{served.where['http']}/"  # nobody needs a token


@in_one_case(
    "content, name",
    [
        ("[http]\nhost = 1", "http.host"),
        ('[mqtt]\nurl = "mqtt://host:port"', "mqtt.url"),
        ('[mqtt]\nurl = "mqtt://host:99999"', "mqtt.url"),
        ("[http]\nports = 1", "http.ports"),
        ("[cats]\na = 1", "cats"),
        ("x", "TOML"),
        ("[store]\nurl = 'mysql://x'", "store.url"),
        ("[mqtt]\nurl = 'http://x'", "mqtt.url"),
        ("[embedding]\nprovider = 'magic'", "embedding.provider"),
    ],
)
def test_a_wrong_setting_ends_it_with_a_sentence_that_names_it(tmp_path: Path, content: str, name: str):
    home = tmp_path / "home"
    home.mkdir()
    (home / "companion.toml").write_text(content)
    status, told = failed_start(home)
    assert status == 2 and name in told and "Traceback" not in told


def test_a_flag_goes_before_the_file_and_the_file_before_the_environment(tmp_path: Path):
    home = tmp_path / "home"
    home.mkdir()
    (home / "companion.toml").write_text('[http]\nhost = "127.0.0.1"\nport = 1\n')
    url = serve_once(home, ENGRAM_HTTP_HOST="192.0.2.1", ENGRAM_HTTP_PORT="2").where["http"]
    assert url.startswith("http://127.0.0.1:") and not url.endswith((":1", ":2"))


@in_one_case(
    "flag, url, variable",
    [
        ("--store-url", "postgresql://me:hush@127.0.0.1:1/x", "ENGRAM_STORE_URL"),
        ("--store-url", "postgresql://me@127.0.0.1:1/x?password=hush", "ENGRAM_STORE_URL"),
        ("--mqtt-url", "mqtt://me:hush@127.0.0.1:1", "ENGRAM_MQTT_PASSWORD"),
    ],
)
def test_a_password_is_not_taken_from_the_command_line(tmp_path: Path, flag: str, url: str, variable: str):
    ran = engram("serve", "--home", tmp_path / "home", flag, url)
    assert ran.status == 2 and variable in ran.err and "hush" not in ran.err
    assert not (tmp_path / "home").exists()


@in_one_case("backend, url", [("postgres", ""), ("postgres", "sqlite:///x"), ("sqlite", "postgres://h/d")])
def test_a_backend_that_does_not_fit_the_url_is_refused(backend: str, url: str):
    with pytest.raises(SettingError, match=r"store\."):
        store_url(StoreSettings(backend, url), Path("/home"))
