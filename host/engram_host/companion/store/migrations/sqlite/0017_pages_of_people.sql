-- Whose page a session or a link opens: the principal of a person who sees what is theirs, '' for an operator's page.
ALTER TABLE page_sessions ADD COLUMN principal TEXT NOT NULL DEFAULT '';
ALTER TABLE page_codes ADD COLUMN principal TEXT NOT NULL DEFAULT '';
