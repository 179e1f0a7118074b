"""Wires a board's optional parts: its model, companion, Telegram bot and senses. A board without any never loads this."""

# Leaves first, as in build.py.
# isort: off
from engram import diag, files
from engram.errors import ArgumentError, ConfigError
from engram.net.transport import tls_context
from engram.net.http import Client
from engram.channels.console.commands import commands
from engram.channels.message import Message
# isort: on

_ROOTS_LARGEST = const(32768)  # bytes of the file of root certificates


def make_model(board) -> tuple:
    """Return the Model of the settings and the finder of its window, None for an API that tells none."""
    from engram.llm.model import Model  # absent from boards without a model

    config = board.config
    url, name = config.get("llm.url"), config.get("llm.model")
    if not url or not name:
        problem = "is missing: a model needs both llm.url and llm.model."
        raise ConfigError("llm.url" if name else "llm.model", problem)
    try:
        stall_ms = config.get("llm.stall_seconds") * 1000
        client = Client(url, stall_ms=stall_ms, tls=_trust(board, url), network=board.network)
    except ArgumentError as error:
        raise ConfigError("llm.url", error.problem) from None
    if config.get("llm.api") == "anthropic":
        from engram.llm.anthropic import Anthropic as Adapter  # one API's code
    else:
        from engram.llm.openai import OpenAI as Adapter  # one API's code
    adapter, window = Adapter(), None
    if config.get("llm.api") == "openai":
        from engram.llm.window import WindowFinder  # one API's code

        root = Client(url[: len(url) - len(client.prefix)], tls=_trust(board, url), network=board.network)
        root.idle_ms = -1  # closed by each tidy()
        window = WindowFinder(config, root, client.prefix, name, adapter.headers(config.secret("llm.key")))
    made = Model(client, adapter, name, config.secret("llm.key"), config.get("llm.retries"))
    made.first_ms = config.get("llm.first_seconds") * 1000
    made.answer_ms = config.get("llm.answer_seconds") * 1000
    return made, window


def make_companion(board):
    from engram.channels.console.commands.stats import find_status  # what a companion is told
    from engram.link.companion import Companion  # absent from boards without one

    config, records, journal = board.config, board.records, board.journal
    url = config.get("companion.url")
    tls = _trust(board, url)

    def make_transport(device: str, take):
        token = config.secret("companion.token")
        try:
            if url.lower().startswith("mqtt"):
                from engram.link.mqtt import MqttTransport  # one of the two ways

                return MqttTransport(url, device, board.link_state.board, token, take, tls)
            from engram.link.http import HttpTransport  # one of the two ways

            return HttpTransport(url, device, token, take, tls)
        except ArgumentError as error:
            raise ConfigError("companion.url", error.problem) from None

    def make_archive(exchange, replication):
        from engram.archive.transfer import ArchiveTransfer  # absent from boards that have no archive

        parts = board.link_state, board.archived, records, journal
        return ArchiveTransfer(exchange, replication, *parts, config.get("companion.timeout_ms"), is_unread)

    def is_unread(seq: int) -> bool:
        return board.model is not None and seq > board.learning_cursor.until

    async def answer(mid, caller, content, is_command, origin, sink):
        if not board.is_let_in(caller):
            raise ArgumentError(caller.principal, "is blocked on this board.")
        await board.inbox.handle(Message(mid, caller, content, is_command, *origin), sink)

    return Companion(
        config,
        board.clock,
        (("records", records.entries.raw()), ("journal", journal.entries.raw())),
        board.link_state,
        is_busy=board.turn_queue.is_busy,
        notes=board.notes,
        retention=board.note_retention,
        find_status=lambda: find_status(board),
        make_transport=make_transport,
        network=board.network,
        archived=board.archived,
        make_archive=make_archive if config.get("archive.on") else None,
        chat=None
        if config.get("companion.chat") == "off"
        else (answer, lambda: board.inbox.deliveries.redeliver("link")),
        find_senses=lambda: board.senses,
    )


def make_telegram(board):
    config, token = board.config, board.config.secret("telegram.token")
    if not token.partition(":")[0].isdigit() or "/" in token or "?" in token or "#" in token:
        problem = "is not a bot's token, which is a number, a colon and letters; paste it again."
        raise ConfigError("telegram.token", problem)
    from engram.channels.telegram import markup  # noqa: F401  absent from boards without Telegram; leaves first
    from engram.channels.telegram.bot_api import BotApi  # likewise
    from engram.channels.telegram.channel import Telegram  # likewise

    url = config.get("telegram.url")
    tls = _trust(board, url)

    def make_api(wait_s: int) -> BotApi:
        return BotApi(url, token, tls, board.network, wait_s)

    parts = board.inbox, board.find_people, make_api, commands
    try:
        return Telegram(board.clock, *parts)
    except ArgumentError as error:
        raise ConfigError("telegram.url", error.problem) from None


def make_senses(board) -> tuple:
    """Return the board's Senses, Sampling or None, Watch, and SenseView."""
    from engram.senses.limits import Limits  # these are absent from boards without senses
    from engram.senses.sampling import Sampling  # absent, too
    from engram.senses.senses import Senses  # absent, too
    from engram.senses.view import SenseView  # absent, too
    from engram.senses.watch import Watch  # absent, too

    def push(mid: str, caller, content: str) -> bool:
        may_push = board.inbox.deliveries.may_push(caller)
        if may_push:
            board.inbox.deliveries.push(caller, content, mid)
        return may_push is not None

    config, clock = board.config, board.clock
    folder, configs = board.folder + "/memory", _sense_configs(board)
    senses = Senses(
        folder,
        clock,
        most_bytes=config.get("senses.bytes"),
        write_minutes=config.get("senses.write_minutes"),
        configs=configs,
        is_shared=config.get("senses.share") == "all",
    )
    senses.open()
    sampled = [each for each in configs if each.kind != "code"]
    sampling = Sampling(senses, sampled, board.pins) if sampled else None
    room = config.get("senses.tell")
    limits = Limits(folder + "/senses", senses, clock, records=board.records, push=push, room=room)
    quiet, finds_unusual = config.get("senses.cooldown_minutes"), config.get("senses.unusual")
    watch = Watch(senses, clock, limits, quiet=quiet, finds_unusual=finds_unusual)
    view = board.prompts.senses = SenseView(senses, limits, clock)
    for tool in view.tools():
        try:
            board.toolbox.add(tool)
        except ArgumentError as error:
            diag.warning("senses", "the model has no tool %s: %s" % (tool.name, error))
    return senses, sampling, watch, view


def _sense_configs(board) -> list:
    table = board.config.table("senses")
    if not table:
        return []
    from engram.senses import sense_config  # absent from boards without senses
    from engram.tools import pin_config, pin_driver  # absent from boards without pins

    forbidden = () if pin_driver.is_simulated() else pin_config.forbidden_pins(board.folder)
    return sense_config.parse_senses(table, board.config.table("pins"), forbidden)


def _trust(board, url: str):
    """Return the TLS context for a URL, None if it needs none; all links share one."""
    if url.lower().partition(":")[0] not in ("https", "mqtts"):
        return None
    if board.tls:
        return board.tls
    name = board.config.get("llm.roots")
    roots = files.read(board.folder + "/" + name, _ROOTS_LARGEST)
    if not roots:
        raise ConfigError("llm.roots", "no file %s with root certificates; see docs/reference/settings.md." % name)
    try:
        board.tls = tls_context(roots)
        return board.tls
    except ArgumentError as error:
        raise ConfigError("llm.roots", name + " " + error.problem) from None
