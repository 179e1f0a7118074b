-- Whether the stranger got the sentence with their code: until then each of their messages has it sent again.
ALTER TABLE pairing_codes ADD COLUMN is_sent BIGINT NOT NULL DEFAULT 1;

-- Files that the owner sent into private chats, for /import, with the time (Unix seconds). While one is imported `device` is the
-- board, `mid` and `message` the ids of the message that asked for it, `ref` and `room` whom and what place that is of, `answered`
-- is how many of its lines the board has answered, and `report` what became of these, as JSON.
CREATE TABLE bridge_files (
    bridge TEXT NOT NULL,
    chat TEXT NOT NULL,
    thread TEXT NOT NULL,
    name TEXT NOT NULL,
    data BYTEA NOT NULL,
    at BIGINT NOT NULL,
    device TEXT NOT NULL,
    mid TEXT NOT NULL,
    message TEXT NOT NULL,
    ref TEXT NOT NULL,
    room TEXT NOT NULL,
    answered BIGINT NOT NULL,
    report TEXT NOT NULL,
    PRIMARY KEY (bridge, chat, thread)
);

-- How many dropped answers the heading of a delivery's first message tells: if it is dropped before that arrives, another tells
-- these.
ALTER TABLE bridge_deliveries ADD COLUMN tells_dropped BIGINT NOT NULL DEFAULT 0;
