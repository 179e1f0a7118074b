-- `digest` is the SHA-256 of the token, `mosquitto` the line's part that mosquitto checks it with: neither leads back to it.
CREATE TABLE device_tokens (
    device TEXT PRIMARY KEY,
    digest BYTEA NOT NULL UNIQUE,
    mosquitto TEXT NOT NULL,
    made BIGINT NOT NULL
);

-- What the gateway was used for on a day (days since 1970, UTC); device '' is all together.
CREATE TABLE gateway_use (
    day BIGINT NOT NULL,
    device TEXT NOT NULL,
    calls BIGINT NOT NULL,
    tokens BIGINT NOT NULL,
    PRIMARY KEY (day, device)
) WITH (fillfactor = 50);
