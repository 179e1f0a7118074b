-- `generation`: a random number, so that a board which comes after an erased one of its name is known as another one.
ALTER TABLE devices ADD COLUMN generation BIGINT NOT NULL DEFAULT 0;

-- When another epoch took the place of a copy, in Unix seconds; 0 while it is present, or where that is not known yet.
ALTER TABLE logs ADD COLUMN replaced BIGINT NOT NULL DEFAULT 0;

-- What a board added to its copies on a day (days since 1970, UTC): lines, their bytes, and new epochs.
CREATE TABLE device_use (
    day BIGINT NOT NULL,
    device TEXT NOT NULL,
    lines BIGINT NOT NULL,
    bytes BIGINT NOT NULL,
    epochs BIGINT NOT NULL,
    PRIMARY KEY (day, device)
) WITH (fillfactor = 50);
