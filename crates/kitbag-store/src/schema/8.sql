-- Keys of the server's clients. `hash` is that of a whole key, which is kept nowhere. The numbers are limits.
CREATE TABLE api_key (
    tenant TEXT NOT NULL CHECK (tenant <> ''),
    id TEXT NOT NULL,
    name BODY NOT NULL,
    hash BLOB NOT NULL,
    scopes TEXT NOT NULL,
    requests INTEGER,
    tokens INTEGER,
    created INTEGER NOT NULL,
    expires INTEGER,
    revoked INTEGER,
    PRIMARY KEY (tenant, id)
) WITHOUT ROWID;

-- Who did what: rows are added, and go with their tenant alone. `actor` is the id of a key, `subject` an id
-- of this store; no words of anybody stand here.
CREATE TABLE audit (
    tenant TEXT NOT NULL CHECK (tenant <> ''),
    id INTEGER NOT NULL,
    at INTEGER NOT NULL,
    actor TEXT,
    action TEXT NOT NULL,
    subject TEXT,
    PRIMARY KEY (tenant, id)
) WITHOUT ROWID;
