//! Prompts of revision 2, whose forms put headings elsewhere. `data/revision-2.db` was written with the
//! crates of commit b288f55, the last one before revision 3.

use std::fs;
use std::path::Path;

use kitbag_store::{Location, Store};

use crate::place::run;

/// The turns of the file, the forms of their prompts, and the hashes of what was sent. Each has a fact
/// and a summary that were appended, a recalled message and a step.
const PROMPTS: [(&str, &str, &str); 9] = [
    (
        "1.1.1",
        "flat",
        "e4fdafd32c9c7c87912aa8a70b2462e7fbd6aa058702a802e2c7f1b9d4549e93",
    ),
    (
        "1.1.2",
        "pack",
        "c53d94fbcadc31cd0d1b5aa77a6141ab81b4486cb860434e559b07aeeb9cfcb8",
    ),
    (
        "1.1.3",
        "markdown",
        "ba82df168993f4547ed7910a3a73413f610e7554984ff8b249df38ad687d0fef",
    ),
    (
        "1.1.4",
        "xml",
        "5350fdc2d76f0a0940eeb30e92c21deffbc497d58cb5845a8943ba23ecbbae4a",
    ),
    (
        "1.1.5",
        "node",
        "780d0f697d231a54a764616d2f9799dea57a8ff1d1f93db28acac43087ba369f",
    ),
    (
        "1.1.6",
        "anthropic",
        "c1b1c5de784705d729318e448748871777f95d87f6e6a7fe7b46a56fcd7272b7",
    ),
    (
        "1.1.7",
        "openai",
        "0b67f6e81d07025664c738aa83abb860b81b547014e54f5e9e45950c9abecf54",
    ),
    (
        "1.1.8",
        "responses",
        "faace471fd5ff08c1c6ff578e43dbe5bd38fb04c9dd47e99e184f13e65bb2de4",
    ),
    (
        "1.1.9",
        "json",
        "2b10e5e2be415d9c18969e08dc96e687668c51dd44e57f2dca883d6a9f129460",
    ),
];

#[test]
fn x07_prompts_with_headings_of_revision_2_replay_byte_for_byte() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("memory.db");
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/store/data/revision-2.db");
    fs::copy(data, &file).unwrap();
    run(async {
        let store = Store::open_existing(&Location::Sqlite(file)).await.unwrap();
        for (turn, form, hash) in PROMPTS {
            let replayed = store.replay(turn.parse().unwrap(), None).await.unwrap();
            let settings = (replayed.settings.form.as_str(), replayed.hash.as_str());
            assert_eq!(settings, (form, hash));
        }
    });
}
