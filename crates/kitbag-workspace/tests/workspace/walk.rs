//! What a walk lists, and what it says of the rest.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;

use kitbag_workspace::git::Repository;
use kitbag_workspace::text;
use kitbag_workspace::walk::{FileRole, SIZE_LIMIT, Walk, walk};
use kitbag_workspace::workspace::WorkspaceOptions;

use crate::tree::Tree;

fn paths(walk: &Walk) -> Vec<&str> {
    walk.files.iter().map(|file| file.path.as_str()).collect()
}

fn skips(walk: &Walk) -> Vec<String> {
    let skips = walk.skipped.iter();
    skips.map(|s| format!("{}: {}", s.path, s.reason)).collect()
}

/// Walks with what git tracks, as a caller would.
fn walk_with_git(root: &Path) -> Walk {
    let repository = Repository::discover(root).unwrap().unwrap();
    let tracked = repository.tracked().unwrap();
    walk(root, &WorkspaceOptions::default(), Some(&tracked))
}

fn walk_all(tree: &Tree) -> Walk {
    walk(tree.path(), &WorkspaceOptions::default(), None)
}

#[test]
fn files_come_sorted_with_size_time_and_role() {
    let tree = Tree::new();
    tree.write("a/b.rs", "12345")
        .touch(&["a.rs", "a-b.rs", "tests/x.rs"]);
    let found = walk_all(&tree);
    assert_eq!(paths(&found), ["a-b.rs", "a.rs", "a/b.rs", "tests/x.rs"]);
    assert_eq!(found.files[2].size, 5);
    assert!(found.files[2].modified.unwrap() > 1_600_000_000);
    assert_eq!(found.files[2].role, FileRole::Source);
    assert_eq!(found.files[3].role, FileRole::Test);
    assert_eq!(found.skipped, []);
    assert_eq!(found.problems, []);
}

#[test]
fn tracked_files_are_never_ignored_by_git() {
    let tree = Tree::repository();
    tree.touch(&["kernel/fork.c", "init/main.c"]).commit("all");
    tree.write(".gitignore", "/*\n!/debian/\n");
    tree.touch(&["debian/rules", "scratch.c", "kernel/new.c"]);
    let found = walk_with_git(tree.path());
    assert_eq!(
        paths(&found),
        ["debian/rules", "init/main.c", "kernel/fork.c"]
    );
    assert_eq!(found.problems, []);
}

#[test]
fn our_own_ignore_files_hold_for_tracked_files_too() {
    let tree = Tree::repository();
    tree.write(".ignore", "data/\n*.sql\n")
        .write("sub/.kitbagignore", "x.rs\n!y.sql\n");
    tree.touch(&["data/a", "b.sql", "sub/x.rs", "sub/y.sql", "sub/z.sql"]);
    tree.commit("all");
    let found = walk_with_git(tree.path());
    assert_eq!(paths(&found), [".ignore", "sub/.kitbagignore", "sub/y.sql"]);
}

#[test]
fn the_rules_of_folders_above_the_root_hold() {
    let tree = Tree::repository();
    tree.write(".gitignore", "*.log\n/sub/one\n")
        .write("sub/.gitignore", "!keep.log\n");
    tree.write(".kitbagignore", "sub/deep/two\n");
    tree.touch(&[
        "sub/deep/a.log",
        "sub/deep/keep.log",
        "sub/deep/two",
        "sub/one",
        "sub/b",
    ]);
    let found = walk(&tree.join("sub"), &WorkspaceOptions::default(), None);
    assert_eq!(paths(&found), [".gitignore", "b", "deep/keep.log"]);
    let found = walk(&tree.join("sub/deep"), &WorkspaceOptions::default(), None);
    assert_eq!(paths(&found), ["keep.log"]);
}

#[test]
fn without_a_repository_gitignore_holds_until_nothing_is_left() {
    let tree = Tree::new();
    tree.write(".gitignore", "*.log\n")
        .touch(&["a.log", "b.rs"]);
    assert_eq!(paths(&walk_all(&tree)), [".gitignore", "b.rs"]);
    tree.write(".gitignore", "*\n");
    let found = walk_all(&tree);
    assert_eq!(paths(&found), [".gitignore", "a.log", "b.rs"]);
    assert_eq!(
        found.problems[0].to_string(),
        ".gitignore: it leaves no file here and git tracks none: it was not applied"
    );
    // Our own files mean what they say.
    tree.write(".ignore", "*\n");
    assert_eq!(paths(&walk_all(&tree)), [""; 0]);
}

