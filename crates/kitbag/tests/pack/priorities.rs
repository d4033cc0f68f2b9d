//! Priorities, companions and locations: what a task brings besides the words that it has.

use std::fs::File;
use std::time::{Duration, SystemTime};

use kitbag::core::assembly::{LedgerEntry, Reason};
use kitbag::core::chunk::{ContextPriority, Detail};
use kitbag::core::envelope::TaskType;
use kitbag::pack::Pack;

use crate::project::{Project, find, packed};

fn shop() -> Project {
    Project::new(&[
        (
            "shop/basket.py",
            "from coins.money import Coin\n\n\ndef total(basket):\n    return sum(basket, Coin())\n",
        ),
        ("coins/money.py", "class Coin:\n    value = 0\n"),
        (
            "shop/till.py",
            "from shop.basket import total\n\n\ndef ring(goods):\n    return total(goods)\n",
        ),
        (
            "tests/test_basket.py",
            "from shop.basket import total\n\n\ndef test_total():\n    assert total([]) == 0\n",
        ),
        ("tests/conftest.py", "SHELF = ['apple', 'pear']\n"),
        (
            "docs/basket.md",
            "# The basket\n\nHow a basket is filled.\n",
        ),
        ("examples/basket.py", "basket = ['apple']\nprint(basket)\n"),
        ("basket.toml", "basket = \"large\"\n"),
    ])
}

fn pack_as(project: &Project, task: &str, task_type: TaskType) -> Pack {
    let mut request = project.request(task, 8_000);
    request.survey.task_type = Some(task_type);
    packed(&request).unwrap()
}

#[track_caller]
fn entry<'p>(pack: &'p Pack, source: &str) -> &'p LedgerEntry {
    let mut entries = pack.assembly.ledger.entries.iter();
    let found = entries.find(|entry| entry.source == source);
    found.unwrap_or_else(|| panic!("`{source}` is no chunk"))
}

/// The part of a source's score, 0 where it has none.
fn part(pack: &Pack, source: &str, name: &str) -> i64 {
    let parts = entry(pack, source).score.parts();
    let parts = parts.iter().filter(|part| part.name == name);
    parts.map(|part| part.value).sum()
}

#[test]
fn p14_priorities_are_those_of_the_table() {
    let task = "the sum is wrong\n  File \"/srv/shop/till.py\", line 5, in ring\nin the basket";
    let pack = pack_as(&shop(), task, TaskType::Debug);
    for (source, priority) in [
        ("shop/till.py", ContextPriority::Critical),
        ("shop/basket.py", ContextPriority::High),
        ("basket.toml", ContextPriority::Medium),
        // The one test that shows how tests are written here.
        ("tests/test_basket.py", ContextPriority::Critical),
        ("docs/basket.md", ContextPriority::Low),
        ("examples/basket.py", ContextPriority::Low),
        ("coins/money.py", ContextPriority::Minimal),
    ] {
        assert_eq!(entry(&pack, source).priority, priority, "{source}");
    }
    let project = shop();
    let mut request = project.request("fill the basket", 8_000);
    request.survey.pins = vec!["docs/basket.md".into()];
    let pack = packed(&request).unwrap();
    let pinned = entry(&pack, "docs/basket.md").priority;
    assert_eq!(pinned, ContextPriority::Critical);
}

#[test]
fn p14_a_document_that_the_task_names_must_be_in() {
    let pack = pack_as(&shop(), "update docs/basket.md", TaskType::Implement);
    let named = entry(&pack, "docs/basket.md").priority;
    assert_eq!(named, ContextPriority::Critical);
}

#[test]
fn p05_tests_come_with_changes_of_code() {
    let project = shop();
    for (task_type, comes) in [
        (TaskType::Implement, true),
        (TaskType::Refactor, true),
        (TaskType::Debug, true),
        (TaskType::Analyze, false),
    ] {
        let pack = pack_as(&project, "the basket", task_type);
        let more = part(&pack, "tests/test_basket.py", "companion");
        assert_eq!(more > 0, comes, "{task_type:?}");
    }
    let pack = pack_as(&project, "the basket", TaskType::Implement);
    let test = find(&pack, "tests/test_basket.py").unwrap();
    assert_eq!(test.level, Detail::Full);
}

#[test]
fn p05_dependents_come_with_refactor() {
    let project = shop();
    let pack = pack_as(&project, "the basket", TaskType::Refactor);
    assert!(part(&pack, "shop/till.py", "companion") > 0);
    assert_eq!(part(&pack, "shop/till.py", "task"), 200, "a dependent");
    assert_eq!(part(&pack, "coins/money.py", "task"), 200, "a dependency");
    assert_eq!(part(&pack, "shop/basket.py", "task"), 0, "the target");
    let pack = pack_as(&project, "the basket", TaskType::Implement);
    assert_eq!(part(&pack, "shop/till.py", "companion"), 0);
}

