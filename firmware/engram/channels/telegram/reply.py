"""The answer to one message: "typing" first, then the reply in pieces, then the board's own lines. Its
Delivery has the progress.
"""

from engram import diag
from engram.channels.deliveries import SENT_AGAIN, Delivery
from engram.channels.message import ChannelSink
from engram.channels.telegram.bot_api import NAME, BotError
from engram.channels.telegram.sender import is_final, is_refused
from engram.clock import Timeout
from engram.compat import sleep_ms
from engram.text.cutting import split

_TYPING_MS = const(4500)  # Telegram shows it for 5 seconds
_LOOK_MS = const(50)
_ROOM = const(3896)  # UTF-16 units of a message's 4,096: the rest is for its heading
_MOST_SAID = 8 * _ROOM  # characters of a command's answer: an export would flood the chat

AGAIN = const("(Sent again: this may have arrived before.)\n")
_LATE = const("(An answer from %s ago.)\n")
_CUT = const("(It broke off here.)")
_REFUSED = const("(Telegram does not take this answer: the console shows it, and /stats says why.)")
_TOO_LONG = const("(The rest is left out: the console shows all of it.)")


class Reply(ChannelSink):
    """The answer to the message `said`, or a text to a Destination."""

    is_confirming = True

    def __init__(self, channel, destination, said=None):
        self._channel = channel
        self.destination = destination
        self._said = said
        self._text = []  # the pieces of the reply, as they come
        self._beside = []  # lines
        self._beside_length = 0
        self._heading = ""
        self.delivery = Delivery()
        """Its pieces are (text, is_markdown) of each message, in order."""
        self.is_over = self.is_delivered = False

    async def show_typing(self) -> None:
        sign = Timeout()
        while not self.is_over and self._said in self._channel.answering:
            if sign.is_over:
                sign.begin(_TYPING_MS)
                await self._channel.sender.show_typing(self.destination)
            await sleep_ms(_LOOK_MS)

    # --- what the inbox and the agent tell

    async def on_saved(self, turn: str) -> None:
        """Confirm the message to Telegram, as it is on flash."""
        if self._said:
            self._channel.poller.confirm(self._said)

    async def text(self, piece: str) -> None:
        """Return a piece of the reply."""
        self._text.append(piece)

    async def line(self, line: str) -> None:
        is_full = self._beside_length > _MOST_SAID
        self._beside_length += len(line)
        if not is_full:
            self._beside.append(_TOO_LONG if self._beside_length > _MOST_SAID else line)

    async def on_saved_reply(self, reply) -> None:
        delivery = self.delivery
        if reply.age and not delivery.arrived:
            self._heading = _LATE % reply.age
        if delivery.pieces is None:
            delivery.pieces = [(piece, True) for piece in split(reply.text, _ROOM)][delivery.arrived :]
            if reply.is_cut:
                await self.line(_CUT)

    async def end(self, outcome) -> "bool | None":
        """Send the rest; True if delivered or undeliverable, None if unknown."""
        self.is_over = True
        delivery = self.delivery
        if delivery.pieces is None:
            delivery.pieces = [(piece, True) for piece in split("".join(self._text).lstrip(), _ROOM)]
        delivery.pieces += [(piece, False) for piece in split("\n".join(self._beside), _ROOM)]
        self._beside = []
        has_arrived = await self._send(delivery)
        self.is_delivered = has_arrived is True
        if not has_arrived and delivery.seq:
            diag.warning(NAME, "an answer was not delivered and is kept: t%d" % delivery.seq)
        return has_arrived

    async def _send(self, delivery: Delivery) -> "bool | None":
        pieces = delivery.pieces
        while pieces:
            text, is_marked = pieces[0]
            heading = self._heading if not delivery.arrived else ""
            again = AGAIN if delivery.state == SENT_AGAIN else ""
            try:
                await self._channel.sender.send(self.destination, heading + again + text, is_marked)
            except BotError as error:
                if is_refused(error) and text != _REFUSED:
                    diag.error(NAME, "refused: %s" % error)
                    pieces[:] = [(_REFUSED, False)]
                    continue
                diag.info(NAME, "an answer: %s" % error)
                # None if the delivery is uncertain.
                return is_final(error) or is_refused(error) or (None if error.is_unknown else False)
            pieces.pop(0)
            if pieces:
                delivery.advance()
        return True
