//! Backing up, restoring and repairing, and who is in a store.

use std::fs;

use serde_json::{Value, json};

use super::Memory;

#[test]
fn x07_a_backup_is_written_and_restored() {
    let memory = Memory::talk();
    let told = memory.run(&["backup", "copy.db"]);
    assert!(told.stderr.starts_with("wrote copy.db, "), "{told:?}");
    told.success();
    let error = memory.run(&["backup", "copy.db"]).failure(1);
    assert!(error.contains("the file copy.db already exists"), "{error}");

    let restore = |args: &[&str]| {
        let command = ["--store", "sqlite:other.db", "memory", "restore", "copy.db"];
        memory.0.run(&[&command, args].concat())
    };
    assert_eq!(restore(&[]).stderr, "restored 5 messages of tenant main\n");
    let error = restore(&[]).failure(1);
    assert!(
        error.contains("already has memory of tenant `main`"),
        "{error}"
    );
    assert!(error.contains("`--replace`"), "{error}");
    let replaced: Value =
        serde_json::from_str(&restore(&["--replace", "--json"]).success()).unwrap();
    assert_eq!(replaced["tenants"][0]["messages"], 5);
    memory
        .0
        .run(&["--store", "sqlite:other.db", "memory", "check"])
        .success();
    let error = memory.run(&["restore", "memory.db"]).failure(2);
    assert!(error.contains("is the store itself"), "{error}");
    memory.run(&["restore", "nothing.db"]).failure(1);

    // A backup with which something is wrong changes nothing.
    let file = rusqlite::Connection::open(memory.0.path().join("copy.db")).unwrap();
    file.execute_batch("UPDATE scope SET words = 0").unwrap();
    drop(file);
    let error = restore(&["--replace"]).failure(1);
    assert!(error.contains("copy.db has 1 problem"), "{error}");
    assert!(error.contains("nothing was restored"), "{error}");
}

#[test]
fn x07_what_is_no_backup_and_where_none_can_be_written_is_told() {
    let memory = Memory::talk();
    memory.0.write("empty.db", "");
    fs::create_dir(memory.0.path().join("folder")).unwrap();
    let error = |args: &[&str]| memory.run(args).failure(1);
    let missing = error(&["restore", "missing.db"]);
    assert_eq!(
        missing,
        "error: there is no backup missing.db: the file does not exist\n\
         hint: name a file that `kitbag memory backup` wrote\n"
    );
    let empty = error(&["restore", "empty.db"]);
    assert!(
        empty.contains("there is no backup empty.db: the file is empty"),
        "{empty}"
    );
    let folder = error(&["restore", "folder"]);
    assert!(
        folder.contains("cannot open the store folder: it is a folder"),
        "{folder}"
    );
    let nowhere = error(&["backup", "no/such/copy.db"]);
    assert!(
        nowhere.contains("error: the folder of the backup no/such does not exist"),
        "{nowhere}"
    );
    assert!(!memory.0.path().join("no").exists());
}

#[test]
fn x07_a_file_with_unreadable_pages_says_so_and_restores_nothing() {
    let memory = Memory::talk();
    memory.run(&["vacuum"]).success();
    let path = memory.0.path().join("memory.db");
    let file = rusqlite::Connection::open(&path).unwrap();
    let root: u32 = file
        .query_row(
            "SELECT rootpage FROM sqlite_schema WHERE name = 'message'",
            [],
            |row| row.get(0),
        )
        .unwrap();
    drop(file);
    let root = usize::try_from(root).unwrap();
    let mut bytes = fs::read(&path).unwrap();
    bytes[(root - 1) * 4_096..root * 4_096].fill(0x5a);
    fs::write(&path, &bytes).unwrap();
    fs::write(memory.0.path().join("copy.db"), &bytes).unwrap();
    let error = memory.run(&["history"]).failure(1);
    assert!(
        error.contains("error: the file of the store is damaged: "),
        "{error}"
    );
    assert!(
        error.contains("hint: keep a copy of the file, and restore a backup"),
        "{error}"
    );
    let restore = ["--store", "sqlite:other.db", "memory", "restore", "copy.db"];
    let error = memory.0.run(&restore).failure(1);
    assert!(error.contains("copy.db"), "{error}");
    assert!(error.contains("nothing was restored"), "{error}");
    assert!(!memory.0.path().join("other.db").exists());
}

