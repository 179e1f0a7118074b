"""What goes wrong between a bridge and its network.

BridgeError
  BridgeUnavailable   the network's library is not installed, or a setting of the bridge is wrong: a person has to act
  SignInRefused       the network does not know the account or its secret: a person has to act
  NetworkAway         the network cannot be reached now, or has ended the connection: trying later may help
  FileNotFetched      a file that came with a message cannot be had
  SendFailed          a message was not sent
    SendRefused       and never will be: the chat has gone, or the person has blocked the account
    MarksRefused      the network does not take its formatting: the same text goes plain
    SlowDown          now; the network wants a pause (retry_after)
    SendUncertain     nobody knows: the connection broke before the network confirmed it
"""

from engram_host.companion.errors import CompanionError


class BridgeError(CompanionError):
    """Base of what goes wrong between a bridge and its network."""


class BridgeUnavailable(BridgeError):
    """A bridge cannot run before a person has installed or set something."""


class SignInRefused(BridgeError):
    """The network refuses the account or its secret: trying again unchanged does not help."""


class NetworkAway(BridgeError):
    """The network cannot be reached now, or has ended the connection."""


class FileNotFetched(BridgeError):
    """A file that came with a message cannot be had, now or for good."""


class SendFailed(BridgeError):
    """A message was not sent: it certainly did not arrive, unless it is doubtful."""

    is_doubtful: bool = False
    """Whether it may have arrived, or a part of it."""


class SendRefused(SendFailed):
    """The network will never take this message."""


class MarksRefused(SendFailed):
    """The network does not take a message's formatting."""


class SlowDown(SendFailed):
    """The network wants no message for `retry_after` seconds."""

    def __init__(self, retry_after: float, *, is_doubtful: bool = False):
        super().__init__(f"the network asks to wait {retry_after:.0f} seconds.")
        self.retry_after = retry_after
        self.is_doubtful = is_doubtful


class SendUncertain(SendFailed):
    """Nobody knows whether a message arrived."""

    is_doubtful: bool = True
