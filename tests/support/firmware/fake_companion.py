"""A companion in the same process that follows docs/reference/messages.md, for tests of the board; and a way to it with faults.

`Companion.answers(message)` gives the answers to a message. `Way` is a transport of engram.link.rpc that loses, doubles,
delays and reorders what goes either way, by chance.
"""

from binascii import crc32

from engram import log_line, text
from engram.compat import sleep_ms
from engram.errors import NetError
from engram.link import messages
from engram.senses import rings
from engram.senses.rings import rows_in

TYPE_CHECKING = const(0)  # MicroPython has no collections.abc
if TYPE_CHECKING:
    from collections.abc import Callable


def lines_behind(body):
    """The lines behind a head of `lines`, each whole and as it was written."""
    lines = bytes(body).splitlines(True)
    assert all(log_line.check(line) for line in lines), "a line is damaged"
    return lines


def digest(lines):
    """The digest over lines in their order: the crc32 of their own crcs; 0 for none."""
    check = 0
    for line in lines:
        check = crc32(line[-11:-3], check)
    return check


class Copy:
    """The copy of one log in one epoch: lines by seq, all up to `have`."""

    def __init__(self):
        self.lines = {}
        self.have = 0
        self.agreed = 0
        self.texts = {}  # lines that are promised to stay, by seq
        self.kept = {}  # number of an archived record: its line
        self.doubted = {}  # number: line of a record of which the board is to say whether it is archived

    def span(self, after, to):
        return [self.lines[seq] for seq in sorted(self.lines) if after < seq <= to]


