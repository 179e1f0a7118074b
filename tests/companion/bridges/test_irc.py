"""The bridge to IRC against a real ngircd, with second clients on a plain socket; accounts and SASL against a strict fake."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from pathlib import Path

import pytest
import trustme

from bridge_running import asynchronous, running
from cut_proxy import CutProxy
from engram_host.companion.bridges.errors import (
    BridgeUnavailable,
    NetworkAway,
    SendFailed,
    SendRefused,
    SendUncertain,
    SignInRefused,
    SlowDown,
)
from engram_host.companion.bridges.irc import bridge as irc
from engram_host.companion.bridges.irc import session as irc_session
from engram_host.companion.bridges.irc.bridge import IrcNetwork
from engram_host.companion.bridges.kinds import KINDS, make_network
from engram_host.companion.bridges.network import Chat, Incoming
from engram_host.companion.conversations.routing import keepable, parse_spoken
from irc_peer import IrcPeer
from irc_services import CAPABILITIES, ServicesServer
from ngircd_server import CHANNEL, NgircdServer, is_usable
from one_case import in_one_case
from peers import free_port
from recording_host import RecordingHost
from waiting import wait_until_async

_has_ngircd = pytest.mark.skipif(not is_usable(), reason="there is no ngircd for this machine")


def on_ngircd(test: Callable[..., None]) -> Callable[..., None]:
    """Mark a test of the real server, for `make soak`: `make test` plays some cells of test_networks.py on it."""
    return pytest.mark.soak(_has_ngircd(test))


HOME = Chat(CHANNEL, is_group=True)


@pytest.fixture(scope="module")
def server() -> Iterator[NgircdServer]:
    """One ngircd for all tests of this module."""
    made = NgircdServer(free_port(), free_port())
    made.start()
    yield made
    made.stop()


@pytest.fixture
def host() -> RecordingHost:
    return RecordingHost()


def network_of(server: NgircdServer | ServicesServer, /, **others: str) -> IrcNetwork:
    """The network of a server, with other settings than its own."""
    settings: dict[str, str] = {field.name: field.default for field in KINDS["irc"].fields}
    if isinstance(server, NgircdServer):
        settings.update(server.settings)
    else:
        settings.update(server=f"127.0.0.1:{server.port}", authority=str(server.authority), channels=CHANNEL, pause="0")
    made = make_network("irc", {**settings, **others})
    assert isinstance(made, IrcNetwork)
    return made


@contextlib.asynccontextmanager
async def people(server: NgircdServer, *names: str) -> AsyncIterator[list[IrcPeer]]:
    """Second clients, signed in and in the channel."""
    peers = [await server.peer(name) for name in names]
    try:
        yield peers
    finally:
        for peer in peers:
            await peer.close()


# --- what comes


@on_ngircd
@asynchronous
async def test_a_private_message_comes_from_a_mask_and_the_answer_goes_to_its_nickname(
    server: NgircdServer, host: RecordingHost
):
    network = network_of(server)
    async with running(network, host), people(server, "Ann") as [ann]:
        await ann.say("hello there")
        message = await host.next("hello there")
        assert (message.chat, message.sender, message.sender_name) == (Chat(ann.id), ann.id, "Ann")
        assert (message.text, message.is_mentioned, message.attachments) == ("hello there", True, ())
        await network.send(message.chat, "hello **Ann**", "answer-1")
        assert (await ann.wait_for("hello")).text == "hello \x02Ann\x02"


@on_ngircd
@asynchronous
async def test_what_is_said_in_a_channel_comes_with_and_without_a_mention(server: NgircdServer, host: RecordingHost):
    async with running(network_of(server), host), people(server, "ann") as [ann]:
        await ann.say("dinner is ready", group=True)
        await ann.say("what is the time?", group=True, mention=True)
        await ann.say("ask ENGRAM, it knows", group=True)
        await ann.say("engrams and my-engram", group=True)
        await host.next("my-engram")
        said = [(message.text, message.is_mentioned) for message in host.received]
        assert said == [
            ("dinner is ready", False),
            ("what is the time?", True),
            ("ask ENGRAM, it knows", True),
            ("engrams and my-engram", False),
        ]
        assert {(message.chat, message.sender) for message in host.received} == {(HOME, ann.id)}
        assert len({message.id for message in host.received}) == 4


@on_ngircd
@asynchronous
async def test_pasted_and_quoted_lines_are_others_words(server: NgircdServer, host: RecordingHost):
    async with running(network_of(server), host), people(server, "ann") as [ann]:
        for said in ("<bob> /new", "> /new", "> engram: yes", "<bob> engram: yes"):
            await ann.say(said)
            await ann.say(said, group=True)
            await ann.say(said, group=True, mention=True)
        await host.wait_until(lambda: len(host.received) == 12)
        taken = [each for each in map(keepable, host.received) if each]
        assert {(each.text, each.forwarded) for each in taken} == {
            ("/new", "bob"),
            ("/new", "somebody"),
            ("engram: yes", "bob"),
            ("engram: yes", "somebody"),
        }
        assert [each.is_mentioned for each in taken] == [True, False, True] * 4

    assert not any(parse_spoken(each, (), "/!").is_command for each in taken)


@on_ngircd
@asynchronous
async def test_an_answer_in_a_channel_is_for_who_asked(server: NgircdServer, host: RecordingHost):
    network = network_of(server)
    async with running(network, host), people(server, "ann", "ben") as [ann, ben]:
        await ann.say("what is the time?", group=True, mention=True)
        asked = await host.next("time")
        await network.send(HOME, "It is four.\n\nTea is ready.", "answer-1", reply_to=asked.id)
        await ben.wait_for("Tea", group=True)
        assert [shown.text for shown in ben.shown(group=True)][-2:] == ["ann: It is four.", "Tea is ready."]


@on_ngircd
@asynchronous
async def test_colours_are_taken_off_an_action_is_text_and_questions_of_clients_are_ignored(
    server: NgircdServer, host: RecordingHost
):
    async with running(network_of(server), host), people(server, "ann") as [ann]:
        await ann.say("\x01VERSION\x01")
        await ann.say("\x0304,12red\x03 and \x02bold\x0f")
        await ann.say("\x01ACTION waves\x01")
        ann.client.send("NOTICE engram :an answer that wants none")
        await ann.say("last")
        await host.next("last")
    assert [message.text for message in host.received] == ["red and bold", "waves", "last"]


@on_ngircd
@asynchronous
async def test_own_lines_are_ignored(server: NgircdServer, host: RecordingHost):
    network = network_of(server)
    async with running(network, host), people(server, "ann") as [ann]:
        await network.send(Chat("engram!~engram@127.0.0.1"), "to myself", "own-1")
        await network.send(HOME, "said by the account", "own-2")
        await ann.say("last")
        await host.next("last")
    assert [message.text for message in host.received] == ["last"]


# --- who is who


@on_ngircd
@asynchronous
async def test_a_private_answer_never_goes_to_whoever_took_the_nickname(
    server: NgircdServer, host: RecordingHost, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(irc, "KNOWN_SECONDS", 0.0)
    network = network_of(server)
    async with running(network, host):
        async with people(server, "ann") as [ann]:
            await ann.say("a secret question")
            asked = await host.next("secret")
        thief = server.client("ann")
        thief.user = "mallory"
        await thief.connect()
        try:
            with pytest.raises(SendFailed, match="is not on IRC now"):
                await network.send(asked.chat, "the secret answer", "answer-1")
            thief.send("PRIVMSG engram :I am ann")
            assert (await host.next("I am ann")).sender != asked.sender
            assert not any("secret" in line for line in thief.lines)
        finally:
            await thief.close()


@on_ngircd
@asynchronous
async def test_an_answer_finds_a_person_after_the_companion_has_started_again(
    server: NgircdServer, host: RecordingHost
):
    async with people(server, "ann") as [ann]:
        network = network_of(server)
        async with running(network, host):
            await network.send(Chat(ann.id), "a reminder", "reminder-1")
            await ann.wait_for("a reminder")


@pytest.mark.parametrize("capabilities", [CAPABILITIES, "server-time message-tags"], ids=["account tags", "WHOIS"])
@asynchronous
async def test_an_account_is_the_same_person_under_each_nickname(
    tmp_path: Path, host: RecordingHost, capabilities: str
):
    async with ServicesServer(tmp_path, capabilities=capabilities) as services:
        for nickname in ("ann", "ann_phone"):
            user = f":services 311 engram {nickname} ~a host-{nickname} * :Ann"
            services.answers[nickname] = f"{user}\n:services 330 engram {nickname} Ann :is logged in as"
        network = network_of(services)
        async with running(network, host):
            tag = "@account=Ann " if "account-tag" in capabilities else ""
            for number, nickname in enumerate(("ann", "ann_phone")):
                services.say(f"{tag}:{nickname}!~a@host-{nickname} PRIVMSG engram :message {number}")
            await host.next("message 1")
            assert [message.sender for message in host.received] == ["account:ann", "account:ann"]
            await network.send(host.received[0].chat, "hello", "answer-1")
            await services.wait_for_line("PRIVMSG ann_phone :hello")


@asynchronous
async def test_whoever_has_left_an_accounts_nickname_does_not_pass_for_it(tmp_path: Path, host: RecordingHost):
    async with ServicesServer(tmp_path, capabilities="server-time") as services:
        account = ":services 311 engram ann ~a ann.example * :Ann\n:services 330 engram ann Ann :is logged in as"
        services.answers["ann"] = account  # who has the nickname when it is asked is not who wrote
        async with running(network_of(services), host):
            services.say(":ann!~m@mallory.example PRIVMSG engram :I am ann")
            message = await host.next("I am ann")
            assert message.sender == "ann!~m@mallory.example"


@asynchronous
async def test_people_of_a_channel_are_asked_about_once_until_they_leave(tmp_path: Path, host: RecordingHost):
    async with ServicesServer(tmp_path, capabilities="server-time message-tags") as services:
        services.answers["ann"] = ":services 311 engram ann ~a h * :Ann\n:services 330 engram ann Ann :is logged in as"
        async with running(network_of(services), host):
            for number in range(3):
                services.say(f":ann!~a@h PRIVMSG {CHANNEL} :message {number}")
            await host.next("message 2")
            assert services.lines.count("WHOIS ann") == 1
            services.say(":ann!~a@h QUIT :bye")
            services.answers["ann"] = ":services 311 engram ann ~a h * :another"
            services.say(f":ann!~a@h PRIVMSG {CHANNEL} :from the same host")
            assert (await host.next("same host")).sender == "ann!~a@h"


@asynchronous
async def test_who_signs_in_or_out_is_asked_about_again(tmp_path: Path, host: RecordingHost):
    async with ServicesServer(tmp_path, capabilities="account-notify server-time message-tags") as services:
        signed_out = ":services 311 engram ann ~a h * :Ann"
        signed_in = f"{signed_out}\n:services 330 engram ann Ann :is logged in as"
        services.answers["ann"] = signed_out
        async with running(network_of(services), host):
            senders = []
            for number, answer in enumerate((signed_out, signed_in, signed_out)):
                if number:
                    services.answers["ann"] = answer
                    services.say(f":ann!~a@h ACCOUNT {'Ann' if answer == signed_in else '*'}")
                for line in "ab":
                    services.say(f":ann!~a@h PRIVMSG {CHANNEL} :message {number}{line}")
                senders.append((await host.next(f"message {number}b")).sender)
            assert senders == ["ann!~a@h", "account:ann", "ann!~a@h"] and services.lines.count("WHOIS ann") == 3


@asynchronous
async def test_what_is_known_of_people_is_bounded(tmp_path: Path, host: RecordingHost, monkeypatch: pytest.MonkeyPatch):
    assert irc.MOST_KNOWN <= 1000
    monkeypatch.setattr(irc, "MOST_KNOWN", 2)
    async with ServicesServer(tmp_path, capabilities="server-time message-tags") as services:
        network = network_of(services)
        async with running(network, host):
            for name in ("ann", "ben", "cleo", "cleo", "ann"):
                services.say(f":{name}!~a@h PRIVMSG {CHANNEL} :I am {name}")
            services.say(f":dora!~a@h PRIVMSG {CHANNEL} :the last one")
            await host.next("the last one")
            asked = [line for line in services.lines if line.startswith("WHOIS ")]
            assert asked == [f"WHOIS {name}" for name in ("ann", "ben", "cleo", "ann", "dora")]
            assert len(network._accounts) == len(network._nicknames) == 2


@asynchronous
async def test_a_burst_of_strangers_loses_nothing_that_fits_and_is_no_deadlock(
    tmp_path: Path, host: RecordingHost, caplog: pytest.LogCaptureFixture
):
    most = irc_session.MOST_WAITING
    services = ServicesServer(tmp_path, capabilities="server-time message-tags")
    async with services, running(network_of(services), host) as task:
        for number in range(most + 100):
            services.say(f":p{number % 40}!u@h PRIVMSG engram :burst {number}")
        await host.wait_until(lambda: len(host.received) >= most)
        services.say(":ann!~a@h PRIVMSG engram :after it")
        await host.next("after it")
        assert not task.done() and "a message is lost" in caplog.text


@asynchronous
async def test_a_message_that_waited_while_the_accounts_nickname_changed_stays_private(
    tmp_path: Path, host: RecordingHost, monkeypatch: pytest.MonkeyPatch
):
    is_let = asyncio.Event()

    async def receive(message: Incoming) -> None:
        await is_let.wait()
        host.received.append(message)

    monkeypatch.setattr(host, "receive", receive)
    async with ServicesServer(tmp_path) as services:
        network = network_of(services)
        async with running(network, host):
            session = network._session
            assert session is not None
            services.say(":ann!~a@h PRIVMSG engram :the first")
            services.say(":ann!~a@h PRIVMSG engram :it waits")
            services.say(":engram!~e@h NICK :engram2")
            await wait_until_async("the nickname is another", lambda: session.nickname == "engram2")
            is_let.set()
            await wait_until_async("both are there", lambda: len(host.received) == 2)
    assert [message.chat.is_group for message in host.received] == [False, False]


@asynchronous
async def test_chatter_of_a_channel_leaves_a_place_for_what_is_meant(tmp_path: Path, host: RecordingHost):
    services = ServicesServer(tmp_path, capabilities="server-time message-tags")
    async with services, running(network_of(services), host):
        for number in range(irc_session.MOST_WAITING + 100):
            services.say(f":p{number % 40}!u@h PRIVMSG {CHANNEL} :chatter {number}")
        services.say(f":ann!~a@h PRIVMSG {CHANNEL} :engram: in the channel")
        services.say(":ann!~a@h PRIVMSG engram :in private")
        await host.next("in the channel")
        await host.next("in private")


@asynchronous
async def test_a_message_has_the_servers_id_and_a_playback_the_same_one(tmp_path: Path, host: RecordingHost):
    async with ServicesServer(tmp_path) as services, running(network_of(services), host):
        said = ":ann!~a@host PRIVMSG engram :hello"
        services.say(f"@msgid=abc-1;time=2026-11-26T11:00:00.123Z {said}")
        for _ in range(2):
            services.say(f"@time=2026-11-26T11:00:00.123Z {said}")
        services.say(f"@time=2026-11-26T11:00:00.124Z {said}")
        services.say("@bot :other!~o@host PRIVMSG engram :I am a bot, too")
        services.say(said)
        await host.wait_until(lambda: len(host.received) == 5)
        ids = [message.id for message in host.received]
        assert ids[0] == "abc-1"
        assert ids[1] == ids[2]
        assert len(set(ids)) == 4
        assert [message.at for message in host.received] == [1795690800] * 4 + [0]


# --- signing in


@on_ngircd
@asynchronous
async def test_a_nickname_in_use_gets_an_underscore_and_comes_back_when_it_is_free(
    server: NgircdServer, host: RecordingHost
):
    async with people(server, "ann") as [ann]:
        other = server.client("engram")
        await other.connect()
        await other.join(CHANNEL)
        async with running(network_of(server), host):
            assert host.accounts == ["engram_"]
            await ann.say("engram_: is it you?", group=True)
            assert (await host.next("is it you?")).is_mentioned
            await other.close()
            await ann.client.wait_for_line("NICK :engram")
            await ann.say("engram: and now?", group=True)
            assert (await host.next("and now?")).is_mentioned


@on_ngircd
@asynchronous
async def test_check_signs_in_and_out_again(server: NgircdServer):
    assert await network_of(server).check() == "engram"
    plain = network_of(server, server=f"127.0.0.1:{server.plain_port}", tls="off")
    assert (await plain.check()).startswith("engram")


@in_one_case("password", ["Tea-at-4", "x" * 291])
@asynchronous
async def test_sasl_signs_in_with_the_account(tmp_path: Path, host: RecordingHost, password: str):
    async with ServicesServer(tmp_path, password=password) as services:
        network = network_of(services, login="sasl", account="kitchen", password=password)
        assert await network.check() == "engram"


@asynchronous
async def test_a_wrong_password_is_refused_without_saying_it(tmp_path: Path, host: RecordingHost):
    async with ServicesServer(tmp_path) as services:
        network = network_of(services, login="sasl", account="kitchen", password="Coffee-at-5")
        for attempt in (network.check, lambda: network.run(host)):
            with pytest.raises(SignInRefused) as refused:
                await attempt()
            assert "Coffee" not in str(refused.value)


@asynchronous
async def test_a_server_without_sasl_is_named(tmp_path: Path):
    async with ServicesServer(tmp_path, capabilities="server-time away-notify") as services:
        with pytest.raises(BridgeUnavailable, match="NickServ"):
            await network_of(services, login="sasl", account="kitchen", password="Tea-at-4").check()


@on_ngircd
@in_one_case(
    "answer, error",
    [
        ("You are now identified for kitchen.", None),
        ("Invalid password for kitchen.", SignInRefused),
        ("kitchen isn't registered.", SignInRefused),
    ],
)
@asynchronous
async def test_nickserv_is_asked_before_anything_else(server: NgircdServer, answer: str, error: type[Exception] | None):
    nickserv = server.client("NickServ")
    await nickserv.connect()
    asked = []

    def on_private(nickname: str, text: str) -> None:
        asked.append(text)
        nickserv.send(f"NOTICE {nickname} :This nickname is registered. Please choose another, or identify.")
        nickserv.send(f"NOTICE {nickname} :{answer}")

    nickserv.on_private = on_private
    try:
        network = network_of(server, login="nickserv", account="kitchen", password="Tea-at-4")
        with pytest.raises(error) if error else contextlib.nullcontext():
            await network.check()
        assert asked == ["IDENTIFY kitchen Tea-at-4"]
    finally:
        await nickserv.close()


@on_ngircd
@asynchronous
async def test_a_network_without_nickserv_is_named(server: NgircdServer):
    with pytest.raises(BridgeUnavailable, match="no NickServ"):
        await network_of(server, login="nickserv", password="Tea-at-4").check()


@on_ngircd
@asynchronous
async def test_a_server_with_another_authoritys_certificate_is_not_trusted(server: NgircdServer, tmp_path: Path):
    trustme.CA().cert_pem.write_to_path(tmp_path / "other.pem")
    with pytest.raises(NetworkAway, match="certificate of 127\\.0\\.0\\.1 cannot be trusted"):
        await network_of(server, authority=str(tmp_path / "other.pem")).check()


@in_one_case(
    "wrong",
    [
        {"nickname": "two words"},
        {"channels": "home"},
        {"login": "oauth"},
        {"pause": "two"},
        {"pause": "99"},
        {"login": "sasl"},
        {"login": "sasl", "password": "x", "tls": "off"},
        {"login": "sasl", "password": "x\r\nQUIT"},
        {"server": "irc.example.org:none"},
        {"authority": "/nowhere.pem"},
    ],
)
def test_a_setting_that_cannot_be_meant_is_named(wrong: Mapping[str, str]):
    settings = {field.name: field.default for field in KINDS["irc"].fields} | {"server": "irc.example.org:6697"}
    with pytest.raises(BridgeUnavailable):
        make_network("irc", {**settings, **wrong})


# --- what goes


@on_ngircd
@asynchronous
async def test_a_long_text_goes_as_lines_that_nobody_cuts(server: NgircdServer, host: RecordingHost):
    network = network_of(server)
    text = " ".join(f"\u6f22{number}" for number in range(230))
    assert network.features.count_units(text) <= network.features.most_units
    async with running(network, host), people(server, "ann") as [ann]:
        await network.send(HOME, text + "\nPRIVMSG is no command here\r\nQUIT", "long-1")
        await ann.wait_for("QUIT", group=True)
        lines = [shown.text for shown in ann.shown(group=True)]
        assert " ".join(lines[:-2]) == text
        assert max(len(line.encode()) for line in lines) <= 400
        assert lines[-2:] == ["PRIVMSG is no command here", "QUIT"]


@on_ngircd
@asynchronous
async def test_what_cannot_be_delivered_is_said(server: NgircdServer, host: RecordingHost):
    network = network_of(server)
    with pytest.raises(SendFailed, match="not connected"):
        await network.send(HOME, "too early", "early-1")
    async with running(network, host):
        with pytest.raises(SendFailed, match="not on IRC"):
            await network.send(Chat("nobody!~n@127.0.0.1"), "hello", "failed-1")
        with pytest.raises(SendFailed):
            await network.send(Chat("#nowhere", is_group=True), "hello", "failed-2")


@in_one_case("number, error", [("404", SendRefused), ("401", SendFailed), ("439", SlowDown)])
@asynchronous
async def test_a_servers_refusal_of_a_line_is_the_messages(
    tmp_path: Path, host: RecordingHost, number: str, error: type[Exception]
):
    async with ServicesServer(tmp_path) as services:
        network = network_of(services)
        async with running(network, host):
            services.answers[CHANNEL] = f":services {number} engram {CHANNEL} :no"
            with pytest.raises(error):
                await network.send(HOME, "hello", "refused-1")
            del services.answers[CHANNEL]
            await network.send(HOME, "hello", "refused-2")


@in_one_case(
    "number, error, is_doubtful",
    [("404", SendRefused, False), ("401", SendUncertain, True), ("439", SlowDown, True)],
)
@asynchronous
async def test_a_message_of_which_a_line_was_refused_may_have_arrived(
    tmp_path: Path, host: RecordingHost, number: str, error: type[SendFailed], is_doubtful: bool
):
    async with ServicesServer(tmp_path) as services:
        network = network_of(services)
        async with running(network, host):
            services.answers[f"{CHANNEL} :two"] = f":services {number} engram {CHANNEL} :no"
            with pytest.raises(error) as caught:
                await network.send(HOME, "one\ntwo\nthree", "partly-1")
            assert caught.value.is_doubtful == is_doubtful


@asynchronous
async def test_an_answer_about_who_is_there_refuses_no_message(tmp_path: Path, host: RecordingHost):
    capabilities = CAPABILITIES.replace("account-tag ", "")  # who wrote is asked of the server
    async with ServicesServer(tmp_path, capabilities=capabilities) as services:
        network = network_of(services)
        async with running(network, host):
            services.answers["bob"] = f":services 401 engram {CHANNEL} :No such nick"
            sending = [asyncio.create_task(network.send(HOME, f"one {number}", f"n{number}")) for number in range(5)]
            for number in range(5):
                services.say(f":bob!b{number}@host PRIVMSG engram :hello {number}")
            await asyncio.gather(*sending)
            await host.next("hello 4")


@on_ngircd
@asynchronous
async def test_a_line_that_the_server_has_not_confirmed_is_uncertain(server: NgircdServer, host: RecordingHost):
    async with CutProxy(server.port) as proxy:
        network = network_of(server, server=f"127.0.0.1:{proxy.port}")
        async with running(network, host) as task:
            proxy.fall_silent()
            going = asyncio.create_task(network.send(HOME, "hello", "uncertain-1"))
            await proxy.wait_until_lost()
            await proxy.cut()
            with pytest.raises(SendUncertain):
                await going
            await asyncio.wait([task])
            with pytest.raises(NetworkAway):
                await task


# --- breaks


@on_ngircd
@asynchronous
async def test_a_server_that_falls_silent_is_noticed(server: NgircdServer, host: RecordingHost, monkeypatch):
    monkeypatch.setattr(irc_session, "SILENCE_SECONDS", 0.05)
    async with (
        CutProxy(server.port) as proxy,
        running(network_of(server, server=f"127.0.0.1:{proxy.port}"), host) as task,
    ):
        monkeypatch.setattr(irc_session, "ANSWER_SECONDS", 0.5)  # signing in may take longer
        proxy.fall_silent()
        await asyncio.wait([task])
        with pytest.raises(NetworkAway, match="broke"):
            await task


@on_ngircd
@asynchronous
async def test_after_the_server_was_killed_a_new_run_takes_part_again(host: RecordingHost):
    server = NgircdServer(free_port(), free_port())
    server.start()
    try:
        network = network_of(server)
        async with running(network, host) as task:
            server.kill()
            await asyncio.wait([task])
            with pytest.raises(NetworkAway):
                await task
        with pytest.raises(NetworkAway, match="cannot be reached"):
            await network.run(host)
        server.start()
        async with running(network, host), people(server, "ann") as [ann]:
            await ann.say("are you there?")
            await host.next("are you there?")
    finally:
        server.stop()


@on_ngircd
@asynchronous
async def test_whoever_throws_the_account_out_of_a_channel_ends_the_connection(
    server: NgircdServer, host: RecordingHost
):
    async with people(server, "ann") as [ann]:
        ann.client.send("JOIN #own")
        await ann.client.wait_for_line("JOIN :#own")
        async with running(network_of(server, channels="#own"), host) as task:
            ann.client.send("KICK #own engram")
            await asyncio.wait([task])
            with pytest.raises(NetworkAway, match="removed from #own"):
                await task


@on_ngircd
@asynchronous
async def test_a_cancelled_bridge_leaves_no_task_behind(server: NgircdServer, host: RecordingHost):
    before = asyncio.all_tasks()
    for steps in range(0, 100, 3):  # of signing in
        async with CutProxy(server.port) as proxy:
            network = network_of(server, server=f"127.0.0.1:{proxy.port}")
            task = asyncio.create_task(network.run(host))
            await wait_until_async("a step", lambda steps=steps, proxy=proxy: proxy.steps >= steps or host.accounts)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            assert task.cancelled()
        await wait_until_async("the end of the proxy's own tasks", lambda: len(asyncio.all_tasks()) <= len(before))
        assert asyncio.all_tasks() == before
        if host.accounts:
            break
    assert host.accounts


@asynchronous
async def test_what_the_engine_could_not_keep_ends_the_run(tmp_path: Path, host: RecordingHost):
    host.refuses = RuntimeError("the disk is full")
    async with ServicesServer(tmp_path) as services, running(network_of(services), host) as task:
        services.say(":ann!~a@host PRIVMSG engram :hello")
        await wait_until_async("the end", task.done)
        with pytest.raises(RuntimeError, match="disk"):
            await task
