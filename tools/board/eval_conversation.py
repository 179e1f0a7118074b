"""The board's half of the evaluation: takes in one conversation, or answers the questions about it.

    eval_conversation.py FLASH feed TURNS IDS
    eval_conversation.py FLASH ask QUESTIONS ANSWERS LIMIT

TURNS has a JSON list [session, Unix seconds, speaker, text, caption] in each line; IDS gets a line for each with the id
that the store gave the turn. QUESTIONS has a JSON string in each line; ANSWERS gets a line for each with the ids of what
was found, best first, at most LIMIT.
"""

import gc
import json
import sys

import eval_store
import flash

SIZE = 6 << 20
PROGRESS = 100


def feed(store, turns, ids) -> None:
    """Take in all turns."""
    count = 0
    with open(turns) as file, open(ids, "w") as out:
        for line in file:
            session, at, who, content, caption = json.loads(line)
            out.write("%d\n" % store.add(session, at, who, content, caption))
            count += 1
            if count % PROGRESS == 0:
                print("%d turns taken in" % count)
    store.rest()


def ask(store, questions, answers, limit) -> None:
    """Answer all questions."""
    count = 0
    with open(questions) as file, open(answers, "w") as out:
        for line in file:
            separator = ""
            for number in store.search(json.loads(line), int(limit)):
                out.write("%s%d" % (separator, number))
                separator = " "
            out.write("\n")
            count += 1
            if count % PROGRESS == 0:
                print("%d questions answered" % count)
    if store.partial:
        # Something was found to be damaged on the way: the figures are not those of a whole index.
        print("WARNING: " + store.partial)


def main(flash_file, step, *arguments) -> None:
    """Do one step."""
    gc.threshold(8000)  # as the app sets it
    flash.mount(flash_file, SIZE, "/flash")
    store = eval_store.Turns("/flash")
    if step == "feed":
        feed(store, *arguments)
    else:
        ask(store, *arguments)


main(*sys.argv[1:])
