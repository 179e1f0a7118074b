"""Plays operations on a board's memory and tells what came of them: the board's half of the proofs in tests/power.

    player.py        on standard input: OPTIONS, then operations, a JSON object a line

OPTIONS: {"home": folder, "flash": file, "size": bytes, "trace": file, "fault": [what, number], "settings": {..},
"sizes": {"module:NAME": number}}. With "flash" the home is a littlefs on a FaultyFlash, which "format": true makes. An
operation is {"do": name, ...}, see Player. Each answer is a JSON array in a line: ["ack", number of the operation, changes
of the flash so far, result], ["refused", number, changes, kind of error, message], ["skipped", number] for one that names
what was refused, or what "look" tells. Runs on MicroPython and on CPython.
"""

import json
import sys

from engram.compat import finish


def tell(*words) -> None:
    """Print one answer."""
    sys.stdout.write(json.dumps(words) + "\n")


def _adjust(sizes) -> None:
    """Make the firmware's sizes small, before what uses them is imported."""
    for name, value in sizes.items():
        module, _, constant = name.partition(":")
        __import__(module)
        module = sys.modules[module]
        getattr(module, constant)  # it must be there, or the size has another name by now
        setattr(module, constant, value)


class Unknown(Exception):
    """An operation names what one gave that was refused."""