#[test]
fn excludes_of_the_repository_hold_in_linked_work_trees_too() {
    let tree = Tree::repository();
    tree.touch(&["a"]).commit("one");
    tree.write(".git/info/exclude", "*.tmp\n").touch(&["x.tmp"]);
    assert_eq!(paths(&walk_with_git(tree.path())), ["a"]);
    let elsewhere = Tree::new();
    let linked = elsewhere.join("linked");
    tree.git(&[
        "worktree",
        "add",
        "--quiet",
        linked.to_str().unwrap(),
        "-b",
        "other",
    ]);
    fs::write(linked.join("y.tmp"), "").unwrap();
    assert_eq!(paths(&walk_with_git(&linked)), ["a"]);
}

#[test]
fn excludes_of_the_user_hold() {
    const ROOT: &str = "KITBAG_TEST_USER_EXCLUDES";
    if let Some(root) = std::env::var_os(ROOT) {
        let found = walk(Path::new(&root), &WorkspaceOptions::default(), None);
        assert_eq!(paths(&found), ["a", "kept.bak"]);
        return;
    }
    let tree = Tree::repository();
    tree.touch(&["a", "b.bak", "kept.bak"])
        .write(".git/info/exclude", "!kept.bak\n");
    let home = Tree::new();
    home.write("git/ignore", "*.bak\n");
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "walk::excludes_of_the_user_hold"])
        .env(ROOT, tree.path())
        .env("XDG_CONFIG_HOME", home.path())
        .env("HOME", home.path())
        .env_remove("GIT_CONFIG_GLOBAL")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&child.stdout);
    assert!(
        child.status.success() && said.contains("1 passed"),
        "{said}"
    );
}

#[test]
fn a_nested_repository_has_its_own_rules() {
    let tree = Tree::repository();
    tree.write(".gitignore", "*.out\n")
        .write(".ignore", "*.big\n");
    tree.touch(&["a.out", "lib/a.out", "lib/b.big", "lib/c.log"]);
    tree.write("lib/.gitignore", "*.log\n");
    Command::new("git")
        .arg("init")
        .arg("--quiet")
        .arg(tree.join("lib"))
        .status()
        .unwrap();
    let found = walk_with_git(tree.path());
    assert_eq!(
        paths(&found),
        [".gitignore", ".ignore", "lib/.gitignore", "lib/a.out"]
    );
}

#[test]
fn braces_and_broken_lines_mean_what_they_mean_to_git() {
    let tree = Tree::repository();
    tree.write(
        ".gitignore",
        b"\xef\xbb\xbf*.{q,r}\n[\n\\\n\xff\xfe\n*.c\r\n",
    );
    tree.touch(&["x.q", "x.r", "x.{q,r}", "x.c"]);
    assert_eq!(
        paths(&walk_with_git(tree.path())),
        [".gitignore", "x.q", "x.r"]
    );
}

#[test]
fn foreign_folders_are_one_line_each() {
    let tree = Tree::new();
    tree.touch(&["src/a.js", "node_modules/x/a.js", "node_modules/y/b.js"]);
    tree.touch(&[
        "env/pyvenv.cfg",
        "env/lib/a.py",
        "out/CACHEDIR.TAG",
        "out/x",
    ]);
    tree.touch(&[
        "vendor/modules.txt",
        "vendor/x/a.go",
        "vendored/vendor/own.go",
        "vendored/vendor/go.mod",
    ]);
    tree.touch(&[
        "pkg/__pycache__/a.pyc",
        "third_party/z.c",
        "crates/v/.cargo-checksum.json",
        "deps/lua/COPYING",
        "deps/lua/lapi.c",
        "deps/Makefile",
    ]);
    tree.touch(&[
        "web/static/vendor/jquery.js",
        "build/real.py",
        ".git/config",
        ".kitbag/x",
    ]);
    let found = walk_all(&tree);
    assert_eq!(
        paths(&found),
        ["build/real.py", "deps/Makefile", "src/a.js",]
    );
    assert_eq!(
        skips(&found),
        [
            "crates/v: code of other projects",
            "deps/lua: code of other projects",
            "env: code of other projects",
            "node_modules: code of other projects",
            "out: made by a tool",
            "pkg/__pycache__: made by a tool",
            "third_party: code of other projects",
            "vendor: code of other projects",
            "vendored/vendor: code of other projects",
            "web/static/vendor: code of other projects",
        ]
    );
}

