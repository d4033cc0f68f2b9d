-- How many scopes a tenant has ever had, so that no number is given twice.
CREATE TABLE tenant (
    tenant TEXT NOT NULL CHECK (tenant <> ''),
    scopes INTEGER NOT NULL,
    PRIMARY KEY (tenant)
) WITHOUT ROWID;

-- What one sender said on one channel: the unit of recall, with the totals that ranking needs.
-- Messages up to `indexed` are in blocks; the words of later ones are looked up in their rows.
CREATE TABLE scope (
    tenant TEXT NOT NULL CHECK (tenant <> ''),
    id INTEGER NOT NULL,
    sender TEXT NOT NULL,
    channel TEXT NOT NULL,
    conversations INTEGER NOT NULL,
    arrivals INTEGER NOT NULL,
    indexed INTEGER NOT NULL,
    blocks INTEGER NOT NULL,
    passages INTEGER NOT NULL,
    words INTEGER NOT NULL,
    analysis INTEGER NOT NULL,
    PRIMARY KEY (tenant, id),
    UNIQUE (tenant, sender, channel)
) WITHOUT ROWID;

CREATE TABLE conversation (
    tenant TEXT NOT NULL CHECK (tenant <> ''),
    scope INTEGER NOT NULL,
    id INTEGER NOT NULL,
    name TEXT,
    began INTEGER NOT NULL,
    active INTEGER NOT NULL,
    closed INTEGER,
    messages INTEGER NOT NULL,
    turns INTEGER NOT NULL,
    PRIMARY KEY (tenant, scope, id),
    UNIQUE (tenant, scope, name)
) WITHOUT ROWID;

CREATE INDEX conversation_open ON conversation (tenant, scope, active)
    WHERE closed IS NULL AND name IS NULL;

-- `arrival` counts the messages of a scope, `seq` those of a conversation.
CREATE TABLE message (
    tenant TEXT NOT NULL CHECK (tenant <> ''),
    scope INTEGER NOT NULL,
    arrival INTEGER NOT NULL,
    conversation INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    role TEXT NOT NULL,
    speaker TEXT,
    ref TEXT,
    at INTEGER,
    at_offset INTEGER,
    recallable INTEGER NOT NULL,
    traits INTEGER NOT NULL,
    previous_traits INTEGER,
    words INTEGER NOT NULL,
    fingerprint INTEGER NOT NULL,
    cuts BLOB,
    terms BLOB,
    body BODY NOT NULL,
    PRIMARY KEY (tenant, scope, arrival),
    UNIQUE (tenant, scope, conversation, seq)
) WITHOUT ROWID;

CREATE INDEX message_at ON message (tenant, scope, at);

-- Runs of messages whose words are in `posting`.
CREATE TABLE block (
    tenant TEXT NOT NULL CHECK (tenant <> ''),
    scope INTEGER NOT NULL,
    id INTEGER NOT NULL,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    PRIMARY KEY (tenant, scope, id)
) WITHOUT ROWID;

CREATE TABLE posting (
    tenant TEXT NOT NULL CHECK (tenant <> ''),
    scope INTEGER NOT NULL,
    term TEXT NOT NULL,
    block INTEGER NOT NULL,
    places BLOB NOT NULL,
    PRIMARY KEY (tenant, scope, term, block)
) WITHOUT ROWID;

-- What is known about a sender, on whatever channel. A value that was replaced stays, with the time
-- until which it held. `source_` is the message that it was learned from.
CREATE TABLE fact (
    tenant TEXT NOT NULL CHECK (tenant <> ''),
    sender TEXT NOT NULL,
    key TEXT NOT NULL,
    version INTEGER NOT NULL,
    value BODY NOT NULL,
    since INTEGER NOT NULL,
    until INTEGER,
    source_scope INTEGER,
    source_conversation INTEGER,
    source_seq INTEGER,
    PRIMARY KEY (tenant, sender, key, version)
) WITHOUT ROWID;

CREATE INDEX fact_current ON fact (tenant, sender, since DESC, key) WHERE until IS NULL;
CREATE INDEX fact_source ON fact (tenant, source_scope, source_conversation, source_seq)
    WHERE source_scope IS NOT NULL;

