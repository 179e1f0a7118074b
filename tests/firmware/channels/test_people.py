"""Who may talk through a network: policies, pairing, groups and rates; what a stranger says costs nothing."""

import os

from board import NOW, Board, error_of, lines_of, paths
from channel import Network
from engram.channels.people import LET_IN, OPEN, Admission, People
from engram.clock import Clock
from engram.errors import ArgumentError, NotFound, StoreError
from engram.memory.access import OWNER, Caller
from support import folder, let_others_run, raises

SILENCE = Admission(None, None)
ANN = "net:5"


class _Time:
    now = NOW


def _people(policy="pairing", rate=10, place=None):
    _Time.now = NOW
    return People(place or folder(), Clock(0, lambda: _Time.now), policy, rate)


def _code(people):
    return people.waiting()[-1][0]


def _caller(principal, room, group=False):
    return Admission(Caller(principal, room, group, ""), None)


def test_a_stranger_is_sent_a_code_once_and_whoever_is_approved_with_it_may_talk():
    people = _people()
    told = people.admit("net", "5", "direct", name="Ann\n")
    code = _code(people)
    assert told.caller is None and "Your code is %s: ask the owner to type /pair %s" % (code, code) in told.reply
    assert people.admit("net", "5", "direct") == SILENCE
    assert people.approve(code.lower(), "ann") == {"who": "ann", "ids": [ANN]}
    assert people.admit("net", "5", "direct") == _caller("ann", "net 5")
    assert people.waiting() == []


def test_a_code_ends_after_an_hour_and_then_the_stranger_is_sent_another():
    people = _people()
    people.admit("net", "5", "direct")
    code = _code(people)
    _Time.now += 3600
    with raises(NotFound):
        people.approve(code)
    assert people.admit("net", "5", "direct").reply


def test_three_strangers_of_a_network_have_a_code_and_no_other_is_answered():
    people = _people()
    told = [people.admit("net", str(sender), "direct").reply is not None for sender in range(1, 7)]
    assert told == [True, True, True, False, False, False]
    assert people.admit("other", "1", "direct").reply


def test_strangers_write_nothing_to_flash():
    place = folder()
    people = _people(place=place)
    for sender in range(50):
        people.admit("net", str(sender), "direct", name="x" * 1000)
    assert os.listdir(place) == []


def test_the_policies_let_in_whom_they_name():
    assert _people("allowlist").admit("net", "5", "direct") == SILENCE
    assert _people("off").admit("net", "5", "direct") == SILENCE
    assert _people(OPEN).admit("net", "5", "direct") == _caller(ANN, "net 5")
    people = _people("off")
    people.approve(ANN, "ann")
    people.set_group("net:-7", "always")
    assert people.admit("net", "5", "direct") == SILENCE
    assert people.admit("net", "5", "group", "-7") == _caller(
        "ann", "net -7", True
    )  # a policy is that of private chats


def test_who_is_blocked_gets_silence_in_every_policy_and_in_groups():
    for policy in ("pairing", "allowlist", OPEN):
        people = _people(policy)
        people.set_group("net:-7", "always")
        people.block(ANN)
        assert people.admit("net", "5", "direct") == people.admit("net", "5", "group", "-7") == SILENCE


def test_who_is_blocked_is_known_by_the_principal_and_by_each_id_that_a_companion_may_name():
    people = _people()
    people.approve(ANN, "ann")
    people.link("ann", "matrix:@ann:example.org")
    people.approve("net:6", "bob")
    people.block("ann")
    named = ("ann", ANN, "matrix:@ann:example.org", "bob", "net:6", "owner", "")
    assert [people.is_blocked(principal) for principal in named] == [True, True, True, False, False, False, False]


def test_groups_are_closed_until_they_are_listed_and_pairing_opens_none():
    people = _people()
    assert people.admit("net", "5", "group", "-7") == SILENCE and not people.waiting()
    people.approve(ANN, "ann")
    assert people.admit("net", "5", "group", "-7") == SILENCE
    people.set_group("net:-7", "mention")
    assert people.admit("net", "5", "group", "-7", is_mentioned=False) == SILENCE
    assert people.admit("net", "5", "group", "-7") == _caller("ann", "net -7", True)
    assert people.admit("net", "6", "group", "-7") == _caller("net:6", "net -7", True)
    people.set_group("net:-7", "always")
    assert people.admit("net", "5", "group", "-7", False, "3") == _caller("ann", "net -7 3", True)
    people.set_group("net:-7", "off")
    assert people.admit("net", "5", "group", "-7") == SILENCE
    with raises(NotFound):
        people.set_group("net:-7", "off")


def test_the_owner_is_one_person_with_the_memory_of_the_console():
    people = _people()
    people.approve(ANN, "ann")
    people.approve("net:6", "bo")
    assert not people.has_owner()
    people.link("owner", "ann")
    assert people.admit("net", "5", "direct").caller.principal == OWNER.principal and people.has_owner()
    people.link("owner", "bo")
    assert people.admit("net", "6", "direct").caller.principal == OWNER.principal
    for claim in ("owner", "bo", "x\ny", 'a"b', "n" * 33):
        with raises(ArgumentError):
            people.approve("net:7", claim if claim != "bo" else "owner")


def test_one_person_has_ids_of_several_networks():
    people = _people()
    people.approve(ANN, "ann")
    people.admit("irc", "ann", "direct")
    people.link("ann", _code(people))
    people.link("ann", "xmpp:ann@example.org")
    assert people.admit("irc", "ann", "direct").caller.principal == "ann" and not people.waiting()
    with raises(ArgumentError):
        people.approve("irc:other", "ann")
    with raises(ArgumentError):
        people.link("ann", "irc:ann")
    for number in range(5):
        people.link("ann", "more:%d" % number)
    with raises(ArgumentError):
        people.link("ann", "more:9")


