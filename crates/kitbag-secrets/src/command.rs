//! Finds passwords that a command is given: `curl -u ada:…`, `mysql -p…`, `openssl -passin pass:…`.
//!
//! It reads the words of a command as a shell would, without expanding anything: a variable stays.

use std::ops::Range;

use super::file::File;
use super::{Rank, Span, value};

/// The names that begin a command, each with the blank behind it.
pub(super) const KEYWORDS: &[&str] = &[
    "curl ",
    "mysql ",
    "mysqldump ",
    "mysqladmin ",
    "mysqlimport ",
    "mariadb ",
    "mariadb-dump ",
    "sshpass ",
    "redis-cli ",
    "mongo ",
    "mongosh ",
    "mongodump ",
    "mongorestore ",
    "login ",
    "sqlcmd ",
    "ldapsearch ",
    "ldapadd ",
    "ldapmodify ",
    "smbclient ",
    "openssl ",
    ".pgpass",
];

/// An option with a password, and where in its value that stands.
struct Secret {
    /// The keywords of the commands that know it.
    commands: &'static [&'static str],
    /// The option. A long one ends in `=` or in a blank, a short one is joined to its value or not.
    option: &'static str,
    place: PasswordPlace,
}

/// The place of a password in the value of an option.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PasswordPlace {
    /// The value is the password, in the same word or in the next.
    Value,
    /// The value is the password, in the same word.
    Joined,
    /// Behind this text.
    Behind(&'static str),
}

const SECRETS: &[Secret] = &[
    Secret::new(&["curl "], "-u", PasswordPlace::Behind(":")),
    Secret::new(&["curl "], "--user", PasswordPlace::Behind(":")),
    Secret::new(&["curl "], "-U", PasswordPlace::Behind(":")),
    Secret::new(&["curl "], "--proxy-user", PasswordPlace::Behind(":")),
    Secret::new(
        &[
            "mysql ",
            "mysqldump ",
            "mysqladmin ",
            "mysqlimport ",
            "mariadb ",
            "mariadb-dump ",
        ],
        "-p",
        PasswordPlace::Joined,
    ),
    Secret::new(&["sshpass ", "login "], "-p", PasswordPlace::Value),
    Secret::new(
        &["mongo ", "mongosh ", "mongodump ", "mongorestore "],
        "-p",
        PasswordPlace::Value,
    ),
    Secret::new(&["redis-cli "], "-a", PasswordPlace::Value),
    Secret::new(&["sqlcmd "], "-P", PasswordPlace::Value),
    Secret::new(
        &["ldapsearch ", "ldapadd ", "ldapmodify "],
        "-w",
        PasswordPlace::Value,
    ),
    Secret::new(&["smbclient "], "-U", PasswordPlace::Behind("%")),
    Secret::new(&["openssl "], "-passin", PasswordPlace::Behind("pass:")),
    Secret::new(&["openssl "], "-passout", PasswordPlace::Behind("pass:")),
    Secret::new(&["openssl "], "-pass", PasswordPlace::Behind("pass:")),
];

impl Secret {
    const fn new(
        commands: &'static [&'static str],
        option: &'static str,
        place: PasswordPlace,
    ) -> Self {
        Self {
            commands,
            option,
            place,
        }
    }

    /// The value that a word brings, or the next word.
    fn value(
        &self,
        text: &str,
        word: &Range<usize>,
        next: Option<&Range<usize>>,
    ) -> Option<Range<usize>> {
        let written = text.get(word.clone())?;
        if self.ends_cluster(written) {
            return next.cloned();
        }
        let rest = written.strip_prefix(self.option)?;
        if rest.is_empty() {
            // `mysql -p` alone asks for the password, and the next word is the database.
            return next
                .filter(|_| self.place != PasswordPlace::Joined)
                .cloned();
        }
        // `-uada:pw` joins a short option to its value; a long one needs a sign between.
        let is_long = self.option.len() > 2;
        let joined = match (rest.strip_prefix('='), is_long) {
            (Some(joined), true) => joined,
            (None, true) => return None,
            (_, false) => rest,
        };
        Some(word.end - joined.len()..word.end)
    }

    /// Tells if this option is the last of several single letters, as `-u` is in `-sSu`.
    fn ends_cluster(&self, written: &str) -> bool {
        let letters = written.strip_prefix('-').unwrap_or_default();
        let own = self.option.strip_prefix('-').unwrap_or_default();
        own.len() == 1
            && letters.len() > 1
            && matches!(self.place, PasswordPlace::Behind(_))
            && letters.ends_with(own)
            && letters.bytes().all(|byte| byte.is_ascii_alphabetic())
    }
}

