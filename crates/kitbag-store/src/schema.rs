//! The tables, the same in both databases, and the steps that bring older stores up to date.
//!
//! Every table begins with the tenant, which is part of every key. Numbers are 64 bits wide, times
//! are microseconds since 1970.

use crate::value::Value;

/// The version of the tables that this program reads and writes.
pub(crate) const VERSION: i64 = STEPS.len() as i64;

/// The first version with the tables of [`VERSION`]. A file of it, or of a later version, that cannot be written is
/// read as it is.
#[cfg(feature = "sqlite")]
pub(crate) const SAME_TABLES: i64 = 8;

/// Each step makes the next version. A released step is never changed: stores that have run it
/// would miss the change.
const STEPS: &[&str] = &[
    include_str!("schema/1.sql"),
    include_str!("schema/2.sql"),
    include_str!("schema/3.sql"),
    include_str!("schema/4.sql"),
    include_str!("schema/5.sql"),
    include_str!("schema/6.sql"),
    include_str!("schema/7.sql"),
    include_str!("schema/8.sql"),
    include_str!("schema/9.sql"),
    include_str!("schema/10.sql"),
];

/// The statements that bring a SQLite file from version `found` to [`VERSION`].
#[cfg(feature = "sqlite")]
pub(crate) fn sqlite_steps_after(found: i64) -> impl Iterator<Item = String> {
    // Last: triggers name tables that the steps make, and the planner's statistics indexes.
    let last = [
        include_str!("schema/triggers.sql"),
        include_str!("schema/statistics.sql"),
    ];
    let last = last.into_iter().filter(move |_| found < VERSION);
    // SQLite gives a column of an unknown type numeric affinity: texts that look like numbers would
    // become numbers.
    let steps = steps_after(found).map(|step| step.replace(" BODY", " TEXT"));
    steps.chain(last.map(str::to_owned))
}

/// The statements that bring a PostgreSQL schema from version `found` to [`VERSION`].
#[cfg(feature = "postgres")]
pub(crate) fn postgres_steps_after(found: i64) -> impl Iterator<Item = String> {
    steps_after(found).map(|step| {
        step.replace(" INTEGER", " BIGINT")
            .replace(" BLOB", " BYTEA")
            // Text that a person wrote may hold a NUL character, which PostgreSQL's text refuses.
            .replace(" BODY", " BYTEA")
            // SQLite compares bytes. Any other collation would sort names differently on each
            // server.
            .replace(" TEXT", " TEXT COLLATE \"C\"")
            .replace(" WITHOUT ROWID", "")
    })
}

fn steps_after(found: i64) -> impl Iterator<Item = &'static str> {
    STEPS
        .iter()
        .skip(usize::try_from(found).unwrap_or(0))
        .copied()
}

/// A table, as the steps make it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Table {
    pub(crate) name: &'static str,
    /// The columns after the tenant's.
    pub(crate) columns: Vec<Column>,
    /// The columns of the key after the tenant's.
    pub(crate) key: Vec<&'static str>,
}

impl Table {
    pub(crate) fn has(&self, column: &str) -> bool {
        self.columns.iter().any(|one| one.name == column)
    }

    /// The table with its columns, to insert rows.
    pub(crate) fn with_columns(&self) -> String {
        format!("{} (tenant, {})", self.name, self.column_names())
    }

    /// The columns after the tenant's, as a query names them.
    pub(crate) fn column_names(&self) -> String {
        let names: Vec<&str> = self.columns.iter().map(|column| column.name).collect();
        names.join(", ")
    }

    /// The key of a row: each table begins with the columns of its key, in order.
    pub(crate) fn key_of(&self, row: &[Value]) -> Vec<Value> {
        row.iter().take(self.key.len()).cloned().collect()
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Column {
    pub(crate) name: &'static str,
    /// True if the column holds text that people wrote.
    pub(crate) is_body: bool,
}

impl Column {
    /// Reads a column from a line of `CREATE TABLE`; none if the line is a constraint.
    fn read(line: &'static str) -> Option<Self> {
        let (name, rest) = line.split_once(' ')?;
        let is_column = name.chars().all(|c| c.is_ascii_lowercase() || c == '_');
        is_column.then(|| Self {
            name,
            is_body: rest.starts_with("BODY"),
        })
    }
}

/// The tables of the latest version, read from the statements that make them. A second list would
/// have to be kept in step by hand. Only the forms of statements that the steps use are understood.
pub(crate) fn tables() -> Vec<Table> {
    let mut tables: Vec<Table> = Vec::new();
    for line in STEPS.iter().flat_map(|step| step.lines()) {
        if let Some(rest) = line.strip_prefix("CREATE TABLE ") {
            tables.push(Table {
                name: rest.trim_end_matches(" ("),
                columns: Vec::new(),
                key: Vec::new(),
            });
            continue;
        }
        if let Some(name) = line.strip_prefix("DROP TABLE ") {
            tables.retain(|table| table.name != name.trim_end_matches(';'));
            continue;
        }
        if let Some((name, column)) = line
            .strip_prefix("ALTER TABLE ")
            .and_then(|rest| rest.trim_end_matches(';').split_once(" DROP COLUMN "))
        {
            let table = tables.iter_mut().find(|table| table.name == name);
            if let Some(table) = table {
                table.columns.retain(|one| one.name != column);
            }
            continue;
        }
        if let Some((name, column)) = line
            .strip_prefix("ALTER TABLE ")
            .and_then(|rest| rest.split_once(" ADD COLUMN "))
        {
            let table = tables.iter_mut().find(|table| table.name == name);
            if let (Some(table), Some(column)) = (table, Column::read(column)) {
                table.columns.push(column);
            }
            continue;
        }
        let (Some(table), Some(line)) = (tables.last_mut(), line.strip_prefix("    ")) else {
            continue;
        };
        if let Some(key) = line.strip_prefix("PRIMARY KEY (") {
            let key = key.split_once(')').map_or(key, |(key, _)| key);
            table.key = key.split(", ").filter(|name| *name != "tenant").collect();
        } else {
            let column = Column::read(line);
            table
                .columns
                .extend(column.filter(|column| column.name != "tenant"));
        }
    }
    tables
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_read_off_the_statements() {
        let tables = tables();
        assert_eq!(tables.len(), 23);
        let fact = tables.iter().find(|table| table.name == "fact").unwrap();
        assert_eq!(fact.key, ["sender", "key", "version"]);
        let columns: Vec<_> = fact
            .columns
            .iter()
            .map(|one| (one.name, one.is_body))
            .collect();
        assert_eq!(columns.len(), 11);
        assert_eq!(columns[3], ("value", true));
        let message = tables.iter().find(|table| table.name == "message").unwrap();
        let added: Vec<_> = message.columns.iter().rev().take(3).collect();
        let added = added.iter().map(|one| (one.name, one.is_body));
        assert_eq!(
            added.collect::<Vec<_>>(),
            [("internal", false), ("sent_as", true), ("json", true)]
        );
        for table in tables {
            let columns: Vec<&str> = table.columns.iter().map(|one| one.name).collect();
            assert!(columns.starts_with(&table.key), "{}", table.name);
        }
    }
}