CREATE INDEX fact_learned ON fact (tenant, source_scope, since DESC)
    WHERE until IS NULL AND source_scope IS NOT NULL;

CREATE TABLE summary (
    tenant TEXT NOT NULL CHECK (tenant <> ''),
    scope INTEGER NOT NULL,
    id INTEGER NOT NULL,
    conversation INTEGER NOT NULL,
    first_seq INTEGER NOT NULL,
    last_seq INTEGER NOT NULL,
    made INTEGER NOT NULL,
    by_model INTEGER NOT NULL,
    body BODY NOT NULL,
    PRIMARY KEY (tenant, scope, id)
) WITHOUT ROWID;

-- What is kept of a conversation between turns, as JSON: `layers`, `throttle`, `entries`, `epoch`.
CREATE TABLE state (
    tenant TEXT NOT NULL CHECK (tenant <> ''),
    scope INTEGER NOT NULL,
    conversation INTEGER NOT NULL,
    kind TEXT NOT NULL,
    json BODY NOT NULL,
    PRIMARY KEY (tenant, scope, conversation, kind)
) WITHOUT ROWID;

-- Who works on a conversation. `fence` grows with every owner, and each commit checks it.
CREATE TABLE lease (
    tenant TEXT NOT NULL CHECK (tenant <> ''),
    scope INTEGER NOT NULL,
    conversation INTEGER NOT NULL,
    owner TEXT,
    fence INTEGER NOT NULL,
    until INTEGER NOT NULL,
    PRIMARY KEY (tenant, scope, conversation)
) WITHOUT ROWID;

CREATE TABLE turn (
    tenant TEXT NOT NULL CHECK (tenant <> ''),
    scope INTEGER NOT NULL,
    conversation INTEGER NOT NULL,
    id INTEGER NOT NULL,
    idempotency_key TEXT,
    status TEXT NOT NULL,
    message INTEGER NOT NULL,
    reply INTEGER,
    inferences INTEGER NOT NULL,
    accepted INTEGER NOT NULL,
    ended INTEGER,
    problem BODY,
    PRIMARY KEY (tenant, scope, conversation, id),
    UNIQUE (tenant, scope, idempotency_key)
) WITHOUT ROWID;

-- Every prompt that was sent. `recipe` is the JSON that it is rendered from, with texts by hash.
CREATE TABLE prompt (
    tenant TEXT NOT NULL CHECK (tenant <> ''),
    scope INTEGER NOT NULL,
    conversation INTEGER NOT NULL,
    turn INTEGER NOT NULL,
    inference INTEGER NOT NULL,
    sent INTEGER NOT NULL,
    hash BLOB NOT NULL,
    bytes INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    forgotten TEXT,
    recipe BODY,
    PRIMARY KEY (tenant, scope, conversation, turn, inference)
) WITHOUT ROWID;

CREATE INDEX prompt_sent ON prompt (tenant, sent);

-- Which texts a prompt is made of, and what they tell of: `message/3.7`, `fact/timezone`. Only the first prompt of a
-- conversation that has a text has a row for it; the recipes of the later ones tell which of them have it too.
CREATE TABLE prompt_text (
    tenant TEXT NOT NULL CHECK (tenant <> ''),
    scope INTEGER NOT NULL,
    conversation INTEGER NOT NULL,
    turn INTEGER NOT NULL,
    inference INTEGER NOT NULL,
    hash BLOB NOT NULL,
    origin TEXT NOT NULL,
    PRIMARY KEY (tenant, scope, conversation, turn, inference, hash, origin)
) WITHOUT ROWID;

CREATE INDEX prompt_text_hash ON prompt_text (tenant, hash);
CREATE INDEX prompt_text_origin ON prompt_text (tenant, origin);

-- Texts of prompts, each once.
CREATE TABLE text (
    tenant TEXT NOT NULL CHECK (tenant <> ''),
    hash BLOB NOT NULL,
    body BODY NOT NULL,
    PRIMARY KEY (tenant, hash)
) WITHOUT ROWID;
