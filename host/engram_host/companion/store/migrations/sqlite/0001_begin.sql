CREATE TABLE devices (
    name TEXT PRIMARY KEY,
    board TEXT NOT NULL,
    link INTEGER NOT NULL,
    n INTEGER NOT NULL,
    heard INTEGER NOT NULL,
    zone INTEGER NOT NULL,
    version INTEGER NOT NULL
) WITHOUT ROWID;

-- A copy of a log in one epoch. `rewrites` is what the board told last, `agreed` that of the last comparison, -1 for none.
CREATE TABLE logs (
    device TEXT NOT NULL,
    log TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    is_present INTEGER NOT NULL,
    have INTEGER NOT NULL,
    oldest INTEGER NOT NULL,
    next INTEGER NOT NULL,
    rewrites INTEGER NOT NULL,
    agreed INTEGER NOT NULL,
    PRIMARY KEY (device, log, epoch)
) WITHOUT ROWID;

CREATE UNIQUE INDEX one_present_copy ON logs (device, log) WHERE is_present;

-- `line` is NULL when it has gone: the row tells those who read the changes.
CREATE TABLE lines (
    device TEXT NOT NULL,
    log TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    version INTEGER NOT NULL,
    received INTEGER NOT NULL,
    crc TEXT NOT NULL,
    line BLOB,
    PRIMARY KEY (device, log, epoch, seq)
) WITHOUT ROWID;

CREATE INDEX lines_by_version ON lines (device, version);

CREATE TABLE aside (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    device TEXT NOT NULL,
    log TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    why TEXT NOT NULL,
    line BLOB NOT NULL
);

CREATE INDEX aside_by_seq ON aside (device, log, seq);

CREATE TABLE vectors (
    device TEXT NOT NULL,
    log TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    identity TEXT NOT NULL,
    digest BLOB NOT NULL,
    version INTEGER NOT NULL,
    vector BLOB NOT NULL,
    PRIMARY KEY (device, log, epoch, seq, identity)
);

CREATE INDEX vectors_by_version ON vectors (device, identity, version);

CREATE INDEX vectors_by_digest ON vectors (identity, digest);

CREATE TABLE events (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    device TEXT NOT NULL,
    at INTEGER NOT NULL,
    text TEXT NOT NULL
);

CREATE INDEX events_by_device ON events (device, number);

CREATE TABLE notes (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;
