//! Parts of files that a prompt shows: what a task names, whole functions of several files, a test, no noise.

use std::fmt::Write as _;

use kitbag::core::assembly::Reason;
use kitbag::core::chunk::{ChunkType, Detail};
use kitbag::core::envelope::TaskType;
use kitbag::pack::{Attachment, Pack, PackRequest};

use crate::project::{Project, find, packed, problems, why_out};

/// The sources that are in the prompt, in its order.
fn sources(pack: &Pack) -> Vec<&str> {
    let chunks = pack.decisions.chunks.iter();
    let files = chunks.filter(|chunk| chunk.chunk_type == ChunkType::File);
    files.map(|file| file.source.as_str()).collect()
}

/// A function of about so many lines that has a word in each of them.
fn function(name: &str, word: &str, lines: usize) -> String {
    let mut text = format!("def {name}(cart):\n");
    for line in 0..lines {
        writeln!(
            text,
            "    {word}_{line} = cart.{word}(step={line}, of={name:?})"
        )
        .unwrap();
    }
    text + "    return cart\n\n\n"
}

fn as_type(mut request: PackRequest, task_type: TaskType) -> Pack {
    request.survey.task_type = Some(task_type);
    packed(&request).unwrap()
}

/// A shop of twelve files, each of a dozen functions about checkout.
fn shop() -> Project {
    let project = Project::new(&[]);
    for file in 0..12 {
        let functions: String = (0..12)
            .map(|n| function(&format!("checkout_{file}_{n}"), "checkout", 9))
            .collect();
        project.write(&format!("shop/part{file}.py"), &functions);
    }
    project
}

#[test]
fn p02_a_document_that_the_task_names_is_shown_whole_and_first() {
    let project = shop();
    let guide = format!("# Plots\n\n{}", "A line about axes.\n\n".repeat(30));
    project.write("docs/guide/plots.md", &guide);
    let task = "update docs/guide/plots.md: the checkout is not explained";
    let pack = packed(&project.request(task, 8_000)).unwrap();
    assert_eq!(sources(&pack).first(), Some(&"docs/guide/plots.md"));
    let shown = find(&pack, "docs/guide/plots.md").unwrap();
    assert_eq!(
        (shown.level, shown.reason),
        (Detail::Full, Reason::Critical)
    );
    assert!(pack.prompt().contains(&guide));
}

#[test]
fn p02_a_notebook_is_shown_by_its_cells() {
    let project = shop();
    let picture = "iVBORw0KGgo".repeat(9_000);
    let notebook = format!(
        r#"{{"cells": [{{"cell_type": "code", "source": ["axes = plot(cart)\n", "axes.show()"],
        "outputs": [{{"data": {{"image/png": "{picture}"}}}}]}}], "nbformat": 4}}"#
    );
    project.write("docs/guide/plots.ipynb", &notebook);
    let task = "update docs/guide/plots.ipynb: the checkout is not explained";
    let pack = packed(&project.request(task, 8_000)).unwrap();
    assert_eq!(sources(&pack).first(), Some(&"docs/guide/plots.ipynb"));
    let cell = "# %%\naxes = plot(cart)\naxes.show()\n";
    assert!(pack.prompt().contains(cell), "{}", pack.prompt());
    assert!(!pack.prompt().contains("iVBOR"), "{}", pack.prompt());
}

#[test]
fn p02_a_definition_that_the_task_names_is_shown_whole() {
    let project = shop();
    let large: String = (0..80)
        .map(|n| function(&format!("close_{n}"), "checkout", 11))
        .collect();
    let named = function("void_receipt", "till", 20);
    project.write("shop/large.py", &format!("{large}{named}{large}"));
    let task = "checkout is wrong in shop/large.py: `void_receipt` forgets the checkout";
    let pack = packed(&project.request(task, 8_000)).unwrap();
    let shown = find(&pack, "shop/large.py").unwrap();
    assert_eq!(sources(&pack).first(), Some(&"shop/large.py"));
    assert_eq!(shown.level, Detail::Slice);
    assert!(
        pack.prompt().contains(named.trim_end()),
        "{}",
        pack.prompt()
    );
    // A file that is named takes half of the budget at most.
    assert!(shown.tokens.0 <= 4_000, "{}", shown.tokens);
}

