"""Every error that Engram raises, in one tree.

    EngramError
      ConfigError          a setting is wrong (key)
      ArgumentError        a caller's value is wrong (argument)
      NotFound             nothing has that id or name
      StoreError           the flash could not be read or written
        StoreFull          no room is left: reads go on, writes are refused
      ModelError           the remote model gave no whole answer: link down, timeout, 429 or 5xx, after all retries
        ModelRefused       the service said no (status): key, model name, size
      NetError             a link failed: another try may pass
        TimedOut             nothing came in time, or could be sent
        BadAnswer            what came is not of the protocol, or beyond a bound
        Refused              a certificate did not pass, or the other side does not take us (again_s)

str(error) is one sentence for a person: what is wrong, and what to do or what would be right.
ArgumentError is the caller's mistake, StoreError the flash's, ModelError and NetError the link's or the service's.
"""


class EngramError(Exception):
    """Base of all errors raised on purpose."""


class ConfigError(EngramError):
    """Wrong setting; `key` is its dotted name."""

    def __init__(self, key: str, problem: str):
        super().__init__("config: " + key + ": " + problem)
        self.key = key
        self.problem = problem


class ArgumentError(EngramError):
    """Wrong argument; `argument` is its name, `problem` says what would be right."""

    def __init__(self, argument: str, problem: str):
        super().__init__(argument + ": " + problem)
        self.argument = argument
        self.problem = problem


class NotFound(EngramError):
    """Nothing of a kind has that id or name."""

    def __init__(self, what: str, ref: str, advice: str = ""):
        super().__init__("there is no " + what + " " + ref + ("; " + advice if advice else ""))


class StoreError(EngramError):
    """The flash could not be read or written; acknowledged data is safe."""


class StoreFull(StoreError):
    """The flash is full; the write was refused, stored data stays readable."""


class ModelError(EngramError):
    """The model gave no whole answer; a later retry may help."""


class ModelRefused(ModelError):
    """The service refused the request with an HTTP status; an unchanged retry does not help."""

    def __init__(self, status: int, problem: str):
        super().__init__(problem)
        self.status = status


class NetError(EngramError):
    """A link failed or carried invalid data; a retry may help."""


class TimedOut(NetError):
    """A time limit was reached."""


class BadAnswer(NetError):
    """The other side broke the protocol or a size limit."""


class Refused(NetError):
    """The other side is untrusted or refused us; retry after `again_s` seconds."""

    def __init__(self, problem: str, again_s: int = 300):
        super().__init__(problem)
        self.again_s = again_s
