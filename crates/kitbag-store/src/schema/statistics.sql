-- How the rows of a large store are spread, for SQLite's planner: all rows, and those with the same first
-- columns of the key, one number for each column. Without it the planner takes all rows of a tenant for ten, and
-- reads them where an index would find the few that are asked for.
ANALYZE tenant;
DELETE FROM sqlite_stat1 WHERE tbl IN ('tenant', 'message', 'scope', 'fact', 'prompt_text', 'extension_state');
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('message', 'message', '1000000 1000000 100000 1'),
    ('message', 'sqlite_autoindex_message_2', '1000000 1000000 100000 20 1'),
    ('message', 'message_at', '1000000 1000000 100000 2'),
    ('scope', 'scope', '1000 1000 1'),
    ('scope', 'sqlite_autoindex_scope_2', '1000 1000 2 1'),
    ('fact', 'fact', '100000 100000 1000 2 1'),
    ('fact', 'fact_current', '100000 100000 1000 2 1'),
    ('fact', 'fact_source', '100000 100000 1000 20 1'),
    ('fact', 'fact_learned', '100000 100000 1000 2 1'),
    ('prompt_text', 'prompt_text', '1000000 1000000 100000 500 20 10 1 1'),
    ('prompt_text', 'prompt_text_hash', '1000000 1000000 10'),
    ('prompt_text', 'prompt_text_origin', '1000000 1000000 10'),
    ('extension_state', 'extension_state', '10000 10000 1000 1'),
    ('extension_state', 'extension_state_conversation', '10000 10000 100 10');
ANALYZE sqlite_schema;
