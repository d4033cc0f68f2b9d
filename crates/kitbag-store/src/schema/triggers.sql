-- The audit log is not rewritten, by whatever program. Entries go with their tenant alone, so deleting stays possible.
CREATE TRIGGER IF NOT EXISTS audit_is_only_added_to BEFORE UPDATE ON audit BEGIN
    SELECT RAISE(ABORT, 'entries of the audit log cannot be changed');
END;
