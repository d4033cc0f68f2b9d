//! What is saved comes back as it was, and nothing else is touched.

use jiff::Timestamp;
use kitbag_core::envelope::{Artifact, TaskEnvelope, TaskType};
use kitbag_core::message::Message;
use kitbag_core::tokens::Tokens;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn time(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn task(id: &str) -> TaskEnvelope {
    TaskEnvelope::new(
        TaskType::Debug,
        "the login fails",
        id,
        time("2024-01-15T10:00:00Z"),
    )
}

fn checkpoint(id: &str, at: &str) -> Checkpoint {
    Checkpoint::of(&task(id), time(at)).unwrap()
}

fn documented() -> Value {
    json!({
        "session_id": "session_abc123",
        "timestamp": "2024-01-15T10:30:00Z",
        "task_type": "implement",
        "user_request": "add user authentication",
        "state": "running",
        "context_summary": { "chunks_included": 12, "tokens_used": 3500, "utilization": 0.875 },
        "artifacts": [{ "type": "file", "path": "src/auth.py" }],
        "conversation_history": [
            { "role": "user", "content": "..." },
            { "role": "assistant", "content": "..." }
        ]
    })
}

/// A folder with a file in it, as another program wrote it.
fn with_file(name: &str, json: &str) -> (tempfile::TempDir, Checkpoints) {
    let root = tempfile::tempdir().unwrap();
    let checkpoints = Checkpoints::in_root(root.path());
    fs::create_dir_all(checkpoints.folder()).unwrap();
    fs::write(checkpoints.folder().join(name), json).unwrap();
    (root, checkpoints)
}

fn restored_and_saved(json: &Value) -> Value {
    let (_root, checkpoints) = with_file("session_abc123.json", &json.to_string());
    let restored = checkpoints
        .restore(&"session_abc123".parse().unwrap())
        .unwrap();
    let path = checkpoints.save(&restored).unwrap();
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

#[test]
fn p09_the_documented_json_comes_back_as_it_was() {
    let json = documented();
    assert_eq!(restored_and_saved(&json), json);
}

#[test]
fn p09_fields_that_are_not_known_survive() {
    let mut json = documented();
    json["context"] = json!({ "chunks": [], "deep": { "er": [1, 2.5, null] } });
    json["context_summary"]["model"] = json!("m");
    json["artifacts"][0]["lines"] = json!([1, 9]);
    json["conversation_history"][1]["mood"] = json!("calm");
    json["state"] = json!("waiting_for_review");
    assert_eq!(restored_and_saved(&json), json);
}

#[test]
fn p09_a_file_reads_like_the_documented_one() {
    let root = tempfile::tempdir().unwrap();
    let mut task = task("session_abc123");
    task.context.tokens_used = Tokens(3500);
    task.context.budget = Tokens(4000);
    task.artifacts.push(Artifact::file("src/auth.py"));
    let mut checkpoint = Checkpoint::of(&task, time("2024-01-15T10:30:00Z"))
        .unwrap()
        .with_state(CheckpointState::Paused);
    checkpoint.conversation_history = vec![Message::user("why?"), Message::assistant("a typo")];
    let path = Checkpoints::in_root(root.path()).save(&checkpoint).unwrap();
    assert_eq!(
        path,
        root.path().join(".kitbag/sessions/session_abc123.json")
    );
    insta::assert_snapshot!(fs::read_to_string(path).unwrap(), @r#"
    {
      "session_id": "session_abc123",
      "timestamp": "2024-01-15T10:30:00Z",
      "task_type": "debug",
      "user_request": "the login fails",
      "state": "paused",
      "context_summary": {
        "chunks_included": 0,
        "tokens_used": 3500,
        "utilization": 0.875
      },
      "artifacts": [
        {
          "type": "file",
          "path": "src/auth.py"
        }
      ],
      "conversation_history": [
        {
          "role": "user",
          "content": "why?"
        },
        {
          "role": "assistant",
          "content": "a typo"
        }
      ]
    }
    "#);
}

#[test]
fn p09_a_task_is_resumed_where_it_stood() {
    let mut before = task("s1");
    before.artifacts.push(Artifact::file("src/login.rs"));
    let root = tempfile::tempdir().unwrap();
    let checkpoints = Checkpoints::new(root.path());
    let at = time("2024-01-15T11:00:00Z");
    checkpoints
        .save(&Checkpoint::of(&before, at).unwrap())
        .unwrap();
    let after = checkpoints
        .restore(&"s1".parse().unwrap())
        .unwrap()
        .resume();
    assert_eq!(
        (after.task_type, after.user_request),
        (before.task_type, before.user_request)
    );
    assert_eq!(
        (after.session_id, after.artifacts),
        (before.session_id, before.artifacts)
    );
    assert_eq!(after.created_at, at);
}

#[test]
fn p09_the_latest_is_listed_first_and_deleted_ones_are_gone() {
    let root = tempfile::tempdir().unwrap();
    let checkpoints = Checkpoints::in_root(root.path());
    assert!(
        checkpoints.list().unwrap().checkpoints.is_empty(),
        "no folder, no checkpoints"
    );
    for (id, at) in [
        ("a", "2024-01-02T00:00:00Z"),
        ("c", "2024-01-01T00:00:00Z"),
        ("b", "2024-01-02T00:00:00Z"),
    ] {
        checkpoints.save(&checkpoint(id, at)).unwrap();
    }
    let listed = || -> Vec<String> {
        let listing = checkpoints.list().unwrap();
        assert!(listing.problems.is_empty());
        let ids = listing
            .checkpoints
            .iter()
            .map(|checkpoint| checkpoint.session_id.to_string());
        ids.collect()
    };
    assert_eq!(listed(), ["a", "b", "c"]);
    checkpoints
        .save(&checkpoint("c", "2024-01-03T00:00:00Z"))
        .unwrap();
    assert_eq!(listed(), ["c", "a", "b"], "saved again, not twice");
    checkpoints.delete(&"a".parse().unwrap()).unwrap();
    assert_eq!(listed(), ["c", "b"]);
}

#[test]
fn p09_a_damaged_file_does_not_hide_the_others() {
    let (_root, checkpoints) = with_file("torn.json", r#"{"session_id": "torn", "timest"#);
    checkpoints
        .save(&checkpoint("whole", "2024-01-01T00:00:00Z"))
        .unwrap();
    fs::write(
        checkpoints.folder().join("old.json"),
        r#"{"session_id":"old","timestamp":"soon","task_type":"test","user_request":""}"#,
    )
    .unwrap();
    fs::write(checkpoints.folder().join(".unfinished-x1"), "{").unwrap();
    fs::write(checkpoints.folder().join("notes.txt"), "no checkpoint").unwrap();
    fs::create_dir(checkpoints.folder().join("folder.json")).unwrap();
    let listing = checkpoints.list().unwrap();
    assert_eq!(listing.checkpoints.len(), 1);
    let problems: Vec<String> = listing
        .problems
        .iter()
        .map(CheckpointError::to_string)
        .collect();
    assert_eq!(problems.len(), 3, "{problems:?}");
    assert!(problems[0].contains("folder.json"));
    assert!(problems[1].contains("old.json") && problems[1].contains("\"soon\" is not a time"));
    assert!(problems[2].contains("torn.json") && problems[2].contains("line 1"));
    assert!(listing.problems[2].hint().contains("torn.json"));
}

#[test]
fn p09_a_missing_checkpoint_is_named() {
    let (_root, checkpoints) = with_file("other.json", "{}");
    let id = "gone".parse().unwrap();
    for error in [
        checkpoints.restore(&id).unwrap_err(),
        checkpoints.delete(&id).unwrap_err(),
    ] {
        assert!(matches!(error, CheckpointError::NotFound { .. }));
        assert!(error.to_string().contains("`gone`"));
        assert!(error.hint().contains("list"));
    }
}

#[test]
fn p09_a_file_of_another_session_is_refused() {
    let (_root, checkpoints) = with_file("mine.json", &documented().to_string());
    let error = checkpoints.restore(&"mine".parse().unwrap()).unwrap_err();
    assert!(error.to_string().contains("session_abc123"), "{error}");
    assert_eq!(checkpoints.list().unwrap().problems.len(), 1);
}

#[test]
fn p09_a_failed_save_changes_nothing() {
    let root = tempfile::tempdir().unwrap();
    let checkpoints = Checkpoints::new(root.path());
    // A folder stands where the file is to be.
    fs::create_dir(root.path().join("s1.json")).unwrap();
    fs::write(root.path().join("s1.json/inside"), "x").unwrap();
    let error = checkpoints
        .save(&checkpoint("s1", "2024-01-01T00:00:00Z"))
        .unwrap_err();
    assert!(error.to_string().contains("s1.json"), "{error}");
    assert!(error.hint().contains("s1.json"));
    let left: Vec<_> = fs::read_dir(root.path())
        .unwrap()
        .map(|file| file.unwrap().file_name())
        .collect();
    assert_eq!(left, ["s1.json"]);
}

#[test]
fn p09_readers_see_whole_checkpoints_while_others_save() {
    let root = tempfile::tempdir().unwrap();
    let checkpoints = &Checkpoints::new(root.path());
    checkpoints
        .save(&checkpoint("s1", "2024-01-01T00:00:00Z"))
        .unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            scope.spawn(move || {
                let text = "é".repeat(1000 * (thread + 1));
                let mut checkpoint = checkpoint("s1", "2024-01-01T00:00:00Z");
                checkpoint.conversation_history = vec![Message::user(text)];
                for _ in 0..10 {
                    checkpoints.save(&checkpoint).unwrap();
                }
            });
        }
        for _ in 0..100 {
            checkpoints.restore(&"s1".parse().unwrap()).unwrap();
            assert_eq!(checkpoints.list().unwrap().checkpoints.len(), 1);
        }
    });
}

#[cfg(unix)]
#[test]
fn p09_only_the_owner_can_read_it() {
    use std::os::unix::fs::PermissionsExt;
    let root = tempfile::tempdir().unwrap();
    let checkpoints = Checkpoints::in_root(root.path());
    let path = checkpoints
        .save(&checkpoint("s1", "2024-01-01T00:00:00Z"))
        .unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&path), mode(checkpoints.folder())), (0o600, 0o700));
    assert_eq!(
        fs::read_to_string(checkpoints.folder().join(".gitignore")).unwrap(),
        "*\n"
    );
}

