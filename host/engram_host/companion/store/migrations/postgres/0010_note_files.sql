-- The notes of boards: `file` is the name on the board's flash, which tells whose it is, `epoch` that of the board's records.
-- `crc` is the crc32 of the text. `is_left`: its days on the board are over. `replaced`: when another epoch took the place of
-- its own, in Unix seconds, 0 while it is the present one.
CREATE TABLE note_files (
    device TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    file TEXT NOT NULL,
    crc BIGINT NOT NULL,
    is_left BOOLEAN NOT NULL,
    replaced BIGINT NOT NULL,
    content BYTEA NOT NULL,
    PRIMARY KEY (device, epoch, file)
) WITH (autovacuum_vacuum_threshold = 1, autovacuum_vacuum_scale_factor = 0);
