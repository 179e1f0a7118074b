-- What people say to a board through the companion, and what the board begins to say (`is_push`). `at` is when it was said,
-- `changed` when its state changed, in Unix seconds; `turn` is the board's id of it. `offers` counts how often the board was
-- given it, `attempt` is the offer that the present answer is for, `k` the number of the newest message of it.
CREATE TABLE conversations (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    device TEXT NOT NULL,
    mid TEXT NOT NULL,
    principal TEXT NOT NULL,
    room TEXT NOT NULL,
    is_group BIGINT NOT NULL,
    workspace TEXT NOT NULL,
    is_command BIGINT NOT NULL,
    is_push BIGINT NOT NULL,
    text TEXT NOT NULL,
    state TEXT NOT NULL,
    turn TEXT NOT NULL,
    at BIGINT NOT NULL,
    changed BIGINT NOT NULL,
    offers BIGINT NOT NULL,
    attempt BIGINT NOT NULL,
    k BIGINT NOT NULL,
    is_cancelled BIGINT NOT NULL,
    UNIQUE (device, mid)
);

CREATE INDEX open_conversations ON conversations (device, number) WHERE state IN ('waiting', 'taken', 'answering');

-- The pieces of an answer, in order; a number is never used twice for one message.
CREATE TABLE conversation_pieces (
    device TEXT NOT NULL,
    mid TEXT NOT NULL,
    piece BIGINT NOT NULL,
    kind TEXT NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (device, mid, piece)
);
