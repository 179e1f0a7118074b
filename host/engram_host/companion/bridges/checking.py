"""Check of a bridge's account: signs in and out again, for commands."""

import asyncio
from collections.abc import Mapping

from engram_host.companion.bridges.configured import redact_values
from engram_host.companion.bridges.errors import BridgeError, NetworkAway
from engram_host.companion.bridges.kinds import NetworkKind, make_network
from engram_host.companion.supervisor import describe_error


async def check_account(kind: NetworkKind, values: Mapping[str, str], seconds: float) -> str:
    """Return the account's own name, or raise BridgeError for any failure, with no secret in it."""
    try:
        async with asyncio.timeout(seconds):
            return await make_network(kind.name, values).check()
    except BridgeError as problem:
        raise type(problem)(redact_values(str(problem), kind, values)) from None
    except TimeoutError:
        raise NetworkAway(f"it did not answer within {seconds:.0f} s.") from None
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a library may raise whatever it likes
        raise NetworkAway(redact_values(f"{describe_error(error)}.", kind, values)) from None
