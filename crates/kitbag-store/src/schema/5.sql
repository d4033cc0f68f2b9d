-- The stages of a turn with their times, and what its prompts were billed, as JSON.
ALTER TABLE turn ADD COLUMN record BODY;

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
