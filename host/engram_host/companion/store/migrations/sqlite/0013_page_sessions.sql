-- Browsers that are signed in on the page: `digest` is the SHA-256 of the cookie's value, `token` that of the token by which the
-- session began, empty where no token was asked for. Times are Unix seconds.
CREATE TABLE page_sessions (
    digest BLOB PRIMARY KEY,
    token BLOB NOT NULL,
    is_read_only INTEGER NOT NULL,
    made INTEGER NOT NULL,
    used INTEGER NOT NULL,
    ends INTEGER NOT NULL
) WITHOUT ROWID;

CREATE INDEX page_sessions_of_token ON page_sessions (token);

-- Codes of links that sign a browser in once; one that `is_local` does so on the companion's own computer only.
CREATE TABLE page_codes (
    digest BLOB PRIMARY KEY,
    token BLOB NOT NULL,
    is_local INTEGER NOT NULL,
    ends INTEGER NOT NULL
) WITHOUT ROWID;