#[test]
fn x07_a_damaged_store_is_repaired() {
    let memory = Memory::talk();
    assert_eq!(memory.run(&["repair"]).stderr, "no problems found\n");
    let file = rusqlite::Connection::open(memory.0.path().join("memory.db")).unwrap();
    file.execute_batch(
        "UPDATE scope SET words = 0; UPDATE message SET role = 'robot' WHERE arrival = 2",
    )
    .unwrap();
    drop(file);
    memory.run(&["check"]);
    let told = memory.run(&["repair", "--dry-run"]);
    assert!(
        told.stderr.contains("would be removed: message: "),
        "{told:?}"
    );
    assert!(!memory.0.path().join("kitbag-damaged.jsonl").exists());
    let told = memory.run(&["repair", "--set-aside", "aside.jsonl"]);
    assert!(
        told.stderr
            .contains("wrote 1 damaged row to aside.jsonl\nno problems left"),
        "{told:?}"
    );
    told.success();
    let aside = fs::read_to_string(memory.0.path().join("aside.jsonl")).unwrap();
    let row: Value = serde_json::from_str(&aside).unwrap();
    assert_eq!(row["row"]["body"], "Congratulations! Which breed?");
    memory.run(&["check"]).success();
    assert_eq!(memory.references("what is my puppy called?")[0], "m1");
}

#[test]
fn o06_senders_and_tenants_are_listed() {
    let memory = Memory::talk();
    memory
        .import(&[
            json!({"sender": "ann", "channel": "mail", "text": "hello", "at": "2024-07-01T00:00:00Z"}),
            json!({"sender": "bob", "channel": "mail", "text": "hello", "at": "2024-05-20T00:00:00Z"}),
        ])
        .success();
    memory
        .run(&["facts", "set", "home", "Porto", "--sender", "eve"])
        .success();
    let table = memory.run(&["senders"]).success();
    let rows: Vec<Vec<&str>> = table
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    assert_eq!(
        rows[0],
        [
            "sender",
            "channels",
            "conversations",
            "messages",
            "first",
            "latest"
        ]
    );
    assert_eq!(
        rows[1],
        [
            "ann",
            "mail,",
            "slack",
            "3",
            "6",
            "2024-05-08",
            "2024-07-01"
        ]
    );
    let list = memory.json(&["senders"]);
    assert_eq!(
        list["senders"][2],
        json!({"sender": "eve", "channels": [], "conversations": 0,
        "messages": 0, "began": null, "active": null})
    );
    memory
        .0
        .run(&[
            "--store",
            "sqlite:memory.db",
            "--tenant",
            "other",
            "memory",
            "facts",
            "set",
            "a",
            "b",
            "--sender",
            "x",
        ])
        .success();
    let list = memory.json(&["tenants"]);
    let named: Vec<(&Value, &Value)> = list["tenants"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (&one["tenant"], &one["messages"]))
        .collect();
    assert_eq!(
        named,
        [(&json!("main"), &json!(7)), (&json!("other"), &json!(0))]
    );
}

#[test]
fn x07_a_named_tenant_alone_is_restored() {
    let memory = Memory::talk();
    let said = json!({"sender": "bob", "text": "hello"}).to_string();
    memory
        .run_with_stdin(&["import", "-", "--tenant", "other"], said.as_bytes())
        .success();
    memory.run(&["backup", "copy.db"]).success();
    memory
        .run_with_stdin(&["import", "-"], said.as_bytes())
        .success();
    let restored = memory.run(&["restore", "copy.db", "--replace", "--tenant", "other"]);
    assert_eq!(restored.stderr, "restored 1 message of tenant other\n");
    assert_eq!(memory.json(&["stats"])["messages"], 6, "main is as it was");
    let wrong = ["restore", "copy.db", "--replace", "--tenant", "nobody"];
    let error = memory.run(&wrong).failure(2);
    assert!(error.contains("has nothing of tenant nobody"), "{error}");
}

