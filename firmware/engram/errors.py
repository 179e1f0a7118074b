"""Every error that Engram raises, in one tree.

    EngramError
      ConfigError          a setting is wrong (key)
      ArgumentError        a caller's value is wrong (argument)
      NotFound             nothing has that id or name (what, ref)
      StoreError           the flash could not be read or written
        StoreFull          no room is left: reads go on, writes are refused
      ModelError           the remote model gave no whole answer
        ModelUnavailable   link down, timeout, 429 or 5xx, after all retries; or no answer that the API promises
        ModelRefused       the service said no (status): key, model name, size
      NetError             a link failed: another try may pass
        TimedOut             nothing came in time, or could be sent
        BadAnswer            what came is not of the protocol, or beyond a bound
        Refused              a certificate did not pass, or the other side does not take us (again_s)

str(error) is one sentence for a person: what is wrong, and what to do or what would be right.
ArgumentError is the caller's mistake, StoreError the flash's, ModelError and NetError the link's or the service's.
"""


class EngramError(Exception):
    """Base of all errors that Engram raises on purpose."""


class ConfigError(EngramError):
    """A setting is wrong; `key` is its dotted name."""

    def __init__(self, key: str, problem: str):
        super().__init__("config: " + key + ": " + problem)
        self.key = key
        self.problem = problem


class ArgumentError(EngramError):
    """A value that a caller passed is wrong; `argument` is its name, `problem` says what would be right."""

    def __init__(self, argument: str, problem: str):
        super().__init__(argument + ": " + problem)
        self.argument = argument
        self.problem = problem


class NotFound(EngramError):
    """Nothing has the id or name `ref`; `what` is the kind of thing that was looked for."""

    def __init__(self, what: str, ref: str, advice: str = ""):
        super().__init__("there is no " + what + " " + ref + ("; " + advice if advice else ""))
        self.what = what
        self.ref = ref


class StoreError(EngramError):
    """The flash could not be read or written; nothing that was acknowledged is lost by it."""


class StoreFull(StoreError):
    """No room is left on the flash: the write was refused, all that was stored stays readable."""


class ModelError(EngramError):
    """The remote model gave no whole answer."""


class ModelUnavailable(ModelError):
    """The link is down, or the service did not answer in time, or not as the API promises; trying later may help."""


class ModelRefused(ModelError):
    """The service refused the request with an HTTP status; trying again unchanged does not help."""

    def __init__(self, status: int, problem: str):
        super().__init__(problem)
        self.status = status


class NetError(EngramError):
    """A link failed, or what came over it is of no use; another try may pass."""


class TimedOut(NetError):
    """Nothing came in time, or could be sent."""


class BadAnswer(NetError):
    """The other side sent what the protocol does not have, or more than its bound."""


class Refused(NetError):
    """The other side cannot be trusted, or does not take us; `again_s` is after how many seconds to try once more."""

    def __init__(self, problem: str, again_s: int = 300):
        super().__init__(problem)
        self.again_s = again_s
