"""Settings of bridges and people: what is refused by which name, and where secrets come from and stay."""

import stat
from pathlib import Path

import keyring
import keyring.backend
import keyring.errors
import pytest

from engram_host.companion.auth.secrets import SecretStore
from engram_host.companion.bridge_settings import MOST_BRIDGES, BridgeSettings, PeopleSettings, read_bridges
from engram_host.companion.bridges.kinds import KINDS, check_bridge, complete_values, redact_values
from engram_host.companion.errors import SettingError
from engram_host.companion.settings import read_settings
from engram_host.companion.settings_reader import read_section
from one_case import in_one_case


def refused(call, *words) -> str:
    """The dotted name of the setting that is refused."""
    with pytest.raises(SettingError) as caught:
        call(*words)
    return caught.value.name


def test_a_second_irc_server_is_refused_since_an_account_there_would_pass_for_the_first_ones():
    libera = {"network": "irc", "server": "irc.libera.chat:6697"}
    assert refused(read_bridges, {"libera": libera, "other": {**libera, "server": "irc.example.org"}}) == (
        "bridges.other.server"
    )


def test_a_bridge_is_its_networks_unless_it_names_another(tmp_path: Path):
    (tmp_path / "companion.toml").write_text(
        '[bridges.matrix]\nserver = "https://example.org"\nboards = ["kitchen"]\n[bridges.home]\nnetwork = "irc"\non = false\n'
    )
    home, matrix = read_settings(tmp_path, {}, {}).bridges
    assert (home.name, home.network, home.is_on) == ("home", "irc", False)
    assert (matrix.network, matrix.boards, matrix.fields) == ("matrix", ("kitchen",), {"server": "https://example.org"})


@in_one_case(
    "table, name",
    [
        ({"policy": "friends"}, "bridges.irc.policy"),
        ({"policy": "open"}, "bridges.irc.policy"),
        ({"policy": "open", "allow": "all"}, "bridges.irc.allow"),
        ({"on": "yes"}, "bridges.irc.on"),
        ({"boards": "kitchen"}, "bridges.irc.boards"),
        ({"boards": ["The Kitchen"]}, "bridges.irc.boards"),
        ({"boards": ["b"] * 33}, "bridges.irc.boards"),
        ({"server": "two\nlines"}, "bridges.irc.server"),
        ({"server": "x" * 2001}, "bridges.irc.server"),
        ({"network": []}, "bridges.irc.network"),
    ],
)
def test_a_wrong_value_is_refused_by_its_dotted_name(table, name):
    assert refused(read_bridges, {"irc": table}) == name


@in_one_case("name", ["", "Irc", "a b", "-irc", "irc-", "x" * 33, "a.b", "../a"])
def test_a_name_that_no_bridge_can_have_is_refused(name):
    assert refused(read_bridges, {name: {}}).startswith("bridges.")


@in_one_case("tables", [3, [], {"irc": 3}, {f"b{number}": {} for number in range(MOST_BRIDGES + 1)}])
def test_what_are_no_bridges_or_too_many_is_refused(tables):
    assert refused(read_bridges, tables) == "bridges"


def test_everybody_may_talk_only_where_a_star_says_so():
    assert read_bridges({"irc": {"policy": "open", "allow": "*"}})[0].policy == "open"
    assert refused(read_section, PeopleSettings, "people", {"policy": "open"}, {}) == "people.policy"
    assert read_section(PeopleSettings, "people", {}, {"ENGRAM_PEOPLE_POLICY": "open", "ENGRAM_PEOPLE_ALLOW": "*"})


@in_one_case(
    "network, field", [(kind.name, field.name) for kind in KINDS.values() for field in kind.fields if field.is_secret]
)
def test_a_secret_in_companion_toml_is_refused_and_not_shown(network, field):
    with pytest.raises(SettingError) as caught:
        check_bridge(BridgeSettings(network, network, fields={field: "hunter2"}))
    assert caught.value.name == f"bridges.{network}.{field}"
    assert "hunter2" not in str(caught.value) and f"`engram bridge add {network}`" in str(caught.value)