class Companion:
    """Takes the messages of one device."""

    def __init__(self):
        self.copies = {}  # (log, epoch): Copy
        self.present = {}  # log: epoch
        self.board = ""
        self.at = (0, 0)  # link and n of the newest message
        self.counts = {}  # how many messages of each kind came
        self.refuses: tuple[str, int] | None = None  # (why, again) for all that comes
        self.finds = []  # items of each search
        self.sure: tuple = ()  # how sure it is of each
        self.note = ""
        self.searches = []
        self.files = {}  # JSON of what is shown of a file, by its path
        self.waiting = []  # heads of messages that somebody said, with their text
        self.cancelled = []  # ids of those that are to stop
        self.replies = {}  # (id, offer): {k: items}
        self.pushes = {}  # id: (room, text)
        self.notes = {}  # the board's notes, by their names on flash
        self.left = {}  # those that it no longer has
        self.statuses = []  # the figures that the board told, newest last
        self.refuses_status = False
        self.senses = {}  # (name, unit, decimals) by number
        self.readings = [{}, {}]  # of each level the blocks that came, by (seq, check)
        self.newest = [[0, ""], [0, ""]]  # (seq, check) of the last block of each level
        self.shared = None  # the numbers of senses that everybody may see, as the board listed them
        self.lies = {}  # what is answered to a get, in place of what there is

    def copy(self, log):
        return self.copies[log, self.present[log]]

    def answers(self, data):
        head, body = messages.decode(data, messages.FROM_BOARD)
        self.counts[head["op"]] = self.counts.get(head["op"], 0) + 1
        if self.refuses:
            return [self._answer("refused", head, why=self.refuses[0], again=self.refuses[1])]
        if head["op"] == "search":
            self.searches.append(head)
            return [self._found(head)]
        if head["op"] == "get":
            return [self._got(head)]
        if head["op"] == "file":
            self.searches.append(head)
            return [self._answer("got", head) + self.files.get(head["path"], "null").encode()]
        if head["op"] in ("listen", "reply", "push"):
            return [answer for answer in getattr(self, "_" + head["op"])(head, body) if answer]
        if head["op"] != "hello" and (head["board"] != self.board or head["link"] > self.at[0]):
            return [self._answer("refused", head, why="say hello first.", again=0)]
        if (head["link"], head["n"]) < self.at:
            return []
        self.at = (head["link"], head["n"])
        return [getattr(self, "_" + head["op"])(head, body)]

    def _answer(self, op, head, **fields):
        return messages.encode(op, head["board"], head["link"], head["n"], **fields)

    # --- conversations

    def say(self, head):
        """Somebody says something: `head` has the fields of `say`, but for its parts."""
        self.waiting.append(head)

    def told(self, mid):
        """The pieces of the latest answer to a message, texts joined."""
        offer = max(key[1] for key in self.replies if key[0] == mid)
        pieces = []
        for _, items in sorted(self.replies[mid, offer].items()):
            for kind, content in items:
                if kind == "text" and pieces and pieces[-1][0] == "text":
                    pieces[-1][1] += content
                else:
                    pieces.append([kind, content])
        return pieces

    def _listen(self, head, body):
        if head["mid"] in self.cancelled:
            return [self._answer("cancel", head, mid=head["mid"])]
        if head["mid"] or not self.waiting:
            return [self._answer("quiet", head, again=0)]
        said = self.waiting[0]
        said["offer"] = said.get("offer", 0) + 1
        fields = {name: said[name] for name in said if name != "text"}
        return [self._answer("say", head, **fields) + said["text"].encode()]

    def _reply(self, head, body):
        mid = head["mid"]
        items: list = text.loads(bytes(body))  # pyright: ignore[reportAssignmentType]
        self.replies.setdefault((mid, head["offer"]), {})[head["k"]] = items
        if items[-1][0] == "end":
            self.waiting = [said for said in self.waiting if said["mid"] != mid]
        return [self._answer("received", head, cancel=mid in self.cancelled)]

    def _push(self, head, body):
        self.pushes[head["mid"]] = (head["room"], head["text"])
        return [self._answer("received", head, cancel=False)]

    def _hello(self, head, body):
        self.board = head["board"]
        met = {log: self._meet(log, head[log]) for log in messages.LOGS}
        copy = self.copy("records")
        states = {"notes": self._note_state(), "senses": self._sense_state()}
        asks = bool(copy.doubted)
        return self._answer("welcome", head, told="", archived=len(copy.kept), asks=asks, **states, **met)

    def _meet(self, log, told):
        epoch, oldest, following, rewrites = told
        self.present[log] = epoch
        copy = self.copies.setdefault((log, epoch), Copy())
        if copy.have >= following:
            for seq in list(copy.lines):
                if seq >= following:
                    del copy.lines[seq]
            copy.have, copy.agreed = following - 1, -1
        copy.have = max(copy.have, oldest - 1)
        if copy.have < oldest:
            copy.agreed = rewrites
        line = copy.lines.get(copy.have)
        return [copy.have, bytes(line[-11:-3]).decode() if line else "", copy.agreed]

    def _lines(self, head, body):
        new = {}
        for line in lines_behind(body):
            seq = log_line.decode(line)["seq"]
            assert head["after"] < seq <= head["to"], "a line is not of its span"
            new[seq] = bytes(line)
        assert len(new) == head["count"], "a message has another number of lines than it says"
        assert head["epoch"] == self.present[head["log"]]
        copy = self.copy(head["log"])
        if head["after"] <= copy.have:
            for seq in list(copy.lines):
                if head["after"] < seq <= head["to"]:
                    del copy.lines[seq]
            copy.lines.update(new)
            for seq in sorted(new):
                self._follow(copy, log_line.decode(new[seq]), new[seq])
            copy.have = max(copy.have, head["to"])
        return self._answer("have", head, log=head["log"], epoch=head["epoch"], have=copy.have)

    def _follow(self, copy, line, raw):
        if "id" not in line:
            return
        number = int(line["id"][1:])
        if line.get("op") == "archive":
            if line["was"] in copy.texts:
                copy.kept[number] = copy.texts[line["was"]]
        elif line.get("op") == "forget":
            kept = copy.kept.get(number)
            if kept and log_line.decode(kept).get("scope", "all") in line.get(
                "scopes", (log_line.decode(kept).get("scope", "all"),)
            ):
                del copy.kept[number]
        elif "restored" in line or "back" in line:
            copy.kept.pop(number, None)

    def _keep(self, head, body):
        copy = self.copy(head["log"])
        check = digest([copy.lines[seq] for seq in head["seqs"] if seq in copy.lines])
        if messages.shown(check) != head["digest"]:
            return self._answer("kept", head, count=0)
        for seq in head["seqs"]:
            copy.texts[seq] = copy.lines[seq]
        return self._answer("kept", head, count=len(head["seqs"]))

    def _holds(self, head, body):
        copy = self.copy("records")
        copy.kept.update(
            {number: line for number, line in copy.doubted.items() if head["first"] <= number <= head["last"]}
        )
        copy.doubted = {}
        return self._answer("kept", head, count=len(copy.kept))

    def _got(self, head):
        ref = head["id"]
        number = int(ref[1:])
        copy = self.copy("records" if ref[0] == "m" else "journal")
        line = copy.kept.get(number, b"") if ref[0] == "m" else copy.lines.get(number, b"")
        return self._answer("got", head) + self.lies.get(ref, line)

    def _notes(self, head, body):
        named = [entry[0] for entry in head["files"]]
        for file in list(self.notes):
            if head["after"] < file and (not head["to"] or file <= head["to"]) and file not in named:
                del self.notes[file]
        lacks = []
        for place, (file, size, told) in enumerate(head["files"]):
            if size:
                if messages.shown(crc32(self.notes.get(file, self.left.get(file, b"")))) != told:
                    lacks.append(place)
                elif file in self.left:
                    self.notes[file] = self.left.pop(file)
            elif told == messages.LEFT:
                if file in self.notes:
                    self.left[file] = self.notes.pop(file)
            else:
                assert told == messages.GONE
                self.notes.pop(file, None)
                self.left.pop(file, None)
        return self._answer("noted", head, lacks=lacks, state=self._note_state())

    def _note(self, head, body):
        text = bytes(body)
        if messages.shown(crc32(text)) != head["digest"]:
            return self._answer("refused", head, why="the note was damaged.", again=1)
        self.left.pop(head["file"], None)
        self.notes[head["file"]] = text
        return self._answer("noted", head, lacks=[], state=self._note_state())

    def _note_state(self):
        state = 0
        for file in sorted(self.notes):
            state = crc32(self.notes[file], crc32(file.encode(), state))
        return messages.shown(state)

    def _senses(self, head, body):
        self.shared = head["shared"]
        assert head["whole"] and all(row[0] < head["next"] for row in head["items"])
        self.senses = {row[0]: tuple(row[1:4]) for row in head["items"]}
        return self._perceived(head)

    def _readings(self, head, body):
        block = rings.block_at(bytes(body))
        assert block is not None and block.size == len(body)
        numbers = {row[0] for row in rows_in(block.rows)}
        assert numbers <= set(self.senses), "readings of a sense that was not listed"
        row = [head["seq"], messages.shown(block.check)]
        self.readings[head["level"]][tuple(row)] = bytes(body)
        self.newest[head["level"]] = row
        return self._perceived(head)

    def _perceived(self, head):
        return self._answer("perceived", head, have=self.newest, state=self._sense_state())

    def _sense_state(self):
        return messages.shown(crc32(repr((sorted(self.senses.items()), self.newest)).encode()))

    def _status(self, head, body):
        if self.refuses_status:
            return self._answer("refused", head, why="it is no status.", again=3600)
        self.statuses.append(dict(head["items"]))
        return self._answer("received", head, cancel=False)

    def _check(self, head, body):
        lines = self.copy(head["log"]).span(head["after"], head["to"])
        is_same = len(lines) == head["count"] and messages.shown(digest(lines)) == head["digest"]
        return self._answer("same" if is_same else "differs", head)

    def _agreed(self, head, body):
        self.copy(head["log"]).agreed = head["rewrites"]
        return self._answer("same", head)

    def _found(self, head):
        items = self.finds[: head["limit"]]
        sure = list(self.sure) or [300] + [0] * len(items)
        found = self._answer("found", head, note=self.note, confidence=sure[0], sure=sure[: len(items)])
        return found + text.dumps(items).encode()


