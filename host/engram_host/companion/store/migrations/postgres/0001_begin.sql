CREATE EXTENSION IF NOT EXISTS vector;

CREATE TABLE devices (
    name TEXT PRIMARY KEY,
    board TEXT NOT NULL,
    link BIGINT NOT NULL,
    n BIGINT NOT NULL,
    heard BIGINT NOT NULL,
    zone INTEGER NOT NULL,
    version BIGINT NOT NULL
) WITH (fillfactor = 50);

-- A copy of a log in one epoch. `rewrites` is what the board told last, `agreed` that of the last comparison, -1 for none.
CREATE TABLE logs (
    device TEXT NOT NULL,
    log TEXT NOT NULL,
    epoch BIGINT NOT NULL,
    is_present BOOLEAN NOT NULL,
    have BIGINT NOT NULL,
    oldest BIGINT NOT NULL,
    next BIGINT NOT NULL,
    rewrites BIGINT NOT NULL,
    agreed BIGINT NOT NULL,
    PRIMARY KEY (device, log, epoch)
) WITH (fillfactor = 50);

CREATE UNIQUE INDEX one_present_copy ON logs (device, log) WHERE is_present;

-- `line` is NULL when it has gone: the row tells those who read the changes.
CREATE TABLE lines (
    device TEXT NOT NULL,
    log TEXT NOT NULL,
    epoch BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    version BIGINT NOT NULL,
    received BIGINT NOT NULL,
    crc TEXT NOT NULL,
    line BYTEA,
    PRIMARY KEY (device, log, epoch, seq)
) PARTITION BY HASH (device);

CREATE INDEX lines_by_version ON lines (device, version);

CREATE TABLE aside (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    device TEXT NOT NULL,
    log TEXT NOT NULL,
    epoch BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    at BIGINT NOT NULL,
    why TEXT NOT NULL,
    line BYTEA NOT NULL
) WITH (autovacuum_vacuum_threshold = 1, autovacuum_vacuum_scale_factor = 0);

CREATE INDEX aside_by_seq ON aside (device, log, seq);

-- Vectors of several dimensions may stand here: all that are compared are of one device and one identity.
CREATE TABLE vectors (
    device TEXT NOT NULL,
    log TEXT NOT NULL,
    epoch BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    identity TEXT NOT NULL,
    digest BYTEA NOT NULL,
    version BIGINT NOT NULL,
    vector vector NOT NULL,
    PRIMARY KEY (device, log, epoch, seq, identity)
) PARTITION BY HASH (device);

CREATE INDEX vectors_by_version ON vectors (device, identity, version);

CREATE INDEX vectors_by_digest ON vectors (identity, digest);

-- What was forgotten leaves the partitions' pages soon, not only when a fifth of them has changed.
DO $$
BEGIN
    FOR part IN 0..15 LOOP
        EXECUTE format(
            'CREATE TABLE lines_%s PARTITION OF lines FOR VALUES WITH (MODULUS 16, REMAINDER %s) '
            'WITH (autovacuum_vacuum_threshold = 1, autovacuum_vacuum_scale_factor = 0)', part, part);
        EXECUTE format(
            'CREATE TABLE vectors_%s PARTITION OF vectors FOR VALUES WITH (MODULUS 16, REMAINDER %s) '
            'WITH (autovacuum_vacuum_threshold = 1, autovacuum_vacuum_scale_factor = 0)', part, part);
    END LOOP;
END
$$;

CREATE TABLE events (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    device TEXT NOT NULL,
    at BIGINT NOT NULL,
    text TEXT NOT NULL
);

CREATE INDEX events_by_device ON events (device, number);

CREATE TABLE notes (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
);
