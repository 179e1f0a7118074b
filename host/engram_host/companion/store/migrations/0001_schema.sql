CREATE TABLE devices (
    name TEXT PRIMARY KEY,
    board TEXT NOT NULL,
    link INTEGER NOT NULL,
    n INTEGER NOT NULL,
    heard INTEGER NOT NULL,
    zone INTEGER NOT NULL,
    version INTEGER NOT NULL,
    -- `generation`: a random number, so that a board which comes after an erased one of its name is known as another one.
    generation INTEGER NOT NULL DEFAULT 0,
    -- The rule of a board's time zone with daylight saving, as POSIX has it, beside `zone`, the offset of its standard time; '' for a
    -- board without one.
    rule TEXT NOT NULL DEFAULT ''
) WITHOUT ROWID;

-- A copy of a log in one epoch. `rewrites` is what the board told last, `agreed` that of the last comparison, -1 for none.
CREATE TABLE logs (
    device TEXT NOT NULL,
    log TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    is_present BOOLEAN NOT NULL,
    have INTEGER NOT NULL,
    oldest INTEGER NOT NULL,
    next INTEGER NOT NULL,
    rewrites INTEGER NOT NULL,
    agreed INTEGER NOT NULL,
    -- When another epoch took the place of a copy, in Unix seconds; 0 while it is present.
    replaced INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (device, log, epoch)
) WITHOUT ROWID;

CREATE UNIQUE INDEX one_present_copy ON logs (device, log) WHERE is_present;

-- `line` is NULL when it has gone: the row tells those who read the changes.
CREATE TABLE lines (
    device TEXT NOT NULL,
    log TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    version INTEGER NOT NULL,
    received INTEGER NOT NULL,
    crc TEXT NOT NULL,
    line BLOB,
    -- `archive`: 0 for a line like others; -1 for one that the companion has promised to keep; the record's number for one that was
    -- archived. `beyond`: the board has it no more, so it is not compared.
    archive INTEGER NOT NULL DEFAULT 0,
    beyond BOOLEAN NOT NULL DEFAULT FALSE,
    PRIMARY KEY (device, log, epoch, seq)
) WITHOUT ROWID;

CREATE INDEX lines_by_version ON lines (device, version);

CREATE TABLE aside (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    device TEXT NOT NULL,
    log TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    why TEXT NOT NULL,
    line BLOB NOT NULL
);

CREATE INDEX aside_by_seq ON aside (device, log, seq);

CREATE TABLE vectors (
    device TEXT NOT NULL,
    log TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    identity TEXT NOT NULL,
    digest BLOB NOT NULL,
    version INTEGER NOT NULL,
    vector BLOB NOT NULL,
    PRIMARY KEY (device, log, epoch, seq, identity)
);

CREATE INDEX vectors_by_version ON vectors (device, identity, version);

CREATE INDEX vectors_by_digest ON vectors (identity, digest);

CREATE TABLE events (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    device TEXT NOT NULL,
    at INTEGER NOT NULL,
    text TEXT NOT NULL
);

CREATE INDEX events_by_device ON events (device, number);

