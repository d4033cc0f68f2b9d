//! Files and definitions that a task names outside code and logs: what somebody writes out is what
//! they mean.

use std::sync::LazyLock;

use regex::Regex;

use super::mentions::PATH;
use super::pattern::pattern;
use super::zones::{Zone, prose};
use crate::language::Language;
use crate::walk::FileRole;

/// The files and definitions that a task names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Names {
    /// Paths as they are written, with `/` between their parts, each once, in order.
    pub paths: Vec<String>,
    /// The paths of links, each once, in order: they may begin with those of a web site.
    pub links: Vec<String>,
    /// Words that files may have as their names: `Makefile`, `.gitignore`, `bin/setup`. Each once, in
    /// order.
    pub words: Vec<String>,
    /// Names of definitions, each once, in order.
    pub symbols: Vec<Symbol>,
}

/// The name of a definition: what stands in backquotes, is called, or is put together of words.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Symbol {
    /// The name.
    pub name: String,
    /// The name before it, as `Cart` in `Cart.add`: a type, a module or a variable.
    pub owner: Option<String>,
}

impl Names {
    pub(super) fn of(zones: &[(Zone, &str)]) -> Self {
        let mut names = Self::default();
        for (zone, text) in zones {
            match zone {
                Zone::Title => {
                    // A title may hold links and code as prose does.
                    let mut parts = Vec::new();
                    prose(text, &mut parts);
                    parts.iter().for_each(|(zone, text)| names.add(*zone, text));
                }
                zone => names.add(*zone, text),
            }
        }
        names
    }

    fn add(&mut self, zone: Zone, text: &str) {
        match zone {
            Zone::Title | Zone::Prose | Zone::Inline => {
                add_paths(zone, text, &mut self.paths);
                self.add_words(zone, text);
                self.add_symbols(zone, text);
            }
            Zone::Url => add_paths(zone, text, &mut self.links),
            Zone::Code | Zone::Log | Zone::Heading | Zone::Comment => {}
        }
    }

    fn add_words(&mut self, zone: Zone, text: &str) {
        // A span of several words is a command.
        let is_quoted = zone == Zone::Inline && !text.trim().contains(char::is_whitespace);
        for word in text.split(|c: char| c.is_whitespace() || "`,;:!?()\"'".contains(c)) {
            let word = word.trim_end_matches('.').trim_start_matches("./");
            let name = word.rsplit('/').next().unwrap_or(word);
            let has_extension = name.trim_start_matches('.').contains('.');
            // Words of prose are files only where they look like it: a project may have a file `build`.
            let is_file = is_quoted
                || name.len() < word.len()
                || name.len() >= 4 && FileRole::of(name) != FileRole::Source
                || name.starts_with(char::is_uppercase) && name.ends_with("file");
            let is_new = || !self.words.iter().any(|known| known == word);
            let is_name = name.chars().any(char::is_alphanumeric);
            if is_file && is_name && !has_extension && self.words.len() < MOST_PATHS && is_new() {
                self.words.push(word.to_owned());
            }
        }
    }

    fn add_symbols(&mut self, zone: Zone, text: &str) {
        // A span of several words is a command or a statement, and not every word of it a name.
        let is_quoted = zone == Zone::Inline && !text.trim().contains(char::is_whitespace);
        for written in SYMBOL.captures_iter(text) {
            let is_called = written.get(2).is_some();
            let Some(name) = written.get(1).map(|name| name.as_str()) else {
                continue;
            };
            let is_dotted = name.contains(['.', ':', '#']);
            let last = name.rsplit(['.', ':', '#']).next().unwrap_or(name);
            let is_known = PRODUCTS.contains(&name.to_ascii_lowercase().as_str());
            if is_known || !is_called && is_dotted && is_file(name) {
                continue;
            }
            if last.len() >= 3 && (is_quoted || is_called || is_dotted || is_compound(last)) {
                let owner = name.strip_suffix(last).and_then(|before| {
                    before.split(['.', ':', '#']).rfind(|part| !part.is_empty())
                });
                let is_telling = |owner: &&str| !["self", "this", "cls", "Self"].contains(owner);
                let symbol = Symbol {
                    name: last.to_owned(),
                    owner: owner.filter(is_telling).map(str::to_owned),
                };
                if self.symbols.len() < MOST_SYMBOLS && !self.symbols.contains(&symbol) {
                    self.symbols.push(symbol);
                }
            }
        }
    }
}

/// Returns true for `config.json` and `index.html`, whose last part is no name.
fn is_file(name: &str) -> bool {
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    Language::of(name, "").is_some()
        || FileRole::of(name) != FileRole::Source
        || [
            "html", "htm", "css", "scss", "vue", "com", "org", "net", "io",
        ]
        .contains(&extension)
}

/// Products whose names look like those of files or definitions.
const PRODUCTS: [&str; 28] = [
    "asp.net",
    "backbone.js",
    "chart.js",
    "d3.js",
    "ember.js",
    "express.js",
    "github",
    "gitlab",
    "graphql",
    "ios",
    "javascript",
    "macos",
    "mongodb",
    "mysql",
    "next.js",
    "node.js",
    "numpy",
    "nuxt.js",
    "openapi",
    "opentelemetry",
    "postgresql",
    "react.js",
    "socket.io",
    "sqlite",
    "three.js",
    "typescript",
    "vue.js",
    "youtube",
];

/// More names than these are a listing too.
const MOST_SYMBOLS: usize = 200;

/// More paths than these are a listing and name nothing in particular.
const MOST_PATHS: usize = 200;

fn add_paths(zone: Zone, text: &str, paths: &mut Vec<String>) {
    for path in PATH.find_iter(text) {
        let path = path.as_str().replace('\\', "/");
        let path = path.trim_start_matches("./").to_owned();
        // In backquotes even `node.js` is a file.
        let is_known = zone != Zone::Inline && PRODUCTS.contains(&path.to_lowercase().as_str());
        if paths.len() < MOST_PATHS && !is_known && !paths.contains(&path) {
            paths.push(path);
        }
    }
}

/// `snake_case`, `camelCase`, `UpperCamel`: no word of prose.
fn is_compound(name: &str) -> bool {
    let mut letters = name.chars().zip(name.chars().skip(1));
    let inner = name.trim_matches('_');
    inner.contains('_') || letters.any(|(a, b)| a.is_lowercase() && b.is_uppercase())
}

static SYMBOL: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"([A-Za-z_][\w]*(?:(?:\.|::|\#)[A-Za-z_][\w]*)*)(\(\))?"));
