-- An entry of the audit log is not updated in place, by whatever program. Deleting stays possible, since entries go
-- with their tenant; so a program that writes the file can still delete an entry and insert another.
CREATE TRIGGER IF NOT EXISTS audit_is_only_added_to BEFORE UPDATE ON audit BEGIN
    SELECT RAISE(ABORT, 'entries of the audit log cannot be changed');
END;