#[test]
fn p09_ids_are_safe_names_of_files() {
    for id in [
        "a",
        "session_abc123",
        "2024-01-15T103000",
        "a.b-c_d",
        "-x",
        "console",
        "com10",
        "nullable.x",
    ] {
        assert_eq!(id.parse::<SessionId>().unwrap().as_str(), id);
    }
    let long = "x".repeat(129);
    for id in [
        "",
        ".",
        "..",
        ".hidden",
        "a/b",
        "..\\b",
        "a b",
        "a\0b",
        "ä",
        "a:b",
        "CON",
        "con.json",
        "Nul",
        "aux.",
        "COM1",
        "lpt9.x",
        long.as_str(),
    ] {
        assert!(id.parse::<SessionId>().is_err(), "{id:?}");
        assert!(Checkpoint::of(&task(id), time("2024-01-01T00:00:00Z")).is_err());
    }
    let file = documented().to_string().replace("session_abc123", "../x");
    let (_root, checkpoints) = with_file("a.json", &file);
    assert!(
        checkpoints.list().unwrap().problems[0]
            .to_string()
            .contains("not '/'")
    );
}

proptest! {
    #[test]
    fn p09_no_id_leads_out_of_the_folder(text in "[a-zA-Z0-9_.\\-/\\\\: é]{0,12}") {
        if let Ok(id) = text.parse::<SessionId>() {
            let checkpoints = Checkpoints::new("folder");
            let path = checkpoints.path_of(&id);
            prop_assert_eq!(path.parent(), Some(Path::new("folder")));
            prop_assert_eq!(path.file_name().unwrap().to_str().unwrap(), format!("{text}.json"));
        }
    }

    #[test]
    fn p09_no_file_makes_reading_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), cut in 0..600_usize) {
        let whole = documented().to_string();
        let json = [&whole.as_bytes()[..cut.min(whole.len())], &bytes].concat();
        if let Ok(checkpoint) = serde_json::from_slice::<Checkpoint>(&json) {
            prop_assert_eq!(checkpoint.session_id.as_str(), "session_abc123");
        }
    }
}

