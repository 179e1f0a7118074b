-- Tokens of operators beside the one of the file; `ends` is Unix seconds, 0 for never.
CREATE TABLE operator_tokens (
    name TEXT PRIMARY KEY,
    digest BYTEA NOT NULL UNIQUE,
    is_read_only BIGINT NOT NULL,
    made BIGINT NOT NULL,
    ends BIGINT NOT NULL
);

-- The token that a board had before its present one, and until when it is still taken.
CREATE TABLE former_tokens (
    device TEXT PRIMARY KEY,
    digest BYTEA NOT NULL UNIQUE,
    ends BIGINT NOT NULL
);

-- Who did what; `address` is where a request came from, "" for a command on the companion's computer.
CREATE TABLE audit (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at BIGINT NOT NULL,
    who TEXT NOT NULL,
    action TEXT NOT NULL,
    outcome TEXT NOT NULL,
    address TEXT NOT NULL
);
