"""The index in flash in the form before, made by the firmware of then: it is searched as it is, and made anew."""

from binascii import a2b_base64

from engram import text
from engram.store.index import merge_policy
from engram.store.log.segments import Log
from engram.store.store import Store
from engram.store.types import Entry, Query
from support import StatelessSchema, folder

LOG = """\
{"format":2,"log":"log","epoch":1999461,"rewrites":0,"segment":1,"first":1,"sealed":[],"state":{},"crc":"5582f926"}
{"seq":1,"text":"apple apple","tag":"even","session":5,"crc":"5bdab7ba"}
{"seq":2,"text":"apple ember delta apple","tag":"odd","session":2,"crc":"b40c73cc"}
{"seq":3,"text":"harbor ember boat flint","tag":"even","session":2,"crc":"b7b4c65c"}
{"seq":4,"text":"cedar flint","tag":"odd","session":5,"crc":"a3027d26"}
{"seq":5,"text":"cedar apple","tag":"even","session":1,"crc":"634ce2ca"}
{"seq":6,"text":"apple harbor","tag":"odd","session":2,"crc":"420ca52d"}
{"seq":7,"text":"apple apple","tag":"even","session":5,"crc":"f7bd8aa5"}
{"seq":8,"text":"ember apple cedar","tag":"odd","session":5,"crc":"835cc3d0"}
{"seq":9,"text":"harbor","tag":"even","session":1,"crc":"45a20616"}
{"seq":10,"text":"ember apple boat apple","tag":"odd","session":2,"crc":"09785b53"}
{"seq":11,"text":"apple","tag":"even","session":1,"crc":"5b4a7f71"}
{"seq":12,"text":"boat flint apple delta","tag":"odd","session":5,"crc":"bcab95c1"}
{"seq":13,"text":"delta","tag":"even","session":5,"crc":"d7c5fcdf"}
{"seq":14,"text":"apple ember apple cedar","tag":"odd","session":2,"crc":"1be3255c"}
{"seq":15,"text":"apple apple ember","tag":"even","session":1,"crc":"8c466079"}
{"seq":16,"text":"delta apple apple flint","tag":"odd","session":2,"crc":"c3702839"}
{"seq":17,"text":"apple boat","tag":"even","session":1,"crc":"c4e48f7b"}
{"seq":18,"text":"boat ember cedar cedar","tag":"odd","session":1,"crc":"4547f781"}
{"seq":19,"text":"ember apple delta","tag":"even","session":5,"crc":"05062e55"}
{"seq":20,"text":"apple apple harbor grove","tag":"odd","session":2,"crc":"b818c12e"}
{"seq":21,"text":"delta grove ember harbor","tag":"even","session":1,"crc":"cf2f0e96"}
{"seq":22,"text":"harbor","tag":"odd","session":1,"crc":"c294f2ee"}
{"seq":23,"text":"delta flint","tag":"even","session":2,"crc":"cf9503f5"}
{"seq":24,"text":"apple apple","tag":"odd","session":5,"crc":"34789bcd"}
{"seq":25,"text":"delta ember","tag":"even","session":2,"crc":"f446f857"}
{"seq":26,"text":"harbor delta apple apple","tag":"odd","session":2,"crc":"68bb0ae4"}
{"seq":27,"text":"apple","tag":"even","session":1,"crc":"7e939d07"}
{"seq":28,"text":"harbor delta apple harbor","tag":"odd","session":2,"crc":"310d2c12"}
{"seq":29,"text":"delta","tag":"even","session":2,"crc":"57bc5900"}
{"seq":30,"text":"boat boat apple","tag":"odd","session":5,"crc":"66887a57"}
"""
INDEX = """\
{"format":1,"epoch":1999461,"tail":[1,1974,25],"next":4,"tidy":0,"drop":[],"pieces":[[1,1],[2,9],[3,17]],"marked":0,"pending":[],"crc":"9a31b815"}
{"state":{},"crc":"31008d38"}
"""
PIECES = {
    "log.x1": (
        "BAYMBg4EiBQEswwEJKMEJAxDFBTXAQAAAAAAAAD3AAAAAAAAAABpBwACANyXr3MUBgAnAABIYjwCACAAAEKwbgMAHQAAu9R7AwAZ"
        "AADoPrACABUAADNY5gQAEgAAp2LnBAAJAADZ/kMMAEqDbhQABQAAAK4BAAAAABwCAAAAvQAAAAAA4AMAAAARAQAAAAD7BgAAAPcB"
        "AAAAACABAAAAdAAAAAAAnwQAAABmAQAAAAD7BwAAAEACAAAAAAMIAAAAiQIAAAAA8gUjZXZlbgQjb2RkAQABAgMDAQAAAAAAAAAA"
        "AAAABScAAEVHWDUJAAgAAwABAAEAAAAIAAAAFQAAAG8AAADHAAAA0gAAAOQAAAAG1cNmYwIAAGWCHgCwBLtl"
    ),
    "log.x2": (
        "DAYGBgYEiSwEBIscFN8UBASjLARIAwOGAAIDALEHAAIAZQqvcxQGAB0AANn+QwMAFgAASoNuAgASAABCsG4DAA8AAOg+sAIACwAA"
        "M1jmBAAIAACnYucEAAUAAEhiPAQAu9R7JAAJAAAA1wIAAAAASwsAAABvAwAAAADeDwAAAKAEAAAAANUKAAAAGwMAAAAANw4AAABL"
        "BAAAAACqEAAAAPAEAAAAAEcMAAAAswMAAAAA8w0AAAAHBAAAAAC+BSNldmVuBCNvZGQBAgECAwEBAAAAAAAAAAAAAAAFHQAARUdY"
        "NQkACAADAAEACQAAABAAAAAWAAAAZQAAAL0AAADIAAAA2gAAAAbVw2ZuAgAAZYIeAKn2hr0="
    ),
    "log.x3": (
        "Ax0LBZUSBAIkEhMDJAMCEAoCG6oSCjIBAAABAQBwAAAAAAEBdAgAAgAdBa9zFAQAJQAASGI8AwAgAADZ/kMDABwAAEqDbgIAGAAA"
        "QrBuAwAVAAD5D8MCABEAADNY5gQADgAAp2LnBAAHAAC71HsNAOg+sCsAEQAAAEUFAAAAAA8SAAAAjgUAAAAAexUAAACIBgAAAADP"
        "FgAAAN8GAAAAAIMUAAAAMgYAAAAA4hcAAAAjBwAAAABvEwAAAOIFAAAAAGQYAAAAbQcAAAAA/gUjZXZlbgQjb2RkAQMBAQMBAQAA"
        "AAAAAAAAAAAABSUAAEVHWDUKAAgAAwABABEAAAAYAAAAFgAAAHUAAADNAAAA2AAAAOoAAAAG1cNmcQIAAGWCHgC9Zfsa"
    ),
}


