-- How many messages of a conversation people may see, so that a list of conversations need not count
-- them. Nothing where it is not known: stores of older versions, until a scope is indexed anew.
ALTER TABLE conversation ADD COLUMN kept INTEGER;

-- The latest conversations of a tenant.
CREATE INDEX conversation_active ON conversation (tenant, active, scope, id);
