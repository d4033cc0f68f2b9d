//! The examples do what they say.

use kitbag::core::chunk::Detail;
use kitbag::pack::{Pack, PackedChunk};

use crate::project::{find, problems};

#[path = "../../examples/custom_gatherer.rs"]
#[expect(dead_code, reason = "an example prints; a test looks at what it made")]
mod custom_gatherer;
#[path = "../../examples/custom_prioritizer.rs"]
#[expect(dead_code, reason = "an example prints; a test looks at what it made")]
mod custom_prioritizer;

fn chunk(pack: &Pack, source: &str) -> PackedChunk {
    find(pack, source).unwrap()
}

#[test]
fn p12_a_gatherer_of_ones_own_brings_chunks_into_the_prompt() {
    let project = tempfile::tempdir().unwrap();
    custom_gatherer::write_project(project.path()).unwrap();
    let pack = custom_gatherer::packed(project.path()).unwrap();
    assert_eq!(problems(&pack), [""; 0]);
    for part in [
        "Totals ignore discounts",
        "GET /orders/{id} shows the total before the discount.",
        "One order with its total",
        "def order_total(items):",
    ] {
        assert!(pack.prompt().contains(part), "{part}: {}", pack.prompt());
    }
    assert!(!pack.prompt().contains("Dark mode"), "{}", pack.prompt());
    assert_eq!(chunk(&pack, "SHOP-17").chunk_type.as_str(), "ticket");
    assert_eq!(chunk(&pack, "openapi.json").chunk_type.as_str(), "api_spec");
}

#[test]
fn p12_an_engine_asks_a_gatherer_of_ones_own_in_every_turn() {
    let project = tempfile::tempdir().unwrap();
    custom_gatherer::write_project(project.path()).unwrap();
    let prompt = custom_gatherer::prompted(project.path()).unwrap();
    let body = prompt.composed.body();
    assert!(body.contains("Totals ignore discounts"), "{body}");
    assert!(!body.contains("Dark mode"), "{body}");
}

#[test]
fn p12_a_gatherer_of_ones_own_that_fails_costs_nothing_else() {
    let project = tempfile::tempdir().unwrap();
    custom_gatherer::write_project(project.path()).unwrap();
    std::fs::write(project.path().join("tickets.json"), "[{]").unwrap();
    std::fs::write(project.path().join("shop/openapi.json"), "nothing").unwrap();
    let pack = custom_gatherer::packed(project.path()).unwrap();
    assert!(pack.prompt().contains("def order_total(items):"));
    let told = problems(&pack);
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].starts_with("openapi: `openapi.json`: "), "{told:?}");
    assert!(told[1].starts_with("tickets: "), "{told:?}");
}

#[test]
fn p12_a_prioritizer_of_ones_own_changes_which_file_wins() {
    let project = tempfile::tempdir().unwrap();
    custom_prioritizer::write_project(project.path()).unwrap();
    let (report, model) = ("reports/invoice_total.py", "domain/models/money.py");
    let request = custom_prioritizer::request(project.path());
    let usual = custom_prioritizer::packed(&request).unwrap();
    let request = request.with_prioritizer(custom_prioritizer::DomainFirst::default());
    let ours = custom_prioritizer::packed(&request).unwrap();

    assert!(chunk(&usual, report).score > chunk(&usual, model).score);
    assert!(chunk(&ours, report).score < chunk(&ours, model).score);
    assert_eq!(chunk(&ours, model).level, Detail::Full);
    assert_ne!(chunk(&usual, model).level, Detail::Full);
    let ours = chunk(&ours, model);
    let part = ours.parts.last().unwrap();
    assert_eq!((part.name.as_ref(), part.value), ("domain", 2_000));
}