#[test]
fn p02_a_path_that_moved_is_told() {
    let project = shop();
    project.write("shop/till.py", &function("ring", "till", 5));
    let pack = packed(&project.request("fix the drawer in old/till.py", 8_000)).unwrap();
    assert_eq!(sources(&pack).first(), Some(&"shop/till.py"));
    assert_eq!(
        problems(&pack),
        ["old/till.py: there is no such file; `shop/till.py`, the only one of its name, is meant"]
    );
    let told = "The task names `old/till.py`, which does not exist: `shop/till.py`";
    assert!(pack.prompt().contains(told), "{}", pack.prompt());
}

#[test]
fn p05_no_file_takes_the_prompt_unless_it_is_named() {
    let project = shop();
    let all = |word: &str| -> String {
        (0..120)
            .map(|n| function(&format!("refund_{n}"), word, 12))
            .collect()
    };
    project.write("shop/refund.py", &all("refund"));
    let task = "the refund of a basket is refused at the checkout";
    let pack = packed(&project.request(task, 8_000)).unwrap();
    let largest = pack
        .decisions
        .chunks
        .iter()
        .map(|chunk| chunk.tokens.0)
        .max();
    assert!(largest.unwrap() <= 4_800, "{largest:?}");
    assert!(sources(&pack).len() > 1, "{:?}", sources(&pack));
}

#[test]
fn p05_fragments_are_a_small_part_of_a_prompt() {
    let pack = packed(&shop().request("the checkout of a cart fails at a step", 8_000)).unwrap();
    let kept = pack.assembly.kept.iter();
    let fragments = kept.filter(|kept| {
        kept.chunk_type == ChunkType::File
            && matches!(kept.detail, Detail::Slice | Detail::Outline)
            && kept.text.len() < 1_500
    });
    let tokens: u32 = fragments.map(|kept| kept.tokens.0).sum();
    let all = pack.decisions.tokens.0;
    assert!(tokens * 100 <= all * 15, "{tokens} of {all}");
}

#[test]
fn p05_whoever_mends_code_sees_a_test_of_it() {
    let project = shop();
    project.write("shop/ledger.py", &function("post_entry", "ledger", 40));
    let test = "def test_an_entry_is_posted():\n    assert post_entry(None) is None\n";
    project.write(
        "tests/test_ledger.py",
        &format!("from shop.ledger import post_entry\n\n\n{test}"),
    );
    for task_type in [TaskType::Debug, TaskType::Implement] {
        let request = project.request("the ledger loses an entry", 8_000);
        let pack = as_type(request, task_type);
        assert!(pack.prompt().contains(test), "{}", pack.prompt());
    }
    let analysed = as_type(
        project.request("the ledger loses an entry", 2_000),
        TaskType::Analyze,
    );
    assert_ne!(
        find(&analysed, "tests/test_ledger.py").map(|chunk| chunk.reason),
        Some(Reason::Critical)
    );
}

#[test]
fn p05_a_test_is_shown_however_large_the_project_is() {
    let project = shop();
    // More than is parsed for a prompt of this size.
    for file in 0..9 {
        let functions: String = (0..200)
            .map(|n| function(&format!("ledger_{file}_{n}"), "ledger", 9))
            .collect();
        project.write(&format!("shop/large{file}.py"), &functions);
    }
    project.write("shop/ledger.py", &function("post_entry", "ledger", 40));
    let long = function("test_everything_of_the_ledger", "ledger", 90);
    let short = "def test_an_entry_is_posted():\n    assert post_entry(None) is None\n";
    let tests = format!("from shop.ledger import post_entry\n\n\n{long}{short}");
    project.write("tests/test_ledger.py", &tests);
    let task = "the ledger loses an entry in shop/ledger.py";
    let pack = as_type(project.request(task, 8_000), TaskType::Debug);
    let shown = find(&pack, "tests/test_ledger.py").unwrap();
    assert_eq!(shown.reason, Reason::Critical);
    assert!(pack.prompt().contains(short), "{}", pack.prompt());
}

#[test]
fn p05_where_no_test_belongs_to_the_code_another_one_is_shown() {
    let project = shop();
    let test = "def test_a_basket_is_empty():\n    checkout = None\n    assert not checkout\n";
    project.write("tests/test_everything.py", test);
    let request = project.request("the checkout of a cart fails at a step", 8_000);
    let pack = as_type(request, TaskType::Debug);
    assert!(pack.prompt().contains(test), "{}", pack.prompt());
}

