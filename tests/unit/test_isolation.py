"""Nobody gets at what others keep on the same board: no tool, command, answer, prompt or error shows or changes it."""

import json

from engram.agent import schemas
from engram.channels.commands import COMMANDS
from engram.memory.scope import OWNER, Asker
from intruder import BOB, House, Intruder
from intruder import COMMANDS as TYPED
from intruder import TOOLS as TRIED

OFFICE = Asker("bob", "chat#2", False, "office")
ANN_OFFICE = Asker("ann", "chat#1", False, "office")
STRANGER = Asker("carl", "club", True, "garden")
ANN_IN_GROUP = Asker("ann", "club", True, "garden")
SAME_ROOM = Asker("bob", "chat#1", False, "")
IN_GARDEN = Asker("bob", "chat#2", False, "garden")
INTRUDERS = (BOB, IN_GARDEN, OFFICE, ANN_OFFICE, STRANGER, ANN_IN_GROUP, SAME_ROOM, OWNER)

_ADD = "%s is new: say in tests/unit/intruder.py, in %s, how somebody would use it on another's memory"


def _every(attempt):
    """Let each intruder try something in a house of their own; how much was tried."""
    tried = 0
    for seed, asker in enumerate(INTRUDERS):
        intruder = Intruder(House(seed), asker)
        assert intruder.hidden and intruder.secrets and intruder.ids
        attempt(intruder)
        intruder.check_unharmed()
        tried += intruder.tried
    return tried


def test_every_tool_and_each_of_its_arguments_is_tried():
    for tool in schemas.tools("full") + schemas.tools("lightweight"):
        assert tool.name in TRIED, _ADD % ("the tool " + tool.name, "TOOLS")
        tried = {name for template in TRIED[tool.name] for name in template}
        for name in json.loads(tool.schema)["properties"]:
            assert name in tried, _ADD % ("the argument %s of %s" % (name, tool.name), "TOOLS")


def test_every_command_is_tried():
    for name, _, _ in COMMANDS:
        assert name in TYPED, _ADD % ("the command /" + name, "COMMANDS")


def test_no_tool_of_the_full_mode_gives_anything_away():
    assert _every(lambda intruder: intruder.try_tools("full")) > 1000


def test_no_tool_of_the_lightweight_mode_gives_anything_away():
    assert _every(lambda intruder: intruder.try_tools("lightweight")) > 200


def test_no_command_gives_anything_away():
    assert _every(Intruder.try_commands) > 1000


def test_no_answer_without_a_model_gives_anything_away():
    assert _every(Intruder.try_offline) > 300


def test_no_prompt_gives_anything_away():
    for mode in ("full", "lightweight"):
        assert _every(lambda intruder, mode=mode: intruder.try_prompts(mode)) > 100


def test_no_call_of_code_on_the_board_gives_anything_away():
    assert _every(Intruder.try_code) > 100


def test_the_secrets_would_be_seen_by_whom_they_belong_to():
    """Else the tests above would find nothing, whatever was shown."""
    from intruder import ANN

    house = House(1)
    heard = []
    insider = Intruder(house, ANN)
    insider.secrets, insider.ids = [], set()
    insider.check = lambda how, given, answer: heard.append(answer)
    insider.try_prompts("lightweight")
    insider.type("/export")
    insider.type("/session list")
    for ref in house.values("<record>"):
        if ref in house.ids["user:ann"] + house.ids["ws:garden"]:
            insider.type("/memory history " + ref)
            insider.type("/memory show " + ref)
    answer = "\n".join(heard)
    missing = [secret for told in ("user:ann", "ws:garden") for secret in house.secrets[told] if secret not in answer]
    # The caption of a turn is only searched; one turn was forgotten, and one memory.
    assert len(missing) == 3, [(at, secret) for at, secret in enumerate(house.secrets["user:ann"]) if secret in missing]
