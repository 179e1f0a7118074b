"""The keyword index of one log, in RAM, built from the log when it is opened.

A row is one line of the log, numbered from 0 in seq order; a row that is not live is in no answer. Terms and labels
are strings; a label is a filter such as "#cats" or "scope:all" and starts with a character that no term has.
Postings are three bytes each (row, low byte first; count), rows ascending. Scores are integers throughout (rank.py).
"""

from array import array

from engram.compat import const

NO_ROW = const(0xFFFF)
MOST_ROWS = const(0xFFFF)
"""Rows are 16 bits wide: bounds the heap that the tables take."""

_MOST_COUNT = const(255)


class Index:
    """Postings, and of each row its length in terms, session, the row before it in the session, and whether it is live."""

    def __init__(self):
        self.postings = {}
        self.lengths = array("H")
        self.sessions = array("H")
        self.previous = array("H")
        self.live = bytearray()
        self.session_lengths = array("I")
        self.live_rows = 0
        self.live_length = 0
        self._session_numbers = {}

    def __len__(self):
        return len(self.live)

    def add(self, terms, labels, session=None, previous: int = NO_ROW) -> int:
        """Add a live row; its number."""
        row = len(self.live)
        counts = {}
        length = 0
        for term in terms:
            counts[term] = counts.get(term, 0) + 1
            length += 1
        for term, count in counts.items():
            self._post(term, row, min(count, _MOST_COUNT))
        for label in labels:
            self._post(label, row, 1)
        number = self._session_number(session)
        self.lengths.append(min(length, 0xFFFF))
        self.sessions.append(number)
        self.previous.append(previous)
        self.live.append(0)
        self.set_live(row, True)
        return row

    def add_blank(self) -> int:
        """Add a row for a line that nobody searches; its number."""
        row = self.add((), ())
        self.set_live(row, False)
        return row

    def set_live(self, row: int, live: bool) -> None:
        """Take a row into the answers, or out of them."""
        if bool(self.live[row]) == live:
            return
        sign = 1 if live else -1
        self.live[row] = live
        self.live_rows += sign
        self.live_length += sign * self.lengths[row]
        session = self.sessions[row]
        if session != NO_ROW:
            self.session_lengths[session] += sign * self.lengths[row]

    def end_session(self, session) -> None:
        """Take all rows of a session out of the answers."""
        number = self._session_numbers.get(session, NO_ROW)
        if number != NO_ROW:
            for row in range(len(self.live)):
                if self.sessions[row] == number:
                    self.set_live(row, False)

    def rows(self, term: str):
        """Yield (row, count) of the live rows that have a term or label, rows ascending."""
        postings = self.postings.get(term)
        if postings is None:
            return
        for at in range(0, len(postings), 3):
            row = postings[at] | postings[at + 1] << 8
            if self.live[row]:
                yield row, postings[at + 2]

    def frequency(self, term: str) -> int:
        """The number of live rows that have a term or label."""
        return sum(1 for _ in self.rows(term))

    def labels(self, prefix: str):
        """Yield the labels that begin with a prefix, in no order."""
        for label in self.postings:
            if label.startswith(prefix):
                yield label

    def live_sessions(self) -> int:
        """The number of sessions that have live rows."""
        count = 0
        for length in self.session_lengths:
            count += length > 0
        return count

    def _post(self, term: str, row: int, count: int) -> None:
        postings = self.postings.get(term)
        if postings is None:
            postings = self.postings[term] = bytearray()
        postings.append(row & 0xFF)
        postings.append(row >> 8)
        postings.append(count)

    def _session_number(self, session) -> int:
        if session is None:
            return NO_ROW
        number = self._session_numbers.get(session)
        if number is None:
            number = self._session_numbers[session] = len(self.session_lengths)
            self.session_lengths.append(0)
        return number
