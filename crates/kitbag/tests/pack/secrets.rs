//! Secrets leave in no way, and each is told once.

use std::sync::Mutex;

use kitbag::core::chunk::ContextChunk;
use kitbag::core::rank::{Prioritizer, RankTask, Score};
use kitbag::gather::Files;
use kitbag::pack::{Pack, Retrieval};
use kitbag::workspace::git::Changes;

use crate::project::{Project, packed};

/// Made up, in the form of a real one; in two parts, so that no scanner minds.
fn token() -> String {
    format!("{}{}", "AKIA", "Z7QHX3MNPL5RT2WK")
}

fn told(pack: &Pack) -> Vec<(&str, u32, usize)> {
    let redacted = pack.decisions.redacted.iter();
    redacted
        .map(|told| (told.source.as_str(), told.line, told.more))
        .collect()
}

#[test]
fn x01_a_pinned_file_of_secrets_keeps_its_names_only() {
    let project = Project::new(&[
        (".env", "# for the shop\nDB_PASSWORD=hunter2\nPORT=5432\n"),
        ("a.py", "def a(): pass\n"),
    ]);
    let mut request = project.request("fix a", 2_000);
    request.survey.pins.push(".env".into());
    let pack = packed(&request).unwrap();
    let shown = "# for the shop\nDB_PASSWORD=[REDACTED:secret]\nPORT=[REDACTED:secret]\n";
    assert!(pack.prompt().contains(shown), "{}", pack.prompt());
    assert_eq!(told(&pack), [(".env", 2, 0), (".env", 3, 0)]);
}

#[test]
fn x01_a_change_of_a_file_of_secrets_is_told_without_them() {
    let project = Project::repository(&[(".env", "DB_PASSWORD=hunter2\n")]);
    project.write(".env", "DB_PASSWORD=tiger\n");
    let mut request = project.request("Review this change.", 2_000);
    request.survey.changes = Some(Changes::Uncommitted);
    let pack = packed(&request).unwrap();
    assert!(
        pack.prompt().contains(".env: modified"),
        "{}",
        pack.prompt()
    );
    assert!(!pack.prompt().contains("hunter2") && !pack.prompt().contains("tiger"));
}

#[test]
fn x01_a_file_of_secrets_under_a_new_name_keeps_them() {
    let rest = "REGION=north\n".repeat(9);
    let text = |password| format!("{rest}DB_PASSWORD={password}\n");
    let project = Project::repository(&[(".env", &text("hunter2"))]);
    project.git(&["mv", ".env", "config.txt"]);
    project.write("config.txt", &text("tiger"));
    project.git(&["add", "."]);
    let mut request = project.request("Review this change.", 2_000);
    request.survey.changes = Some(Changes::Staged);
    let pack = packed(&request).unwrap();
    let said = "config.txt: renamed from .env";
    assert!(pack.prompt().contains(said), "{}", pack.prompt());
    assert!(!pack.prompt().contains("hunter2"), "{}", pack.prompt());
}

/// The lines that tell a key are context, which a shorter patch leaves out.
#[test]
fn x01_a_new_key_is_in_no_form_of_a_patch() {
    let key = |line: &str| {
        let body = format!("{line}\n").repeat(24);
        format!(
            "-----BEGIN RSA {0}-----\n{body}-----END RSA {0}-----\n",
            "PRIVATE KEY"
        )
    };
    let old = "MIIEpAIBAAKCAQEA7bq0yX3Jt9kLmPw2VzRf8sHcQ1uNdYg5TeKoWiBxMrGhZjCv";
    let new = "QpX4mNw8RtYz2KcVb6JhLs0DfGa9EuOi3TxZq5WvCy7BnMkHjPlUeRgSdFaIoKtT";
    let code = |name: &str| format!("fn {name}() {{ login() }}\n").repeat(60);
    let project = Project::repository(&[("notes.txt", &(code("a") + &key(old)))]);
    project.write("notes.txt", &(code("b") + &key(new)));
    for budget in [300, 600, 1_000, 2_000, 3_000, 4_000, 8_000] {
        let mut request = project.request("Review this change.", budget);
        request.survey.changes = Some(Changes::Uncommitted);
        let pack = packed(&request).unwrap();
        assert!(!pack.prompt().contains(old), "{}", pack.prompt());
        assert!(!pack.prompt().contains(new), "{}", pack.prompt());
    }
}

#[test]
fn x01_a_source_with_many_secrets_is_told_in_a_few_lines() {
    let values: String = (0..30).map(|n| format!("NAME_{n}=value\n")).collect();
    let body = "MIIEpAIBAAKCAQEA7bq0yX3Jt9kLmPw2VzRf8sHcQ1uNdYg5TeKoWiBxMrGhZjCv\n".repeat(20);
    let key = format!(
        "-----BEGIN RSA {0}-----\n{body}-----END RSA {0}-----\n",
        "PRIVATE KEY"
    );
    let project = Project::new(&[(".env", &values), ("notes.txt", &key)]);
    let mut request = project.request("fix a", 8_000);
    request.survey.pins = vec![".env".into(), "notes.txt".into()];
    let pack = packed(&request).unwrap();
    let mut found = told(&pack);
    found.sort_unstable();
    let lines = [1, 2, 3, 4, 5].map(|line| (".env", line, if line == 5 { 25 } else { 0 }));
    assert_eq!(found[..5], lines);
    assert_eq!(found[5..], [("notes.txt", 2, 0)]);
}

#[test]
fn x01_what_the_files_gatherer_brings_is_told() {
    let text = format!("def a():\n    key = \"{}\"\n", token());
    let project = Project::new(&[("a.py", "b = 1\n"), ("deploy/a.py", &text)]);
    let mut request = project.request("fix b", 2_000);
    request.survey.exclude.push("deploy".into());
    let pack = packed(&request.with_gatherer(Files::new(["deploy/*.py"]))).unwrap();
    assert!(pack.prompt().contains("key = "), "{}", pack.prompt());
    assert!(!pack.prompt().contains(&token()));
    assert_eq!(told(&pack), [("deploy/a.py", 2, 0)]);
}

/// Remembers all that it was shown.
struct Nosy(Mutex<String>);

impl Prioritizer for &'static Nosy {
    fn score(&self, chunk: &ContextChunk, task: &RankTask) -> Score {
        let mut seen = self.0.lock().unwrap();
        seen.push_str(&task.request);
        let levels = chunk.levels.iter();
        levels.for_each(|level| seen.push_str(&level.content));
        Retrieval::default().score(chunk, task)
    }
}

#[test]
fn x01_a_prioritizer_sees_no_secret() {
    static NOSY: Nosy = Nosy(Mutex::new(String::new()));
    let text = format!("def login():\n    key = \"{}\"\n", token());
    let project = Project::new(&[("login.py", &text), ("AGENTS.md", &text)]);
    let task = format!("fix the login with {}", token());
    packed(&project.request(&task, 2_000).with_prioritizer(&NOSY)).unwrap();
    let seen = NOSY.0.lock().unwrap();
    assert!(seen.contains("def login():"));
    assert!(!seen.contains(&token()), "{seen}");
}
