//! The tree as it is drawn, and that it loses no file.

use proptest::prelude::*;

use super::*;

fn tree(paths: &[&str], depth: usize) -> String {
    levels(paths, depth).into_iter().next().unwrap_or_default()
}

#[test]
fn p04_structure_shows_folders_first_and_counts_what_it_cuts() {
    let paths = [
        "Cargo.toml",
        "README.md",
        "crates/core/src/fit.rs",
        "crates/core/src/fit/search.rs",
        "crates/core/src/fit/table.rs",
        "crates/core/src/lib.rs",
        "crates/core/Cargo.toml",
        "crates/cli/src/main.rs",
        "docs/index.md",
    ];
    insta::assert_snapshot!(tree(&paths, 3), @r"
    crates/
      cli/src/main.rs
      core/
        src/ (4 files)
        Cargo.toml
    docs/index.md
    Cargo.toml
    README.md
    ");
    insta::assert_snapshot!(tree(&paths, 2), @r"
    crates/
      cli/src/main.rs
      core/ (5 files)
    docs/index.md
    Cargo.toml
    README.md
    ");
    insta::assert_snapshot!(tree(&paths, 1), @r"
    crates/ (6 files)
    docs/index.md
    Cargo.toml
    README.md
    ");
}

#[test]
fn p04_structure_folds_runs_of_folders() {
    let paths = [
        "src/main/java/org/shop/cart/Cart.java",
        "src/main/java/org/shop/cart/Item.java",
        "src/main/java/org/shop/Shop.java",
        "src/test/java/org/shop/ShopTest.java",
    ];
    insta::assert_snapshot!(tree(&paths, 3), @r"
    src/
      main/java/org/shop/
        cart/ (2 files)
        Shop.java
      test/java/org/shop/ShopTest.java
    ");
}

#[test]
fn p04_structure_keeps_wide_folders_short() {
    let mut paths: Vec<String> = (0..50).map(|n| format!("pages/page_{n:02}.html")).collect();
    paths.extend((0..40).map(|n| format!("apps/app_{n:02}/a.py")));
    paths.extend((0..40).map(|n| format!("apps/app_{n:02}/b.py")));
    paths.extend((0..5).map(|n| format!("apps/base_{n}.py")));
    paths.push("manage.py".into());
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();

    let narrow = levels(&paths, 2)
        .into_iter()
        .find(|text| text.contains("more") && text.lines().count() < 30);
    insta::assert_snapshot!(narrow.unwrap(), @r"
    apps/
      app_00/ (2 files)
      app_01/ (2 files)
      app_02/ (2 files)
      app_03/ (2 files)
      app_04/ (2 files)
      app_05/ (2 files)
      app_06/ (2 files)
      base_0.py
      base_1.py
      base_2.py
      … 33 more folders (66 files), 2 more files
    pages/
      page_00.html
      page_01.html
      page_02.html
      page_03.html
      page_04.html
      page_05.html
      page_06.html
      page_07.html
      page_08.html
      page_09.html
      … 40 more files
    manage.py
    ");
}

#[test]
fn p04_the_largest_folders_stay_and_hidden_ones_are_not_opened() {
    let mut paths: Vec<String> = (0..40)
        .map(|n| format!("dir_{n:02}/a\0dir_{n:02}/b"))
        .flat_map(|pair| pair.split('\0').map(str::to_owned).collect::<Vec<_>>())
        .collect();
    paths.extend((0..3).map(|n| format!("zoo/{n}")));
    paths.extend((0..3).map(|n| format!(".hidden/{n}")));
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    let drawn = tree(&paths, 1);
    assert!(
        drawn.ends_with("dir_28/ (2 files)\nzoo/ (3 files)\n… 12 more folders (25 files)\n"),
        "{drawn}"
    );
    assert_eq!(
        tree(&[".ci/a", ".ci/b", "x/a", "x/b"], 3),
        ".ci/ (2 files)\nx/\n  a\n  b\n"
    );
}

#[test]
fn names_cannot_draw_lines_of_their_own() {
    let paths = [
        "a\n  forged.rs",
        "  indented.rs",
        "src/\u{202e}sr.x",
        "src/b",
    ];
    insta::assert_snapshot!(tree(&paths, 3), @r"
    src/
      b
      \u{202e}sr.x
    \u{20} indented.rs
    a\n  forged.rs
    ");
}

#[test]
fn nothing_gives_no_tree() {
    assert_eq!(tree(&[], 3), "");
    assert_eq!(levels(&["", "a//b", "/"], 3), Vec::<String>::new());
    assert_eq!(tree(&["a"], 0), "a\n");
}

#[test]
fn a_file_and_a_folder_of_one_name_are_both_shown() {
    assert_eq!(
        tree(&["a", "a/b", "a/c", "a.d"], 2),
        "a/\n  b\n  c\na\na.d\n"
    );
}

#[test]
fn very_deep_paths_are_no_trouble() {
    let deep = format!("{}x", "d/".repeat(20_000));
    let other = format!("{}y", "d/".repeat(20_000));
    assert!(tree(&[&deep, &other], usize::MAX).len() < 2_000);
}

/// How many files a drawing shows or counts.
fn accounted(text: &str) -> usize {
    let mut files = 0;
    for line in text.lines() {
        let line = line.trim_start();
        let (counts, name) = match line.strip_prefix("… ") {
            Some(rest) => (rest, None),
            None => match line.split_once(" (") {
                Some((name, counts)) => (counts, Some(name)),
                None => ("", Some(line)),
            },
        };
        let words: Vec<&str> = counts
            .split([' ', '(', ')', ','])
            .filter(|word| !word.is_empty())
            .collect();
        for (index, word) in words.iter().enumerate() {
            if word.starts_with("file") {
                let before = words[index - 1];
                let number = if before == "more" {
                    words[index - 2]
                } else {
                    before
                };
                files += number.parse::<usize>().unwrap();
            }
        }
        files += usize::from(counts.is_empty() && name.is_some_and(|name| !name.ends_with('/')));
    }
    files
}

proptest! {
    #[test]
    fn p04_every_file_is_shown_or_counted(
        paths in prop::collection::btree_set("[a-c]{1,2}(/[a-d]{1,3}){0,4}", 1..300),
        depth in 1_usize..6,
    ) {
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        let levels = levels(&paths, depth);
        for text in &levels {
            prop_assert_eq!(accounted(text), paths.len(), "{}", text);
            prop_assert!(text.lines().count() <= MAX_LINES);
        }
        prop_assert!(levels.windows(2).all(|pair| pair[1].len() < pair[0].len()));
    }

    #[test]
    fn order_of_the_paths_does_not_matter(
        mut paths in prop::collection::vec(".{0,3}(/.{0,3}){0,3}", 0..40),
        depth in 0_usize..5,
    ) {
        let before = levels(&paths.iter().map(String::as_str).collect::<Vec<_>>(), depth);
        paths.reverse();
        let after = levels(&paths.iter().map(String::as_str).collect::<Vec<_>>(), depth);
        prop_assert_eq!(before, after);
    }
}
