-- Photos and sounds that the companion keeps for boards, each in a file whose name is `sha`, the SHA-256 of its bytes. `scope` says who
-- may see one, `number` is higher for what came later, and `used` is when a line of the board was first seen to name it, 0 before.
CREATE TABLE media (
    device TEXT NOT NULL,
    id TEXT NOT NULL,
    sha TEXT NOT NULL,
    type TEXT NOT NULL,
    size BIGINT NOT NULL,
    scope TEXT NOT NULL,
    at BIGINT NOT NULL,
    number BIGINT NOT NULL,
    used BIGINT NOT NULL,
    PRIMARY KEY (device, id)
) WITH (fillfactor = 50);

CREATE INDEX media_sha ON media (sha);
