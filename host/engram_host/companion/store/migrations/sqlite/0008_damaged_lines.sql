-- A line with an empty `crc` was found damaged: it is passed over until its board sends it again.
CREATE INDEX damaged_lines ON lines (crc, device, log, epoch, seq) WHERE crc = '' AND line IS NOT NULL;
