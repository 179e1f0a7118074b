-- Of the offers of a message, `begun` counts those that the board named, as it does with what it has in work; `unnamed` those
-- that it has not named since then.
ALTER TABLE conversations ADD COLUMN begun BIGINT NOT NULL DEFAULT 0;
ALTER TABLE conversations ADD COLUMN unnamed BIGINT NOT NULL DEFAULT 0;
