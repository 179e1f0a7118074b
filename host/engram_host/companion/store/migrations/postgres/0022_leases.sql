-- What only one of several workers does: `holder` is a worker's id, '' for none, `fence` grows with each new holder, `until` is in
-- milliseconds of the database's clock.
CREATE TABLE leases (
    name TEXT PRIMARY KEY,
    holder TEXT NOT NULL,
    fence BIGINT NOT NULL,
    until BIGINT NOT NULL
) WITH (fillfactor = 50);
