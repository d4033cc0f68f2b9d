-- Texts that were added to requests of clients which keep their conversations themselves, and are added at
-- the same place of each later request. `anchor` is the hash of all that was said up to there.
CREATE TABLE splice (
    tenant TEXT NOT NULL CHECK (tenant <> ''),
    scope INTEGER NOT NULL,
    anchor BLOB NOT NULL,
    made INTEGER NOT NULL,
    body BODY NOT NULL,
    PRIMARY KEY (tenant, scope, anchor)
) WITHOUT ROWID;

CREATE INDEX splice_made ON splice (tenant, scope, made);
