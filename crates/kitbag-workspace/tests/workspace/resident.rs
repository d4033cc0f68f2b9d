//! A workspace that stays in memory gives what one that begins with nothing gives, whatever changes.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use kitbag_workspace::cache::{Cache, MAX_BYTES};
use kitbag_workspace::query::Query;
use kitbag_workspace::resident::Resident;
use kitbag_workspace::survey::{Survey, SurveyOptions, survey};
use kitbag_workspace::workspace::{Workspace, WorkspaceOptions};

use crate::tree::Tree;

const TASKS: [&str; 2] = [
    "the oven forgets its temperature after the proof",
    "knead and rest before `oven_temperature` is read",
];

/// What surveys found: files with their scores, texts and words, and the history.
fn found(workspace: &Workspace, cache: &Cache) -> String {
    TASKS.map(|task| found_for(task, workspace, cache)).concat()
}

fn found_for(task: &str, workspace: &Workspace, cache: &Cache) -> String {
    let survey = survey(
        workspace,
        &Query::new(task),
        &SurveyOptions::default(),
        cache,
    );
    let Survey {
        ranked,
        candidates,
        words,
        skipped,
        ..
    } = survey;
    let files: Vec<&str> = workspace
        .files()
        .iter()
        .map(|file| file.path.as_str())
        .collect();
    let texts: Vec<&str> = candidates.iter().map(|one| one.text.as_str()).collect();
    let log = workspace
        .repository()
        .map(|git| git.history().unwrap().len());
    format!("{files:?}\n{ranked:?}\n{texts:?}\n{words:?}\n{skipped:?}\n{log:?}")
}

fn tree() -> Tree {
    let tree = Tree::repository();
    tree.write("oven.rs", "fn heat(temperature: u32) {}\n")
        .write("dough/proof.rs", "fn proof() { forget() }\n")
        .write("dough/knead.rs", "fn knead() {}\n")
        .write("bin.dat", "oven\0temperature")
        .write(".gitignore", "*.log\n")
        .commit("first");
    tree
}

/// Time enough for the file system to tell the next change from the last.
fn settle() {
    std::thread::sleep(Duration::from_millis(150));
}

