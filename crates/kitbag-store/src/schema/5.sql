-- The stages of a turn with their times, and what its prompts were billed, as JSON.
ALTER TABLE turn ADD COLUMN record BODY;

-- The tokens of each model's latest prompts as they were counted and as they were billed.
CREATE TABLE calibration (
    tenant TEXT NOT NULL CHECK (tenant <> ''),
    model TEXT NOT NULL,
    tokenizer TEXT NOT NULL,
    answers INTEGER NOT NULL,
    counted INTEGER NOT NULL,
    billed INTEGER NOT NULL,
    factor INTEGER NOT NULL,
    PRIMARY KEY (tenant, model)
) WITHOUT ROWID;

-- Messages that were refused before anything of them was stored: who sent them, where, when and why. The
-- latest of them are kept.
CREATE TABLE refusal (
    tenant TEXT NOT NULL CHECK (tenant <> ''),
    id INTEGER NOT NULL,
    at INTEGER NOT NULL,
    channel BODY NOT NULL,
    sender BODY NOT NULL,
    reason BODY NOT NULL,
    PRIMARY KEY (tenant, id)
) WITHOUT ROWID;
