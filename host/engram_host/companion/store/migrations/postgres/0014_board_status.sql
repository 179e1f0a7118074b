-- How each board was when it last told it (`at`, Unix seconds): sizes in bytes, and counts since its start, of which `run`
-- is another number for each. 0 and '' stand for what it does not tell.
CREATE TABLE board_status (
    device TEXT PRIMARY KEY,
    at BIGINT NOT NULL,
    run BIGINT NOT NULL,
    seconds BIGINT NOT NULL,
    firmware TEXT NOT NULL,
    mode TEXT NOT NULL,
    reset TEXT NOT NULL,
    flash BIGINT NOT NULL,
    flash_size BIGINT NOT NULL,
    records_bytes BIGINT NOT NULL,
    records_cap BIGINT NOT NULL,
    memories BIGINT NOT NULL,
    kept_turns BIGINT NOT NULL,
    heap BIGINT NOT NULL,
    heap_size BIGINT NOT NULL,
    model TEXT NOT NULL,
    model_problem TEXT NOT NULL,
    telegram TEXT NOT NULL,
    telegram_problem TEXT NOT NULL,
    turns BIGINT NOT NULL,
    failed BIGINT NOT NULL,
    calls BIGINT NOT NULL,
    tokens BIGINT NOT NULL,
    searches BIGINT NOT NULL,
    searches_empty BIGINT NOT NULL,
    errors BIGINT NOT NULL
) WITH (fillfactor = 50);

-- A board on a day (days since 1970, UTC): what stood last, the most that it was, and what happened on the day.
CREATE TABLE board_days (
    device TEXT NOT NULL,
    day BIGINT NOT NULL,
    flash BIGINT NOT NULL,
    flash_most BIGINT NOT NULL,
    flash_size BIGINT NOT NULL,
    records_bytes BIGINT NOT NULL,
    records_most BIGINT NOT NULL,
    memories BIGINT NOT NULL,
    kept_turns BIGINT NOT NULL,
    turns BIGINT NOT NULL,
    failed BIGINT NOT NULL,
    calls BIGINT NOT NULL,
    tokens BIGINT NOT NULL,
    searches BIGINT NOT NULL,
    searches_empty BIGINT NOT NULL,
    errors BIGINT NOT NULL,
    PRIMARY KEY (device, day)
) WITH (fillfactor = 50);
