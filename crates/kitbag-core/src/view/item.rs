//! A list item: one thing that a layer shows, at every detail that a view allows.
//!
//! An item names its own kind ("Earlier: …", "draft, not saved: …"), since it may stand in a node's
//! section as well as among the recalled memory of an ordinary turn.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::chunk::{ChunkType, ContextPriority, Relevance};
use crate::neutral::{indented, one_line};

/// The number of characters that the short form of a text shows.
const SHORT_CHARS: usize = 200;

/// The sources of items, up to their first slash, in the order in which a node reads them.
const ORDER: &str = "entity do_not_reread \
    engagement history_summary history turns_not_shown turn pending \
    reasoning_summary decisions older_step archive step curation note accomplished \
    last_turn phase user_expressed";

/// A list item, without its bullet, in one or more renderings.
pub(crate) struct Item {
    pub(crate) chunk_type: ChunkType,
    /// Identifies it from turn to turn: `entity/recipe_1`, `step/3.1`, `pending`.
    pub(crate) source: String,
    pub(crate) priority: ContextPriority,
    pub(crate) relevance: Relevance,
    /// The most detailed first; never more than three.
    pub(crate) texts: Vec<String>,
}

impl Item {
    pub(crate) fn new(
        chunk_type: ChunkType,
        source: impl Into<String>,
        texts: impl Into<Vec<String>>,
    ) -> Self {
        Self {
            chunk_type,
            source: source.into(),
            priority: ContextPriority::Medium,
            relevance: Relevance::CERTAIN,
            texts: texts.into(),
        }
    }

    /// Creates `label: text`, with a short form; none if the text is blank.
    pub(crate) fn labelled(
        chunk_type: ChunkType,
        source: &str,
        label: &str,
        text: &str,
    ) -> Option<Self> {
        // The second is for when there is no room for the whole text.
        let texts = [indented(text, 2), short(text)].map(|text| format!("{label}: {text}"));
        (!text.trim().is_empty()).then(|| Self::new(chunk_type, source, texts))
    }

    pub(crate) fn with_priority(mut self, priority: ContextPriority) -> Self {
        self.priority = priority;
        self
    }

    /// Halves the relevance `times` times, so that the oldest of a sequence lose their detail
    /// first.
    pub(crate) fn aged(mut self, times: u32) -> Self {
        let ppm = self.relevance.ppm().checked_shr(times).unwrap_or(0);
        // Twice the usual floor of an assembly: age alone never keeps an item out.
        self.relevance = Relevance::from_ppm(ppm.max(20_000));
        self
    }

    /// Makes it critical: never left out, whatever the budget.
    pub(crate) fn critical(self) -> Self {
        self.with_priority(ContextPriority::Critical)
    }
}

/// Writes the items as a list, each in its most detailed form.
pub(crate) fn list(items: &[Item], if_empty: &str) -> String {
    let texts = items.iter().filter_map(|item| item.texts.first());
    let lines: Vec<String> = texts.map(|text| format!("- {text}")).collect();
    if lines.is_empty() {
        if_empty.to_string()
    } else {
        lines.join("\n")
    }
}

/// Writes names in backticks, separated by commas.
pub(crate) fn quoted<'a>(names: impl IntoIterator<Item = &'a String>) -> String {
    let quoted = names
        .into_iter()
        .map(|name| format!("`{}`", one_line(name)));
    quoted.collect::<Vec<_>>().join(", ")
}

/// Returns the start of a text on one line, with the number of characters that were cut.
pub(crate) fn short(text: &str) -> String {
    let line = one_line(text);
    let surplus = line.chars().count().saturating_sub(SHORT_CHARS);
    if surplus == 0 {
        return line.into_owned();
    }
    let start: String = line.chars().take(SHORT_CHARS).collect();
    format!("{start}… ({surplus} more characters)")
}

/// Returns the place of an item among those of its layer: by kind, then by the numbers in its
/// source, so that step 10 follows step 9. Sources of other chunks come last, in the order they
/// have.
pub(crate) fn reading_order(source: &str) -> (usize, Vec<(u64, &str)>) {
    let kind = source.split('/').next().unwrap_or_default();
    let Some(rank) = ORDER.split(' ').position(|known| known == kind) else {
        return (usize::MAX, Vec::new());
    };
    let words = source.split(['/', '.', '_']);
    let key = words.map(|word| word.parse().map_or((u64::MAX, word), |number| (number, "")));
    // Parts that are no numbers come behind those that are.
    (rank, key.collect())
}

/// Tells whether a chunk of this source may hold words of many messages without naming them: the
/// layers' chunks, and the one that replaces the messages before the history.
#[must_use]
pub fn is_derived_from_messages(source: &str) -> bool {
    reading_order(source).0 < usize::MAX
}
