//! Texts of a task that may stand in the code exactly as they are: quoted strings, messages of
//! errors, dotted names, code within a line, flags.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use super::pattern::pattern;
use super::zones::Zone;

const MOST: usize = 60;

/// The phrases, each once.
pub(super) fn phrases(zones: &[(Zone, &str)]) -> Vec<String> {
    let mut found = BTreeSet::new();
    for (zone, text) in zones {
        match zone {
            Zone::Inline => add(text.trim_matches('`'), &mut found),
            Zone::Log => {
                // Before the colon stands the time, the level or the name of the error.
                if let Some((_, message)) = text.split_once(": ") {
                    add(message, &mut found);
                }
            }
            // Headings are mostly those of a form, and say nothing of the code.
            Zone::Comment | Zone::Url | Zone::Heading => continue,
            Zone::Title | Zone::Prose | Zone::Code => {}
        }
        for phrase in PHRASE.captures_iter(text) {
            let inner = phrase.iter().skip(1).flatten().next();
            if let Some(inner) = inner {
                add(inner.as_str(), &mut found);
            }
        }
    }
    found.into_iter().take(MOST).collect()
}

/// Short words would be found everywhere, and whole paragraphs nowhere.
fn add(phrase: &str, found: &mut BTreeSet<String>) {
    let phrase = phrase.trim().trim_end_matches(['.', ':', ',', ';']);
    let is_telling = phrase.contains(|c: char| !c.is_alphanumeric()) || phrase.len() >= 8;
    if (4..=120).contains(&phrase.len()) && is_telling && !phrase.contains('\n') {
        found.insert(phrase.to_owned());
    }
}

/// `"quoted"`, `'quoted'`, `a.b`, `a::b`, `--flag`, `snake_case`.
static PHRASE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"(?x)
        "([^"\n]{4,120})"
        | \B'([^'\n]{4,120})'\B
        | \b([A-Za-z_][\w]*(?:(?:\.|::|->)[A-Za-z_][\w]*)+)
        | (--[a-z][\w-]{2,})
        | \b([A-Za-z][\w]*_[\w]+)
        "#,
    )
});
