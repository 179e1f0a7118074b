"""The bridge to IRC against a strict fake with accounts, SASL and tags; in `make soak` against a real ngircd, too."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
import trustme

from bridge_run import asynchronous, bridged, made, on, running
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
from engram_host.companion.bridges.irc import session as irc_session
from engram_host.companion.bridges.network import Chat, Incoming
from engram_host.companion.conversations.chat_messages import keepable, parse_spoken
from irc_services import CAPABILITIES, ServicesServer
from ngircd_server import CHANNEL, is_usable
from one_case import in_one_case
from recording_host import RecordingHost
from waiting import wait_until_async

HOME = Chat(CHANNEL, is_group=True)
NO_ACCOUNTS = "server-time message-tags"
"""Capabilities of a server that is asked who somebody is."""


def on_ngircd(test: Any) -> Any:
    """Mark a test of the real server, for `make soak`: `make test` plays some cells of test_networks.py on it."""
    has_ngircd = pytest.mark.skipif(not is_usable(), reason="there is no ngircd for this machine")
    return pytest.mark.soak(has_ngircd(on("irc")(test)))


def network_of(server: ServicesServer, **others: str) -> Any:
    """The network of the fake, with other settings than its own."""
    settings = {"server": f"127.0.0.1:{server.port}", "authority": str(server.authority), "channels": CHANNEL}
    return made("irc", {**settings, "pause": "0"}, **others)


def on_services(capabilities: str = CAPABILITIES, password: str = "Tea-at-4") -> Any:
    """Give a test the fake as its server, as bridged() does."""
    return bridged(lambda folder: ServicesServer(folder, capabilities=capabilities, password=password), network_of)


def whois(nickname: str, host: str = "h", account: str = "") -> str:
    """Return a server's answer about somebody."""
    signed_in = f"\n:services 330 engram {nickname} {account} :is logged in as" if account else ""
    return f":services 311 engram {nickname} ~a {host} * :somebody{signed_in}"


# --- what comes


@on_ngircd
async def test_pasted_and_quoted_lines_are_others_words(network, host, ann):
    for said in ("<bob> /new", "> /new", "> engram: yes", "<bob> engram: yes"):
        await ann.say(said)
        await ann.say(said, group=True)
        await ann.say(said, group=True, mention=True)
    await host.wait_until(lambda: len(host.received) == 12)
    taken = [each for each in map(keepable, host.received) if each]
    texts, origins = ("/new", "engram: yes"), ("bob", "somebody")
    assert {(each.text, each.forwarded) for each in taken} == {(text, by) for text in texts for by in origins}
    assert [each.is_mentioned for each in taken] == [True, False, True] * 4
    assert not any(parse_spoken(each, (), "/!").is_command for each in taken)


@on_ngircd
async def test_an_answer_in_a_channel_is_for_who_asked(server, network, host, ann):
    ben = await server.peer("ben")
    await ann.say("what is the time?", group=True, mention=True)
    asked = await host.next("time")
    await network.send(HOME, "It is four.\n\nTea is ready.", "answer-1", reply_to=asked.id)
    await ben.wait_for("Tea", group=True)
    assert [shown.text for shown in ben.shown(group=True)][-2:] == ["ann: It is four.", "Tea is ready."]
    await ben.close()


# --- who is who


@on_ngircd
async def test_a_private_answer_never_goes_to_whoever_took_the_nickname(server, network, host):
    ann = await server.peer("ann")
    await ann.say("a secret question")
    asked = await host.next("secret")
    await ann.close()
    thief = server.client("ann")
    thief.user = "mallory"
    await thief.connect()
    with pytest.raises(SendFailed, match="is not on IRC now"):
        await network.send(asked.chat, "the secret answer", "answer-1")
    thief.send("PRIVMSG engram :I am ann")
    assert (await host.next("I am ann")).sender != asked.sender
    assert not any("secret" in line for line in thief.lines)
    await thief.close()


