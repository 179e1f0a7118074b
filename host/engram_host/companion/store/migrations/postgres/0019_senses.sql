-- The senses that boards have, by an own number `key` of each board. `number` is that of the board, `made` when it was made there;
-- `replaced` is 0, or when the board lost it without having forgotten it. `at` and `value` are of the latest reading.
CREATE TABLE senses (
    device TEXT NOT NULL,
    key BIGINT NOT NULL,
    epoch BIGINT NOT NULL,
    number BIGINT NOT NULL,
    name TEXT NOT NULL,
    unit TEXT NOT NULL,
    decimals BIGINT NOT NULL,
    made BIGINT NOT NULL,
    replaced BIGINT NOT NULL,
    at BIGINT NOT NULL,
    value BIGINT NOT NULL,
    PRIMARY KEY (device, key)
) WITH (fillfactor = 50);

-- What there is of a board's senses: the epoch of its records, the number of its next new sense, and of each level of readings
-- the newest block that came, by its seq and check.
CREATE TABLE sense_copies (
    device TEXT PRIMARY KEY,
    epoch BIGINT NOT NULL,
    next BIGINT NOT NULL,
    minute_seq BIGINT NOT NULL,
    minute_check TEXT NOT NULL,
    hour_seq BIGINT NOT NULL,
    hour_check TEXT NOT NULL,
    day_seq BIGINT NOT NULL,
    day_check TEXT NOT NULL
) WITH (fillfactor = 50);

-- The blocks that came, so that none counts twice.
CREATE TABLE sense_blocks (
    device TEXT NOT NULL,
    epoch BIGINT NOT NULL,
    level BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    block_check TEXT NOT NULL,
    PRIMARY KEY (device, epoch, level, seq, block_check)
) WITH (fillfactor = 50);

-- Aggregates of a sense: compressed JSON Lines of a day in UTC; of level 2, of 64 days.
CREATE TABLE sense_parts (
    device TEXT NOT NULL,
    sense BIGINT NOT NULL,
    level BIGINT NOT NULL,
    part BIGINT NOT NULL,
    size BIGINT NOT NULL,
    content BYTEA NOT NULL,
    PRIMARY KEY (device, sense, level, part)
) WITH (fillfactor = 50);

-- Events of senses, as boards told them: `ended` is 0 while one lasts, `line` has all of its fields as JSON.
CREATE TABLE sense_events (
    device TEXT NOT NULL,
    epoch BIGINT NOT NULL,
    number BIGINT NOT NULL,
    sense BIGINT NOT NULL,
    kind TEXT NOT NULL,
    started BIGINT NOT NULL,
    ended BIGINT NOT NULL,
    line TEXT NOT NULL,
    PRIMARY KEY (device, epoch, number)
) WITH (fillfactor = 50);

-- What a board's pins are, as it told it last: a JSON object of values by name, '' without pins.
ALTER TABLE board_status ADD COLUMN pins TEXT NOT NULL DEFAULT '';
