"""Nobody gets at what others keep on the same board through a tool of the model, and no tool changes it."""

import json

from calls import tools_of
from engram.channels.console.commands import commands
from intruder import COMMANDS as TYPED
from intruder import INTRUDERS, every
from intruder import TOOLS as TRIED

_ADD = "%s is new: say in tests/support/firmware/intruder.py, in %s, how somebody would use it on another's memory"


def test_every_tool_and_each_of_its_arguments_is_tried():
    for tool in tools_of("full") + tools_of("lightweight"):
        assert tool.name in TRIED, _ADD % ("the tool " + tool.name, "TOOLS")
        tried = {name for template in TRIED[tool.name] for name in template}
        for name in json.loads(tool.schema)["properties"]:
            assert name in tried, _ADD % ("the argument %s of %s" % (name, tool.name), "TOOLS")


def test_every_command_is_tried():
    for name, _, _ in commands():
        assert name in TYPED, _ADD % ("the command /" + name, "COMMANDS")


def test_no_tool_of_the_full_mode_gives_anything_away():
    assert every(lambda intruder: intruder.try_tools("full")) > len(INTRUDERS)


def test_no_tool_of_the_lightweight_mode_gives_anything_away():
    assert every(lambda intruder: intruder.try_tools("lightweight")) > len(INTRUDERS)
