"""A mark behind what an MQTT client may have been sent: what has not come before it does not come any more.

A broker passes on in order, so a message that is published last comes last: no test waits for a time to see that nothing
comes.
"""

import asyncio

import aiomqtt

from waiting import SECONDS

MARK = b"a mark behind all the rest"

Received = list[tuple[str, bytes]]
"""Topics and payloads."""


async def received_before_mark(client: aiomqtt.Client, mark: bytes = MARK) -> Received:
    """What comes to a client before the mark."""
    found: Received = []
    async with asyncio.timeout(SECONDS):
        async for message in client.messages:
            assert isinstance(message.payload, bytes)
            if message.payload == mark:
                break
            found.append((message.topic.value, message.payload))
    return found