@in_one_case("capabilities", [CAPABILITIES, NO_ACCOUNTS])
@asynchronous
async def test_an_account_is_the_same_person_under_each_nickname(tmp_path: Path, capabilities: str):
    async with ServicesServer(tmp_path, capabilities=capabilities) as services:
        network, host = network_of(services), RecordingHost()
        async with running(network, host):
            for number, nickname in enumerate(("ann", "ann_phone")):
                services.answers[nickname] = whois(nickname, f"host-{nickname}", "Ann")
                services.say(f"@account=Ann :{nickname}!~a@host-{nickname} PRIVMSG engram :message {number}")
            await host.next("message 1")
            assert [message.sender for message in host.received] == ["account:ann", "account:ann"]
            await network.send(host.received[0].chat, "hello", "answer-1")
            await services.wait_for_line("PRIVMSG ann_phone :hello")


@on_services("server-time")
async def test_whoever_has_left_an_accounts_nickname_does_not_pass_for_it(server, network, host):
    server.answers["ann"] = whois("ann", "ann.example", "Ann")  # who has it when it is asked is not who wrote
    server.say(":ann!~m@mallory.example PRIVMSG engram :I am ann")
    assert (await host.next("I am ann")).sender == "ann!~m@mallory.example"


def hold(host: RecordingHost, monkeypatch: pytest.MonkeyPatch) -> asyncio.Event:
    """Let a host receive nothing until the event is set."""
    is_let, receive = asyncio.Event(), host.receive

    async def receive_later(message: Incoming) -> None:
        await is_let.wait()
        await receive(message)

    monkeypatch.setattr(host, "receive", receive_later)
    return is_let


@on_services(NO_ACCOUNTS)
async def test_a_burst_of_strangers_loses_nothing_that_fits_and_is_no_deadlock(
    server, network, task, host, monkeypatch, caplog
):
    most = irc_session.MOST_WAITING
    is_let = hold(host, monkeypatch)
    for number in range(most + 100):
        server.say(f":p{number % 40}!u@h PRIVMSG engram :burst {number}")
    await wait_until_async("a message is lost", lambda: "a message is lost" in caplog.text)
    is_let.set()
    await host.wait_until(lambda: len(host.received) >= most)
    server.say(":ann!~a@h PRIVMSG engram :after it")
    await host.next("after it")
    assert not task.done() and "a message is lost" in caplog.text


@on_services()
async def test_a_message_that_waited_while_the_accounts_nickname_changed_stays_private(
    server, network, host, monkeypatch
):
    is_let = hold(host, monkeypatch)
    server.say(":ann!~a@h PRIVMSG engram :the first")
    server.say(":ann!~a@h PRIVMSG engram :it waits")
    server.say(":engram!~e@h NICK :engram2")
    await wait_until_async("the nickname is another", lambda: network._session.nickname == "engram2")
    is_let.set()
    await wait_until_async("both are there", lambda: len(host.received) == 2)
    assert [message.chat.is_group for message in host.received] == [False, False]


@on_services(NO_ACCOUNTS)
async def test_chatter_of_a_channel_leaves_a_place_for_what_is_meant(server, network, host):
    for number in range(irc_session.MOST_WAITING + 100):
        server.say(f":p{number % 40}!u@h PRIVMSG {CHANNEL} :chatter {number}")
    server.say(f":ann!~a@h PRIVMSG {CHANNEL} :engram: in the channel")
    server.say(":ann!~a@h PRIVMSG engram :in private")
    await host.next("in the channel")
    await host.next("in private")


@on_services()
async def test_a_message_has_the_servers_id_and_a_playback_the_same_one(server, network, host):
    said = ":ann!~a@host PRIVMSG engram :hello"
    server.say(f"@msgid=abc-1;time=2026-11-26T11:00:00.123Z {said}")
    for _ in range(2):
        server.say(f"@time=2026-11-26T11:00:00.123Z {said}")
    server.say(f"@time=2026-11-26T11:00:00.124Z {said}")
    server.say("@bot :other!~o@host PRIVMSG engram :I am a bot, too")
    server.say(f":engram!engram@host PRIVMSG {CHANNEL} :an echo of my own")
    server.say(said)
    await host.wait_until(lambda: len(host.received) == 5)
    ids = [message.id for message in host.received]
    assert ids[0] == "abc-1" and ids[1] == ids[2] and len(set(ids)) == 4
    assert [message.at for message in host.received] == [1795690800] * 4 + [0]


