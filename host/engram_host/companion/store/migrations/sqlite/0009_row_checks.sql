-- The crc32 of a row's values; NULL in rows that were written before there was one.
ALTER TABLE device_tokens ADD COLUMN crc INTEGER;
ALTER TABLE former_tokens ADD COLUMN crc INTEGER;
ALTER TABLE operator_tokens ADD COLUMN crc INTEGER;
ALTER TABLE audit ADD COLUMN crc INTEGER;
