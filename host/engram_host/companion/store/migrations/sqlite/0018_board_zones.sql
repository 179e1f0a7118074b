-- The rule of a board's time zone with daylight saving, as POSIX has it, beside `zone`, the offset of its standard time; '' for a
-- board without one.
ALTER TABLE devices ADD COLUMN rule TEXT NOT NULL DEFAULT '';
