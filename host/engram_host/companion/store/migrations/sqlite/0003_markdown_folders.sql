-- The files of Markdown folders; `places` is JSON, [[seq, first line, last line], ...] of the passages among the folder's lines.
CREATE TABLE files (
    folder TEXT NOT NULL,
    path TEXT NOT NULL,
    stamp TEXT NOT NULL,
    digest TEXT NOT NULL,
    problem TEXT NOT NULL,
    passages INTEGER NOT NULL,
    places TEXT NOT NULL,
    PRIMARY KEY (folder, path)
) WITHOUT ROWID;
