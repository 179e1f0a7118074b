"""The link to the companion over a broker, with a topic for each direction."""

from engram.link.messages import ANSWER_BYTES, WAIT_SECONDS
from engram.net.mqtt import Mqtt


class MqttTransport(Mqtt):
    """A link to the companion over the broker at a URL; take(bytes) gets the messages."""

    advice = "; check companion.token and companion.device"
    wait_seconds = WAIT_SECONDS

    def __init__(self, url: str, device: str, board: str, token: str, take, tls=None):
        topic = "engram/v1/%s/" % device
        super().__init__(
            url,
            client="engram-%s-%s" % (device, board),
            user=device,
            password=token,
            up=topic + "up",
            down=topic + "down",
            take=take,
            longest=ANSWER_BYTES,
            tls=tls,
        )

    listen = Mqtt.send