def test_what_is_missing_is_named_with_the_command_that_asks_for_it(tmp_path: Path):
    with pytest.raises(SettingError, match=r"bridges.home.address: .*engram bridge add xmpp --name home") as caught:
        complete_values(BridgeSettings("home", "xmpp"), SecretStore(tmp_path, {}))
    assert caught.value.name == "bridges.home.address"


def test_secrets_are_taken_out_of_a_text():
    values = {"password": "open sesame", "token": "ab", "server": "example.org"}
    text = redact_values("https://u:open sesame@example.org/ab", KINDS["matrix"], values)
    assert text == "https://u:***@example.org/ab"


# --- where secrets are


def test_a_secret_is_in_a_file_that_only_its_owner_reads(tmp_path: Path):
    secrets = SecretStore(tmp_path, {})
    secrets.keep("bridges.irc.password", "first")
    secrets.keep("bridges.irc.password", "pässword with spaces")
    path = secrets.path("bridges.irc.password")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600 and stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert secrets.find("bridges.irc.password") == "pässword with spaces"
    assert [each.name for each in path.parent.iterdir()] == [path.name]
    secrets.remove("bridges.irc.password")
    secrets.remove("bridges.irc.password")
    assert secrets.find("bridges.irc.password") == ""


def test_the_environment_goes_before_the_file(tmp_path: Path):
    secrets = SecretStore(tmp_path, {"ENGRAM_BRIDGES_IRC_PASSWORD": "of the container"})
    secrets.keep("bridges.irc.password", "of the file")
    assert secrets.find("bridges.irc.password") == "of the container"


def test_a_secret_that_others_can_read_is_refused_and_not_shown(tmp_path: Path):
    secrets = SecretStore(tmp_path, {})
    secrets.keep("bridges.irc.password", "hunter2")
    secrets.path("bridges.irc.password").chmod(0o644)
    with pytest.raises(SettingError, match="chmod 600") as caught:
        secrets.find("bridges.irc.password")
    assert "hunter2" not in str(caught.value)


@in_one_case("value", ["", "two\nlines", "a\0b", "x" * 4097])
def test_what_is_no_secret_of_one_line_is_not_kept(tmp_path: Path, value):
    assert refused(SecretStore(tmp_path, {}).keep, "bridges.irc.password", value) == "bridges.irc.password"


class Keyring(keyring.backend.KeyringBackend):
    """A keyring in memory."""

    priority = 1  # pyright: ignore[reportAssignmentType]

    def __init__(self, fails: bool = False):
        super().__init__()
        self.fails = fails
        self.kept: dict[tuple[str, str], str] = {}

    def _check(self) -> None:
        if self.fails:
            raise keyring.errors.KeyringLocked("locked")

    def get_password(self, service: str, username: str) -> str | None:
        self._check()
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self._check()
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        self._check()
        if self.kept.pop((service, username), None) is None:
            raise keyring.errors.PasswordDeleteError("not found")


@pytest.fixture
def system_keyring():
    before, fake = keyring.get_keyring(), Keyring()
    keyring.set_keyring(fake)
    yield fake
    keyring.set_keyring(before)


def test_a_secret_in_the_keyring_is_in_no_file(tmp_path: Path, system_keyring: Keyring):
    secrets = SecretStore(tmp_path, {})
    secrets.keep("bridges.irc.password", "hunter2", in_keyring=True)
    assert secrets.find("bridges.irc.password", in_keyring=True) == "hunter2"
    assert secrets.find("bridges.irc.password") == "" and list(tmp_path.iterdir()) == []
    secrets.remove("bridges.irc.password", in_keyring=True)
    secrets.remove("bridges.irc.password", in_keyring=True)
    assert system_keyring.kept == {}


def test_a_keyring_that_cannot_be_used_is_named(tmp_path: Path, system_keyring: Keyring):
    system_keyring.fails = True
    secrets = SecretStore(tmp_path, {})
    for call in (lambda: secrets.find("a.b", in_keyring=True), lambda: secrets.keep("a.b", "c", in_keyring=True)):
        with pytest.raises(SettingError, match="KeyringLocked"):
            call()
