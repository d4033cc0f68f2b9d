//! The settings for skills: further folders, folders that count as the user's own, and skills that
//! are off.

use std::collections::BTreeSet;

use super::Declared;
use crate::yaml::Field;

/// The settings for skills, of one file or of several merged ones.
///
/// ```
/// use kitbag_layout::Config;
///
/// let (config, problems) = Config::read("kitbag.yaml", "skills: {paths: [tools/skills], disabled: [baking]}");
/// assert_eq!(problems, []);
/// assert_eq!(config.skills.paths[0].path, "tools/skills");
/// assert!(config.skills.disabled.contains("baking"));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SkillSettings {
    /// Folders with skills, in addition to the usual ones.
    pub paths: Vec<SkillPath>,
    /// Folders whose skills count as the user's own, wherever they were found.
    pub allow: Vec<SkillPath>,
    /// Folders that a file without that right tried to make the user's own.
    pub ignored_allow: Vec<SkillPath>,
    /// The names of skills that are not used.
    pub disabled: BTreeSet<String>,
    /// The most tokens that the list of skills may take in a prompt, if a file sets it.
    pub budget: Option<u32>,
}

/// A folder that a file names.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SkillPath {
    /// The folder as written.
    pub path: String,
    /// The file that names it, by the name given to the reader.
    pub file: String,
    /// The line that names it, from 1.
    pub line: u64,
    /// The author of that file.
    pub declared: Declared,
}

impl SkillSettings {
    /// The most tokens that the list of skills takes by default.
    pub const DEFAULT_BUDGET: u32 = 1_000;

    /// The most tokens that the list of skills may take in a prompt.
    #[must_use]
    pub fn budget(&self) -> u32 {
        self.budget.unwrap_or(Self::DEFAULT_BUDGET)
    }

    /// Reads the settings of a file. Other programs put other values under this name, which are
    /// left alone.
    pub(super) fn read(field: &Field<'_>) -> Option<Self> {
        if !field.is_map() {
            field.warning(
                "expected a map with `paths`, `allow`, `disabled` or `budget`; this has no effect",
            );
            return None;
        }
        let paths = |name| field.read(name, read_paths).unwrap_or_default();
        let disabled = field.read("disabled", Field::texts).unwrap_or_default();
        let settings = Self {
            paths: paths("paths"),
            allow: paths("allow"),
            ignored_allow: Vec::new(),
            disabled: disabled.into_iter().collect(),
            budget: field.read("budget", read_budget),
        };
        field.warn_of_misspelt_keys(&[]);
        Some(settings)
    }

    /// Merges a project's settings over its user's. A skill that either turns off is off.
    pub(super) fn merge(user: Self, project: Self) -> Self {
        let both = |user: Vec<SkillPath>, project| user.into_iter().chain(project).collect();
        Self {
            paths: both(user.paths, project.paths),
            allow: both(user.allow, project.allow),
            ignored_allow: both(user.ignored_allow, project.ignored_allow),
            disabled: user.disabled.into_iter().chain(project.disabled).collect(),
            budget: project.budget.or(user.budget),
        }
    }

    /// Takes back what a merely found file may not decide: it makes nothing the user's own, and
    /// takes no more of the prompt than the user gives.
    pub(super) fn restrict(&mut self, user: &Self) {
        self.ignored_allow = std::mem::take(&mut self.allow);
        for path in &mut self.paths {
            path.declared = Declared::InFolder;
        }
        self.budget = self.budget.map(|budget| budget.min(user.budget()));
    }
}

fn read_paths(field: &Field<'_>) -> Option<Vec<SkillPath>> {
    let path = |path: String| SkillPath {
        path,
        file: field.problems.file().to_owned(),
        line: field.node.line,
        declared: Declared::ByUser,
    };
    Some(field.texts()?.into_iter().map(path).collect())
}

fn read_budget(field: &Field<'_>) -> Option<u32> {
    let budget = field.scalar()?.parse();
    match budget {
        Ok(budget) => Some(budget),
        Err(_) => field.error("expected a number of tokens, such as 1000"),
    }
}