def test_all_survives_a_restart_and_a_file_that_is_not_understood_lets_nobody_in():
    place = folder()
    people = _people(place=place)
    people.approve(ANN, "ann")
    people.block("net:6")
    people.set_group("net:-7", "mention")
    again = _people(place=place)
    assert again.people == people.people and again.groups == {"net:-7": "mention"}
    for content in ('{"people":[{"who":"a"}]}', "[]", '{"people":[{"who":"","ids":["net:1"]}]}', "{"):
        with open(place + "/people.json", "w") as file:
            file.write(content)
        with raises(StoreError):
            _people(place=place)


def test_beyond_the_rate_there_is_one_notice_and_then_silence_until_the_next_minute():
    people = _people(OPEN, rate=2)
    told = [people.admit("net", "5", "direct") for _ in range(5)]
    assert [each.caller is not None for each in told] == [True, True, False, False, False]
    assert "more than 2 messages a minute" in told[2].reply and told[3] == told[4] == SILENCE
    assert people.admit("net", "6", "direct").caller
    _Time.now += 60
    assert people.admit("net", "5", "direct").caller


def test_the_senders_that_are_counted_are_bounded():
    people = _people(OPEN)
    told = [people.admit("net", str(sender), "direct").caller is not None for sender in range(50)]
    assert told == [True] * 32 + [False] * 18
    people.approve("net:49", "ann")
    assert people.admit("net", "49", "direct").caller  # a crowd of strangers keeps nobody out who is known
    _Time.now += 60
    assert people.admit("net", "49", "direct").caller and len(people._counts) == 1


def test_the_commands_are_the_owners_and_tell_what_they_did():
    board = Board().serve()
    people = board.find_people()
    people.admit("net", "5", "direct", name="Ann")
    code = _code(people)
    assert lines_of(board, "/people") == ["waiting: /pair %s lets in net:5, who says Ann (1 h left)" % code]
    for caller in (Caller("ann", "net 5", False, ""), Caller("owner", "net -7", True, "")):
        for line in ("/pair " + code, "/people", "/people block net:5"):
            assert "only the owner" in error_of(board, line, caller)
    chat = Caller("owner", "net 1", False, "")
    assert lines_of(board, "/pair %s ann" % code, chat) == [
        "ann: net:5",
        "/people owner ann makes them the owner, if it is you: with the same memory as on the console",
    ]
    people.admit("net", "8", "direct", name="Cid")
    assert lines_of(board, "/pair " + _code(people))[0] == "net:8: net:8, who says Cid"
    people.remove("net:8")
    assert lines_of(board, "/people link ann irc:ann") == ["ann: net:5, irc:ann"]
    assert lines_of(board, "/people owner ann") == ["owner: net:5, irc:ann"]
    assert lines_of(board, "/pair net:6 bo") == ["bo: net:6"]
    assert lines_of(board, "/people block bo") == ["bo: net:6, blocked"]
    assert lines_of(board, "/people group net:-7 mention") == ["net:-7: mention"]
    assert lines_of(board, "/people remove bo") == ["removed bo; their memories stay"]
    assert lines_of(board, "/people list") == ["owner: net:5, irc:ann", "group net:-7: mention"]
    assert "/help people" in error_of(board, "/people what")
    assert [path for path in paths(board.place) if path.endswith("people.json")]


async def test_a_stranger_who_is_let_in_is_told():
    board = Board().serve()
    network = Network(board.inbox)
    people = board.find_people()
    people.admit("net", "5", "direct", name="Ann")
    lines_of(board, "/pair %s ann" % _code(people))
    lines_of(board, "/pair net:6")
    await let_others_run()
    assert [(address, chat.told[1]) for address, chat in network.chats] == [("net 5", LET_IN)]


def test_what_is_kept_for_a_group_with_another_id_may_go_there_after_a_restart():
    place = folder()
    people = _people(place=place)
    people.set_group("net:-7", "mention")
    people.move_group("net:-7", "net:-1007")
    people.move_group("net:-7", "net:-1007")
    again = _people(place=place)
    assert again.is_let_in("net", "ann", "-7", True)
    again.set_group("net:-1007", "off")
    assert not again.is_let_in("net", "ann", "-7", True)
    assert not _people(place=place).is_let_in("net", "ann", "-7", True)


def test_who_is_blocked_or_removed_and_a_group_that_is_off_is_sent_nothing_that_was_kept():
    place = folder()
    people = _people(place=place)
    for ref, name in ((ANN, "ann"), ("net:6", "bob"), ("net:7", "cleo")):
        people.approve(ref, name)
    people.block("bob")
    people.remove("cleo")
    people.set_group("net:-1", "mention")
    for principal, chat, policy, expected in (
        ("ann", "5", "pairing", True),
        ("owner", "5", "pairing", True),
        ("ann", "5", "off", False),
        ("bob", "6", OPEN, False),
        ("bob", "5", "pairing", False),
        ("", "6", "pairing", False),
        ("cleo", "7", "pairing", False),
        ("owner", "7", "allowlist", False),
        ("cleo", "7", OPEN, True),
        ("ann", "-1", "pairing", True),
        ("bob", "-1", "pairing", False),
        ("ann", "-2", OPEN, False),
    ):
        told = _people(policy, place=place).is_let_in("net", principal, chat, chat[0] == "-")
        assert told == expected, (principal, chat, policy)
