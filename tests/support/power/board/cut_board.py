"""What programs share that run on a board whose power fails: its flash, a model, and lines that they tell."""

import json

import vfs  # type: ignore

import flash
from engram.llm.types import Reply
from faulty_flash import FaultyFlash


def tell(*words):
    """Print one line."""
    print("> " + json.dumps(words))


def mount(path, cut):
    """Mount a flash, made if there is none, at /flash; its power fails at a change, never at 0."""
    flash.mount(path, 1 << 20, "/made")
    vfs.umount("/made")
    device = FaultyFlash(path, 0, "", ("half", cut))
    vfs.mount(vfs.VfsLfs2(device, **flash.OPTIONS), "/flash")
    return device


class Echo:
    """A model that answers what was said last, once take() let it."""

    name = "scripted"
    rounds = 10
    no_tools = ""
    work = "thinking"

    async def stream(self, request, on_text, on_retry=None):
        said = list(request.messages())[-1].text.split("\n")[-1]
        self.take(said)
        await on_text("this answers ")
        await on_text(said)
        return Reply("this answers " + said, (), "end", (-1, -1, -1))

    def take(self, said):
        pass

    def tidy(self):
        pass