class Way:
    """A transport to a Companion; `numbers` has below(n) and decides what becomes of a message, None: all is well."""

    wait_seconds = 0

    def __init__(self, companion, numbers=None):
        self.companion = companion
        self.take: Callable | None = None  # the exchange's
        self.numbers = numbers
        self.is_cut = False  # nothing goes through
        self.delay_ms = 0
        self._late = {"up": [], "down": []}
        self.largest = 0
        self.each: Callable[[], object] | None = None  # called after each piece that is sent

    async def send(self, head, body=None):
        data = bytearray(head)
        for piece in body.pieces() if body else ():
            data.extend(piece)
            await sleep_ms(0)
            if self.each:
                self.each()
        if len(data) != len(head) + (body.size if body else 0):
            raise NetError("a body has another size than it said")
        self.largest = max(self.largest, len(data))
        if self.is_cut:
            raise NetError("the way is cut")
        await sleep_ms(self.delay_ms)
        for message in self._entry_state("up", bytes(data)):
            for answer in self.companion.answers(message):
                for each in self._entry_state("down", answer):
                    self.take(each)

    async def listen(self, head, body=None):
        await self.send(head, body)

    def _entry_state(self, way, message):
        """What comes of a message: nothing, itself, itself twice; and messages that are late."""
        if self.numbers is None:
            return [message]
        chance = self.numbers.below(20)
        late, self._late[way] = self._late[way], []
        if chance == 0:
            return late
        if chance == 1:
            return late + [message, message]
        if chance == 2:
            self._late[way] = [message]
            return late
        return [message] + late if chance == 3 else late + [message]