/// A store with tenants a, b and c, and a backup of it.
fn three_tenants() -> Memory {
    let memory = Memory::talk();
    let said = [1, 2].map(|n| json!({"sender": "bob", "text": format!("hello {n}")}).to_string());
    for tenant in ["a", "b", "c"] {
        let import = ["import", "-", "--tenant", tenant];
        memory
            .run_with_stdin(&import, said.join("\n").as_bytes())
            .success();
    }
    memory.run(&["backup", "copy.db"]).success();
    memory
}

/// Another store, which refuses some rows, and a restore into it.
fn restore_where(memory: &Memory, refused: &str, args: &[&str]) -> crate::run::Output {
    let other = ["--store", "sqlite:other.db"];
    let fact = [
        "memory", "facts", "set", "a", "b", "--sender", "x", "--tenant", "z",
    ];
    memory.0.run(&[&other[..], &fact].concat()).success();
    let file = rusqlite::Connection::open(memory.0.path().join("other.db")).unwrap();
    let trigger = format!(
        "DROP TRIGGER IF EXISTS refuse; CREATE TRIGGER refuse BEFORE INSERT ON message \
         WHEN {refused} BEGIN SELECT RAISE(ABORT, 'a rule refuses it'); END"
    );
    file.execute_batch(&trigger).unwrap();
    drop(file);
    memory
        .0
        .run(&[&other[..], &["memory", "restore", "copy.db"], args].concat())
}

#[test]
fn x07_a_tenant_that_is_refused_keeps_the_others_from_being_restored_by_half() {
    let memory = three_tenants();
    let refused = "NEW.tenant IN ('b', 'c')";
    let error = restore_where(&memory, refused, &[]).failure(1);
    assert!(
        error.contains("nothing was restored: 2 tenants are refused"),
        "{error}"
    );
    assert!(error.contains("tenant b is refused: "), "{error}");
    assert!(error.contains("a rule refuses it"), "{error}");
    let tenants = ["--store", "sqlite:other.db", "memory", "tenants", "--json"];
    let tenants: Value = serde_json::from_str(&memory.0.run(&tenants).success()).unwrap();
    assert_eq!(tenants["tenants"].as_array().unwrap().len(), 1, "{tenants}");
    // Nobody is refused any more.
    let restored = restore_where(&memory, "0", &[]);
    assert_eq!(
        restored.stderr.matches("restored ").count(),
        4,
        "{restored:?}"
    );
}

#[test]
fn x07_a_restore_that_fails_half_way_tells_what_was_restored() {
    let memory = three_tenants();
    let restored = restore_where(&memory, "NEW.tenant = 'b' AND NEW.arrival = 2", &["--json"]);
    assert_eq!(restored.code, Some(1), "{restored:?}");
    let rows: Value = serde_json::from_str(&restored.stdout).unwrap();
    let problems: Vec<&Value> = rows["tenants"].as_array().unwrap().iter().collect();
    let told: Vec<(&str, bool)> = problems
        .iter()
        .map(|row| (row["tenant"].as_str().unwrap(), row["problem"].is_null()))
        .collect();
    assert_eq!(
        told,
        [("a", true), ("b", false), ("c", false), ("main", false)]
    );
    let left = [
        "--store",
        "sqlite:other.db",
        "memory",
        "stats",
        "--json",
        "--tenant",
        "b",
    ];
    let left: Value = serde_json::from_str(&memory.0.run(&left).success()).unwrap();
    assert_eq!(left["messages"], 0);
    let told = restore_where(
        &memory,
        "NEW.tenant = 'b' AND NEW.arrival = 2",
        &["--replace"],
    );
    let told = told.failure(1);
    for line in [
        "restored 2 messages of tenant a\n",
        "restored nothing of tenant b: ",
        "restored nothing of tenant c: not tried after an earlier failure\n",
        "error: not all tenants were restored",
    ] {
        assert!(told.contains(line), "{line}: {told}");
    }
}

#[test]
fn x07_an_interrupted_backup_is_named() {
    let memory = Memory::talk();
    fs::write(memory.0.path().join("copy.db.partial-77"), "half").unwrap();
    let told = memory.run(&["backup", "copy.db"]);
    assert!(
        told.stderr
            .contains("copy.db.partial-77 is left over from a backup that was interrupted"),
        "{told:?}"
    );
    told.success();
}
