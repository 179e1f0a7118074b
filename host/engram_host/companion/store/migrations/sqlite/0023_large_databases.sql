-- What belongs to a board, and what is to go by its age, is found without a look at the rows of all boards.
CREATE INDEX aside_by_number ON aside (device, number);
CREATE INDEX aside_by_time ON aside (at);
CREATE INDEX former_copies ON logs (device) WHERE NOT is_present;
CREATE INDEX former_notes ON note_files (replaced) WHERE replaced > 0;
CREATE INDEX conversations_of_board ON conversations (device, number);
CREATE INDEX conversations_by_change ON conversations (changed);
CREATE INDEX board_days_by_day ON board_days (day);
CREATE INDEX lost_senses ON senses (replaced) WHERE replaced > 0;
CREATE INDEX minutes_by_day ON sense_parts (part) WHERE level = 0;
CREATE INDEX lasting_events ON sense_events (device, number) WHERE ended = 0;
