"""Nobody gets at what others keep on the same board through a command, or through code on the board that acts for them."""

from engram.memory.access import Caller
from intruder import ANN, INTRUDERS, House, Intruder, every


def test_no_command_gives_anything_away():
    assert every(Intruder.try_commands) > len(INTRUDERS)


def test_no_command_on_a_network_or_over_the_link_gives_anything_away():
    assert every(Intruder.try_channel, Intruder.try_link) > len(INTRUDERS)


def test_no_call_of_code_on_the_board_gives_anything_away():
    assert every(Intruder.try_code) > len(INTRUDERS)


def test_the_secrets_would_be_seen_by_whom_they_belong_to():
    """Else the tests above would find nothing, whatever was shown."""
    house = House(1)
    heard = []
    # Her own notes are shown outside of the workspace, its notes in it.
    for caller in (Caller("ann", ANN.room, False, ""), ANN):
        insider = Intruder(house, caller)
        insider.secrets, insider.ids = [], set()
        insider.check = lambda how, given, answer: heard.append(answer)
        insider.try_prompts("lightweight")
        insider.type("/export")
    insider.type("/session list")
    insider.type("/timers")
    for ref in house.values("<record>"):
        if ref in house.ids["user:ann"] + house.ids["ws:garden"]:
            insider.type("/memory history " + ref)
            insider.type("/memory show " + ref)
    answer = "\n".join(heard)
    missing = [secret for told in ("user:ann", "ws:garden") for secret in house.secrets[told] if secret not in answer]
    # The caption of a turn is only searched; one turn and one memory were forgotten.
    assert len(missing) == 3, [(at, secret) for at, secret in enumerate(house.secrets["user:ann"]) if secret in missing]
