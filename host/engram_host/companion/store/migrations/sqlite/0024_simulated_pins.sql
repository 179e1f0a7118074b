-- Whether a board's pins are simulated, as it reported last.
ALTER TABLE board_status ADD COLUMN pins_simulated INTEGER NOT NULL DEFAULT 0;
