-- What a chat service shows as the name of a conversation.
ALTER TABLE conversation ADD COLUMN title BODY;

-- Older contents of messages that were changed, numbered from 1. `replaced` is the time of the change.
CREATE TABLE message_version (
    tenant TEXT NOT NULL CHECK (tenant <> ''),
    scope INTEGER NOT NULL,
    conversation INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    version INTEGER NOT NULL,
    replaced INTEGER NOT NULL,
    role TEXT NOT NULL,
    speaker TEXT,
    body BODY NOT NULL,
    json BODY,
    PRIMARY KEY (tenant, scope, conversation, seq, version)
) WITHOUT ROWID;

-- Marks of forgotten messages and facts, by which an import knows them: hashes with the tenant's key.
CREATE TABLE forgotten (
    tenant TEXT NOT NULL CHECK (tenant <> ''),
    mark BLOB NOT NULL,
    PRIMARY KEY (tenant, mark)
) WITHOUT ROWID;

-- The key of a tenant's marks: one row, made with the first mark.
CREATE TABLE mark_key (
    tenant TEXT NOT NULL CHECK (tenant <> ''),
    key BLOB NOT NULL,
    PRIMARY KEY (tenant, key)
) WITHOUT ROWID;

-- A block holds the words of a run of messages: in `words` where few, else in `posting`, whose rows hold
-- some words each, in their order. `first` there is the first word of the row, `part` tells the rows of
-- one word apart. Both are made anew of the messages when a scope is used.
DROP TABLE posting;
DROP TABLE block;
ALTER TABLE message DROP COLUMN terms;
ALTER TABLE scope DROP COLUMN indexed;

CREATE TABLE block (
    tenant TEXT NOT NULL CHECK (tenant <> ''),
    scope INTEGER NOT NULL,
    id INTEGER NOT NULL,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    words BLOB,
    PRIMARY KEY (tenant, scope, id)
) WITHOUT ROWID;

CREATE TABLE posting (
    tenant TEXT NOT NULL CHECK (tenant <> ''),
    scope INTEGER NOT NULL,
    block INTEGER NOT NULL,
    first TEXT NOT NULL,
    part INTEGER NOT NULL,
    words BLOB NOT NULL,
    PRIMARY KEY (tenant, scope, block, first, part)
) WITHOUT ROWID;

-- A fact that was drawn from a message, not told as one. `speaker` is the person it is about, where that
-- is not the sender: several people may speak in one conversation.
ALTER TABLE fact ADD COLUMN drawn INTEGER NOT NULL DEFAULT 0;
ALTER TABLE fact ADD COLUMN speaker TEXT;
