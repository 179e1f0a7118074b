"""Albums: the messages of one are one, whatever polls bring them; none of it is lost, and none is answered twice."""

from board import Board
from engram import diag
from engram.channels.telegram import poller as pollers
from engram.channels.telegram.poller import Poller
from engram.compat import sleep_ms
from samples import Numbers

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

    async def call(self, _method, **_fields):
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


async def test_an_album_is_one_message_with_its_caption():
    album = [_photo(1, "my cats"), _photo(2), _photo(3)]
    for polls in ([album], [album[:1], album[1:]], [album[:2], album[2:]], [[each] for each in album]):
        service = Service(*polls)
        poller = _poller(service)
        assert await _came(poller) == [("[photo] [photo] [photo] my cats", 101)], polls
        assert poller._open == [] and service.offsets[-1] == 504


async def test_albums_of_two_people_stay_apart():
    polls = [[_photo(1, "mine"), _photo(2, "yours", chat=8)], [_photo(3)]]
    found = await _came(_poller(Service(*polls)))
    assert [text for text, _ in found][:2] == ["[photo] mine", "[photo] yours"]


async def test_the_rest_of_an_album_that_comes_too_late_is_passed_over_unless_it_says_something():
    poller = _poller(Service([_photo(1, "my cats")], (), (), (), [_photo(2)], (), (), [_photo(3, "and a dog")]))
    assert await _came(poller, 20) == [("[photo] my cats", 101), ("[photo] and a dog", 103)]
    assert poller._open == []


async def test_an_album_that_the_power_cut_off_comes_again_as_one():
    album = [_photo(1, "my cats"), _photo(2), _photo(3)]
    service = Service(album[:2])
    poller = _poller(service)
    await poller.connect()
    assert await poller.poll(0, 50) == []
    poller.reopen()
    service.polls = [album[2:]]
    assert await _came(poller) == [("[photo] [photo] [photo] my cats", 101)]


async def test_each_file_to_import_is_a_message_of_its_own():
    files = [
        _photo(number, photo=None, document={"file_id": str(number), "file_name": "%d.md" % number})
        for number in (1, 2)
    ]
    poller = _poller(Service(files))
    await poller.connect()
    found = []
    for _ in range(6):
        found += [said.file.name for said in await poller.poll(0, 50) if not poller.confirm(said)]
    assert found == ["1.md", "2.md"]


async def test_no_message_is_lost_or_doubled_however_polls_divide_albums():
    numbers = Numbers(5)
    for _ in range(60):
        sent, polls, number = [], [], 0
        for album in range(1 + numbers.below(4)):
            size = 1 + numbers.below(4)
            for _ in range(size):
                number += 1
                sent.append(_photo(number, "c%d" % number, "g%d" % album if size > 1 else ""))
        left = list(sent)
        while left:
            count = 1 + numbers.below(4)
            polls.append(left[:count])
            left = left[count:]
        found = await _came(_poller(Service(*polls)), 40)
        words = " ".join([text for text, _ in found]).replace("[photo]", "").split()
        assert words == ["c%d" % (at + 1) for at in range(number)], polls
