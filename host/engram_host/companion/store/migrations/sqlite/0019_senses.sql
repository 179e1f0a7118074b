-- The senses that boards have, by an own number `key` of each board. `number` is that of the board, `made` when it was made there;
-- `replaced` is 0, or when the board lost it without having forgotten it. `at` and `value` are of the latest reading.
CREATE TABLE senses (
    device TEXT NOT NULL,
    key INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    number INTEGER NOT NULL,
    name TEXT NOT NULL,
    unit TEXT NOT NULL,
    decimals INTEGER NOT NULL,
    made INTEGER NOT NULL,
    replaced INTEGER NOT NULL,
    at INTEGER NOT NULL,
    value INTEGER NOT NULL,
    PRIMARY KEY (device, key)
) WITHOUT ROWID;

-- What there is of a board's senses: the epoch of its records, the number of its next new sense, and of each level of readings
-- the newest block that came, by its seq and check.
CREATE TABLE sense_copies (
    device TEXT PRIMARY KEY,
    epoch INTEGER NOT NULL,
    next INTEGER NOT NULL,
    minute_seq INTEGER NOT NULL,
    minute_check TEXT NOT NULL,
    hour_seq INTEGER NOT NULL,
    hour_check TEXT NOT NULL,
    day_seq INTEGER NOT NULL,
    day_check TEXT NOT NULL
) WITHOUT ROWID;

-- The blocks that came, so that none counts twice.
CREATE TABLE sense_blocks (
    device TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    level INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    block_check TEXT NOT NULL,
    PRIMARY KEY (device, epoch, level, seq, block_check)
) WITHOUT ROWID;

-- Aggregates of a sense: compressed JSON Lines of a day in UTC; of level 2, of 64 days.
CREATE TABLE sense_parts (
    device TEXT NOT NULL,
    sense INTEGER NOT NULL,
    level INTEGER NOT NULL,
    part INTEGER NOT NULL,
    size INTEGER NOT NULL,
    content BLOB NOT NULL,
    PRIMARY KEY (device, sense, level, part)
);

-- Events of senses, as boards told them: `ended` is 0 while one lasts, `line` has all of its fields as JSON.
CREATE TABLE sense_events (
    device TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    number INTEGER NOT NULL,
    sense INTEGER NOT NULL,
    kind TEXT NOT NULL,
    started INTEGER NOT NULL,
    ended INTEGER NOT NULL,
    line TEXT NOT NULL,
    PRIMARY KEY (device, epoch, number)
) WITHOUT ROWID;

-- What a board's pins are, as it told it last: a JSON object of values by name, '' without pins.
ALTER TABLE board_status ADD COLUMN pins TEXT NOT NULL DEFAULT '';
