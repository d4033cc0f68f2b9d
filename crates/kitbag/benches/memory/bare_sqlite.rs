//! SQLite alone: the same rows without analysis, and FTS5 with the sender inside the index.

use std::path::Path;

use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use crate::cpu::Cpu;
use crate::each;
use crate::stopwatch::{Spent, Stopwatch};
use crate::talk::{Question, Talk};

/// As many messages as a transaction of an import has.
const BATCH: usize = 16_384;

/// Processor seconds of inserting all rows of a store into a new file with the same tables.
pub(crate) fn insert_again(from: &Path, to: &Path) -> f64 {
    let source = Connection::open(from).unwrap();
    let target = Connection::open(to).unwrap();
    target
        .execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -16384; PRAGMA secure_delete = ON")
        .unwrap();
    let mut made = source
        .prepare(
            "SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL \
             AND name NOT LIKE 'sqlite_%' ORDER BY type = 'index'",
        )
        .unwrap();
    let made: Vec<(String, String)> = made
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    for (_, sql) in &made {
        target.execute_batch(sql).unwrap();
    }
    let mut spent = 0.0;
    for (table, _) in made
        .iter()
        .filter(|(_, sql)| sql.starts_with("CREATE TABLE"))
    {
        let order = if table == "message" {
            " ORDER BY arrival"
        } else if table == "posting" {
            " ORDER BY block"
        } else {
            ""
        };
        let mut rows = source
            .prepare(&format!("SELECT * FROM {table}{order}"))
            .unwrap();
        let columns = rows.column_count();
        let names: Vec<String> = (1..=columns).map(|number| format!("?{number}")).collect();
        let sql = format!("INSERT INTO {table} VALUES ({})", names.join(", "));
        let mut found = rows.query([]).unwrap();
        loop {
            let mut batch: Vec<Vec<Value>> = Vec::new();
            while batch.len() < BATCH {
                let Some(row) = found.next().unwrap() else {
                    break;
                };
                batch.push(
                    (0..columns)
                        .map(|column| row.get(column).unwrap())
                        .collect(),
                );
            }
            if batch.is_empty() {
                break;
            }
            let cpu = Cpu::of_self();
            target.execute_batch("BEGIN IMMEDIATE").unwrap();
            let mut insert = target.prepare_cached(&sql).unwrap();
            for row in &batch {
                insert.execute(params_from_iter(row)).unwrap();
            }
            drop(insert);
            target.execute_batch("COMMIT").unwrap();
            spent += cpu.seconds();
        }
    }
    spent
}

/// A file with the messages and FTS5's index over them.
pub(crate) struct Indexed {
    connection: Connection,
    talk: Talk,
    /// The time of filling it.
    pub(crate) spent: Spent,
}

/// Inserts the messages, in as many transactions as an import has.
pub(crate) fn index(file: &Path, talk: Talk) -> Indexed {
    let said: Vec<(usize, String)> = talk.said().collect();
    let (connection, spent) = insert(file, &said);
    Indexed {
        connection,
        talk,
        spent,
    }
}

/// The time of inserting messages in the same way.
pub(crate) fn index_texts(file: &Path, said: &[(usize, String)]) -> Spent {
    insert(file, said).1
}

fn insert(file: &Path, said: &[(usize, String)]) -> (Connection, Spent) {
    let spent = Stopwatch::start();
    let connection = Connection::open(file).unwrap();
    connection
        .execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -16384;
             CREATE TABLE said (id INTEGER PRIMARY KEY, sender TEXT, body TEXT);
             CREATE VIRTUAL TABLE words USING fts5(sender, body, content = 'said', content_rowid = 'id', tokenize = 'porter unicode61');",
        )
        .unwrap();
    for (batch, said) in said.chunks(BATCH).enumerate() {
        connection.execute_batch("BEGIN").unwrap();
        let mut row = connection
            .prepare_cached("INSERT INTO said VALUES (?1, ?2, ?3)")
            .unwrap();
        let mut words = connection
            .prepare_cached("INSERT INTO words (rowid, sender, body) VALUES (?1, ?2, ?3)")
            .unwrap();
        for (number, (sender, text)) in said.iter().enumerate() {
            let (id, sender) = ((batch * BATCH + number) as i64, format!("u{sender}"));
            row.execute((id, &sender, text)).unwrap();
            words.execute((id, &sender, text)).unwrap();
        }
        connection.execute_batch("COMMIT").unwrap();
    }
    (connection, spent.spent())
}

/// Milliseconds for a query of FTS5.
pub(crate) fn search(indexed: &Indexed, questions: &[Question]) -> f64 {
    let grammar = ["the", "a", "to", "and", "of", "I", "it", "is", "in", "you"];
    let mut query = indexed
        .connection
        .prepare("SELECT rowid, bm25(words, 0.0, 1.0) AS score FROM words WHERE words MATCH ?1 ORDER BY score LIMIT 50")
        .unwrap();
    let mut run = || {
        let mut hits = 0;
        for (sender, question) in questions {
            let said: Vec<&str> = question
                .split(' ')
                .filter(|word| !grammar.contains(word))
                .collect();
            let said = said.join(" OR ");
            let words = match indexed.talk.senders {
                1 => format!("body : ({said})"),
                _ => format!("sender : u{sender} AND body : ({said})"),
            };
            let found = query
                .query_map([words], |row| row.get::<_, i64>(0))
                .unwrap();
            hits += found.count();
        }
        assert!(hits > questions.len(), "the questions find little");
    };
    run();
    let cpu = Cpu::of_self();
    run();
    each(&cpu, questions.len())
}
