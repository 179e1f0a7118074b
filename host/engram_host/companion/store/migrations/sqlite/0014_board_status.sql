-- How each board was when it last told it (`at`, Unix seconds): sizes in bytes, and counts since its start, of which `run`
-- is another number for each. 0 and '' stand for what it does not tell.
CREATE TABLE board_status (
    device TEXT PRIMARY KEY,
    at INTEGER NOT NULL,
    run INTEGER NOT NULL,
    seconds INTEGER NOT NULL,
    firmware TEXT NOT NULL,
    mode TEXT NOT NULL,
    reset TEXT NOT NULL,
    flash INTEGER NOT NULL,
    flash_size INTEGER NOT NULL,
    records_bytes INTEGER NOT NULL,
    records_cap INTEGER NOT NULL,
    memories INTEGER NOT NULL,
    kept_turns INTEGER NOT NULL,
    heap INTEGER NOT NULL,
    heap_size INTEGER NOT NULL,
    model TEXT NOT NULL,
    model_problem TEXT NOT NULL,
    telegram TEXT NOT NULL,
    telegram_problem TEXT NOT NULL,
    turns INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    calls INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    searches INTEGER NOT NULL,
    searches_empty INTEGER NOT NULL,
    errors INTEGER NOT NULL
) WITHOUT ROWID;

-- A board on a day (days since 1970, UTC): what stood last, the most that it was, and what happened on the day.
CREATE TABLE board_days (
    device TEXT NOT NULL,
    day INTEGER NOT NULL,
    flash INTEGER NOT NULL,
    flash_most INTEGER NOT NULL,
    flash_size INTEGER NOT NULL,
    records_bytes INTEGER NOT NULL,
    records_most INTEGER NOT NULL,
    memories INTEGER NOT NULL,
    kept_turns INTEGER NOT NULL,
    turns INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    calls INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    searches INTEGER NOT NULL,
    searches_empty INTEGER NOT NULL,
    errors INTEGER NOT NULL,
    PRIMARY KEY (device, day)
) WITHOUT ROWID;
