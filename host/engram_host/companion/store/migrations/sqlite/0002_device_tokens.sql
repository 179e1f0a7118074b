-- `digest` is the SHA-256 of the token, `mosquitto` the line's part that mosquitto checks it with: neither leads back to it.
CREATE TABLE device_tokens (
    device TEXT PRIMARY KEY,
    digest BLOB NOT NULL UNIQUE,
    mosquitto TEXT NOT NULL,
    made INTEGER NOT NULL
) WITHOUT ROWID;

-- What the gateway was used for on a day (days since 1970, UTC); device '' is all together.
CREATE TABLE gateway_use (
    day INTEGER NOT NULL,
    device TEXT NOT NULL,
    calls INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    PRIMARY KEY (day, device)
) WITHOUT ROWID;
