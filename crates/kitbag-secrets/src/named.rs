//! Replaces every value in a file that holds secrets by its name, even short and plain values:
//! `.env`, `.npmrc`, `credentials`, `master.key`. Names, comments and sections stay.

mod settings;

use std::ops::Range;

use super::file::SecretFile;
use super::{MARKER, Rank, Span};
use settings::Settings;

/// Finds the values in such a file.
pub(super) fn spans(text: &str, named: SecretFile) -> Vec<Span> {
    let mut spans = Vec::new();
    let mut settings = Settings::default();
    let mut keys = Keys::default();
    let mut is_password = false;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let bare = line.trim_end();
        let mut add = |range: Range<usize>, written: ValueForm| {
            let value = bare.get(range.clone()).unwrap_or_default();
            if !is_open(value, named, written) {
                let range = at + range.start..at + range.end;
                let kind = match named {
                    SecretFile::Key => "private-key",
                    _ => "secret",
                };
                // Lines of one key are marked as one, so that a note says one secret and not forty.
                spans.push(Span {
                    continues: written == ValueForm::More,
                    ..Span::new(Rank::Place, range, kind)
                });
            }
        };
        // Both signs are used in files of settings.
        let is_comment = bare.trim_start().starts_with(['#', ';']);
        let part = match named {
            SecretFile::Settings | SecretFile::Env => {
                settings.line(bare, &mut add);
                None
            }
            SecretFile::Key => {
                keys.line(bare, &mut add);
                None
            }
            SecretFile::Netrc => {
                // A password may begin with the sign that begins comments.
                if !is_comment || is_password && !bare.trim_start().starts_with("# ") {
                    passwords(bare, &mut is_password, &mut |range| {
                        add(range, ValueForm::Bare);
                    });
                }
                None
            }
            _ if is_comment => None,
            SecretFile::Pgpass => after_colons(bare, 4),
            SecretFile::Htpasswd => after_colons(bare, 1),
            SecretFile::GitCredentials => login(bare),
        };
        if let Some(range) = part {
            add(range, ValueForm::Bare);
        }
        at += line.len();
    }
    spans
}

/// The form of a value in its line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ValueForm {
    Bare,
    Quoted,
    /// The first line of a value that fills whole lines.
    First,
    /// A further line of such a value.
    More,
}

/// Returns true if a value reveals nothing: an empty one, a switch, or a reference.
fn is_open(value: &str, named: SecretFile, written: ValueForm) -> bool {
    if value.is_empty() || value.starts_with(MARKER) && value.ends_with(']') {
        return true;
    }
    // A line of a key has no switch and no reference, whatever it looks like.
    if named == SecretFile::Key || matches!(written, ValueForm::First | ValueForm::More) {
        return false;
    }
    matches!(
        value.to_ascii_lowercase().as_str(),
        "true" | "false" | "yes" | "no" | "on" | "off" | "null" | "none"
    ) || is_reference(value, named, written)
}

/// Returns true if a value is read from elsewhere: `${NAME}`, `$(command)`, and `$NAME` in capitals
/// where a shell would read it. A password may begin with the sign too.
fn is_reference(value: &str, named: SecretFile, written: ValueForm) -> bool {
    let Some(name) = value.strip_prefix('$') else {
        return false;
    };
    let within = |open: char, close: char| {
        let name = name.strip_prefix(open);
        name.and_then(|name| name.strip_suffix(close))
    };
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let is_capital = |byte: u8| is_word(byte) && !byte.is_ascii_lowercase();
    match named {
        SecretFile::Settings | SecretFile::Env => {
            within('{', '}').is_some_and(|name| name.bytes().all(is_word))
                || within('(', ')').is_some()
                || named == SecretFile::Env
                    && written == ValueForm::Bare
                    && name.starts_with(|c: char| c.is_ascii_uppercase() || c == '_')
                    && name.bytes().all(is_capital)
        }
        _ => false,
    }
}

/// Reads files of keys: every line is one, except armour, certificates and public keys.
#[derive(Default)]
struct Keys {
    /// True inside armour that holds nothing secret.
    public: bool,
    /// True if the line before is part of the same key.
    begun: bool,
}

impl Keys {
    fn line(&mut self, line: &str, add: &mut dyn FnMut(Range<usize>, ValueForm)) {
        let text = line.trim_start();
        if let Some(label) = armour(text) {
            self.public = label.strip_prefix("BEGIN ").is_some_and(|label| {
                // Certificates are public, and errors about them are unreadable without their text.
                label.ends_with("CERTIFICATE") || label.ends_with("PUBLIC KEY")
            });
            self.begun = false;
        } else if !self.public && !text.is_empty() {
            let written = if self.begun {
                ValueForm::More
            } else {
                ValueForm::First
            };
            add(line.len() - text.len()..line.len(), written);
            self.begun = true;
        }
    }
}

/// The label of armour, if the line is nothing else.
fn armour(line: &str) -> Option<&str> {
    let label = line.strip_prefix("-----")?.strip_suffix("-----")?;
    let is_label = label
        .bytes()
        .all(|byte| byte.is_ascii_uppercase() || byte == b' ');
    (is_label && (label.starts_with("BEGIN ") || label.starts_with("END "))).then_some(label)
}

/// Reports the words behind `password` and `account`, even if they are on the next line.
fn passwords(line: &str, is_next: &mut bool, add: &mut dyn FnMut(Range<usize>)) {
    let mut at = 0;
    while let Some(rest) = line.get(at..).filter(|rest| !rest.is_empty()) {
        let blank = |c: char| c == ' ' || c == '\t';
        let quoted = rest.strip_prefix('"').filter(|_| *is_next);
        let end = match quoted {
            Some(inner) => inner.find('"').map(|end| end + 2),
            None => rest.find(blank),
        };
        let end = end.unwrap_or(rest.len());
        let word = rest.get(..end).unwrap_or_default();
        if *is_next && !word.is_empty() {
            add(at..at + end);
            *is_next = false;
        } else if matches!(word, "password" | "account" | "passwd") {
            *is_next = true;
        }
        // At least one, so that a blank does not stop the loop.
        at += end.max(1);
    }
}

/// The text after the given number of colons. A colon inside a field has a backslash.
fn after_colons(line: &str, colons: usize) -> Option<Range<usize>> {
    let signs = line.match_indices(':');
    // A host in `.pgpass` may be an IPv6 address, whose colons are escaped.
    let mut signs = signs.filter(|(at, _)| !line.get(..*at).is_some_and(|l| l.ends_with('\\')));
    let (at, _) = signs.nth(colons - 1)?;
    Some(at + 1..line.len())
}

/// The password of a URL, or the user name in place of one.
fn login(line: &str) -> Option<Range<usize>> {
    let start = line.find("://")? + 3;
    let rest = line.get(start..)?;
    // The last one: a password may hold the sign, a host may not.
    let end = rest.rfind('@')?;
    let from = rest.get(..end)?.find(':').map_or(0, |at| at + 1);
    Some(start + from..start + end)
}
