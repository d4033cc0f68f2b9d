//! Keys: where one is, reading it, and keeping it out of everything that is shown.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use kitbag_layout::KeySource;

use super::ProviderError;

/// A value that is never shown: its debug output is a mark.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Keeps a value secret.
    #[must_use]
    pub fn new(value: impl Into<String>) -> Self {
        Self(value.into())
    }

    /// The value, for the header or the signature that it belongs into, and for nothing else.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// The text with a mark wherever the value stands in it. A value that is too short to be told from
    /// other words is left alone.
    #[must_use]
    pub fn scrubbed(&self, text: String) -> String {
        // A value of a few letters stands in ordinary words, and would make errors unreadable.
        match self.0.len() >= 6 && text.contains(&self.0) {
            true => text.replace(&self.0, "[key]"),
            false => text,
        }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// A key: its value, or the place to read it from when it is needed.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Key {
    /// The key itself.
    Value(Secret),
    /// The value of a variable that was looked up, and its name.
    Variable(String, Option<Secret>),
    /// The first line of a file.
    File(PathBuf),
    /// The first line of what a program prints.
    Command(Vec<String>),
}

impl Key {
    /// The place that a configuration names. Files are relative to `root`; `variables` looks into the
    /// environment.
    #[must_use]
    pub fn of(
        source: &KeySource,
        root: &Path,
        variables: &dyn Fn(&str) -> Option<String>,
    ) -> Option<Self> {
        Some(match source {
            KeySource::Env(name) => {
                let value = variables(name).filter(|value| !value.trim().is_empty());
                // A line break at the end, from `$(cat key)` or an editor, is not allowed in a header.
                let value = value.map(|value| Secret::new(value.trim()));
                Self::Variable(name.clone(), value)
            }
            KeySource::File(path) => Self::File(match path.strip_prefix("~/") {
                // Files of keys usually stand in the home folder, which `~` means to people and shells.
                Some(rest) => match variables("HOME").filter(|home| !home.is_empty()) {
                    Some(home) => Path::new(&home).join(rest),
                    // As written, so that the error names it: `rest` alone would be a file of the current folder.
                    None => PathBuf::from(path),
                },
                None => root.join(path),
            }),
            KeySource::Command(words) => Self::Command(words.clone()),
            _ => return None,
        })
    }

    /// Reads the key of a provider, or of another service by that name.
    ///
    /// # Errors
    /// When there is none at its place.
    pub fn read(&self, provider: &str) -> Result<Secret, ProviderError> {
        let missing = |place: String, problem: String| {
            let variable = match self {
                Self::Variable(name, _) => Some(name.clone()),
                _ => None,
            };
            Err(ProviderError::NoKey {
                provider: provider.to_owned(),
                place,
                problem,
                variable,
            })
        };
        let (place, text) = match self {
            // Neither needs reading again: files and programs may change, variables do not.
            Self::Value(secret) | Self::Variable(_, Some(secret)) => return Ok(secret.clone()),
            Self::Variable(name, None) => return missing(name.clone(), "is not set".to_owned()),
            Self::File(path) => {
                let place = format!("the file `{}`", path.display());
                match std::fs::read_to_string(path) {
                    Ok(text) => (place, text),
                    Err(error) => return missing(place, format!("cannot be read: {error}")),
                }
            }
            Self::Command(words) => {
                // Only its name: the arguments may hold what the key is looked up by.
                let place = format!("the command `{}`", words.first().map_or("", String::as_str));
                match printed(words) {
                    Ok(text) => (place, text),
                    Err(problem) => return missing(place, problem),
                }
            }
        };
        match text
            .lines()
            .next()
            .map(str::trim)
            .filter(|line| !line.is_empty())
        {
            Some(line) => Ok(Secret::new(line)),
            None => missing(place, "gives an empty line".to_owned()),
        }
    }
}

/// The text without any of the secrets.
pub(super) fn scrubbed(secrets: &[Secret], text: String) -> String {
    secrets
        .iter()
        .fold(text, |text, secret| secret.scrubbed(text))
}

/// The output of a program. It may ask its user for a password, so only its result is taken.
fn printed(words: &[String]) -> Result<String, String> {
    let Some((program, arguments)) = words.split_first() else {
        return Err("is empty".to_owned());
    };
    let output = Command::new(program)
        .args(arguments)
        // A password manager asks its question there.
        .stderr(Stdio::inherit())
        .stdin(Stdio::inherit())
        .output()
        .map_err(|error| format!("cannot be run: {error}"))?;
    if !output.status.success() {
        return Err(format!("failed with {}", output.status));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
