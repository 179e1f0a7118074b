"""What is said in the simulated month: by turn, the same whenever it is asked for. Read by the board and by the host."""

from collections import namedtuple

START = 1790000000 - 1790000000 % 86400
DAY = 86400
BEGIN = 8 * 3600
BETWEEN = 20 * 60
DAYS = 30
FLASH_BYTES = 1 << 20
UNSET = 1000
"""What the machine's clock reads until somebody sets it."""

_UNSET_TURNS = 4  # at the beginning of every fourth day
_SET_BACK = (8, 12)  # turns of every twelfth day
_SET_BACK_SECONDS = 2 * DAY

_BOTH = {
    "llm.context_tokens": 8192,
    "records.bytes": 131072,
    "journal.bytes": 131072,
    "extract.pause_seconds": 0,
    "log.level": "warning",
}

MONTH = dict(_BOTH)
"""Caps that a month reaches."""
MONTH.update(
    {
        "records.most": 150,
        "notes.bytes": 65536,
    }
)

SHORT = dict(_BOTH)
"""Caps that two days reach."""
SHORT.update(
    {
        "records.most": 10,
        "notes.bytes": 16384,
    }
)

Form = namedtuple("Form", ("turns", "things", "settings", "notes", "reminders", "reminder_days"))
"""How many turns a day has, how many things they are about, the settings of the board, after how many notes it distils, how
many reminders it keeps, and for how many days.
"""

FORMS = {"month": Form(40, 30, MONTH, 20, 32, 12), "short": Form(20, 2, SHORT, 3, 3, 90)}

MARKS = {"owner": "owlmark", "ann": "antmark", "bob": "beemark", "group": "allmark"}
"""A word in all that each of them says: where another one's stands, something came out."""

Said = namedtuple("Said", ("who", "text"))

_WHO = ("owner", "owner", "ann", "owner", "bob", "owner", "ann", "group", "owner", "bob")
_THINGS = (
    "kettle", "ladder", "boat", "tent", "violin", "lawnmower", "printer", "freezer", "bicycle", "telescope", "sofa", "drill",
    "camera", "piano", "kayak", "heater", "toaster", "scanner", "hammock", "workbench", "aquarium", "greenhouse", "trailer",
    "barbecue", "projector", "typewriter", "chessboard", "globe", "lantern", "anvil",
)  # fmt: skip
_PLACES = (
    "cellar",
    "attic",
    "garage",
    "garden",
    "kitchen",
    "office",
    "shed",
    "hall",
    "pantry",
    "balcony",
    "studio",
    "barn",
)
_PEOPLE = ("Mila", "Otto", "Nils", "Rosa", "Emil", "Ines", "Karl", "Lena", "Hugo", "Vera", "Paul", "Olga")
_SMALL = ("thanks", "hello", "ok", "good morning", "nice", "great, thanks")


class Numbers:
    """Small numbers that follow from a day and a turn."""

    def __init__(self, day, turn):
        self._state = (day * 7919 + turn * 104729 + 12345) & 0x7FFFFFF

    def below(self, limit):
        """A number from 0 on below a limit."""
        self._state = (self._state * 1103515 + 12345) & 0x7FFFFFF
        return (self._state >> 8) % limit

    def pick(self, choices):
        """One of several."""
        return choices[self.below(len(choices))]


def moment(day, turn):
    """When a turn is, in Unix seconds."""
    return START + day * DAY + BEGIN + turn * BETWEEN


def reading(day, turn):
    """What the machine's clock reads then: some mornings nobody has set it yet, some days it is set back for a while."""
    if day % 4 == 1 and turn < _UNSET_TURNS:
        return UNSET
    is_back = day % 12 == 1 and _SET_BACK[0] <= turn < _SET_BACK[1]
    return moment(day, turn) - (_SET_BACK_SECONDS if is_back else 0)


def said(form, day, turn):
    """What is said in a turn: a fact, a change of one, something of the day, a question, small talk, a command."""
    numbers = Numbers(day, turn)
    who = _WHO[turn % len(_WHO)]
    kind = numbers.below(20)
    mark = MARKS[who]
    thing, place, person = _THINGS[numbers.below(FORMS[form].things)], numbers.pick(_PLACES), numbers.pick(_PEOPLE)
    number = numbers.below(90) + 10
    if kind < 5:
        text = "The %s %s of %s is in the %s, on shelf %d" % (mark, thing, person, place, number)
    elif kind < 8:
        text = "The %s door code of the %s is now %d%d" % (mark, place, number, number)
    elif kind < 11:
        text = "Today %s came by about the %s %s" % (person, mark, thing)
    elif kind < 13:
        text = "Where is the %s %s?" % (mark, thing)
    elif kind < 15:
        text = numbers.pick(_SMALL)
    elif kind == 15:
        text = "remember that %s likes the %s %s" % (person, mark, thing)
    elif kind == 16:
        text = "/timers add when %s: the %s bill of %s" % (thing, mark, person)
    elif kind == 17:
        text = "/note %s %s was oiled by %s" % (mark, thing, person) if who != "group" else "ok"
    elif kind == 18:
        text = "/recall %s %s" % (mark, thing)
    else:
        text = numbers.pick(("/memory", "/undo", "/distill", "/timers")) if who != "group" else "/memory"
    return Said(who, text)
