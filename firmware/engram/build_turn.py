"""Wires what only a turn needs, or code on the board: it is made when it is used, so that a small heap is free of it before."""

from engram import files
from engram.compat import const
from engram.errors import ArgumentError, ConfigError

_ROOTS_LARGEST = const(32768)  # bytes of the file of root certificates


def memory(board):
    """The memory as code on the board uses it."""
    from engram.api import Memory  # seldom needed

    return Memory(board.records, board.make_recall, board.forgetting)


def answerer(board, config=None, journal=None, reminders=None, model=None):
    """What answers a turn; nothing is learned from one with a model of its own, which nobody said."""
    from engram.agent.answer import Answerer  # each part of a turn comes when it is needed

    if board.model and not board.has_timer_tool:
        from engram.build_timers import add_timer_tool  # absent from boards without a model

        add_timer_tool(board)
    jobs = None if model else board.jobs
    parts = board.make_prompts(), board.make_tools, board.make_offline, model or board.model, jobs, board.flush
    memory = config or board.config, journal or board.journal, reminders or board.reminders, board.inbox.push
    return Answerer(*memory, *parts, board.remote_search(), board.toolbox)


def recall(board):
    """What searches a board's records and turns, and takes in what its companion has found."""
    from engram.memory.recall import Recall  # likewise

    remote = None
    if board.config.get("companion.url"):
        from engram.archive.remote_results import ResultMerger  # absent from boards without a companion

        remote = ResultMerger(board.records, board.journal, board.archived)
    return Recall(board.records, board.journal, board.notes, board.clock, remote, board.searches)


def prompts(board):
    """What builds the prompts from a board's memory."""
    from engram.agent.prompt import PromptBuilder  # likewise

    memory = board.records, board.journal, board.make_recall(), board.profile, board.notes
    return PromptBuilder(board.config, board.clock, *memory, board.tag_snapshots, board.toolbox, board.sense_view)


def tools(board):
    """The tools that a model calls."""
    from engram.agent.tools import Tools  # likewise

    recall = board.make_recall()
    memory = board.records, recall, board.journal, board.forgetting, board.profile, board.notes, board.reminders
    return Tools(board.config, board.clock, *memory, board.confirmations, _remote_recall(board, recall), board.toolbox)


def offline(board):
    """What answers plain commands without a model."""
    from engram.agent.offline import Offline  # likewise

    memory = board.records, board.make_recall(), board.forgetting, board.reminders
    return Offline(*memory, board.remote_search(), board.seen_help, board.notes, board.config.get("mode"))


def _remote_recall(board, recall):
    """What the tools have of a companion, None where there neither is one nor was."""
    if not (board.archived or board.companion):
        return None
    from engram.agent.remote_recall import RemoteRecall  # absent from boards without a companion

    search = board.remote_search()
    return RemoteRecall(board.clock, board.records, recall, search, board.archive(), board.archived, board.notes)


def deliveries(board, inbox):
    """What delivers answers, and what answers messages that have their network's id."""
    from engram.channels.deliveries import Deliveries  # absent from boards that only have a console
    from engram.channels.message_handler import MessageHandler  # likewise

    folder = board.folder + "/memory"
    out = Deliveries(inbox, board.journal, board.clock, folder)
    return out, MessageHandler(inbox, board.journal, board.clock, folder, out)


def people(board):
    """Who may talk through networks."""
    from engram.channels.people import People  # absent from boards that only have a console

    config = board.config
    return People(board.folder, board.clock, config.get("people.policy"), config.get("people.rate"))


def make_model(board):
    """The model that the settings name; ConfigError if one of them is wrong."""
    from engram.llm.http.client import Client  # absent from boards without a model
    from engram.llm.model import Model  # absent, too

    config, url = board.config, board.config.get("llm.url")
    connect, stall = config.get("llm.connect_seconds"), config.get("llm.stall_seconds")
    try:
        client = Client(
            url,
            connect_ms=connect * 1000,
            stall_ms=stall * 1000,
            tls=trust(board, url),
            network=board.network,
        )
    except ArgumentError as error:
        raise ConfigError("llm.url", error.problem) from None
    key, retries = config.secret("llm.key"), config.get("llm.retries")
    made = Model(client, _adapter(config, url), config.get("llm.model"), key, retries)
    made.answer_ms = config.get("llm.answer_seconds") * 1000
    return made


def _adapter(config, url: str):
    """One of the two APIs: the other's code is not loaded."""
    if config.get("llm.api") == "anthropic":
        from engram.llm.anthropic import Anthropic  # one API's code

        return Anthropic()
    from engram.llm.openai import OpenAI  # one API's code

    return OpenAI(url)


def trust(board, url: str):
    """The TLS context for a URL, None if it needs none; one for all links, since each would read the roots again."""
    if url.lower().partition(":")[0] not in ("https", "mqtts"):
        return None
    if board.tls:
        return board.tls
    from engram.llm.http.transport import tls_context  # absent from boards without a link

    name = board.config.get("llm.roots")
    roots = files.read(board.folder + "/" + name, _ROOTS_LARGEST)
    if not roots:
        raise ConfigError("llm.roots", "no file %s with root certificates; see docs/reference/settings.md." % name)
    try:
        board.tls = tls_context(roots)
        return board.tls
    except ArgumentError as error:
        raise ConfigError("llm.roots", name + " " + error.problem) from None