/// Finds the passwords that a command is given: it may know several.
pub(super) fn at(text: &str, keyword: Range<usize>, file: File) -> Vec<Span> {
    let name = text.get(keyword.clone()).unwrap_or_default();
    // The end of a longer word, such as `libcurl `, is no command.
    if !super::token::begins_here(text, keyword.start) {
        return Vec::new();
    }
    if name == ".pgpass" {
        return in_pgpass(text, keyword.start, file).into_iter().collect();
    }
    let mut spans = Vec::new();
    let words = words(text, keyword.end);
    let known = SECRETS.iter().filter(|secret| {
        secret
            .commands
            .iter()
            .any(|command| name.eq_ignore_ascii_case(command))
    });
    for secret in known {
        for (at, word) in words.iter().enumerate() {
            // Any word may be the option: commands take their arguments in any order.
            let found = secret.value(text, word, words.get(at + 1));
            let Some(value) = found.map(|value| unquoted(text, value)) else {
                continue;
            };
            let range = match secret.place {
                PasswordPlace::Behind(sign) => {
                    let written = text.get(value.clone()).unwrap_or_default();
                    // `-u ada` without a colon names a user and no password.
                    let Some(at) = written.find(sign) else {
                        continue;
                    };
                    value.start + at + sign.len()..value.end
                }
                PasswordPlace::Value | PasswordPlace::Joined => value,
            };
            if is_password(text.get(range.clone()).unwrap_or_default(), file) {
                spans.push(Span::new(Rank::Place, range, "password"));
            }
        }
    }
    spans
}

/// The password of a line that is written into `.pgpass`: `host:port:database:user:password`.
fn in_pgpass(text: &str, keyword: usize, file: File) -> Option<Span> {
    let start = keyword - value::line_before(text, keyword).len();
    let line = value::window(text, start, LONGEST).split('\n').next()?;
    let mut at = start;
    for word in line.split(|c: char| c.is_ascii_whitespace() || matches!(c, '"' | '\'' | '>')) {
        // At most five, since a password may hold colons.
        let fields: Vec<&str> = word.splitn(5, ':').collect();
        if let [_, port, _, _, password] = fields.as_slice()
            && (*port == "*" || !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()))
            && is_password(password.trim_end_matches("\\n"), file)
        {
            let length = password.trim_end_matches("\\n").len();
            let from = at + word.len() - password.len();
            return Some(Span::new(Rank::Place, from..from + length, "password"));
        }
        at += word.len() + 1;
    }
    None
}

/// Tells a password from a variable or an example. In documents and tests only one that a
/// machine made counts.
fn is_password(password: &str, file: File) -> bool {
    !value::is_reference(password)
        && !value::is_stand_in(password)
        && !password.starts_with(super::MARKER)
        && (value::is_random(password, 16)
            || !file.made_up && (value::is_password(password) || value::is_chosen(password, 6)))
}

/// The words from here to the end of the command.
fn words(text: &str, start: usize) -> Vec<Range<usize>> {
    let mut words = Vec::new();
    let mut at = start;
    let mut word: Option<usize> = None;
    let mut quote: Option<char> = None;
    let mut before = ' ';
    for c in value::window(text, start, LONGEST).chars() {
        let is_blank = quote.is_none() && c.is_whitespace();
        let ends =
            // Signs that end a command, unless they are quoted; a backslash joins the next line.
            quote.is_none() && (matches!(c, '|' | ';' | '&' | '`') || c == '\n' && before != '\\');
        if (is_blank || ends)
            && let Some(from) = word.take()
        {
            words.push(from..at);
        }
        // A bound on the work: text without any command may follow the keyword.
        if ends || words.len() == MOST_WORDS {
            return words;
        }
        if !is_blank {
            word = word.or(Some(at));
        }
        match quote {
            Some(open) if c == open => quote = None,
            None if matches!(c, '"' | '\'') && word.is_some_and(|from| opens(text, from, at)) => {
                quote = Some(c);
            }
            _ => {}
        }
        before = c;
        at += c.len_utf8();
    }
    words.extend(word.map(|from| from..at));
    words
}

const LONGEST: usize = 600;
const MOST_WORDS: usize = 40;

/// Tells a quote that opens a value: at the start of a word, behind an option or behind a sign. Inside a
/// word it is the end of the string that the command stands in.
fn opens(text: &str, from: usize, at: usize) -> bool {
    let before = text.get(from..at).unwrap_or_default();
    before.is_empty() || before.ends_with('=') || before.starts_with('-') && before.len() == 2
}

/// The value without the quotes around it.
fn unquoted(text: &str, value: Range<usize>) -> Range<usize> {
    let written = text.get(value.clone()).unwrap_or_default();
    let inner = written.trim_start_matches(['"', '\'']);
    let start = value.end - inner.len();
    // What closes the string, the call or the list of the program that runs the command.
    let ends = ['"', '\'', '`', ')', ',', ']', '\\'];
    start..start + inner.trim_end_matches(ends).len()
}