#[test]
fn x10_every_kind_of_change_is_seen() {
    let tree = tree();
    let resident = Resident::default();
    let options = WorkspaceOptions::default();
    let (cold_folder, warm_folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let cold_cache = Cache::open(Some(cold_folder.path().into()), MAX_BYTES);
    let warm_cache = resident.cache(Some(warm_folder.path().into()));
    type Step = (&'static str, fn(&Tree));
    let steps: [Step; 10] = [
        ("nothing", |_| ()),
        ("a file is edited in place, to the same size", |tree| {
            tree.write("dough/knead.rs", "fn oven_() {}\n");
        }),
        ("a file is added", |tree| {
            tree.write("dough/rest.rs", "fn rest(oven: &Oven) {}\n");
        }),
        ("a folder is added", |tree| {
            tree.write("crumb/new/deep.rs", "// temperature of the oven\n");
        }),
        ("a file is removed", |tree| {
            fs::remove_file(tree.path().join("dough/proof.rs")).unwrap();
        }),
        ("a file is renamed", |tree| {
            fs::rename(tree.path().join("oven.rs"), tree.path().join("stove.rs")).unwrap();
        }),
        ("a rule is written in place", |tree| {
            tree.write(".gitignore", "*.log\ncrumb/\n");
        }),
        ("a rule is added further down", |tree| {
            tree.write("dough/.kitbagignore", "rest.rs\n");
        }),
        ("something is committed", |tree| {
            tree.commit("second");
        }),
        ("a file takes the place of another", |tree| {
            tree.write("other", "fn oven_temperature() {}\n");
            fs::rename(tree.path().join("other"), tree.path().join("stove.rs")).unwrap();
        }),
    ];
    for (what, change) in steps {
        settle();
        change(&tree);
        let cold = Workspace::open(tree.path(), &options).unwrap();
        let expected = found(&cold, &cold_cache);
        let warm = resident.open(tree.path(), &options).unwrap();
        assert_eq!(found(&warm, &warm_cache), expected, "{what}");
        resident.work_ahead(|_, _, _| ());
        assert_eq!(found(&warm, &warm_cache), expected, "{what}, worked ahead");
    }
}

#[test]
fn x10_after_work_ahead_another_task_has_nothing_to_parse() {
    let tree = tree();
    let resident = Resident::default();
    let folder = tempfile::tempdir().unwrap();
    let cache = resident.cache(Some(folder.path().into()));
    let workspace = resident
        .open(tree.path(), &WorkspaceOptions::default())
        .unwrap();
    let segments = || {
        cache.flush();
        fs::read_dir(folder.path()).unwrap().count()
    };
    found_for("a task that no file has a word of", &workspace, &cache);
    assert_eq!(segments(), 0, "nothing was parsed for it");
    resident.work_ahead(|_, _, _| ());
    assert_eq!(segments(), 1);
    found(&workspace, &cache);
    assert_eq!(segments(), 1, "everything was parsed before");
}

#[test]
fn x10_rules_above_the_root_and_times_that_are_set_back_are_seen() {
    let tree = tree();
    let resident = Resident::default();
    let options = WorkspaceOptions::default();
    let below = tree.path().join("dough");
    let names = |workspace: &Workspace| -> Vec<String> {
        workspace
            .files()
            .iter()
            .map(|file| file.path.clone())
            .collect()
    };
    settle();
    assert_eq!(
        names(&resident.open(&below, &options).unwrap()),
        ["knead.rs", "proof.rs"]
    );
    settle();
    tree.write("dough/new.rs", "")
        .write(".gitignore", "*.log\nnew.rs\n");
    settle();
    assert_eq!(
        names(&resident.open(&below, &options).unwrap()),
        ["knead.rs", "proof.rs"]
    );
    settle();
    tree.write(".gitignore", "*.log\nold.rs\n");
    let listed = names(&resident.open(&below, &options).unwrap());
    assert_eq!(listed, ["knead.rs", "new.rs", "proof.rs"]);

    settle();
    let knead = below.join("knead.rs");
    let before = fs::metadata(&knead).unwrap().modified().unwrap();
    resident.open(&below, &options).unwrap();
    settle();
    tree.write("dough/knead.rs", "fn oven_() {}\n");
    let file = fs::File::options().write(true).open(&knead).unwrap();
    file.set_modified(before).unwrap();
    let cache = resident.cache(None);
    let warm = resident.open(&below, &options).unwrap();
    let cold = Workspace::open(&below, &options).unwrap();
    assert_eq!(found(&warm, &cache), found(&cold, &cache));
}

#[test]
fn x10_a_change_at_once_after_a_look_is_seen() {
    let tree = tree();
    let resident = Resident::default();
    let options = WorkspaceOptions::default();
    let cache = resident.cache(None);
    for round in 0..50 {
        // The same size each time, and perhaps the same time.
        tree.write(
            "oven.rs",
            format!("fn oven_{round:02}(temperature: u32) {{}}\n"),
        );
        let warm = resident.open(tree.path(), &options).unwrap();
        let cold = Workspace::open(tree.path(), &options).unwrap();
        assert_eq!(found(&warm, &cache), found(&cold, &cache), "{round}");
    }
}

#[test]
fn x10_a_tree_that_did_not_change_is_not_listed_again() {
    let tree = tree();
    let resident = Resident::default();
    let options = WorkspaceOptions::default();
    settle();
    let first = resident.open(tree.path(), &options).unwrap();
    let second = resident.open(tree.path(), &options).unwrap();
    assert!(Arc::ptr_eq(&first, &second));
    let mut other = WorkspaceOptions::default();
    other.exclude = vec!["dough".to_owned()];
    let third = resident.open(tree.path(), &other).unwrap();
    assert_eq!(third.files().len(), 3, "other options list other files");
}
