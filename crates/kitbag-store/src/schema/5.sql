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
