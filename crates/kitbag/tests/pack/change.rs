//! A change, packed for review.

use std::fmt::Write as _;
use std::process::Command;

use kitbag::core::chunk::Detail;
use kitbag::core::envelope::TaskType;
use kitbag::pack::PackRequest;
use kitbag::workspace::git::Changes;

use crate::project::{Project, find, packed, problems, why_out};

const REVIEW: &str = "Review this change.";

fn review(project: &Project, changes: Changes, budget: u32) -> PackRequest {
    let mut request = project.request(REVIEW, budget);
    request.survey.changes = Some(changes);
    request
}

/// A file of functions, in each of which one line may be changed.
fn code(functions: usize, changed: &dyn Fn(usize) -> bool) -> String {
    let mut code = String::new();
    for n in 0..functions {
        let body = if changed(n) { "changed" } else { "first" };
        write!(code, "fn step_{n}() {{\n    {body}({n});\n").unwrap();
        write!(code, "    one({n});\n    two({n});\n    last({n})\n}}\n\n").unwrap();
    }
    code
}

#[test]
fn x01_before_the_first_commit_what_is_staged_is_the_change() {
    let project = Project::repository(&[]);
    project.write("new.rs", "fn new() {}\n");
    project.git(&["add", "new.rs"]);
    project.write("not_staged.rs", "fn not_staged() {}\n");
    let pack = packed(&review(&project, Changes::Staged, 2_000)).unwrap();
    assert!(pack.prompt().contains("+fn new() {}"), "{}", pack.prompt());
    assert!(find(&pack, "diff of not_staged.rs").is_none());
}

#[test]
fn x01_a_file_that_git_does_not_track_yet_is_part_of_the_change() {
    let project = Project::repository(&[("a.rs", "fn a() {}\n"), (".gitignore", "*.log\n")]);
    project.write("new.rs", "fn new() {}\n");
    project.write("build.log", "ignored\n");
    project.write("picture.png", "no text");
    let pack = packed(&review(&project, Changes::Uncommitted, 2_000)).unwrap();
    assert_eq!(
        pack.prompt().matches("fn new() {}").count(),
        1,
        "{}",
        pack.prompt()
    );
    assert!(find(&pack, "diff of new.rs").is_some());
    assert!(find(&pack, "diff of build.log").is_none());
    assert_eq!(
        problems(&pack),
        ["untracked and not in the change: `picture.png`"]
    );
    let since = review(&project, Changes::Since("HEAD".into()), 2_000);
    assert!(find(&packed(&since).unwrap(), "diff of new.rs").is_some());

    project.commit("second");
    project.write("newer.rs", "fn newer() {}\n");
    let between = review(&project, Changes::Since("HEAD~1..HEAD".into()), 2_000);
    let pack = packed(&between).unwrap();
    assert!(find(&pack, "diff of new.rs").is_some());
    assert!(find(&pack, "diff of newer.rs").is_none());
}

#[test]
fn x01_patterns_hold_for_the_change_too() {
    let project = Project::repository(&[
        ("src/a.rs", "fn a() {}\n"),
        ("docs/b.md", "b\n"),
        ("src/gone.rs", "fn gone() {}\n"),
    ]);
    project.write("src/a.rs", "fn changed() {}\n");
    project.write("docs/b.md", "changed\n");
    project.write("docs/new.md", "new\n");
    std::fs::remove_file(project.root().join("src/gone.rs")).unwrap();
    let changed = |include: &[&str], exclude: &[&str]| {
        let mut request = review(&project, Changes::Uncommitted, 2_000);
        request.survey.include = include.iter().map(ToString::to_string).collect();
        request.survey.exclude = exclude.iter().map(ToString::to_string).collect();
        let pack = packed(&request).unwrap();
        let diffs = pack
            .decisions
            .chunks
            .into_iter()
            .filter(|c| c.chunk_type.as_str() == "diff");
        let mut paths: Vec<String> = diffs.map(|chunk| chunk.source.clone()).collect();
        paths.sort();
        paths
    };
    assert_eq!(
        changed(&["src"], &[]),
        ["diff of src/a.rs", "diff of src/gone.rs"]
    );
    assert_eq!(
        changed(&[], &["src/"]),
        ["diff of docs/b.md", "diff of docs/new.md"]
    );
    assert_eq!(changed(&["*.rs"], &["gone.*"]), ["diff of src/a.rs"]);

    let mut request = review(&project, Changes::Uncommitted, 2_000);
    request.survey.include.push("*.py".into());
    let error = packed(&request).unwrap_err();
    assert_eq!(
        error.to_string(),
        "there is no change to pack: 3 changed files are left out by the patterns"
    );
}

#[test]
fn x01_a_large_patch_degrades_as_the_budget_falls() {
    let project = Project::repository(&[("steps.rs", &code(300, &|_| false))]);
    project.write("steps.rs", &code(300, &|n| n % 3 == 0));
    let shown = |budget: u32| {
        let pack = packed(&review(&project, Changes::Uncommitted, budget)).unwrap();
        let diff = find(&pack, "diff of steps.rs").unwrap();
        let changed = pack.prompt().matches("+    changed(").count();
        (diff.level, changed)
    };
    assert_eq!(shown(40_000), (Detail::Full, 100));
    let levels = [6_000, 3_000, 1_500, 800].map(shown);
    assert!(
        levels.iter().all(|(level, _)| *level == Detail::Slice),
        "{levels:?}"
    );
    assert!(
        levels.windows(2).all(|pair| pair[0].1 >= pair[1].1) && levels[3].1 >= 3,
        "{levels:?}"
    );
}

