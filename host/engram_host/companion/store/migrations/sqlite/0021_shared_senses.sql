-- Whether all who reach a board may see a sense: 1, or 0 for the owner alone, as its board says.
ALTER TABLE senses ADD COLUMN shared INTEGER NOT NULL DEFAULT 0;
