//! Reading what cannot be written, and leaving alone what is no store.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use kitbag::store::{Incoming, Location, Store};

use super::Memory;
use crate::run::{Output, finish};

/// The commands that only read.
const READING: [&[&str]; 8] = [
    &["recall", "puppy"],
    &["history"],
    &["history", "1.1"],
    &["facts", "list"],
    &["facts", "history"],
    &["stats"],
    &["export"],
    &["check"],
];

#[test]
fn x01_what_cannot_be_written_can_be_read() {
    let memory = Memory::talk();
    memory.run(&["facts", "set", "diet", "no fish"]).success();
    let reader = Reader::of(&memory);
    for (of_file, of_folder) in [(0o444, 0o555), (0o444, 0o755), (0o666, 0o555)] {
        for args in READING {
            let expected = reader.run(args).success();
            rights(&reader.file(), of_file);
            rights(&reader.place(), of_folder);
            let output = reader.run_as_another(args);
            assert_eq!(output.stdout, expected, "{args:?}: {output:?}");
            output.success();
            rights(&reader.place(), 0o755);
            assert_eq!(fs::read_dir(reader.place()).unwrap().count(), 1, "{args:?}");
        }
        rights(&reader.place(), of_folder);
        let error = reader
            .run_as_another(&["facts", "set", "diet", "none"])
            .failure(1);
        assert!(error.contains("the store"), "{error}");
        let error = reader
            .run_as_another(&["forget", "--fact", "diet", "--yes"])
            .failure(1);
        assert!(error.contains("could not be written"), "{error}");
        rights(&reader.place(), 0o755);
    }
}

#[test]
fn x01_a_log_that_cannot_be_read_is_not_passed_over() {
    let memory = Memory::talk();
    let reader = Reader::of(&memory);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let store = Store::open(&Location::Sqlite(reader.file())).await.unwrap();
        let said = Incoming::new("slack", "ann", "The vet sees the puppy on Monday");
        store.accept(&said, jiff::Timestamp::now()).await.unwrap();
        // What was said last is in the log alone.
        for name in ["memory.db", "memory.db-wal", "memory.db-shm"] {
            rights(&reader.place().join(name), 0o444);
        }
        rights(&reader.place(), 0o555);
        let output = reader.run_as_another(&["export"]);
        assert!(output.stdout.contains("The vet sees"), "{output:?}");
        rights(&reader.place().join("memory.db-shm"), 0o000);
        let error = reader.run_as_another(&["export"]).failure(1);
        assert!(
            error.contains("it has a log, which cannot be read"),
            "{error}"
        );
        rights(&reader.place(), 0o755);
    });
}

#[test]
fn x07_an_older_store_that_cannot_be_written_says_what_to_do() {
    let memory = Memory::talk();
    let reader = Reader::of(&memory);
    let older =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../kitbag-store/tests/store/data/version-1.db");
    fs::write(reader.file(), fs::read(older).unwrap()).unwrap();
    let before = fs::read(reader.file()).unwrap();
    for (of_file, of_folder) in [(0o444, 0o555), (0o444, 0o755), (0o666, 0o555)] {
        rights(&reader.file(), of_file);
        rights(&reader.place(), of_folder);
        let error = reader.run_as_another(&["history"]).failure(1);
        rights(&reader.place(), 0o755);
        assert!(
            error.contains("has tables of version 1; version "),
            "{error}"
        );
        assert!(
            error.contains("hint: open it, or a copy of it, once with write access"),
            "{error}"
        );
        assert_eq!(fs::read(reader.file()).unwrap(), before);
    }
    // Once somebody who may write it has opened it, others can read it.
    rights(&reader.file(), 0o666);
    let expected = reader.run(&["history"]).success();
    rights(&reader.file(), 0o444);
    rights(&reader.place(), 0o555);
    assert_eq!(reader.run_as_another(&["history"]).success(), expected);
    rights(&reader.place(), 0o755);
}

#[test]
fn x07_an_older_store_with_the_same_tables_is_read_as_it_is() {
    let memory = Memory::talk();
    let reader = Reader::of(&memory);
    let expected = READING.map(|args| reader.run(args).success());
    for version in [8, 9] {
        rights(&reader.file(), 0o666);
        let file = rusqlite::Connection::open(reader.file()).unwrap();
        let older = "DROP TRIGGER IF EXISTS audit_is_only_added_to; DELETE FROM sqlite_stat1";
        file.execute_batch(older).unwrap();
        file.pragma_update(None, "user_version", version).unwrap();
        drop(file);
        for (of_file, of_folder) in [(0o444, 0o555), (0o444, 0o755), (0o666, 0o555)] {
            rights(&reader.file(), of_file);
            rights(&reader.place(), of_folder);
            for (args, expected) in READING.iter().zip(&expected) {
                let output = reader.run_as_another(args);
                assert_eq!(&output.stdout, expected, "{version} {args:?}: {output:?}");
            }
            rights(&reader.place(), 0o755);
        }
    }
}

#[test]
fn x01_reading_makes_no_store() {
    let memory = Memory::new();
    for args in READING {
        let error = memory.run(args).failure(1);
        assert!(error.contains("there is no store at memory.db"), "{error}");
        assert_eq!(fs::read_dir(memory.0.path()).unwrap().count(), 0);
    }
    memory.0.write("memory.db", "");
    for args in READING {
        let error = memory.run(args).failure(1);
        let told =
            "there is no store at memory.db: the file is empty\nhint: `kitbag memory import`";
        assert!(error.contains(told), "{error}");
        assert_eq!(fs::read(memory.0.path().join("memory.db")).unwrap(), b"");
        assert_eq!(fs::read_dir(memory.0.path()).unwrap().count(), 1);
    }
    memory.import(&super::talk()).success();
}

/// A store in a folder of its own, and somebody who may not write there.
struct Reader<'a>(&'a Memory);

impl<'a> Reader<'a> {
    fn of(memory: &'a Memory) -> Self {
        let reader = Self(memory);
        fs::create_dir(reader.place()).unwrap();
        fs::rename(memory.0.path().join("memory.db"), reader.file()).unwrap();
        // Nobody else may enter the folder that programs are built in.
        fs::copy(env!("CARGO_BIN_EXE_kitbag"), reader.program()).unwrap();
        rights(memory.0.path(), 0o755);
        if is_root(memory.0.path()) {
            for own in [reader.place(), reader.file()] {
                chown(own, Some(NOBODY), Some(NOBODY)).unwrap();
            }
        }
        reader
    }

    fn place(&self) -> std::path::PathBuf {
        self.0.0.path().join("place")
    }

    fn file(&self) -> std::path::PathBuf {
        self.place().join("memory.db")
    }

    fn program(&self) -> std::path::PathBuf {
        self.0.0.path().join("program")
    }

    fn run(&self, args: &[&str]) -> Output {
        let store = ["--store", "place/memory.db", "memory"];
        self.0.0.run(&[&store[..], args].concat())
    }

    fn run_as_another(&self, args: &[&str]) -> Output {
        let mut command = Command::new(self.program());
        command
            .args(["--store", "place/memory.db", "memory"])
            .args(args)
            .current_dir(self.0.0.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        // Root may write everything.
        if is_root(self.0.0.path()) {
            command.uid(NOBODY).gid(NOBODY);
        }
        finish(command, None)
    }
}

/// Who owns what a reader reads, where the tests run as root.
const NOBODY: u32 = 65_534;

/// Whether this is root, who made the folder.
fn is_root(folder: &Path) -> bool {
    fs::metadata(folder).unwrap().uid() == 0
}

fn rights(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}
