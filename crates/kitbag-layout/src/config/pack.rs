//! The settings for packs: what every pack of a project has unless its options say otherwise.

use kitbag_core::tokens::Tokens;

use super::hooks::tokens;
use crate::yaml::Field;

/// The habits of a project's packs.
///
/// ```
/// use kitbag_layout::Config;
///
/// let text = "pack: {budget: 16k, exclude: [docs/], pin: [src/lib.rs#run], instructions: Answer in German.}";
/// let (config, _) = Config::read("kitbag.yaml", text);
/// assert_eq!(config.pack.budget.unwrap().0, 16_000);
/// assert_eq!(config.pack.pins, ["src/lib.rs#run"]);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PackSettings {
    /// The most tokens that a prompt may have.
    pub budget: Option<Tokens>,
    /// Patterns of files that are left out, besides those of the options.
    pub exclude: Vec<String>,
    /// The pins of every pack, besides those of the options.
    pub pins: Vec<String>,
    /// The text behind every request.
    pub instructions: Option<String>,
}

impl PackSettings {
    /// Lays a project's settings over its user's; patterns and pins of both count.
    pub(super) fn merge(user: Self, project: Self) -> Self {
        let joined = |mut first: Vec<String>, second: Vec<String>| {
            first.extend(second);
            first
        };
        Self {
            budget: project.budget.or(user.budget),
            exclude: joined(user.exclude, project.exclude),
            pins: joined(user.pins, project.pins),
            instructions: project.instructions.or(user.instructions),
        }
    }

    pub(super) fn read(field: &Field<'_>) -> Option<Self> {
        field.map()?;
        let settings = Self {
            budget: field.read("budget", tokens),
            exclude: field.read("exclude", Field::texts).unwrap_or_default(),
            pins: field.read("pin", Field::texts).unwrap_or_default(),
            instructions: field.read("instructions", Field::text),
        };
        field.warn_of_misspelt_keys(&[]);
        Some(settings)
    }
}