#[test]
fn a_vendor_folder_without_a_sign_of_other_projects_is_the_project_s_own() {
    let tree = Tree::new();
    tree.touch(&["shop/a.py", "shop/b.py", "shop/c.py", "shop/d.py"]);
    tree.touch(&["vendor/models.py", "vendor/migrations/one.py"]);
    tree.touch(&["vendors/models.py", "vendors/x/package.json"]);
    tree.touch(&["lib/vendor/list/a.js", "lib/vendor/item/b.js"]);
    assert!(skips(&walk_all(&tree)).is_empty());
    let other = Tree::new();
    other.touch(&["a.js", "b.js", "c.js", "vendor/x/x.js", "vendor/y/y.js"]);
    assert_eq!(skips(&walk_all(&other)), ["vendor: code of other projects"]);
}

#[test]
fn what_a_package_built_is_left_out_and_another_dist_is_not() {
    let tree = Tree::new();
    tree.touch(&["ui/package.json", "ui/src/a.ts", "ui/dist/a.js"]);
    tree.touch(&["tools/dist/upload.py"]);
    let found = walk_all(&tree);
    assert_eq!(
        paths(&found),
        ["tools/dist/upload.py", "ui/package.json", "ui/src/a.ts"]
    );
    assert_eq!(skips(&found), ["ui/dist: generated"]);
}

#[test]
fn names_tell_what_no_context_needs() {
    let tree = Tree::new();
    tree.touch(&[
        ".env",
        ".env.local",
        ".env.example",
        ".envrc",
        "id_rsa",
        "server.pem",
    ]);
    tree.touch(&["Cargo.lock", "go.sum", "package-lock.json", "yarn.lock"]);
    tree.touch(&[
        "app.min.js",
        "app.js.map",
        "site.min.css",
        "admin.js",
        "map",
    ]);
    tree.touch(&[
        "a.pb.go",
        "a_pb2.py",
        "a.g.dart",
        "Form.Designer.cs",
        "types.d.ts",
    ]);
    tree.touch(&[
        "logo.PNG",
        "a.zip",
        "a.svg",
        ".hidden",
        ".github/workflows/ci.yml",
    ]);
    let found = walk_all(&tree);
    let expected = [
        ".env.example",
        ".github/workflows/ci.yml",
        ".hidden",
        "a.svg",
        "admin.js",
        "map",
        "types.d.ts",
    ];
    assert_eq!(paths(&found), expected);
    assert_eq!(
        skips(&found),
        [
            ".env: may hold secrets",
            ".env.local: may hold secrets",
            ".envrc: may hold secrets",
            "Cargo.lock: lock file",
            "Form.Designer.cs: generated",
            "a.g.dart: generated",
            "a.pb.go: generated",
            "a.zip: no text",
            "a_pb2.py: generated",
            "app.js.map: minified",
            "app.min.js: minified",
            "go.sum: lock file",
            "id_rsa: may hold secrets",
            "logo.PNG: no text",
            "package-lock.json: lock file",
            "server.pem: may hold secrets",
            "site.min.css: minified",
            "yarn.lock: lock file",
        ]
    );
}

#[test]
fn an_include_narrows_and_lifts_only_what_it_spells() {
    let tree = Tree::new();
    tree.touch(&[
        "a.js",
        "a.min.js",
        "b.css",
        "src/x/c.rs",
        "src/x/d.png",
        "src/e.lock",
    ]);
    tree.touch(&["node_modules/p/a.js", "node_modules/q/a.js"]);
    let included = |patterns: &[&str]| {
        let mut options = WorkspaceOptions::default();
        options.include = patterns.iter().copied().map(String::from).collect();
        let found = walk(tree.path(), &options, None);
        paths(&found).join(" ")
    };
    assert_eq!(included(&["*.js"]), "a.js");
    assert_eq!(included(&["*.js", "*.min.js"]), "a.js a.min.js");
    assert_eq!(included(&["*.{js,css}"]), "a.js b.css");
    assert_eq!(included(&["src"]), "src/x/c.rs");
    assert_eq!(included(&["./src/x/"]), "src/x/c.rs");
    assert_eq!(included(&["src/**/*.png"]), "src/x/d.png");
    assert_eq!(included(&["/a.js", "!a.js"]), "");
    assert_eq!(included(&["node_modules/p"]), "node_modules/p/a.js");
}

