-- Browsers that are signed in on the page: `digest` is the SHA-256 of the cookie's value, `token` that of the token by which the
-- session began, empty where no token was asked for. Times are Unix seconds.
CREATE TABLE page_sessions (
    digest BYTEA PRIMARY KEY,
    token BYTEA NOT NULL,
    is_read_only BIGINT NOT NULL,
    made BIGINT NOT NULL,
    used BIGINT NOT NULL,
    ends BIGINT NOT NULL
);

CREATE INDEX page_sessions_of_token ON page_sessions (token);

-- Codes of links that sign a browser in once; one that `is_local` does so on the companion's own computer only.
CREATE TABLE page_codes (
    digest BYTEA PRIMARY KEY,
    token BYTEA NOT NULL,
    is_local BIGINT NOT NULL,
    ends BIGINT NOT NULL
);
