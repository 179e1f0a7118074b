"""Albums: what a person sends at once is one message, unless they say more."""

from board import Board
from engram import diag
from engram.channels.telegram import poller as pollers
from engram.channels.telegram.poller import Poller
from engram.compat import sleep_ms

diag.level = diag.ERROR + 1
pauses = []


async def _at_once(ms):
    pauses.append(ms)
    await sleep_ms(0)


pollers.sleep_ms = _at_once  # its pauses are constants


class Service:
    """A bot's service, whose updates come at given polls."""

    def __init__(self, *polls):
        self.polls = [list(poll) for poll in polls]
        self.kept = []
        self.offsets = []

    async def call(self, _method, _fields):
        return {"id": 99, "username": "engram_bot"}

    async def updates(self, offset, limit, _wait_s):
        self.offsets.append(offset)
        self.kept = [update for update in self.kept if update["update_id"] >= offset]
        if self.polls:
            self.kept += self.polls.pop(0)
        return self.kept[:limit]


def _photo(number, caption="", album="g1", chat=7, **fields):
    message = {"message_id": 100 + number, "from": {"id": chat}, "chat": {"id": chat, "type": "private"}, "photo": [{}]}
    message.update(fields)
    if caption:
        message["caption"] = caption
    if album:
        message["media_group_id"] = album
    return {"update_id": 500 + number, "message": message}


def _poller(service):
    return Poller(service, Board().clock, None)


async def _came(poller, polls=12):
    """(text, message's id) of what is to be answered, each confirmed at once."""
    if not poller.bot.id:
        await poller.connect()
    found = []
    for _ in range(polls):
        for said in await poller.poll(0, 50):
            found.append((said.text, said.destination.reply_to))
            poller.confirm(said)
    return found


async def test_the_first_message_of_an_album_stands_for_those_without_words():
    album = [_photo(1, "my cats"), _photo(2), _photo(3)]
    for polls in ([album], [album[:1], album[1:]], [[each] for each in album]):
        service = Service(*polls)
        poller = _poller(service)
        assert await _came(poller) == [("[photo] my cats", 101)], polls
        assert poller._open == [] and service.offsets[-1] == 504


async def test_each_message_of_an_album_that_says_something_is_answered():
    polls = [[_photo(1, "my cats"), _photo(2), _photo(3, "and a dog")], [_photo(4, "yours", "g2", chat=8)]]
    found = await _came(_poller(Service(*polls)))
    assert [text for text, _ in found] == ["[photo] my cats", "[photo] and a dog", "[photo] yours"]


async def test_an_album_that_nobody_answers_any_more_comes_again():
    service = Service([_photo(1), _photo(2)])
    poller = _poller(service)
    await poller.connect()
    assert len(await poller.poll(0, 50)) == 1
    poller.reopen()
    assert await _came(poller) == [("[photo]", 101)]
