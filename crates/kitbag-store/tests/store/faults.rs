//! Disks that are full, files that cannot be written, are gone or are damaged: a clear error, and
//! nothing that was there before is lost.

use std::env;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use jiff::SignedDuration;
use kitbag_core::role::Role;
use kitbag_store::{
    ExportFilter, Forget, Import, Incoming, Learned, Location, NewFact, NewMessage, RecallRequest,
    Store, StoreError,
};

use crate::crash::{rounds, rounds_or, work_in_process};
use crate::judge::judge;
use crate::place::{run, second};
use crate::random::Random;
use crate::work::{Acknowledged, prompt_for};

/// A process that may make no file longer than so much sees what a full disk does: a write that
/// fails, or is cut in the middle. That needs no rights, unlike a small disk.
#[test]
fn a_full_disk_is_told_and_loses_nothing() {
    let rounds = rounds_or(ROUNDS_OF_A_DISK);
    // A file that outgrew every limit could not be opened at all.
    for _ in 0..rounds.div_ceil(ROUNDS_OF_A_DISK) {
        fill_a_disk();
    }
}

const ROUNDS_OF_A_DISK: u32 = 6;

fn fill_a_disk() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("memory.db");
    let mut random = Random::new();
    let mut seen = Vec::new();
    for round in 0..i64::from(ROUNDS_OF_A_DISK) {
        let blocks = 200 + random.below(1_500);
        let mut program = Command::new("sh");
        let limit = "trap '' XFSZ; ulimit -f \"$1\"; shift; exec \"$@\"";
        program
            .args(["-c", limit, "sh"])
            .arg(blocks.to_string())
            .arg(env::current_exe().unwrap());
        let some = work_in_process(program, &file, round);
        assert_ne!(problems(&some), Vec::<&str>::new());
        for problem in problems(&some) {
            let clear = problem.starts_with("the store could not be written: ")
                || problem.starts_with("cannot open the store ");
            assert!(clear, "{problem}");
        }
        seen.extend(some);
        run(async {
            let store = Store::open(&Location::Sqlite(file.clone())).await.unwrap();
            judge(&store, &seen, second(round * 10_000 + 9_000)).await;
        });
    }
    assert!(seen.len() > 50);
}

#[test]
fn a_file_or_folder_that_cannot_be_written_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("program");
    // Nobody else may enter the folder that programs are built in.
    fs::copy(env::current_exe().unwrap(), &program).unwrap();
    let place = folder.path().join("place");
    fs::create_dir(&place).unwrap();
    let file = place.join("memory.db");
    drop(run(Store::open(&Location::Sqlite(file.clone()))).unwrap());
    let before = fs::read(&file).unwrap();
    for (of_file, of_folder) in [(0o444, 0o777), (0o666, 0o555), (0o000, 0o777)] {
        rights(folder.path(), 0o755);
        rights(&file, of_file);
        rights(&place, of_folder);
        let mut program = Command::new(&program);
        // Root may write everything.
        if fs::metadata(folder.path()).unwrap().uid() == 0 {
            program.uid(65_534).gid(65_534);
        }
        let seen = work_in_process(program, &file, 0);
        let told = problems(&seen);
        assert_eq!((told.len(), seen.len()), (1, 1), "{told:?}");
        assert!(told[0].starts_with("cannot open the store "), "{told:?}");
        rights(&place, 0o755);
        assert_eq!(fs::read(&file).unwrap(), before);
    }
}

fn rights(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn problems(seen: &[Acknowledged]) -> Vec<&str> {
    let mut problems = Vec::new();
    for one in seen {
        if let Acknowledged::Stopped { problem } = one {
            problems.push(problem.as_str());
        }
    }
    problems
}

/// What is written to a file that has no name any more is gone with the process.
#[test]
fn a_folder_that_is_removed_under_the_store_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("place");
    let location = Location::Sqlite(place.join("memory.db"));
    run(async {
        let store = Store::open(&location).await.unwrap();
        let incoming = Incoming::new("cli", "ann", "hello");
        store.accept(&incoming, second(0)).await.unwrap();
        fs::rename(&place, folder.path().join("elsewhere")).unwrap();
        let error = store.accept(&incoming, second(1)).await.unwrap_err();
        assert!(matches!(error, StoreError::Write { .. }), "{error}");
        fs::rename(folder.path().join("elsewhere"), &place).unwrap();
        store.accept(&incoming, second(2)).await.unwrap();
        assert_eq!(store.stats().await.unwrap().messages, 2);
        fs::remove_dir_all(&place).unwrap();
        let error = store.accept(&incoming, second(3)).await.unwrap_err();
        assert!(matches!(error, StoreError::Write { .. }), "{error}");
        // Another store at the same place is another store.
        let other = Store::open(&location).await.unwrap();
        let error = store.accept(&incoming, second(3)).await.unwrap_err();
        assert!(matches!(error, StoreError::Write { .. }), "{error}");
        assert_eq!(other.stats().await.unwrap().messages, 0);
    });
}