#[test]
fn x01_a_large_new_file_is_shown_as_a_file_too() {
    let project = Project::repository(&[("a.rs", "fn a() {}\n")]);
    project.write("steps.rs", &code(200, &|_| false));
    let pack = packed(&review(&project, Changes::Uncommitted, 3_000)).unwrap();
    assert!(find(&pack, "diff of steps.rs").is_some());
    assert!(find(&pack, "steps.rs").is_some());
    let pack = packed(&review(&project, Changes::Uncommitted, 60_000)).unwrap();
    assert_eq!(find(&pack, "diff of steps.rs").unwrap().level, Detail::Full);
    assert!(find(&pack, "steps.rs").is_none());
    assert_eq!(
        why_out(&pack, "steps.rs"),
        "the diff `diff of steps.rs` stands for it"
    );
}

#[test]
fn x01_no_change_is_an_error_that_says_what_was_compared() {
    let project = Project::repository(&[("a.rs", "fn a() {}\n")]);
    project.commit("second");
    let error = |changes: Changes| {
        let error = packed(&review(&project, changes, 2_000)).unwrap_err();
        format!("{error}\nhint: {}", error.hint().unwrap())
    };
    let told = [
        error(Changes::Uncommitted),
        error(Changes::Staged),
        error(Changes::Since("HEAD~1".into())),
        error(Changes::Since("HEAD~1..HEAD".into())),
    ];
    insta::assert_snapshot!(told.join("\n\n"), @r"
    there is no change to pack: the files are as they were at the last commit
    hint: name an older revision to compare with

    there is no change to pack: nothing is staged
    hint: `git add` stages files

    there is no change to pack: the files are as they were at `HEAD~1`
    hint: name an older revision to compare with; `git log --oneline` lists them

    there is no change to pack: `HEAD~1..HEAD` changes no file below the root
    hint: name an older revision to compare with; `git log --oneline` lists them
    ");
}

/// Makes git take every repository for somebody else's.
const DISTRUST: &str = "GIT_TEST_ASSUME_DIFFERENT_OWNER";

#[test]
fn x01_a_repository_that_git_does_not_trust_says_what_to_do() {
    if std::env::var_os(DISTRUST).is_none() {
        let again = Command::new(std::env::current_exe().unwrap())
            .arg("change::x01_a_repository_that_git_does_not_trust")
            .env(DISTRUST, "1")
            .output()
            .unwrap();
        let told = String::from_utf8_lossy(&again.stdout);
        assert!(
            again.status.success() && told.contains("1 passed"),
            "{told}"
        );
        return;
    }
    let project = Project::repository(&[("a.rs", "fn a() {}\n")]);
    let error = packed(&review(&project, Changes::Uncommitted, 2_000)).unwrap_err();
    assert!(error.to_string().contains("git does not trust"), "{error}");
    assert!(error.hint().unwrap().contains("safe.directory"), "{error}");
    let pack = packed(&project.request("fix a", 2_000)).unwrap();
    assert!(
        pack.decisions.problems[0]
            .hint
            .as_ref()
            .is_some_and(|hint| hint.contains("safe.directory")),
        "{:?}",
        pack.decisions.problems
    );
}

#[test]
fn x01_changed_files_without_room_are_told() {
    let paths: Vec<String> = (0..40).map(|n| format!("src/part_{n:02}.rs")).collect();
    let project = Project::repository(&[]);
    for path in &paths {
        project.write(path, &code(20, &|_| false));
    }
    project.commit("all");
    for path in &paths {
        project.write(path, &code(20, &|_| true));
    }
    let told = |budget| problems(&packed(&review(&project, Changes::Uncommitted, budget)).unwrap());
    let many = told(100_000);
    let told = told(600);
    assert_eq!(told.len(), 1, "{told:?}");
    let ends = " of 40 changed files have no room in the prompt: `src/part_";
    assert!(told[0].contains(ends), "{told:?}");
    assert_eq!(many, [""; 0]);
}

#[test]
fn x01_a_review_asked_for_in_german_shows_the_patch_first_and_a_test() {
    let test = "def test_a_cart_adds_up():\n    assert add_up([1, 2]) == 3\n";
    let import = "from shop.cart import add_up\n\n\n";
    let project = Project::repository(&[
        ("shop/cart.py", "def add_up(cart):\n    return sum(cart)\n"),
        (
            "shop/till.py",
            "def ring(cart):\n    return add_up(cart) or None\n",
        ),
        ("tests/test_cart.py", &format!("{import}{test}")),
    ]);
    project.write("shop/cart.py", "def add_up(cart):\n    return len(cart)\n");
    let mut request = review(&project, Changes::Uncommitted, 4_000);
    request.survey.task = "Überprüfe diese Änderung auf Fehler".to_owned();
    let pack = packed(&request).unwrap();
    assert_eq!(pack.decisions.task_type, Some(TaskType::Review));
    let prompt = pack.prompt();
    assert!(prompt.contains("Dies ist eine Durchsicht"), "{prompt}");
    let place = |heading: &str| prompt.find(heading).unwrap_or_else(|| panic!("{prompt}"));
    assert!(place("## diff of shop/cart.py") < place("## tests/test_cart.py"));
    assert!(prompt.contains(test), "{prompt}");
    // Whoever asks to mend what a review found wants no review.
    request.survey.task = "Behebe den Fehler, den wir gefunden haben".to_owned();
    let pack = packed(&request).unwrap();
    assert_eq!(pack.decisions.task_type, Some(TaskType::Debug));
}