#[test]
fn p09_no_secret_is_stored() {
    let token = format!("{}{}", "ghp_", "q3ZrT8vKpW2mXs9LdB4nHc7Yf1Gj5Qa6TuVb");
    let key = format!(
        "-----BEGIN {0}-----\nMIIEpAIBAAKCAQEA7bq0yX3Jt9kLmPw2VzRf8sHcQ1uNdYg5TeKoWiBxMrGhZjCv\n-----END {0}-----\n",
        "PRIVATE KEY"
    );
    let (password, id) = ("rT7_bf0Qz!x", "q3ZrT8vKpW2mXs9LdB4nHc7Yf1Gj5Qa6");
    let mut saved = checkpoint(id, "2024-01-15T10:30:00Z");
    saved.conversation_history = vec![
        Message::user(format!("my key is\n{key}and \"quoted\" \\ text")),
        Message::assistant("nothing secret: token_count = 12"),
    ];
    saved.user_request = format!("log in with {token}");
    saved.extra = serde_json::from_value(json!({ "login": { "password": password } })).unwrap();
    let root = tempfile::tempdir().unwrap();
    let checkpoints = Checkpoints::in_root(root.path());
    let text = fs::read_to_string(checkpoints.save(&saved).unwrap()).unwrap();
    for secret in [token.as_str(), "MIIEpAIB", password] {
        assert!(!text.contains(secret), "{text}");
    }
    let restored = checkpoints.restore(&id.parse().unwrap()).unwrap();
    assert_eq!(restored.user_request, "log in with [REDACTED:github-token]");
    let Value::Array(said) = serde_json::to_value(&restored.conversation_history).unwrap() else {
        panic!("{text}");
    };
    let said: Vec<String> = said.iter().map(Value::to_string).collect();
    assert!(
        said[0].contains(r#"\n[REDACTED:private-key]\n"#),
        "{said:?}"
    );
    assert!(said[0].contains(r#"and \"quoted\" \\ text"#), "{said:?}");
    assert!(said[1].contains("token_count = 12"), "{said:?}");
}
