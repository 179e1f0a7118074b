-- `archive`: 0 for a line like others; -1 for one that the companion has promised to keep; the record's number for one that was
-- archived. `beyond`: the board has it no more, so it is not compared.
ALTER TABLE lines ADD COLUMN archive INTEGER NOT NULL DEFAULT 0;

ALTER TABLE lines ADD COLUMN beyond INTEGER NOT NULL DEFAULT 0;

CREATE INDEX lines_of_archive ON lines (device, log, epoch, archive) WHERE archive <> 0;
