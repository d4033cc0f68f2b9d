-- `body` holds the text that is indexed. `json` holds the message where it is more than a role, one
-- text and a name: its fields, and its content where that is more than one text. `sent_as` is the
-- content that prompts held in its place, such as one in a wrapper. `internal` ones are for the
-- model alone. In `state`, `epoch_key` is the security key of the epoch's prompts.
ALTER TABLE message ADD COLUMN json BODY;
ALTER TABLE message ADD COLUMN sent_as BODY;
ALTER TABLE message ADD COLUMN internal INTEGER NOT NULL DEFAULT 0;
