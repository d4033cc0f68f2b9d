-- How the messages of a large store are spread, for SQLite's planner: rows, rows of a tenant, of a scope,
-- of a conversation or a moment. Without it any index that begins with the tenant and the scope looks as
-- good as another, and the messages of a whole scope are read for those of one conversation.
ANALYZE tenant;
DELETE FROM sqlite_stat1 WHERE tbl IN ('tenant', 'message');
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('message', 'message', '1000000 1000000 100000 1'),
    ('message', 'sqlite_autoindex_message_2', '1000000 1000000 100000 20 1'),
    ('message', 'message_at', '1000000 1000000 100000 2');
ANALYZE sqlite_schema;
