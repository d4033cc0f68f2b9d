//! Cuts a task into zones: title, prose, code, logs, headings, links.

use std::sync::LazyLock;

use regex::Regex;

use super::pattern::pattern;

/// The kind of text in a stretch of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Zone {
    /// The first line.
    Title,
    /// The person's own words.
    Prose,
    /// Code within a line.
    Inline,
    /// A block of code.
    Code,
    /// Output, traces, errors.
    Log,
    /// A heading, mostly of a form.
    Heading,
    /// A link.
    Url,
    /// Instructions of a form to the writer.
    Comment,
}

impl Zone {
    /// The weight of a word in this zone for a file.
    #[must_use]
    pub const fn weight(self) -> f64 {
        match self {
            Self::Title => 3.0,
            Self::Prose | Self::Inline => 1.0,
            Self::Code => 0.5,
            Self::Log => 0.1,
            Self::Heading | Self::Url => 0.3,
            Self::Comment => 0.0,
        }
    }

    /// The zone of a text that is attached: it has no title.
    #[must_use]
    pub(super) const fn attached(self) -> Self {
        match self {
            Self::Title => Self::Prose,
            other => other,
        }
    }

    /// Its weight for a part of a file.
    #[must_use]
    pub const fn unit_weight(self) -> f64 {
        match self {
            Self::Log => 1.0,
            other => other.weight(),
        }
    }
}

/// The zones of a task in their order. Together they hold all of its words.
#[must_use]
pub fn zones(task: &str) -> Vec<(Zone, &str)> {
    let mut found = Vec::new();
    let mut rest = task;
    while let Some((before, after)) = rest.split_once("<!--") {
        lines(before, &mut found);
        rest = after;
        // Without an end it is no comment.
        let Some((comment, after)) = after.split_once("-->") else {
            break;
        };
        found.push((Zone::Comment, comment));
        rest = after;
    }
    lines(rest, &mut found);
    found
}

fn lines<'t>(text: &'t str, found: &mut Vec<(Zone, &'t str)>) {
    let is_indented = |line: &&str| line.starts_with("    ") || line.starts_with('\t');
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let trimmed = line.trim();
        if trimmed.is_empty() {
            continue;
        }
        if let Some(fence) = fence(trimmed) {
            let is_inside = |line: &&str| {
                let line = line.trim();
                !line.starts_with(fence) || line.chars().any(|c| !fence.starts_with(c))
            };
            let block: Vec<&str> = lines.by_ref().take_while(is_inside).collect();
            push_block(&block, found);
        } else if !has_title(found) {
            found.push((Zone::Title, line));
        } else if is_indented(&line) {
            let mut block = vec![line];
            block.extend(std::iter::from_fn(|| lines.next_if(is_indented)));
            push_block(&block, found);
        } else if is_console(trimmed) {
            found.push((Zone::Code, line));
        } else if is_heading(trimmed) {
            found.push((Zone::Heading, line));
        } else if LOG.is_match(trimmed) {
            found.push((Zone::Log, line));
        } else {
            prose(line, found);
        }
    }
}

/// A task may begin with a block of code, and a person may say below it what is wanted.
fn has_title(found: &[(Zone, &str)]) -> bool {
    let before = [Zone::Comment, Zone::Code, Zone::Log];
    !found.iter().all(|(zone, _)| before.contains(zone))
}

fn fence(line: &str) -> Option<&'static str> {
    ["```", "~~~"]
        .into_iter()
        .find(|fence| line.starts_with(fence))
}

fn is_console(line: &str) -> bool {
    [">>> ", "... ", "$ ", "> $ ", "In ["]
        .iter()
        .any(|prompt| line.starts_with(prompt))
}

fn is_heading(line: &str) -> bool {
    let is_bold = line.starts_with("**")
        && (line.ends_with("**") || line.ends_with("**:"))
        && line.len() < 80;
    line.starts_with('#') && line.trim_start_matches('#').starts_with(' ') || is_bold
}

/// A block with two lines of a trace or of errors is a log, else code.
fn push_block<'t>(block: &[&'t str], found: &mut Vec<(Zone, &'t str)>) {
    let marks = block.iter().filter(|line| LOG.is_match(line)).count();
    let zone = if marks >= 2 { Zone::Log } else { Zone::Code };
    found.extend(block.iter().map(|line| (zone, *line)));
}

/// Prose with its code and links.
pub(super) fn prose<'t>(line: &'t str, found: &mut Vec<(Zone, &'t str)>) {
    let mut end = 0;
    for special in SPECIAL.find_iter(line) {
        push(line.get(end..special.start()), Zone::Prose, found);
        let zone = if special.as_str().starts_with('`') {
            Zone::Inline
        } else {
            Zone::Url
        };
        found.push((zone, special.as_str()));
        end = special.end();
    }
    push(line.get(end..), Zone::Prose, found);
}

fn push<'t>(text: Option<&'t str>, zone: Zone, found: &mut Vec<(Zone, &'t str)>) {
    if let Some(text) = text.filter(|text| !text.trim().is_empty()) {
        found.push((zone, text));
    }
}

static SPECIAL: LazyLock<Regex> = LazyLock::new(|| pattern(r"`[^`]+`|https?://[^\s)>\]]+"));

/// A line of a trace, of an error, or of a log with a time or a level.
static LOG: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"(?x)
        ^\s*File\s".+",\s+line\s\d+
        | ^\s*Traceback\s
        | ^\s*at\s.+[:(].*\d+\)?\s*$
        | ^\s*\#\d+\s+0x
        | ^\s*goroutine\s\d+
        | ^\s*thread\s'.*'\spanicked
        | panicked\sat
        | ^\s*[\w.$]*(?:Error|Exception|Warning)\b:?
        | ^\s*(?:error|warning|fatal|panic|E|FAIL(?:ED)?)(?:\[[\w]+\])?:\s
        | ^\s*Caused\sby:
        | ^\s*from\s[^\s]+:\d+:in\s
        | ^\s*[\w./\\-]+\.[\w]{1,4}:\d+(?::\d+)?:?\s
        | ^\s*-->\s[^\s]+:\d+:\d+
        | ^\[?\d{4}[-/]\d\d[-/]\d\d[T\s]\d\d:\d\d
        | ^\s*\[?(?:INFO|DEBUG|WARN|ERROR|TRACE)\b
        "#,
    )
});
