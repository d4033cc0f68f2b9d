-- What extensions keep for a tenant, beside what they keep for a conversation in `state`. A value is that of the
-- conversation whose turn wrote it last, and is forgotten with it.
CREATE TABLE extension_state (
    tenant TEXT NOT NULL CHECK (tenant <> ''),
    extension TEXT NOT NULL,
    key TEXT NOT NULL,
    scope INTEGER NOT NULL,
    conversation INTEGER NOT NULL,
    json BODY NOT NULL,
    PRIMARY KEY (tenant, extension, key)
) WITHOUT ROWID;

CREATE INDEX extension_state_conversation ON extension_state (tenant, scope, conversation);
