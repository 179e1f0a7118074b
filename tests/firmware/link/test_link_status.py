"""What a board tells its companion of how it is: its figures, once a connection and every ten minutes, in one small message."""

from board import Board, Script, lines_of
from engram import __version__
from engram.channels.console.commands import stats as status
from engram.link import messages
from linked import Met

NAMES = (
    "calls errors failed firmware flash flash_size kept_turns memories mode model model_problem records_bytes records_cap "
    "searches searches_empty telegram telegram_problem tokens turns"
)


class Poller:
    """What Telegram's channel shows of its link."""

    def __init__(self, problem, is_stopped):
        self.problem, self.is_stopped = problem, is_stopped


class Channel:
    """Telegram's channel."""

    def __init__(self, problem="", is_stopped=False):
        self.poller = Poller(problem, is_stopped)


def _served(model=None):
    return Board().serve(model)


# --- the figures


def test_the_figures_of_a_board_are_its_own():
    model = Script()
    model.calls, model.tokens = 7, 900
    board = _served(model)
    board.remember("the bicycle is in the cellar", ["bicycle"])
    lines_of(board, "/recall bicycle")
    lines_of(board, "/recall elephants")
    found = status.find_status(board)
    assert [name for name in NAMES.split() if name not in found] == []
    assert (found["firmware"], found["mode"], found["model"]) == (__version__, "full", "script")
    assert (found["memories"], found["searches"], found["searches_empty"]) == (1, 2, 1)
    assert (found["calls"], found["tokens"]) == (7, 900)
    assert found["records_bytes"] == board.records.entries.bytes and 0 < found["flash"] <= found["flash_size"]


class Walks:
    """In place of os: counts walks of a file system with so many blocks free."""

    count = free = 0

    def statvfs(self, _path):
        self.count += 1
        return 4096, 4096, 256, self.free, self.free


def test_the_flash_is_walked_once_until_the_logs_have_changed_much():
    board = _served()
    os, status.os = status.os, Walks()
    try:
        for _ in range(3):
            assert status.flash_use(board) == (1 << 20, 1 << 20)
            status.walk_flash(board)
        assert status.os.count == 1
        status.os.free, segments = 100, board.records.entries.log
        segments.size += 65535
        status.walk_flash(board)
        assert status.os.count == 1 and status.flash_use(board)[0] == (1 << 20) + 65535
        segments.size += 1
        status.walk_flash(board)
        assert status.os.count == 2 and status.flash_use(board)[0] == 156 << 12
    finally:
        status.os = os


def test_telegram_is_off_on_away_or_stopped():
    board = _served()
    found = []
    for channel in (None, Channel(), Channel("the link failed"), Channel("the bot was removed", True)):
        board.telegram = channel  # pyright: ignore[reportAttributeAccessIssue]  # stands in for the channel
        figures = status.find_status(board)
        found.append((figures["telegram"], figures["telegram_problem"]))
    assert found == [("off", ""), ("on", ""), ("away", "the link failed"), ("stopped", "the bot was removed")]


# --- the message


def _met(model=None):
    return Met(Board().serve(model, companion_url="http://127.0.0.1:9"))


async def test_a_companion_is_told_once_and_again_after_ten_minutes():
    met = _met()
    await met.connect()
    await met.be_idle()
    await met.be_idle()
    assert len(met.linked.companion.statuses) == 1 and 590_000 < met.own._status_pause.left_ms <= 600_000
    met.own._status_pause.end()
    await met.be_idle()
    assert len(met.linked.companion.statuses) == 2


async def test_while_a_message_is_answered_nothing_is_told():
    met = _met()
    await met.connect()
    met.linked.is_busy = True
    await met.be_idle()
    assert met.linked.companion.statuses == []
    met.linked.is_busy = False
    await met.be_idle()
    assert len(met.linked.companion.statuses) == 1


async def test_the_companion_is_told_the_figures_and_which_start_it_is():
    met = _met()
    await met.connect()
    await met.be_idle()
    told = met.linked.companion.statuses[-1]
    assert told["run"] > 0 and told["seconds"] >= 0 and told["firmware"] == __version__
    assert _met().own._run != told["run"]


async def test_the_message_is_small_even_if_all_figures_are_large():
    model = Script()
    model.name = "m" * 500
    model.problem = "\x1b[2J" + "p" * 500
    model.calls = model.tokens = 1 << 40
    met = _met(model)
    met.board.telegram = Channel("q" * 500, True)  # pyright: ignore[reportAttributeAccessIssue]  # stands in for it
    await met.connect()
    assert await met.own._report_status()
    items = list(status.find_status(met.board).items())
    assert len(items) + 2 <= messages.ITEMS and met.linked.way.largest < 1400
    assert "\x1b" not in met.linked.companion.statuses[-1]["model_problem"]


async def test_a_refused_status_does_not_end_the_link():
    met = _met()
    met.linked.companion.refuses_status = True
    await met.connect()
    await met.be_idle()
    assert met.linked.companion.statuses == [] and met.own._exchange.failure is None