# --- signing in


@on_ngircd
async def test_a_nickname_in_use_gets_an_underscore_and_comes_back_when_it_is_free(server, host):
    ann, other = await server.peer("ann"), server.client("engram")
    await other.connect()
    await other.join(CHANNEL)
    async with running(made("irc", server.settings), host):
        assert host.accounts == ["engram_"]
        await ann.say("engram_: is it you?", group=True)
        assert (await host.next("is it you?")).is_mentioned
        await other.close()
        await ann.client.wait_for_line("NICK :engram")
        await ann.say("engram: and now?", group=True)
        assert (await host.next("and now?")).is_mentioned
    await ann.close()


@in_one_case("password", ["Tea-at-4", "x" * 291])
@asynchronous
async def test_sasl_signs_in_with_the_account(tmp_path: Path, password: str):
    async with ServicesServer(tmp_path, password=password) as services:
        assert await network_of(services, account="kitchen", password=password).check() == "engram"


@on_services()
async def test_a_wrong_password_is_refused_without_saying_it(server, host):
    network = network_of(server, account="kitchen", password="Coffee-at-5")
    for attempt in (network.check, lambda: network.run(host)):
        with pytest.raises(SignInRefused) as refused:
            await attempt()
        assert "Coffee" not in str(refused.value)


@on_services("server-time away-notify")
async def test_a_server_without_sasl_is_named(server):
    with pytest.raises(BridgeUnavailable, match="no SASL"):
        await network_of(server, account="kitchen", password="Tea-at-4").check()


@on_services()
async def test_a_server_with_another_authoritys_certificate_is_not_trusted(server, tmp_path):
    authority = tmp_path / "other.pem"
    trustme.CA().cert_pem.write_to_path(authority)
    with pytest.raises(NetworkAway, match="certificate of 127\\.0\\.0\\.1 cannot be trusted"):
        await network_of(server, authority=str(authority)).check()


# --- what goes


REFUSALS = {"404": SendRefused, "401": SendFailed, "439": SlowDown}


@on_services()
async def test_a_servers_refusal_of_a_line_is_the_messages(server, network):
    for number, error in REFUSALS.items():
        server.answers[CHANNEL] = f":services {number} engram {CHANNEL} :no"
        with pytest.raises(error) as whole:
            await network.send(HOME, "hello", "refused-1")
        assert type(whole.value) is error
        del server.answers[CHANNEL]
        await network.send(HOME, "hello", "refused-2")


@on_services()
async def test_a_message_of_which_a_line_was_refused_may_have_arrived(server, network):
    for number, error in {**REFUSALS, "401": SendUncertain}.items():
        server.answers[f"{CHANNEL} :two"] = f":services {number} engram {CHANNEL} :no"
        with pytest.raises(error) as partly:
            await network.send(HOME, "one\ntwo\nthree", "partly-1")
        assert partly.value.is_doubtful == (error is not SendRefused)


@on_services(CAPABILITIES.replace("account-tag ", ""))  # who wrote is asked of the server
async def test_an_answer_about_who_is_there_refuses_no_message(server, network, host):
    server.answers["bob"] = f":services 401 engram {CHANNEL} :No such nick"
    sending = [asyncio.create_task(network.send(HOME, f"one {number}", f"n{number}")) for number in range(5)]
    for number in range(5):
        server.say(f":bob!b{number}@host PRIVMSG engram :hello {number}")
    await asyncio.gather(*sending)
    await host.next("hello 4")


@on_ngircd
async def test_a_line_that_the_server_has_not_confirmed_is_uncertain(server, host):
    async with CutProxy(server.port) as proxy:
        network = made("irc", server.settings, server=f"127.0.0.1:{proxy.port}")
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


@on_services()
async def test_what_the_engine_could_not_keep_ends_the_run(server, network, task, host):
    host.refuses = RuntimeError("the disk is full")
    server.say(":ann!~a@host PRIVMSG engram :hello")
    await asyncio.wait([task], timeout=30)
    with pytest.raises(RuntimeError, match="disk"):
        task.result()