#[test]
fn p05_fixtures_come_with_test_though_they_have_no_word_of_it() {
    let project = shop();
    let pack = pack_as(&project, "the basket", TaskType::Test);
    let fixtures = find(&pack, "tests/conftest.py").unwrap();
    assert_eq!(fixtures.level, Detail::Full);
    assert!(pack.prompt().contains("SHELF = ['apple', 'pear']"));
    let pack = pack_as(&project, "the basket", TaskType::Implement);
    assert!(find(&pack, "tests/conftest.py").is_none());
}

#[test]
fn p05_the_line_of_a_stack_trace_is_in_a_small_prompt() {
    let function = |n: u32| {
        let steps: String = (0..8)
            .map(|m| format!("    step_{n}_{m}(order)\n"))
            .collect();
        format!("def run_{n}(order):\n{steps}\n\n")
    };
    let long: String = (0..80).map(function).collect();
    let other = "def order(order):\n    return order\n".repeat(40);
    let project = Project::new(&[("shop/steps.py", &long), ("shop/order.py", &other)]);
    let line = long
        .lines()
        .position(|line| line.contains("step_61_4"))
        .unwrap()
        + 1;
    let task = format!("an order fails\nTraceback:\n  File \"/srv/shop/steps.py\", line {line}\n");
    let mut request = project.request(&task, 900);
    request.survey.task_type = Some(TaskType::Debug);
    let pack = packed(&request).unwrap();
    assert!(
        pack.prompt().contains("step_61_4(order)"),
        "{}",
        pack.prompt()
    );
    let located = entry(&pack, "shop/steps.py");
    assert_eq!(located.reason, Reason::Critical);
    let sum: i64 = located.score.parts().iter().map(|part| part.value).sum();
    assert_eq!(sum, located.score.total());
    assert_eq!(part(&pack, "shop/steps.py", "location"), 200);

    request.survey.task_type = Some(TaskType::Implement);
    let pack = packed(&request).unwrap();
    assert_ne!(entry(&pack, "shop/steps.py").reason, Reason::Critical);
}

#[test]
fn p05_a_trace_of_many_files_leaves_room_for_the_rest() {
    let files: Vec<(String, String)> = (0..60)
        .map(|n| {
            (
                format!("src/part_{n}.py"),
                format!("def part_{n}():\n{}", "    call()\n".repeat(40)),
            )
        })
        .collect();
    let listed: Vec<(&str, &str)> = files
        .iter()
        .map(|(path, text)| (&**path, &**text))
        .collect();
    let project = Project::new(&listed);
    let trace: String = (0..60)
        .map(|n| format!("  File \"/srv/src/part_{n}.py\", line 2\n"))
        .collect();
    let mut request = project.request(&format!("it fails\n{trace}"), 3_000);
    request.survey.task_type = Some(TaskType::Debug);
    let pack = packed(&request).unwrap();
    let critical = pack.assembly.ledger.entries.iter();
    let critical: Vec<&LedgerEntry> = critical
        .filter(|entry| entry.priority == ContextPriority::Critical)
        .collect();
    let tokens: u32 = critical.iter().map(|entry| entry.tokens.0).sum();
    assert!(
        !critical.is_empty() && critical.len() < 60,
        "{}",
        critical.len()
    );
    assert!(tokens <= pack.decisions.budget.0, "{tokens}");
}

#[test]
fn p06_recency_mention_and_size_are_parts_of_a_files_score() {
    let large = "# basket\n".repeat(20_000);
    let project = Project::new(&[
        ("shop/basket.py", "def fill():\n    return 1\n"),
        ("shop/old_basket.py", "def fill():\n    return 2\n"),
        ("shop/large.py", &large),
    ]);
    let aged = File::options()
        .write(true)
        .open(project.root().join("shop/old_basket.py"))
        .unwrap();
    let days = |days: u64| Duration::from_secs(days * 86_400);
    aged.set_modified(SystemTime::now() - days(40)).unwrap();
    let pack = pack_as(&project, "fill the basket", TaskType::Implement);
    assert_eq!(part(&pack, "shop/basket.py", "recency"), 100);
    assert_eq!(part(&pack, "shop/old_basket.py", "recency"), 25);
    assert_eq!(part(&pack, "shop/basket.py", "task"), 400, "its module");
    assert_eq!(part(&pack, "shop/basket.py", "mention"), 200);
    assert_eq!(part(&pack, "shop/large.py", "size"), -150);
}