CREATE TABLE notes (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;

-- `digest` is the SHA-256 of the token, `mosquitto` the line's part that mosquitto checks it with: neither leads back to it.
CREATE TABLE device_tokens (
    device TEXT PRIMARY KEY,
    digest BLOB NOT NULL UNIQUE,
    mosquitto TEXT NOT NULL,
    made INTEGER NOT NULL
) WITHOUT ROWID;

-- What the gateway was used for on a day (days since 1970, UTC); device '' is all together.
CREATE TABLE gateway_use (
    day INTEGER NOT NULL,
    device TEXT NOT NULL,
    calls INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    PRIMARY KEY (day, device)
) WITHOUT ROWID;

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

CREATE INDEX lines_of_archive ON lines (device, log, epoch, archive) WHERE archive <> 0;

-- What a board added to its copies on a day (days since 1970, UTC): lines and their bytes.
CREATE TABLE device_use (
    day INTEGER NOT NULL,
    device TEXT NOT NULL,
    lines INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    PRIMARY KEY (day, device)
) WITHOUT ROWID;

-- Tokens of operators beside the one of the file; `ends` is Unix seconds, 0 for never.
CREATE TABLE operator_tokens (
    name TEXT PRIMARY KEY,
    digest BLOB NOT NULL UNIQUE,
    is_read_only INTEGER NOT NULL,
    made INTEGER NOT NULL,
    ends INTEGER NOT NULL
);

-- The token that a board had before its present one, and until when it is still taken.
CREATE TABLE former_tokens (
    device TEXT PRIMARY KEY,
    digest BLOB NOT NULL UNIQUE,
    ends INTEGER NOT NULL
);

-- Who did what; `address` is where a request came from, "" for a command on the companion's computer.
CREATE TABLE audit (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    who TEXT NOT NULL,
    action TEXT NOT NULL,
    outcome TEXT NOT NULL,
    address TEXT NOT NULL
);

-- A line with an empty `crc` was found damaged: it is passed over until its board sends it again.
CREATE INDEX damaged_lines ON lines (crc, device, log, epoch, seq) WHERE crc = '' AND line IS NOT NULL;

-- The notes of boards: `file` is the name on the board's flash, which tells whose it is, `epoch` that of the board's records.
-- `crc` is the crc32 of the text. `is_left`: its days on the board are over. `replaced`: when another epoch took the place of
-- its own, in Unix seconds, 0 while it is the present one.
CREATE TABLE note_files (
    device TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    file TEXT NOT NULL,
    crc INTEGER NOT NULL,
    is_left BOOLEAN NOT NULL,
    replaced INTEGER NOT NULL,
    content BLOB NOT NULL,
    PRIMARY KEY (device, epoch, file)
) WITHOUT ROWID;

-- What people say to a board through the companion, and what the board begins to say (`is_push`). `at` is when it was said,
-- `changed` when its state changed, in Unix seconds; `turn` is the board's id of it. `offers` counts how often the board was
-- given it, `attempt` is the offer that the present answer is for, `k` the number of the newest message of it.
CREATE TABLE conversations (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    device TEXT NOT NULL,
    mid TEXT NOT NULL,
    principal TEXT NOT NULL,
    room TEXT NOT NULL,
    is_group INTEGER NOT NULL,
    workspace TEXT NOT NULL,
    is_command INTEGER NOT NULL,
    is_push INTEGER NOT NULL,
    text TEXT NOT NULL,
    state TEXT NOT NULL,
    turn TEXT NOT NULL,
    at INTEGER NOT NULL,
    changed INTEGER NOT NULL,
    offers INTEGER NOT NULL DEFAULT 0,
    attempt INTEGER NOT NULL DEFAULT 0,
    k INTEGER NOT NULL DEFAULT 0,
    is_cancelled INTEGER NOT NULL DEFAULT 0,
    -- Of the offers of a message, `begun` counts those that the board named, as it does with what it has in work; `unnamed` those
    -- that it has not named since then.
    begun INTEGER NOT NULL DEFAULT 0,
    unnamed INTEGER NOT NULL DEFAULT 0,
    -- Whose words a message has: who wrote what the person forwards, the beginning of what it answers, and the `mid` of the
    -- message that it corrects; each "" for none.
    forwarded TEXT NOT NULL,
    quoted TEXT NOT NULL,
    edits TEXT NOT NULL,
    UNIQUE (device, mid)
);

CREATE INDEX open_conversations ON conversations (device, number) WHERE state IN ('waiting', 'taken', 'answering');

-- The pieces of an answer, in order; a number is never used twice for one message.
CREATE TABLE conversation_pieces (
    device TEXT NOT NULL,
    mid TEXT NOT NULL,
    piece INTEGER NOT NULL,
    kind TEXT NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (device, mid, piece)
) WITHOUT ROWID;

-- People who were approved, by the principal that memories have; the owner's is `owner`.
CREATE TABLE people (
    principal TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    is_blocked INTEGER NOT NULL
) WITHOUT ROWID;

-- Their ids, `network:id`; a person may have several.
CREATE TABLE people_ids (
    ref TEXT PRIMARY KEY,
    principal TEXT NOT NULL
) WITHOUT ROWID;

CREATE INDEX ids_of_people ON people_ids (principal);

-- Groups in which boards answer, `network:id`: when they are mentioned, or always.
CREATE TABLE chat_groups (
    ref TEXT PRIMARY KEY,
    is_always INTEGER NOT NULL
) WITHOUT ROWID;

-- Strangers who were given a code, and when (Unix seconds).
CREATE TABLE pairing_codes (
    code TEXT PRIMARY KEY,
    ref TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    at INTEGER NOT NULL,
    -- The private chat in which they wrote, to be told there once they are approved; "" for that of a relay.
    bridge TEXT NOT NULL,
    chat TEXT NOT NULL
) WITHOUT ROWID;

-- Up to where a bridge has taken its network's messages.
CREATE TABLE bridge_marks (
    bridge TEXT PRIMARY KEY,
    mark TEXT NOT NULL
) WITHOUT ROWID;

-- Chats in which somebody who may talk has talked: whether it is a group now, the id of who talked last (`network:id`), the board
-- that was chosen there ("" for none), the one that was asked last, and when that was (Unix seconds).
CREATE TABLE bridge_chats (
    bridge TEXT NOT NULL,
    chat TEXT NOT NULL,
    thread TEXT NOT NULL,
    is_group INTEGER NOT NULL,
    ref TEXT NOT NULL,
    room TEXT NOT NULL,
    chosen TEXT NOT NULL,
    asked TEXT NOT NULL,
    heard INTEGER NOT NULL,
    PRIMARY KEY (bridge, chat, thread)
) WITHOUT ROWID;

CREATE INDEX rooms_of_chats ON bridge_chats (room);

-- What a chat is owed: the answer of a board (`device`) to a message with an id (`mid`), or a text that is known. `ref` is the
-- id (`network:id`) of whom it is for, "" for a whole group: who is blocked meanwhile gets nothing. `message` is the network's
-- id of the person's message, `at` when it came. `messages` are the network's ids of those that show the answer,
-- as JSON; `part` counts the complete ones, `start` is where in the answer the present one begins and `upto` where it ended
-- when it was sent, in bytes; `digest` is of the answer up to there, `heading` stands above the present one. `sending` is 1
-- from before it is sent until its id is here, `told` is 1 once the chat knows that the board is away.
CREATE TABLE bridge_deliveries (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    bridge TEXT NOT NULL,
    chat TEXT NOT NULL,
    thread TEXT NOT NULL,
    is_group INTEGER NOT NULL,
    ref TEXT NOT NULL,
    message TEXT NOT NULL,
    device TEXT NOT NULL,
    mid TEXT NOT NULL,
    text TEXT NOT NULL,
    state TEXT NOT NULL,
    at INTEGER NOT NULL,
    changed INTEGER NOT NULL,
    messages TEXT NOT NULL,
    part INTEGER NOT NULL,
    start INTEGER NOT NULL,
    upto INTEGER NOT NULL,
    digest TEXT NOT NULL,
    heading TEXT NOT NULL,
    sending INTEGER NOT NULL,
    told INTEGER NOT NULL,
    UNIQUE (mid, device)
);

CREATE INDEX open_deliveries ON bridge_deliveries (bridge, number) WHERE state = 'open';

-- What boards begin to say, for the chats in whose rooms it is.
CREATE INDEX pushes ON conversations (number) WHERE is_push = 1;

-- Browsers that are signed in on the page: `digest` is the SHA-256 of the cookie's value, `token` that of the token by which the
-- session began, empty where no token was asked for. Times are Unix seconds.
CREATE TABLE page_sessions (
    digest BLOB PRIMARY KEY,
    token BLOB NOT NULL,
    is_read_only INTEGER NOT NULL,
    made INTEGER NOT NULL,
    used INTEGER NOT NULL,
    ends INTEGER NOT NULL
) WITHOUT ROWID;

CREATE INDEX page_sessions_of_token ON page_sessions (token);

-- Codes of links that sign a browser in once; one that `is_local` does so on the companion's own computer only.
CREATE TABLE page_codes (
    digest BLOB PRIMARY KEY,
    token BLOB NOT NULL,
    is_local INTEGER NOT NULL,
    ends INTEGER NOT NULL
) WITHOUT ROWID;

-- How each board was when it last told it (`at`, Unix seconds): sizes in bytes, and counts since its start, of which `run`
-- is another number for each. 0 and '' stand for what it does not tell.
CREATE TABLE board_status (
    device TEXT PRIMARY KEY,
    at INTEGER NOT NULL,
    run INTEGER NOT NULL,
    seconds INTEGER NOT NULL,
    firmware TEXT NOT NULL,
    mode TEXT NOT NULL,
    reset TEXT NOT NULL,
    flash INTEGER NOT NULL,
    flash_size INTEGER NOT NULL,
    records_bytes INTEGER NOT NULL,
    records_cap INTEGER NOT NULL,
    memories INTEGER NOT NULL,
    kept_turns INTEGER NOT NULL,
    heap INTEGER NOT NULL,
    heap_size INTEGER NOT NULL,
    model TEXT NOT NULL,
    model_problem TEXT NOT NULL,
    telegram TEXT NOT NULL,
    telegram_problem TEXT NOT NULL,
    turns INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    calls INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    searches INTEGER NOT NULL,
    searches_empty INTEGER NOT NULL,
    errors INTEGER NOT NULL,
    -- What a board's pins are, as it told it last: a JSON object of values by name, '' without pins.
    pins TEXT NOT NULL DEFAULT ''
) WITHOUT ROWID;

-- A board on a day (days since 1970, UTC): what stood last, the most that it was, and what happened on the day.
CREATE TABLE board_days (
    device TEXT NOT NULL,
    day INTEGER NOT NULL,
    flash INTEGER NOT NULL,
    flash_most INTEGER NOT NULL,
    flash_size INTEGER NOT NULL,
    records_bytes INTEGER NOT NULL,
    records_most INTEGER NOT NULL,
    memories INTEGER NOT NULL,
    kept_turns INTEGER NOT NULL,
    turns INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    calls INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    searches INTEGER NOT NULL,
    searches_empty INTEGER NOT NULL,
    errors INTEGER NOT NULL,
    PRIMARY KEY (device, day)
) WITHOUT ROWID;

-- The senses that boards have, by an own number `key` of each board. `number` is that of the board, `made` when it was made there;

-- `replaced` is 0, or when the board lost it without having forgotten it. `at` and `value` are of the latest reading.
CREATE TABLE senses (
    device TEXT NOT NULL,
    key INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    number INTEGER NOT NULL,
    name TEXT NOT NULL,
    unit TEXT NOT NULL,
    decimals INTEGER NOT NULL,
    made INTEGER NOT NULL,
    replaced INTEGER NOT NULL,
    at INTEGER NOT NULL,
    value INTEGER NOT NULL,
    -- Whether all who reach a board may see a sense: 1, or 0 for the owner alone, as its board says.
    shared INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (device, key)
) WITHOUT ROWID;

-- What there is of a board's senses: the epoch of its records, the number of its next new sense, and of each level of readings
-- the newest block that came, by its seq and check.
CREATE TABLE sense_copies (
    device TEXT PRIMARY KEY,
    epoch INTEGER NOT NULL,
    next INTEGER NOT NULL,
    minute_seq INTEGER NOT NULL,
    minute_check TEXT NOT NULL,
    hour_seq INTEGER NOT NULL,
    hour_check TEXT NOT NULL
) WITHOUT ROWID;

-- The blocks that came, so that none counts twice.
CREATE TABLE sense_blocks (
    device TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    level INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    block_check TEXT NOT NULL,
    PRIMARY KEY (device, epoch, level, seq, block_check)
) WITHOUT ROWID;

-- Aggregates of a sense: compressed JSON Lines of a day in UTC; of level 2, of 64 days.
CREATE TABLE sense_parts (
    device TEXT NOT NULL,
    sense INTEGER NOT NULL,
    level INTEGER NOT NULL,
    part INTEGER NOT NULL,
    size INTEGER NOT NULL,
    content BLOB NOT NULL,
    PRIMARY KEY (device, sense, level, part)
);

-- Events of senses, as boards told them: `ended` is 0 while one lasts, `line` has all of its fields as JSON.
CREATE TABLE sense_events (
    device TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    number INTEGER NOT NULL,
    sense INTEGER NOT NULL,
    kind TEXT NOT NULL,
    started INTEGER NOT NULL,
    ended INTEGER NOT NULL,
    line TEXT NOT NULL,
    PRIMARY KEY (device, epoch, number)
) WITHOUT ROWID;

-- Photos and sounds that the companion keeps for boards, each in a file whose name is `sha`, the SHA-256 of its bytes. `scope` says who
-- may see one, `number` is higher for what came later, and `used` is when a line of the board was first seen to name it, 0 before.
CREATE TABLE media (
    device TEXT NOT NULL,
    id TEXT NOT NULL,
    sha TEXT NOT NULL,
    type TEXT NOT NULL,
    size INTEGER NOT NULL,
    scope TEXT NOT NULL,
    at INTEGER NOT NULL,
    number INTEGER NOT NULL,
    used INTEGER NOT NULL,
    PRIMARY KEY (device, id)
) WITHOUT ROWID;

CREATE INDEX media_sha ON media (sha);

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