class Player:
    """The parts of a board, and an operation's method for each name."""

    def __init__(self, options):
        self.options = options
        self.device = None
        self.home = options.get("home", "")
        if "flash" in options:
            self.mount(options)
        _adjust(options.get("sizes", {}))
        self.results = {}
        self.is_counting = False
        self.open()

    def mount(self, options):
        """Mount the littlefs."""
        import vfs  # type: ignore

        from faulty_flash import FaultyFlash
        from flash import OPTIONS

        fault = tuple(options.get("fault", ("", 0)))
        self.device = FaultyFlash(options["flash"], 0, options.get("trace", ""), fault)
        vfs.mount(vfs.VfsLfs2(self.device, **OPTIONS), "/flash")
        self.home = "/flash"

    @property
    def changes(self) -> int:
        """How often the flash was changed so far."""
        return self.device.changes if self.device else 0

    def open(self):
        """Open the app's parts on the home."""
        import engram.store.store  # noqa: F401 (from the app on, the way to it is too deep for the stack)
        from engram.app import App

        self.parts = App(self.home, self.options.get("settings")).board

    def play(self, number, operation) -> bool:
        """Do one operation and tell of it; False if it was refused."""
        from engram.errors import EngramError

        try:
            result = getattr(self, "do_" + operation["do"])(**operation)
        except Unknown:
            tell("skipped", number)
            return False
        except EngramError as error:
            tell("refused", number, self.changes, type(error).__name__, str(error))
            return False
        self.results[number] = result
        tell("ack", number, self.changes, result)
        return True

    def _id(self, of):
        """The id that an earlier operation of this run gave, or an id as it is."""
        if not isinstance(of, int):
            return of
        if of not in self.results:
            raise Unknown()
        found = self.results[of]
        return found[0] if isinstance(found, list) else found

    # --- operations: each gives its result

    def do_store(self, content, tags, do, supersedes=None, turns=None):
        """Keep a record; its id."""
        more = {"scope": "all"}
        if supersedes is not None:
            more["supersedes"] = self._id(supersedes)
        if turns:
            more["turns"] = [self._id(turn) for turn in turns]
        return self.parts.records.store(content, tags, **more).id

    def do_keep(self, content, tags, do, supersedes=None, turns=None):
        """Keep a record without a look for one that says the same, which takes longer than all else; its id."""
        from engram.memory.records.records import Draft

        values = {"content": content, "tags": tags, "scope": "all", "created": self.parts.clock.now()}
        if supersedes is not None:
            values["supersedes"] = self._id(supersedes)
        if turns:
            values["turns"] = [self._id(turn) for turn in turns]
        return self.parts.records.keep((Draft("", values, [], "", 0),))[0]

    def do_update(self, of, changes, do):
        """Change a record."""
        self.parts.records.update(self._id(of), changes)

    def do_forget(self, of, do, turns=False):
        """Forget a record, with its turns if wanted."""
        self.parts.forgetting.forget(self._id(of), with_turns=turns)

    def do_undo(self, do):
        """Take the last change back."""
        self.parts.undo.undo()

    def do_turn(self, who, room, text, do, role="user"):
        """Add a turn to a room's session; its id and the session's."""
        caller = _caller(room)
        seq = self.parts.journal.add(caller, role, who if role == "user" else "Engram", text)
        return ["t%d" % seq, self.parts.journal.current(caller)]

    def do_begin(self, room, title, do):
        """Begin a session; its id."""
        return self.parts.journal.begin(_caller(room), title)

    def do_switch(self, room, of, do):
        """Go on in another session."""
        self.parts.journal.switch(_caller(room), self._id(of))

    def do_delete(self, room, of, do):
        """Delete a session."""
        self.parts.journal.delete(_caller(room), self._id(of))

    def do_redact(self, room, of, do):
        """Forget a turn."""
        self.parts.journal.redact(self._id(of), _caller(room))

    def do_learn(self, facts, do):
        """Keep what reading the journal to its end gave; the ids of the records, and how far it was read."""
        learning = self.parts.learning_cursor
        drafts = [self.parts.records.draft(fact, ["learned"], scope="all") for fact in facts]
        until = self.parts.journal.newest
        return {"ids": learning.keep(drafts, until), "until": until}

    def do_profile(self, name, text, do):
        """Give a file of the profile a new text."""
        self.parts.profile.for_caller(_caller("console")).write(name, text)

    def do_compact(self, what, do):
        """Compact the records or the journal."""
        finish(getattr(self.parts, what).compacting())

    def do_idle(self, do):
        """Let the work in the background end."""
        for part in (self.parts.records, self.parts.journal):
            while getattr(part.entries, "tick", int)():
                pass

    def do_interrupted(self, operation, at, do):
        """Do an operation with a Ctrl-C at one of its steps; its result if it was not struck, and how many steps it took."""
        import interrupting

        if not self.is_counting:
            interrupting.install()
            self.is_counting = True
            self.open()
        result, struck, steps = interrupting.during(getattr(self, "do_" + operation["do"]), operation, at)
        return {"result": result, "struck": struck, "steps": steps}

    def do_reopen(self, do):
        """Open all anew, as after a restart."""
        for part in (self.parts.records, self.parts.journal):
            part.entries.close()
        self.open()

    # --- looking

    def do_look(self, rooms, also, do):
        """Tell all that there is: the live records and those of the ids in `also`, the sessions of rooms, the profile."""
        from engram.errors import NotFound

        parts = self.parts
        live = []
        for record in parts.records.newest():
            live.append(record["id"])
            tell("record", record["id"], record["content"], record["tags"])
        tell("live", *live)
        for of in also:
            try:
                ref = self._id(of)
                record = parts.records.get(ref)
            except (Unknown, NotFound):
                continue
            if record["id"] == ref:
                tell("record", ref, record["content"], record["tags"])
        tell("tags", *[list(pair) for pair in parts.records.tags()])
        told = set()
        for room in rooms:
            self._look_at_room(room, told)
        for name in ("identity.md", "soul.md", "user.md"):
            tell("profile", name, parts.profile.for_caller(_caller("console")).text(name))
        tell("read", parts.learning_cursor.until)
        tell("damaged", parts.records.entries.damaged, parts.journal.entries.damaged)
        tell("looked")

    def _look_at_room(self, room, told):
        journal = self.parts.journal
        caller = _caller(room)
        tell("room", room, journal.current(caller))
        for session in journal.sessions(caller):
            if session.id in told:
                continue
            told.add(session.id)
            tell("session", session.id, session.title, session.turns)
            for seq in journal.window(session.id, 1 << 20):
                turn = journal.turn(seq)
                if turn is not None and "text" in turn:
                    tell("turn", session.id, "t%d" % seq, turn["role"], turn["who"], turn["text"])

    def do_find(self, query, do):
        """Search; the ids found."""
        from engram.memory.recall import make_query

        recall = self.parts.recall
        return [item.id for item in recall.find(recall.rank(make_query(query, _caller("console"))))]

    def do_files(self, do):
        """The names of the files of both logs and their indexes, with their sizes."""
        found = []
        for folder in ("memory", "journal"):
            _list(self.home, folder, found)
        return found


def _list(home, folder, found):
    import os

    for name in sorted(os.listdir(home + "/" + folder)):
        path = folder + "/" + name
        state = os.stat(home + "/" + path)
        if state[0] & 0x4000:
            _list(home, path, found)
        else:
            found.append([path, state[6]])


def _caller(room):
    from engram.memory.access import Caller

    return Caller("owner", room, room.startswith("group"), "")


def format_flash(options) -> None:
    """Make a new flash with an empty littlefs."""
    import vfs  # type: ignore

    from faulty_flash import FaultyFlash
    from flash import OPTIONS

    vfs.VfsLfs2.mkfs(FaultyFlash(options["flash"], options["size"]), **OPTIONS)


def main() -> None:
    """Play what standard input says, to its end."""
    options = json.loads(sys.stdin.readline())
    if options.get("format"):
        format_flash(options)
        return
    player = Player(options)
    tell("open", player.changes)
    number = 0
    while True:
        line = sys.stdin.readline()
        if not line:
            break
        player.play(number, json.loads(line))
        number += 1


if __name__ == "__main__":
    main()
