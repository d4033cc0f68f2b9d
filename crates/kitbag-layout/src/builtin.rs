//! The layouts that come with Kitbag, and their shared partials.

use std::collections::BTreeMap;

use crate::document::Document;
use crate::layouts::Layouts;
use crate::manifest::{Layout, Origin};
use crate::template::Template;

/// The layout of an agent that asks for none.
pub const DEFAULT_LAYOUT: &str = "kitbag/default";

const LAYOUTS: [(&str, &str); 11] = [
    ("default", include_str!("builtin/default.yaml")),
    ("minimal", include_str!("builtin/minimal.yaml")),
    ("implement", include_str!("builtin/implement.yaml")),
    ("debug", include_str!("builtin/debug.yaml")),
    ("refactor", include_str!("builtin/refactor.yaml")),
    ("test", include_str!("builtin/test.yaml")),
    ("analyze", include_str!("builtin/analyze.yaml")),
    ("understand", include_str!("builtin/understand.yaml")),
    ("think", include_str!("builtin/think.yaml")),
    ("act", include_str!("builtin/act.yaml")),
    ("reply", include_str!("builtin/reply.yaml")),
];

const PARTIALS: [(&str, &str); 7] = [
    ("kitbag/profile", include_str!("builtin/profile.hbs")),
    ("kitbag/rules", include_str!("builtin/rules.hbs")),
    ("kitbag/skills", include_str!("builtin/skills.hbs")),
    ("kitbag/tools", include_str!("builtin/tools.hbs")),
    ("kitbag/documents", include_str!("builtin/documents.hbs")),
    ("kitbag/history", include_str!("builtin/history.hbs")),
    ("kitbag/query", include_str!("builtin/query.hbs")),
];

/// The built-in layouts: a default, a minimal one, one for each type of task, and one for each
/// node.
#[must_use]
pub fn layouts() -> Layouts {
    let mut layouts = Layouts::new(DEFAULT_LAYOUT);
    for (name, text) in LAYOUTS {
        // Tests read each of these texts, so there is no problem to report.
        let (read, _) = Layout::read(&format!("{name}.yaml"), text);
        for mut layout in read {
            layout.origin = Origin::BuiltIn;
            layouts.add(layout);
        }
    }
    layouts
}

/// The partials that every layout can include.
#[must_use]
pub fn partials() -> BTreeMap<String, Template> {
    let parsed = PARTIALS.iter().filter_map(|(name, text)| {
        let template = Template::parse(name, text).ok()?;
        Some(((*name).to_owned(), template))
    });
    parsed.collect()
}

/// The manual of that name. A prompt may include it even if its project has none: `kitbag_manual`
/// explains how agents, layouts and documents are written.
#[must_use]
pub fn manual(name: &str) -> Option<Document> {
    (name == "kitbag_manual").then(|| {
        let text = include_str!("../../../docs/layouts.md");
        Document::new(text, "built in")
            .with_summary("How agents, layouts and documents are written")
    })
}

/// The source texts of the partials.
pub fn partial_sources() -> impl Iterator<Item = (&'static str, &'static str)> {
    PARTIALS.into_iter()
}
