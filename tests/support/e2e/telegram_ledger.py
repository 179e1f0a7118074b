"""What came of each message that was written to a bot: a Ledger takes the bot's messages, and judges.

Each message has a mark, such as q017q, which the first line of its answer repeats; an answer in a group replies to it, too.
"""

import re
from collections import Counter
from dataclasses import dataclass, field

from fake_telegram import Chat, Message, User

AGAIN = "(Sent again: this may have arrived before.)\n"
TOO_FAST = "messages a minute (people.rate)"
NOT_AGAIN = ("not carried out again", "was not answered, or the answer may not have arrived")
CODE = "Your code is "
HEARD = "Heard: "
FILLER = "and so on "
END = "That is all."
"""How the model's answers begin, are long, and end."""

READS = ("recall", "list", "file")
"""What leaves no line on flash, and is answered again if the power failed."""
MARK = re.compile(r"q\d\d\dq")
RATED_SECONDS = 120
"""A notice of the rate is of the same minute; it may be late, as the link is."""


@dataclass
class Said:
    """A message that somebody wrote, and what comes of it."""

    kind: str
    by: User
    mark: str
    message: Message
    is_silent: bool
    """Whether it is right that nothing comes of it."""
    update: int
    answers: list[Message] = field(default_factory=list)

    @property
    def chat(self) -> Chat:
        return self.message.chat


class Ledger:
    """`outcomes` counts what came of the messages; `problems` says what must not be: lost, doubled, in another place."""

    def __init__(self, said: list[Said], stranger: User):
        self.outcomes: Counter[str] = Counter()
        self.problems: list[str] = []
        self._said = said
        self._stranger = stranger
        self._of_mark = {each.mark: each for each in said}
        self._of_message = {(each.chat.id, each.message.id): each for each in said}
        self._rated: list[tuple[User, Message]] = []
        self._told_again: list[Message] = []
        self._tails: Counter[int] = Counter()
        for each in said:
            each.answers = []

    def take(self, message: Message) -> None:
        """Take a message of the bot."""
        text = message.text.removeprefix(AGAIN)
        said = self._replied(message) or self._repeated(text)
        if said:
            self._check_place(said, message)
        if self._is_sentence(message, text):
            return
        if set(text.removesuffix(END).split()) <= set(FILLER.split()):
            self._tails[message.chat.id] += text is message.text
        elif said is None:
            self.problems.append(f"nobody asked for this: {text[:200]}")
        elif _is_whole(said, text):
            said.answers.append(message)
        else:
            self.problems.append(f"a part of an answer is shown: {text[:200]}")

    def _replied(self, message: Message) -> Said | None:
        replied = message.reply_to
        return self._of_message.get((message.chat.id, replied.id)) if replied else None

    def _repeated(self, text: str) -> Said | None:
        lines = [line for line in text.split("\n") if not line.startswith("·")]
        found = MARK.search(lines[0]) if lines else None
        return self._of_mark.get(found[0]) if found else None

    def _check_place(self, said: Said, message: Message) -> None:
        if said.chat is not message.chat or (said.chat.is_forum and said.message.thread_id != message.thread_id):
            self.problems.append(f"{said.mark} is answered in another chat or topic: {message.text[:80]}")

    def _is_sentence(self, message: Message, text: str) -> bool:
        """Whether it is a sentence of the board that repeats nothing of what it answers."""
        if TOO_FAST in text:
            said = self._replied(message)
            by = said.by if said else message.chat.user
            assert by, message
            self._rated.append((by, message))
        elif CODE in text:
            self.outcomes["(a stranger is told a code)"] += 1
            if message.chat.user is not self._stranger:
                self.problems.append(f"somebody is told a code: {message.chat}")
        elif any(words in text for words in NOT_AGAIN):
            self._told_again.append(message)
        else:
            return text.startswith("· ") and HEARD not in text
        return True

    def judge(self) -> None:
        """Judge what came of each message."""
        for said in self._said:
            outcome = self._outcome(said)
            self.outcomes[outcome] += 1
            if outcome.isupper():
                texts = [answer.text[:80] for answer in said.answers]
                self.problems.append(f"{said.mark} ({said.kind} of {said.by.first_name}) is {outcome}: {texts}")
        for chat, count in self._tails.items():
            if count > sum(said.kind == "long" and said.chat.id == chat for said in self._said):
                self.problems.append(f"ends of long answers came twice in {chat}")

    def _outcome(self, said: Said) -> str:
        """What came of a message, in capitals if it must not be."""
        if said.is_silent:
            return "ANSWERED THOUGH IT SHOULD NOT" if said.answers else "rightly ignored"
        unmarked = [answer for answer in said.answers if not answer.text.startswith(AGAIN)]
        if len(unmarked) > 1:
            return "answered again, as nothing is kept of it" if said.kind in READS else "ANSWERED TWICE WITHOUT A MARK"
        if said.answers:
            return "answered once" if len(said.answers) == 1 else "answered again with a mark"
        for message in self._told_again:
            if (
                said.kind in ("forget", "recall", "list")
                and said.chat is message.chat
                and self._replied(message) in (None, said)
            ):
                self._told_again.remove(message)
                return "told that it may not have arrived, or been carried out"
        if any(by is said.by and abs(told.date - said.message.date) <= RATED_SECONDS for by, told in self._rated):
            return "not read, as a notice of the rate says"
        return "LOST"


def _is_whole(said: Said, text: str) -> bool:
    """Whether it is all of an answer, or the first part of a long one; what a power cut ended is not."""
    if said.kind == "long":
        return HEARD in text and len(text) > 3000
    return END in text or said.kind in (*READS, "forget", "file")