#[test]
fn p05_tests_inside_a_source_file_come_after_its_code() {
    let case = |n: usize| {
        format!(
            "    #[test]\n    fn drains_{n}() {{\n        let queue = Queue::drain(queue, {n});\n        assert_eq!(queue.drain(), {n});\n    }}\n\n"
        )
    };
    let code = |n: usize| {
        format!(
            "/// Part {n}.\npub fn part_{n}(queue: &Queue) -> u32 {{\n    let first = queue.first();\n    first + {n}\n}}\n\n"
        )
    };
    let cases: String = (0..60).map(case).collect();
    let codes: String = (0..60).map(code).collect();
    let drain = "pub fn drain_all(queue: &mut Queue) -> u32 {\n    queue.clear();\n    0\n}\n";
    let text =
        format!("{codes}{drain}\n#[cfg(test)]\nmod tests {{\n    use super::*;\n\n{cases}}}\n");
    let project = Project::new(&[("src/queue.rs", &text)]);
    let pack =
        packed(&project.request("why is the queue not empty after a drain?", 1_200)).unwrap();
    assert!(
        pack.prompt().contains("queue.clear();"),
        "{}",
        pack.prompt()
    );
    assert!(!pack.prompt().contains("assert_eq!"), "{}", pack.prompt());
}

#[test]
fn p05_of_twins_one_is_shown_and_names_the_others() {
    let project = shop();
    let manual = |version: usize| {
        let line = |n: usize| format!("Step {n} of a harbour pilot is to sound the depth.\n");
        let lines: String = (0..40).map(line).collect();
        format!("def pilot():\n    \"\"\"Version {version}.\n{lines}    \"\"\"\n")
    };
    for version in 1..4 {
        project.write(&format!("v{version}/pilot.py"), &manual(version));
    }
    let pack = packed(&project.request("the harbour pilot sounds no depth", 8_000)).unwrap();
    let shown = sources(&pack);
    let pilots: Vec<&&str> = shown
        .iter()
        .filter(|source| source.ends_with("pilot.py"))
        .collect();
    assert_eq!(pilots, [&"v1/pilot.py"]);
    assert_eq!(
        why_out(&pack, "v3/pilot.py"),
        "`v1/pilot.py`, which is nearly the same, stands for it"
    );
    let note = "`v1/pilot.py` stands for `v2/pilot.py`, `v3/pilot.py`, nearly the same.";
    assert!(pack.prompt().contains(note), "{}", pack.prompt());
}

#[test]
fn p01_a_task_of_two_words_is_told_what_would_help() {
    let project = shop();
    for n in 0..60 {
        project.write(&format!("goods/item{n}.py"), "price = 1\n");
    }
    let pack = packed(&project.request("fix the checkout", 8_000)).unwrap();
    assert_eq!(
        problems(&pack),
        [
            "the task has few words to search for: a file, a function or an error message would find more"
        ]
    );
    assert!(
        pack.prompt()
            .contains("The task has few words to search for")
    );
    let longer = "the checkout of an empty cart is refused at its first step";
    assert_eq!(
        problems(&packed(&project.request(longer, 8_000)).unwrap()),
        [""; 0]
    );
}

#[test]
fn p01_a_log_counts_by_its_distinct_lines() {
    let project = Project::new(&[
        ("src/retry.py", &function("retry", "attempt", 6)),
        ("src/ledger.py", &function("post", "ledger", 6)),
    ]);
    let mut request = project.request("the ledger is not posted", 8_000);
    let line = |n: usize| format!("2024-05-01T10:00:{:02} WARN retry attempt {n}\n", n % 60);
    request.survey.attachment = Some(Attachment {
        name: "run.log".to_owned(),
        text: (0..500).map(line).collect(),
    });
    let pack = packed(&request).unwrap();
    let best = pack
        .decisions
        .ranked
        .first()
        .map(|file| file.source.as_str());
    assert_eq!(best, Some("src/ledger.py"));
}

#[test]
fn p05_a_model_of_a_test_is_shown_whole_where_there_is_room() {
    let project = Project::new(&[("shop/ledger.py", &function("post_entry", "ledger", 9))]);
    let tests: String = (0..6)
        .map(|n| function(&format!("test_entry_{n}"), "ledger", 9))
        .collect();
    let tests = format!("from shop.ledger import post_entry\n\n\n{tests}");
    project.write("tests/test_ledger.py", &tests);
    let request = project.request("the ledger loses an entry at a step", 6_000);
    let pack = as_type(request, TaskType::Debug);
    let shown = find(&pack, "tests/test_ledger.py").unwrap();
    assert_eq!(shown.reason, Reason::Critical);
    // At most a tenth of the budget is required of it.
    assert!(shown.tokens.0 > 600, "{}", shown.tokens);
    assert_eq!(shown.level, Detail::Full);
}
