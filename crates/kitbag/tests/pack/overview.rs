//! What is shown where nothing is asked.

use std::fmt::Write as _;

use kitbag::core::chunk::{ChunkType, Detail};
use kitbag::pack::Pack;

use crate::project::{Project, find, packed, problems, why_out};

/// A file of functions that says what it is.
fn code(name: &str, functions: usize) -> String {
    let mut code = String::new();
    for n in 0..functions {
        writeln!(code, "pub fn {name}_{n}(a: u32) -> u32 {{").unwrap();
        let steps = "    let b = a + 1;\n    let c = b * a;\n".repeat(4);
        write!(code, "{steps}    c\n}}\n\n").unwrap();
    }
    code
}

fn project() -> Project {
    let paragraphs: String = (0..200)
        .map(|n| format!("Paragraph {n} explains more.\n\n"))
        .collect();
    let readme = format!("# Shop\n\nSells things.\n\n{paragraphs}");
    let mut files = vec![
        ("README.md".to_owned(), readme),
        ("Cargo.toml".to_owned(), MANIFEST.to_owned()),
        ("src/main.rs".to_owned(), code("start", 4)),
        ("src/orders/price.rs".to_owned(), code("price", 30)),
        ("tests/orders.rs".to_owned(), code("checks", 30)),
        ("examples/demo.rs".to_owned(), code("demo", 30)),
        ("tests/fixtures/table.rs".to_owned(), code("table", 30)),
    ];
    for language in ["ar", "bg", "da", "de", "es", "fr"] {
        files.push((
            format!("src/locale/{language}/format.rs"),
            code("format", 3),
        ));
    }
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(path, text)| (path.as_str(), text.as_str()))
        .collect();
    Project::new(&files)
}

const MANIFEST: &str = "[package]\nname = \"shop\"\n[dependencies]\nserde = \"1\"\n";

fn files(pack: &Pack) -> Vec<&str> {
    let files = pack.assembly.kept.iter();
    let files = files.filter(|kept| kept.chunk_type == ChunkType::File);
    files.map(|kept| kept.source.as_str()).collect()
}

#[test]
fn x01_an_overview_introduces_the_project_and_shows_where_it_begins() {
    let pack = packed(&project().request("", 2_000)).unwrap();
    assert_eq!(problems(&pack), [""; 0]);
    for part in [
        "src/",
        "Sells things.",
        "serde",
        "pub fn start_0(a: u32) -> u32 {",
    ] {
        assert!(pack.prompt().contains(part), "{part}: {}", pack.prompt());
    }
    let readme = find(&pack, "README.md").unwrap();
    assert_eq!(readme.level, Detail::Slice);
    assert!(readme.tokens.0 <= 600, "{}", readme.tokens.0);
    assert_eq!(files(&pack)[..2], ["README.md", "src/main.rs"]);
    assert!(!pack.prompt().contains("let b = a"), "{}", pack.prompt());
}

#[test]
fn x01_an_overview_has_no_tests_and_no_tables() {
    let pack = packed(&project().request("", 8_000)).unwrap();
    let shown = files(&pack);
    assert!(shown.contains(&"src/orders/price.rs"), "{shown:?}");
    for aside in ["tests/", "examples/"] {
        assert!(
            !shown.iter().any(|path| path.starts_with(aside)),
            "{shown:?}"
        );
    }
    let place = |path: &str| {
        pack.decisions
            .ranked
            .iter()
            .position(|ranked| ranked.source == path)
    };
    let price = place("src/orders/price.rs").unwrap();
    for language in ["ar", "bg", "da", "de", "es", "fr"] {
        let table = place(&format!("src/locale/{language}/format.rs"));
        assert!(table.is_some_and(|table| table > price), "{language}");
    }
}

#[test]
fn x01_what_an_overview_leaves_out_is_told() {
    let project = Project::repository(&[
        ("src/main.rs", &code("start", 4)),
        ("tests/orders.rs", &code("checks", 4)),
        ("examples/demo.rs", &code("demo", 4)),
    ]);
    let pack = packed(&project.request("", 4_000)).unwrap();
    assert_eq!(files(&pack), ["src/main.rs"]);
    for path in ["tests/orders.rs", "examples/demo.rs"] {
        let reason = "an overview leaves out tests, examples and data";
        assert_eq!(why_out(&pack, path), reason, "{path}");
        let excluded = pack.decisions.excluded.iter();
        let told = excluded.filter(|out| out.source == path);
        assert_eq!(told.count(), 1, "{path}");
    }
}

