"""Who is answered in each policy of private chats, as people see it: the transcripts of tests/data/telegram_policies.md.

telegram_transcript.py     as a program: prints all of them
"""

import tempfile
import textwrap
from collections import Counter
from pathlib import Path

from chatting import Chatting, chatting
from fake_telegram import Chat, User

POLICIES = ("pairing", "allowlist", "open *", "off")
BOT = "@engram_fake_bot"
SHOWN_CODE, SHOWN_ID = "ABCDEFGH", "NUMBER"
"""Are shown in place of a stranger's code, which is random, and of their number."""

_ECHO = {"reply": "You said: {last}"}
_WIDTH = 96


def transcript(folder: Path, policy: str) -> str:
    """What Eve, a stranger, and Ann, the owner, write and read in private; Eve in an open group, too."""
    with chatting(folder, _ECHO, people__policy=policy) as talk:
        ann, eve = talk.person("Ann", is_owner=True), talk.telegram.people.add_user("Eve")
        garden = talk.telegram.people.group("Garden", [ann, eve])
        talk.command(f"/people group telegram:{garden.id} mention")
        scene = _Scene(talk, eve)
        scene.says(eve, "hello", answers=policy in ("pairing", "open *"))
        scene.says(eve, "is anybody there?", answers=policy == "open *")
        scene.count_calls()
        if policy == "pairing":
            scene.pair(eve)
            scene.hears(eve)
            scene.says(eve, "hello again", answers=True)
        scene.says(ann, "hello", answers=policy != "off")
        scene.says(eve, f"{BOT} hello", answers=True, chat=garden)
        scene.count_calls()
        return "".join(line + "\n" for line in scene.lines)


class _Scene:
    """Plays on one board, and keeps the lines of the transcript."""

    def __init__(self, talk: Chatting, stranger: User):
        self.lines: list[str] = []
        self._talk = talk
        self._code = ""
        self._hidden = {str(stranger.id): SHOWN_ID}
        self._shown: Counter[int] = Counter()

    def says(self, user: User, text: str, *, answers: bool, chat: Chat | None = None) -> None:
        """Somebody writes, and is answered or not."""
        self._add(user.first_name + (f" in {chat.title}" if chat else ""), text)
        place = chat or self._talk.chat(user)
        known = self._shown[place.id]
        self._talk.write(user, text, chat=place)
        found = self._talk.answers(place, known + answers)
        for answer in found[known:]:
            self._note_code(answer)
            self._add("Bot" + (f" in {chat.title}" if chat else ""), answer)
        if found[known:] == []:
            self.lines.append("(no answer)")
        self._shown[place.id] = len(found)

    def hears(self, user: User) -> None:
        """Somebody is told something that they did not ask for."""
        place = self._talk.chat(user)
        self._shown[place.id] += 1
        self._add("Bot", self._talk.answers(place, self._shown[place.id])[-1])

    def pair(self, user: User) -> None:
        """The owner lets somebody in at the console, by the code that they have."""
        line = f"/pair {self._code} {user.first_name.lower()}"
        self._add("Console", line)
        said = [each for each in self._talk.command(line).splitlines() if not each.startswith("[info")]
        self._add("Board", " ".join(said))

    def count_calls(self) -> None:
        """Note how often the model was asked."""
        self.lines.append(f"(calls of the model so far: {len(self._talk.model.requests)})")

    def _note_code(self, answer: str) -> None:
        """Take the stranger's code from the sentence that has it."""
        code = answer.partition("Your code is ")[2][:8]
        if code:
            self._code = code
            self._hidden[code] = SHOWN_CODE

    def _add(self, name: str, text: str) -> None:
        for real, shown in self._hidden.items():
            text = text.replace(real, shown)
        self.lines += textwrap.wrap(f"{name}> {text}", _WIDTH, subsequent_indent="    ")


if __name__ == "__main__":
    for each in POLICIES:
        with tempfile.TemporaryDirectory() as name:
            print(f"{each}\n\n{transcript(Path(name), each)}")  # noqa: T201
