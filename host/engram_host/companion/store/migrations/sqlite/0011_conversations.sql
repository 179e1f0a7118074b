-- What people say to a board through the companion, and what the board begins to say (`is_push`). `at` is when it was said,
-- `changed` when its state changed, in Unix seconds; `turn` is the board's id of it. `offers` counts how often the board was
-- given it, `attempt` is the offer that the present answer is for, `k` the number of the newest message of it.
CREATE TABLE conversations (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    device TEXT NOT NULL,
    mid TEXT NOT NULL,
    principal TEXT NOT NULL,
    room TEXT NOT NULL,
    is_group INTEGER NOT NULL,
    workspace TEXT NOT NULL,
    is_command INTEGER NOT NULL,
    is_push INTEGER NOT NULL,
    text TEXT NOT NULL,
    state TEXT NOT NULL,
    turn TEXT NOT NULL,
    at INTEGER NOT NULL,
    changed INTEGER NOT NULL,
    offers INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    k INTEGER NOT NULL,
    is_cancelled INTEGER NOT NULL,
    UNIQUE (device, mid)
);

CREATE INDEX open_conversations ON conversations (device, number) WHERE state IN ('waiting', 'taken', 'answering');

-- The pieces of an answer, in order; a number is never used twice for one message.
CREATE TABLE conversation_pieces (
    device TEXT NOT NULL,
    mid TEXT NOT NULL,
    piece INTEGER NOT NULL,
    kind TEXT NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (device, mid, piece)
) WITHOUT ROWID;
