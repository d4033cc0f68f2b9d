//! The events of a whole turn, as a subscriber of another program gets them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::{fmt, fs};

use kitbag::Engine;
use kitbag::core::chunk::{ChunkType, ContextChunk};
use kitbag::gather::{GatherFuture, GatherTask, Gathered, Gatherer};
use kitbag::store::Incoming;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use crate::billing::Biller;
use crate::with_store;

/// An event: its name, and its other fields with their values.
type Seen = (String, BTreeMap<String, String>);

#[derive(Clone, Default)]
struct Recorder(Arc<Mutex<Vec<Seen>>>);

impl Subscriber for Recorder {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("kitbag")
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let name = fields.0.remove("event").unwrap_or_default();
        self.0.lock().unwrap().push((name, fields.0));
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

#[derive(Default)]
struct Fields(BTreeMap<String, String>);

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name().to_owned(), value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.insert(field.name().to_owned(), format!("{value:?}"));
    }
}

struct Notes;

impl Gatherer for Notes {
    fn name(&self) -> &str {
        "notes"
    }

    fn gather<'a>(&'a self, _: &'a GatherTask) -> GatherFuture<'a> {
        let note = ContextChunk::new(ChunkType::Fact, "note", "The roof is green.");
        Box::pin(async { Ok(Gathered::from([note])) })
    }
}

/// The events of a conversation of three turns.
fn events() -> Vec<Seen> {
    let recorder = Recorder::default();
    tracing::subscriber::with_default(recorder.clone(), || {
        with_store(async |store| {
            let biller = Biller::new("claude-haiku-5-5", 1_300);
            let engine = Engine::builder().store(store).provider(biller);
            let engine = engine.gatherer(Notes).build().unwrap();
            let told = "My sister Clara keeps bees. ".repeat(200);
            for message in [told.as_str(), "What does Clara keep?", "Since when?"] {
                let incoming = Incoming::new("cli", "ann", message);
                engine.ask(incoming).await.unwrap();
            }
        });
    });
    let seen = recorder.0.lock().unwrap();
    seen.clone()
}

#[test]
fn p11_every_decision_of_a_turn_is_an_event_of_the_library() {
    let seen = events();
    let names: BTreeSet<&str> = seen.iter().map(|(name, _)| name.as_str()).collect();
    for expected in [
        "model_chosen",
        "stage",
        "gathered",
        "conversation_read",
        "recalled",
        "context_compressed",
        "epoch_renewed",
        "epoch_kept",
        "prefix_reused",
        "inference",
    ] {
        assert!(names.contains(expected), "{expected}: {names:?}");
    }
    let of = |name: &str| seen.iter().find(|(seen, _)| seen == name).unwrap();
    let (_, compressed) = of("context_compressed");
    assert_eq!(compressed["chunks_in"], "1");
    assert_eq!(compressed["chunks_out"], "1");
    let (_, renewed) = of("epoch_renewed");
    assert_eq!(renewed["because"], "first");
}

#[test]
fn p11_no_event_holds_a_word_of_a_message() {
    for (name, fields) in events() {
        for (field, value) in fields {
            for word in ["Clara", "bees", "roof", "Noted"] {
                assert!(!value.contains(word), "{name}.{field}: {value}");
            }
        }
    }
}

/// The rows of the tables of events, by each name in their first column.
fn documented() -> BTreeMap<&'static str, &'static str> {
    let guide = include_str!("../../../../docs/library.md");
    let rows = guide.lines().filter(|line| line.starts_with("| `"));
    rows.flat_map(|row| {
        let (names, rest) = row.trim_start_matches("| ").split_once('|').unwrap();
        let names = names.split(',').map(|name| name.trim().trim_matches('`'));
        names.map(move |name| (name, rest))
    })
    .collect()
}

/// The names of all events in the sources of a folder.
fn told_in(folder: &Path, names: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            told_in(&path, names);
        } else {
            let source = fs::read_to_string(&path).unwrap();
            let told = source.split("event = \"").skip(1);
            names.extend(told.map(|rest| rest.split('"').next().unwrap().to_owned()));
        }
    }
}

#[test]
fn p11_the_guide_lists_the_events_of_the_sources() {
    let mut told = BTreeSet::new();
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    for entry in fs::read_dir(crates).unwrap() {
        told_in(&entry.unwrap().path().join("src"), &mut told);
    }
    let documented: BTreeSet<String> = documented().into_keys().map(str::to_owned).collect();
    assert_eq!(told, documented);
}

#[test]
fn p11_every_event_and_field_is_documented() {
    let documented = documented();
    for (name, fields) in events() {
        let row = documented.get(name.as_str());
        let row = row.unwrap_or_else(|| panic!("`{name}` is not in docs/library.md"));
        for field in fields.keys() {
            assert!(row.contains(&format!("`{field}`")), "{name}.{field}");
        }
    }
}
