"""Errors between a bridge and its network."""

from engram_host.companion.errors import CompanionError


class BridgeError(CompanionError):
    """Base of all errors of bridges."""


class BridgeUnavailable(BridgeError):
    """The library is not installed or a setting is wrong: a person has to act."""


class SignInRefused(BridgeError):
    """The network refuses the account or its secret: a person has to act."""


class NetworkAway(BridgeError):
    """The network is unreachable or has closed the connection; a retry may help."""


class FileNotFetched(BridgeError):
    """A message's file cannot be fetched."""


class SendFailed(BridgeError):
    """A message was not sent; if `is_doubtful`, it may have arrived in part."""

    is_doubtful: bool = False


class SendRefused(SendFailed):
    """The network will never accept the message: the chat is gone, or the person has blocked the account."""


class MarksRefused(SendFailed):
    """The network refuses the formatting; the same text is sent plain."""


class SlowDown(SendFailed):
    def __init__(self, retry_after: float, *, is_doubtful: bool = False):
        super().__init__(f"the network asks to wait {retry_after:.0f} seconds.")
        self.retry_after = retry_after
        self.is_doubtful = is_doubtful


class SendUncertain(SendFailed):
    is_doubtful: bool = True