#[test]
fn an_exclude_leaves_out_files_and_folders() {
    let tree = Tree::new();
    tree.touch(&["a.rs", "b.sql", "gen/c.rs", "x/gen/d.rs", "x/e.sql"]);
    let mut options = WorkspaceOptions::default();
    options.exclude = ["*.sql", "/gen", "["].map(String::from).to_vec();
    let found = walk(tree.path(), &options, None);
    assert_eq!(paths(&found), ["a.rs", "x/gen/d.rs"]);
    let told: Vec<String> = found.problems.iter().map(ToString::to_string).collect();
    assert_eq!(told, ["`[` is not a file pattern, and is ignored"]);
}

#[test]
fn a_named_file_is_listed_in_any_case() {
    let tree = Tree::repository();
    tree.write(".gitignore", "ignored/\n")
        .write(".kitbagignore", "own.rs\n");
    tree.touch(&[
        "ignored/a.rs",
        "own.rs",
        ".env",
        "Cargo.lock",
        "node_modules/x/i.js",
        "real.rs",
    ]);
    symlink("real.rs", tree.join("link.rs")).unwrap();
    let named = [
        ".env",
        "Cargo.lock",
        "./ignored/a.rs",
        "node_modules/x/i.js",
        "own.rs",
        "link.rs",
    ];
    let mut options = WorkspaceOptions::default();
    options.named = named.map(String::from).to_vec();
    options.exclude = vec!["real.rs".to_owned()];
    let found = walk(tree.path(), &options, None);
    let expected = [
        ".env",
        ".gitignore",
        ".kitbagignore",
        "Cargo.lock",
        "ignored/a.rs",
        "node_modules/x/i.js",
        "own.rs",
        "real.rs",
    ];
    assert_eq!(paths(&found), expected);
    assert_eq!(
        skips(&found),
        [
            "link.rs: link to real.rs",
            "node_modules: code of other projects"
        ]
    );
}

#[test]
fn a_name_never_leaves_the_root_nor_shows_what_is_never_shown() {
    let outside = Tree::new();
    outside.touch(&["secret"]);
    let tree = Tree::repository();
    symlink(outside.join("secret"), tree.join("link")).unwrap();
    let absolute = outside.join("secret").display().to_string();
    let named = ["../x", "link", &absolute, ".git/config", "missing", "."];
    let mut options = WorkspaceOptions::default();
    options.named = named.map(String::from).to_vec();
    let found = walk(tree.path(), &options, None);
    assert_eq!(paths(&found), [""; 0]);
    assert_eq!(found.problems.len(), named.len(), "{:?}", found.problems);
    assert_eq!(skips(&found), ["link: link out of the root"]);
}

#[test]
fn odd_entries_are_told_and_never_opened() {
    let outside = Tree::new();
    let tree = Tree::new();
    tree.touch(&["dir/real.rs", "line\nbreak.rs"]);
    symlink("dir/real.rs", tree.join("same.rs")).unwrap();
    symlink("dir", tree.join("same")).unwrap();
    symlink("..", tree.join("dir/up")).unwrap();
    symlink("loop", tree.join("loop")).unwrap();
    symlink("missing", tree.join("dangling")).unwrap();
    symlink("/dev/zero", tree.join("zero")).unwrap();
    symlink(outside.path(), tree.join("out")).unwrap();
    let fifo = tree.join("pipe.rs");
    Command::new("mkfifo")
        .arg(&fifo)
        .arg(tree.join(".gitignore"))
        .status()
        .unwrap();
    let _socket = UnixListener::bind(tree.join("socket")).unwrap();
    let bad = std::ffi::OsStr::from_bytes(b"bad\xff.rs");
    fs::write(tree.path().join(bad), "").unwrap();
    let huge = fs::File::create(tree.join("huge.rs")).unwrap();
    huge.set_len(10 << 30).unwrap();
    let found = walk_all(&tree);
    assert_eq!(paths(&found), ["dir/real.rs", "line\nbreak.rs"]);
    assert_eq!(
        skips(&found),
        [
            ".gitignore: neither a file nor a folder",
            "bad\u{fffd}.rs: its name is no UTF-8",
            "dangling: link that leads nowhere",
            "dir/up: link to the root",
            "huge.rs: too large (10737418240 bytes)",
            "loop: link that leads nowhere",
            "out: link out of the root",
            "pipe.rs: neither a file nor a folder",
            "same: link to dir",
            "same.rs: link to dir/real.rs",
            "socket: neither a file nor a folder",
            "zero: link out of the root",
        ]
    );
}

