"""What a board acknowledged in a simulated month, what became of it, and what of it is missing in the end."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import life

LIVE, SUPERSEDED, LEFT, TAKEN_BACK = "live", "superseded", "left", "taken back"


@dataclass
class Ledger:
    """Told all that the board tells, line by line; what should not have happened is in `problems`."""

    form: str
    """A name of life.FORMS."""
    records: dict[str, str] = field(default_factory=dict)
    """What became of each memory, by its id."""
    contents: dict[str, str] = field(default_factory=dict)
    left: list[str] = field(default_factory=list)
    """The ids of what left for lack of room, in that order."""
    notes: dict[int, tuple[str, str]] = field(default_factory=dict)
    """File and text of each note, by the line of the log that tells of it; without those that were taken back."""
    note_files_gone: set[str] = field(default_factory=set)
    intents: dict[str, int] = field(default_factory=dict)
    """Until when each is there at least."""
    turns: dict[int, str] = field(default_factory=dict)
    """What was said, by its seq in the journal."""
    reminders: list[tuple[int, int, str]] = field(default_factory=list)
    """(day, turn, id of the intent) of each."""
    counts: Counter[str] = field(default_factory=Counter)
    heard: int = 0
    """The newest line of the log of records that was told."""
    problems: list[str] = field(default_factory=list)

    def opened(self, next_seq: int) -> None:
        """The board has started; its log goes on with a line."""
        if next_seq <= self.heard:
            self.problems.append(f"line {self.heard} was acknowledged, and after a restart the next is {next_seq}")

    def line(self, line: dict[str, Any], typed: str) -> None:
        """A line of the log of records is on flash; `typed` is what was said in that turn."""
        self.heard = max(self.heard, line["line"])
        operation, ref = line.get("op"), line.get("id", "")
        if operation is None:
            self._kept(ref, line)
        elif operation == "leave":
            self.records[ref] = LEFT
            self.left.append(ref)
        elif operation == "forget":
            self._taken_back(ref, line, typed)
        elif operation == "note" and "undoes" in line:
            self._allow_undo(f"a note of {line.get('file')}", typed)
            self.notes.pop(line["undoes"], None)
            self.counts["notes taken back"] += 1
        elif operation == "distilled" and "undoes" not in line:
            self.counts["distillations"] += 1

    def _kept(self, ref: str, line: dict[str, Any]) -> None:
        self.records[ref] = LIVE
        self.contents[ref] = line["content"]
        if "supersedes" in line:
            self.records[line["supersedes"]] = SUPERSEDED

    def _taken_back(self, ref: str, line: dict[str, Any], typed: str) -> None:
        self._allow_undo(ref, typed)
        self.records[ref] = TAKEN_BACK
        self.counts["memories taken back"] += 1
        if "restores" in line:
            self.records[line["restores"]] = LIVE

    def _allow_undo(self, what: str, typed: str) -> None:
        if typed != "/undo":
            self.problems.append(f"{what} went while somebody said: {typed}")

    def note_leaves(self, file: str, waiting: int) -> None:
        """A day's file leaves, with notes in it that were not distilled."""
        self.note_files_gone.add(file)
        if waiting:
            self.problems.append(f"{file} left with {waiting} notes that were not distilled")

    def turn(self, day: int, told: dict[str, Any]) -> None:
        """A turn is over, and the person has been told so."""
        said = life.said(self.form, day, told["turn"])
        if "said" in told:
            self.turns[int(told["said"][1:])] = said.text
        for notice in told["notices"] + told["answer"]:
            if notice.startswith("remembered "):
                self._is_known(notice.split()[1].rstrip(":"))
            elif " comes up I remind you: " in notice:
                ref = notice.partition(":")[0]
                # A life that begins while the clock is not set is counted from when it is.
                begins = told["now"] if told["known"] else life.moment(day, told["turn"])
                self.intents[ref] = begins + life.FORMS[self.form].reminder_days * life.DAY
            elif notice.startswith("reminder: "):
                ref = notice.rpartition("(")[2].rstrip(")")
                self.reminders.append((day, told["turn"], ref))
        if said.text.startswith("/note") and told["answer"][0].startswith("noted in "):
            text = said.text.partition(" ")[2]
            if all(text != note for _, note in self.notes.values()):
                self.problems.append(f"told to be noted, and was not: {text}")

    def _is_known(self, ref: str) -> None:
        if ref not in self.records:
            self.problems.append(f"told to be remembered, and was not: {ref}")

    def hasty(self) -> list[str]:
        """Reminders that came twice within a day while the clock read the same time: a cool-down is a day."""
        found = []
        before: dict[str, tuple[int, int]] = {}
        for day, turn, ref in self.reminders:
            now = life.moment(day, turn)
            wrong_by = now - life.reading(day, turn) if life.reading(day, turn) != life.UNSET else 0
            if ref in before and now - before[ref][0] < life.DAY and wrong_by == before[ref][1]:
                found.append(f"{ref} came on day {day}, turn {turn}, and within a day before")
            before[ref] = (now, wrong_by)
        return found

    # --- in the end

    def missing(self, found: "Found", end: int) -> list[str]:
        """What was acknowledged and is not there, and what is there that was not, at a moment; a line each."""
        live = {ref for ref, state in self.records.items() if state == LIVE}
        lines = [f"{ref} is {self.records.get(ref)}" for ref in sorted(live ^ set(found.live))]
        lines += [f"{ref} says {text}" for ref, text in found.live.items() if self.contents.get(ref, text) != text]
        lines += self._missing_in_trash(found.trash)
        for file, text in self.notes.values():
            if file not in self.note_files_gone and not any(text in line for line in found.notes.get(file, ())):
                lines.append(f"{file}: {text}")
        lines += [ref for ref, until in self.intents.items() if until > end and ref not in found.intents]
        for seq, text in self.turns.items():
            if seq >= found.oldest_turn and found.turns.get(seq) != text:
                lines.append(f"t{seq}: {text}")
        return lines

    def _missing_in_trash(self, trash: list[str]) -> list[str]:
        """Of what left, the last stays on the flash."""
        kept = [ref for ref in self.left if ref in trash]
        if self.left and not kept:
            return [f"of {len(self.left)} that left none is kept"]
        return [] if kept == self.left[len(self.left) - len(kept) :] else [f"what left has holes: {kept}"]


@dataclass
class Found:
    """What is on the board in the end, as export_board.py prints it."""

    live: dict[str, str] = field(default_factory=dict)
    trash: list[str] = field(default_factory=list)
    notes: dict[str, list[str]] = field(default_factory=dict)
    turns: dict[int, str] = field(default_factory=dict)
    intents: set[str] = field(default_factory=set)
    oldest_turn: int = 0


def found(exports: dict[str, list[str]]) -> Found:
    """What is on the board, by the exports of all."""
    result = Found()
    for line in (line for lines in exports.values() for line in lines):
        kind, _, rest = line.partition(" ")
        name, _, text = rest.partition(" ")
        if kind == "live":
            result.live[name] = text
        elif kind == "trash":
            result.trash.append(name)
        elif kind == "note":
            result.notes.setdefault(name, []).append(text)
        elif kind == "turn":
            result.turns[int(name)] = text
        elif kind == "intent":
            result.intents.add(name)
        elif kind == "oldest":
            result.oldest_turn = int(name)
    return result
