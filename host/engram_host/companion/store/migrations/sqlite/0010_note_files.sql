-- The notes of boards: `file` is the name on the board's flash, which tells whose it is, `epoch` that of the board's records.
-- `crc` is the crc32 of the text. `is_left`: its days on the board are over. `replaced`: when another epoch took the place of
-- its own, in Unix seconds, 0 while it is the present one.
CREATE TABLE note_files (
    device TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    file TEXT NOT NULL,
    crc INTEGER NOT NULL,
    is_left INTEGER NOT NULL,
    replaced INTEGER NOT NULL,
    content BLOB NOT NULL,
    PRIMARY KEY (device, epoch, file)
) WITHOUT ROWID;
