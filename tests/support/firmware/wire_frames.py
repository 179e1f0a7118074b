"""How messages to and from a companion are framed: what the board's two transports send, and what they take.

Run by CPython it prints what stands in tests/data/wire-0.1/frames.json: wire_frames.py MESSAGES
"""

import json
import sys

DEVICE, BOARD, TOKEN = "kitchen", "0f1e2d3c4b5a", "no-token"
PORT = ":PORT\r\n"


class Body:
    """What stands behind a message's head, in pieces."""

    def __init__(self, data):
        self._data = data
        self.size = len(data)

    def pieces(self):
        half = self.size // 2
        return iter((self._data[:half], self._data[half:]))


def parts(message):
    """(head, body or None) of a message as a text."""
    data = message.encode()
    end = data.find(b"\n") + 1
    return data[:end], Body(data[end:]) if end < len(data) else None


async def over_http(up, down):
    """(the request as it was sent, but for the port; the messages that came of its answer) for a message and its answers."""
    from engram.link.http import Http
    from llm_peer import Peer, answer

    came = []
    async with Peer([answer("".join(down).encode())]) as peer:
        way = Http(peer.url, DEVICE, TOKEN, lambda data: came.append(bytes(data).decode()))
        head, body = parts(up)
        await way.send(head, body)
        asked, content = peer.requests[0]
        port = peer.url.rpartition(":")[2]
    return (asked + content).decode().replace(":" + port + "\r\n", PORT), came


async def over_mqtt(up, down):
    """(the packets that were sent, in hexadecimal; the messages that came) for a message and the packets of its answers."""
    from engram.link.mqtt import Mqtt
    from mqtt_peer import Broker

    came = []
    async with Broker() as broker:
        broker.at_once = b"".join(down)
        way = Mqtt(broker.url, DEVICE, BOARD, TOKEN, lambda data: came.append(bytes(data).decode()))
        await way.open()
        head, body = parts(up)
        await way.send(head, body)
        await broker.wait_until("the message", lambda: broker.published)
        await broker.wait_until("its answers", lambda: len(came) == len(down))
        await broker.wait_until("the acknowledgements", lambda: len(broker.packets) == 3 + len(down))
        way.close()
    return ["%02x %s" % (first, rest.hex()) for first, rest in broker.packets], came


async def frames(messages):
    """The frames of the first message with lines behind its head, and of its answers."""
    from mqtt_peer import message

    up, down = next((one["up"], one["down"]) for one in messages if one["up"].count("\n") > 1)
    packets = [message(b"engram/v1/kitchen/down", answer.encode()) for answer in down]
    request, _ = await over_http(up, down)
    sent, _ = await over_mqtt(up, packets)
    return {"up": up, "down": down, "http": request, "mqtt": sent, "mqtt down": [packet.hex() for packet in packets]}


if __name__ == "__main__":
    import asyncio

    from fakes import links

    links.install()
    with open(sys.argv[1], encoding="utf-8") as file:
        print(json.dumps(asyncio.run(frames(json.load(file))), ensure_ascii=False))
