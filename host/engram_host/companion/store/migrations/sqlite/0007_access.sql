-- Tokens of operators beside the one of the file; `ends` is Unix seconds, 0 for never.
CREATE TABLE operator_tokens (
    name TEXT PRIMARY KEY,
    digest BLOB NOT NULL UNIQUE,
    is_read_only INTEGER NOT NULL,
    made INTEGER NOT NULL,
    ends INTEGER NOT NULL
);

-- The token that a board had before its present one, and until when it is still taken.
CREATE TABLE former_tokens (
    device TEXT PRIMARY KEY,
    digest BLOB NOT NULL UNIQUE,
    ends INTEGER NOT NULL
);

-- Who did what; `address` is where a request came from, "" for a command on the companion's computer.
CREATE TABLE audit (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    who TEXT NOT NULL,
    action TEXT NOT NULL,
    outcome TEXT NOT NULL,
    address TEXT NOT NULL
);
