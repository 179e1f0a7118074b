-- People who were approved, by the principal that memories have; the owner's is `owner`. `crc` is the crc32 of a row's values:
-- what a damaged one says lets nobody in.
CREATE TABLE people (
    principal TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    is_blocked BIGINT NOT NULL,
    crc BIGINT NOT NULL
);

-- Their ids, `network:id`; a person may have several.
CREATE TABLE people_ids (
    ref TEXT PRIMARY KEY,
    principal TEXT NOT NULL,
    crc BIGINT NOT NULL
);

CREATE INDEX ids_of_people ON people_ids (principal);

-- Groups in which boards answer, `network:id`: when they are mentioned, or always.
CREATE TABLE chat_groups (
    ref TEXT PRIMARY KEY,
    is_always BIGINT NOT NULL,
    crc BIGINT NOT NULL
);

-- Strangers who were given a code, and when (Unix seconds).
CREATE TABLE pairing_codes (
    code TEXT PRIMARY KEY,
    ref TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    at BIGINT NOT NULL
);

-- Up to where a bridge has taken its network's messages.
CREATE TABLE bridge_marks (
    bridge TEXT PRIMARY KEY,
    mark TEXT NOT NULL
);

-- Chats in which somebody who may talk has talked: whether it is a group now, the id of who talked last (`network:id`), the board
-- that was chosen there ("" for none), the one that was asked last, when that was (Unix seconds), and how many answers were
-- dropped since, as too many waited.
CREATE TABLE bridge_chats (
    bridge TEXT NOT NULL,
    chat TEXT NOT NULL,
    thread TEXT NOT NULL,
    is_group BIGINT NOT NULL,
    ref TEXT NOT NULL,
    room TEXT NOT NULL,
    chosen TEXT NOT NULL,
    asked TEXT NOT NULL,
    heard BIGINT NOT NULL,
    dropped BIGINT NOT NULL,
    PRIMARY KEY (bridge, chat, thread)
);

CREATE INDEX rooms_of_chats ON bridge_chats (room);

-- What a chat is owed: the answer of a board (`device`) to a message with an id (`mid`), or a text that is known. `ref` is the
-- id (`network:id`) of whom it is for, "" for a whole group: who is blocked meanwhile gets nothing. `message` is the network's
-- id of the person's message, `at` when it came. `messages` are the network's ids of those that show the answer,
-- as JSON; `part` counts the complete ones, `start` is where in the answer the present one begins and `upto` where it ended
-- when it was sent, in bytes; `digest` is of the answer up to there, `heading` stands above the present one. `sending` is 1
-- from before it is sent until its id is here, `told` is 1 once the chat knows that the board is away.
CREATE TABLE bridge_deliveries (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    bridge TEXT NOT NULL,
    chat TEXT NOT NULL,
    thread TEXT NOT NULL,
    is_group BIGINT NOT NULL,
    ref TEXT NOT NULL,
    message TEXT NOT NULL,
    device TEXT NOT NULL,
    mid TEXT NOT NULL,
    text TEXT NOT NULL,
    state TEXT NOT NULL,
    at BIGINT NOT NULL,
    changed BIGINT NOT NULL,
    messages TEXT NOT NULL,
    part BIGINT NOT NULL,
    start BIGINT NOT NULL,
    upto BIGINT NOT NULL,
    digest TEXT NOT NULL,
    heading TEXT NOT NULL,
    sending BIGINT NOT NULL,
    told BIGINT NOT NULL,
    UNIQUE (mid, device)
);

CREATE INDEX open_deliveries ON bridge_deliveries (bridge, number) WHERE state = 'open';

-- What boards begin to say, for the chats in whose rooms it is.
CREATE INDEX pushes ON conversations (number) WHERE is_push = 1;