/// Checks that the beginning of the readme is shown, as its lines tell; returns how many they are.
#[track_caller]
fn introduced(readme: &str, budget: u32) -> usize {
    let project = Project::new(&[("README.md", readme), ("src/main.rs", &code("start", 4))]);
    let pack = packed(&project.request("", budget)).unwrap();
    let shown = find(&pack, "README.md").unwrap();
    assert_eq!(shown.level, Detail::Slice, "{}", pack.prompt());
    let [(1, last)] = shown.lines[..] else {
        panic!("{:?}", shown.lines);
    };
    let last = usize::try_from(last).unwrap();
    let head: String = readme.split_inclusive('\n').take(last).collect();
    assert!(pack.prompt().contains(head.trim_end()), "{}", pack.prompt());
    let next = readme.lines().skip(last).find(|line| !line.is_empty());
    assert!(!pack.prompt().contains(next.unwrap()), "{}", pack.prompt());
    last
}

#[test]
fn x01_a_readme_that_cannot_fit_is_shown_from_its_beginning() {
    let section = |n| format!("## Part {n}.\n\nIt explains part {n} at length.\n\n");
    let readme: String = (0..1_000).map(section).collect();
    assert!(readme.len() > 16 * 1_000);
    assert!(introduced(&readme, 1_000) > 10);
}

#[test]
fn x01_a_readme_is_introduced_whatever_ends_its_lines_and_paragraphs() {
    let paragraph = |n| format!("Paragraph {n}. begins,\r\nand ends as {n}.\r\n\r\n");
    let readme: String = (0..300).map(paragraph).collect();
    // Whole paragraphs: two lines each, and a blank one between.
    assert_eq!(introduced(&readme, 2_000) % 3, 2);
    let lines: String = (0..300).map(|n| format!("Line {n}. of many.\n")).collect();
    assert!(introduced(&lines, 2_000) > 10);
    assert!(introduced(&format!("# Shop\n\n{lines}"), 2_000) > 10);
}

#[test]
fn x01_a_readme_with_line_numbers_ends_with_a_paragraph() {
    let paragraph = |n| format!("Paragraph {n} begins,\nand ends.\n\n");
    let readme: String = (0..300).map(paragraph).collect();
    let project = Project::new(&[("README.md", &readme)]);
    let mut request = project.request("", 2_000);
    request.options.line_numbers = true;
    let pack = packed(&request).unwrap();
    let (first, last) = find(&pack, "README.md").unwrap().lines[0];
    assert_eq!((first, last % 3), (1, 2));
    let end = format!("{last} and ends.");
    assert!(pack.prompt().contains(&end), "{}", pack.prompt());
}

#[test]
fn x01_a_file_whose_outline_has_no_room_is_told_by_its_names() {
    let pack = packed(&project().request("", 700)).unwrap();
    let price = find(&pack, "src/orders/price.rs").unwrap();
    assert_eq!(price.level, Detail::Line);
    let line = "src/orders/price.rs: price_0, price_1, ";
    assert!(pack.prompt().contains(line), "{}", pack.prompt());
    assert!(
        pack.prompt().contains("price_15, … 14 more"),
        "{}",
        pack.prompt()
    );
}

#[test]
fn x01_an_overview_is_taken_for_no_task() {
    let pack = packed(&project().request(" \n", 2_000)).unwrap();
    assert_eq!(
        (pack.decisions.task_type, &pack.decisions.inferred_from),
        (None, &None)
    );
    assert!(!pack.prompt().contains("task, please"), "{}", pack.prompt());
}

#[test]
fn x01_what_is_changed_most_comes_first() {
    let project = Project::repository(&[
        ("src/a.rs", &code("a", 20)),
        ("src/b.rs", &code("b", 20)),
        ("src/c.rs", &code("c", 20)),
    ]);
    for n in 0..6 {
        project.write("src/c.rs", &code("c", 21 + n));
        project.commit("more");
    }
    let pack = packed(&project.request("", 4_000)).unwrap();
    assert_eq!(files(&pack)[0], "src/c.rs");
    let parts = &pack.decisions.ranked[0].parts;
    assert!(
        parts.iter().any(|part| part.name == "activity"),
        "{parts:?}"
    );
}

#[test]
fn x01_a_task_that_finds_nothing_is_told_so_and_gets_an_overview() {
    for task in ["zyzzyva quokka", "fix it"] {
        let pack = packed(&project().request(task, 2_000)).unwrap();
        assert_eq!(
            problems(&pack),
            ["no file has a word of the task, so this is an overview"],
            "{task}"
        );
        assert_eq!(files(&pack)[..2], ["README.md", "src/main.rs"], "{task}");
        assert!(pack.prompt().contains(task), "{}", pack.prompt());
    }
}