#[test]
fn a_folder_that_cannot_be_read_is_told() {
    let tree = Tree::new();
    tree.touch(&["a.rs", "closed/b.rs"]);
    let closed = tree.join("closed");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o0)).unwrap();
    // The superuser reads it all the same.
    let readable = fs::read_dir(&closed).is_ok();
    let found = walk_all(&tree);
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o755)).unwrap();
    if readable {
        assert_eq!(paths(&found), ["a.rs", "closed/b.rs"]);
    } else {
        assert_eq!(paths(&found), ["a.rs"]);
        assert!(skips(&found)[0].starts_with("closed: unreadable: "));
    }
}

#[test]
fn a_missing_root_is_a_problem() {
    let found = walk(
        &Tree::new().join("missing"),
        &WorkspaceOptions::default(),
        None,
    );
    assert_eq!(paths(&found), [""; 0]);
    let told = &found.problems[0].message;
    assert!(told.starts_with("the root cannot be read: "), "{told}");
}

#[test]
fn a_deep_tree_is_walked_to_its_end() {
    let tree = Tree::new();
    let deep = "d/".repeat(300) + "leaf.rs";
    tree.touch(&[&deep]);
    assert_eq!(paths(&walk_all(&tree)), [deep.as_str()]);
}

#[test]
fn the_walk_is_the_same_on_any_number_of_threads() {
    let tree = Tree::new();
    for folder in 0..40 {
        for file in 0..10 {
            tree.touch(&[&format!("{folder}/{}/{file}.rs", file % 3)]);
        }
        tree.touch(&[&format!("{folder}/node_modules/x.js")]);
    }
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.unwrap().install(|| walk_all(&tree))
    };
    assert_eq!(on(1), on(8));
    assert_eq!(on(1).files.len(), 400);
}

#[test]
fn a_listed_file_is_read_and_a_swapped_one_refused() {
    let tree = Tree::new();
    tree.write("a.rs", "text")
        .write("b.rs", "text")
        .write("c.rs", "text")
        .write("d.rs", "text");
    let found = walk_all(&tree);
    let mut buffer = b"old".to_vec();
    text::read(tree.path(), &found.files[0], &mut buffer).unwrap();
    assert_eq!(buffer, b"text");
    for file in ["b.rs", "c.rs", "d.rs"] {
        fs::remove_file(tree.join(file)).unwrap();
    }
    symlink("a.rs", tree.join("b.rs")).unwrap();
    Command::new("mkfifo")
        .arg(tree.join("c.rs"))
        .status()
        .unwrap();
    fs::create_dir(tree.join("d.rs")).unwrap();
    for entry in &found.files[1..] {
        let error = text::read(tree.path(), entry, &mut buffer).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("`{}` is not a regular file", entry.path)
        );
        assert_eq!(buffer, b"");
    }
}

#[test]
fn a_file_that_grows_is_cut() {
    let tree = Tree::new();
    tree.touch(&["a.rs"]);
    let found = walk_all(&tree);
    let grown = fs::File::options()
        .write(true)
        .open(tree.join("a.rs"))
        .unwrap();
    grown.set_len(10 << 30).unwrap();
    let mut buffer = Vec::new();
    text::read(tree.path(), &found.files[0], &mut buffer).unwrap();
    assert_eq!(buffer.len() as u64, SIZE_LIMIT);
}