#[test]
fn a_damaged_file_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let sound = folder.path().join("sound.db");
    run(fill(&sound));
    let bytes = fs::read(&sound).unwrap();
    let pages = bytes.len() as u64 / 4096;
    let mut random = Random::new();
    for _ in 0..rounds() {
        let mut bytes = bytes.clone();
        let page = random.below(pages) as usize * 4096;
        match random.below(3) {
            0 => bytes.truncate(page),
            1 => bytes[page..page + 4096].fill(0),
            _ => bytes[page..page + 4096].fill_with(|| random.next() as u8),
        }
        let damaged = folder.path().join("damaged.db");
        fs::write(&damaged, &bytes).unwrap();
        let damage = format!("page {} of {pages}, {} bytes", page / 4096, bytes.len());
        let is_told = run(use_all(&damaged, &damage));
        assert!(is_told || bytes.is_empty(), "{damage}: nothing was told");
        remove_log(&damaged);
    }
}

/// Single bytes may change what was said without anybody knowing; but nothing may stop or hang.
#[test]
fn flipped_bytes_stop_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let sound = folder.path().join("sound.db");
    run(fill(&sound));
    let bytes = fs::read(&sound).unwrap();
    let mut random = Random::new();
    for _ in 0..rounds() {
        let mut bytes = bytes.clone();
        let mut damage = Vec::new();
        for _ in 0..=random.below(30) {
            let at = random.below(bytes.len() as u64) as usize;
            bytes[at] = random.next() as u8;
            damage.push((at, bytes[at]));
        }
        let damaged = folder.path().join("damaged.db");
        fs::write(&damaged, &bytes).unwrap();
        run(use_all(&damaged, &format!("{damage:?}")));
        remove_log(&damaged);
    }
}

fn remove_log(file: &Path) {
    for end in ["db-wal", "db-shm"] {
        drop(fs::remove_file(file.with_extension(end)));
    }
}

/// A store with rows in every table, and no page that is not used.
async fn fill(file: &Path) {
    let store = Store::open(&Location::Sqlite(file.to_owned()))
        .await
        .unwrap();
    let message = |number: i64| {
        let text = format!("note {number} on boats and harbour{}", number % 7);
        Import::new(
            "cli",
            "ann",
            None,
            NewMessage::new(Role::User, text).at(second(0)),
        )
    };
    let messages = (0..520).map(message).collect();
    store.import(messages, second(0)).await.unwrap();
    for step in 0..8 {
        turn(&store, step).await.unwrap();
    }
    store.vacuum().await.unwrap();
    assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
}

async fn turn(store: &Store, step: i64) -> Result<(), StoreError> {
    let now = second(step);
    let text = format!("what about harbour{}?", step % 7);
    let turn = store
        .accept(&Incoming::new("cli", "ann", text), now)
        .await?;
    let lease = store
        .begin(turn.id, SignedDuration::from_mins(1), second(step + 1_000))
        .await?;
    let prompt = prompt_for(store, &turn).await?;
    store.sent(&lease, prompt, now).await?;
    let mut learned = Learned::reply(format!("it is full {step}"), now);
    learned
        .facts
        .push(NewFact::new(format!("key {step}"), "full"));
    store.learned(&lease, learned, now).await.map(drop)
}

/// Uses all that the store can do, whatever it answers. Tells whether it said that it is damaged.
async fn use_all(file: &Path, damage: &str) -> bool {
    let used = async {
        let store = match Store::open(&Location::Sqlite(file.to_owned())).await {
            Ok(store) => store,
            Err(
                StoreError::NotAStore { .. } | StoreError::Open { .. } | StoreError::Newer { .. },
            ) => {
                return true;
            }
            Err(other) => panic!("{damage}: {other}"),
        };
        let check = store.check().await;
        let id = "1.1.1".parse().unwrap();
        let conversation = "1.1".parse().unwrap();
        let forget = Forget::Message("1.1#3".parse().unwrap());
        let answers = [
            ("check", check.as_ref().err().cloned()),
            (
                "recall",
                err(store
                    .recall(&RecallRequest::new("ann", "harbour3 boats"))
                    .await),
            ),
            ("messages", err(store.messages(conversation, 1_000).await)),
            (
                "export",
                err(store.export(&ExportFilter::default(), None, 5_000).await),
            ),
            ("facts", err(store.facts("ann", 100).await)),
            ("history", err(store.fact_history("ann", None, 100).await)),
            ("senders", err(store.senders(100).await)),
            (
                "conversations",
                err(store.conversations("cli", "ann", 100).await),
            ),
            ("replay", err(store.replay(id, None).await)),
            ("state", err(store.state(conversation).await)),
            ("stats", err(store.stats().await)),
            ("turn", err(turn(&store, 100).await)),
            ("forget", err(store.forget(forget).await)),
            ("check", err(store.check().await)),
        ];
        for (operation, answer) in answers {
            // A thread that panicked answers nothing any more.
            let closed = matches!(answer, Some(StoreError::Closed));
            assert!(!closed, "{operation} stopped the store: {damage}");
        }
        check.map_or(true, |problems| !problems.is_empty())
    };
    let patience = Duration::from_secs(60);
    let used = tokio::time::timeout(patience, used).await;
    used.unwrap_or_else(|_| panic!("no answer: {damage}"))
}

fn err<T>(answer: Result<T, StoreError>) -> Option<StoreError> {
    answer.err()
}