class Sessions(StatelessSchema):
    """Every line is an entry of a session, with a tag."""

    def describe(self, line):
        return Entry(line["seq"], text.terms(line["text"]), ("#" + line["tag"],), line["session"], 0, (), (), 0)


def _open():
    place = folder()
    for name, content in [("log.jsonl", LOG.encode()), ("log.index", INDEX.encode())] + [
        (name, a2b_base64(content)) for name, content in PIECES.items()
    ]:
        with open(place + "/" + name, "wb") as file:
            file.write(content)
    store = Store(Log(place, "log"), Sessions())
    store.open()
    return store


def _found(store, words, labels=()):
    return [(hit.number, hit.score) for hit in store.search(Query(text.terms(words), labels, (), 0, 0, "", None), 5)]


def test_an_index_in_the_form_before_gives_the_answers_of_then():
    store = _open()
    assert len(store.index.tables) == 3 and all(table.is_former for table in store.index.tables)
    assert not store.partial
    assert _found(store, "apple harbor grove") == [(20, 6144), (21, 5850), (22, 4735), (28, 4714), (6, 4698)]
    assert _found(store, "delta", ("#odd",)) == [(26, 6144), (28, 5799), (12, 5049), (2, 4383), (16, 4383)]
    assert list(store.thread(5)) == [30, 24, 19, 13, 12, 8, 7, 4, 1]


def test_an_index_in_the_former_format_is_rebuilt_in_the_background():
    store = _open()
    while store.tick():
        pass
    assert [(table.rows, table.is_former) for table in store.index.tables] == [(24, False)]
    assert not store.partial and not merge_policy.is_busy(store.index)
    # As the firmware of then answered when it had merged the tables.
    assert _found(store, "apple harbor grove") == [(20, 6144), (21, 5850), (6, 5049), (22, 4735), (28, 4714)]
    assert _found(store, "delta", ("#odd",)) == [(26, 6144), (28, 5799), (12, 5454), (16, 4788), (2, 4383)]
    assert list(store.thread(5)) == [30, 24, 19, 13, 12, 8, 7, 4, 1]
    store.close()
    store.open()
    assert not store.partial and not any(table.is_former for table in store.index.tables)
