//! The patterns of the caller: what to include and what to leave out.

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use kitbag_core::problem::{Problem, ProblemKind};

use super::skip::{self, SkipReason};
use crate::relative::name_of;
use crate::workspace::WorkspaceOptions;

/// The patterns of one walk, compiled.
#[derive(Debug)]
pub(crate) struct Selection {
    include: Option<Gitignore>,
    exclude: Gitignore,
    /// Include patterns that name something usually skipped, with the skip that they lift.
    lifts: Vec<(SkipReason, Gitignore)>,
    /// Parts of include patterns, each of which may name a folder.
    folders: Vec<String>,
}

impl Selection {
    /// Compiles the patterns; invalid ones go to `problems`.
    pub(crate) fn new(options: &WorkspaceOptions, problems: &mut Vec<Problem>) -> Self {
        let include = (!options.include.is_empty()).then(|| compile(&options.include, problems));
        let exclude = compile(&options.exclude, problems);
        let lifts = options.include.iter().filter_map(|pattern| {
            let lifted = skip::file_by_name(name_of(pattern))?;
            // Its problems were noted with all include patterns above.
            let pattern = compile(std::slice::from_ref(pattern), &mut Vec::new());
            Some((lifted, pattern))
        });
        let parts = options
            .include
            .iter()
            .flat_map(|pattern| pattern.split('/'));
        Self {
            include,
            exclude,
            lifts: lifts.collect(),
            folders: parts.map(str::to_owned).collect(),
        }
    }

    /// Tells if the patterns let a path in, also one that is not listed.
    pub(crate) fn selects(&self, path: &str) -> bool {
        // The matcher expects paths below its root.
        let path = path.trim_start_matches('/');
        let has = |patterns: &Gitignore| {
            let matched = patterns.matched_path_or_any_parents(path, false);
            matched.is_ignore()
        };
        self.include.as_ref().is_none_or(has) && !has(&self.exclude)
    }

    /// Tells if the caller leaves this path out.
    pub(super) fn excludes(&self, path: &str, is_folder: bool) -> bool {
        self.exclude.matched(path, is_folder).is_ignore()
    }

    /// Tells if a path is wanted, below a folder that is wanted or not.
    pub(super) fn includes(&self, path: &str, is_folder: bool, folder_is: bool) -> bool {
        let Some(include) = &self.include else {
            return true;
        };
        match include.matched(path, is_folder) {
            ignore::Match::Ignore(_) => true,
            ignore::Match::Whitelist(_) => false,
            ignore::Match::None => folder_is,
        }
    }

    /// Tells if an include pattern names a folder that is usually skipped.
    pub(super) fn lifts_folder(&self, name: &str) -> bool {
        self.folders.iter().any(|part| part == name)
    }

    /// Tells if an include pattern asks for a file that is usually skipped for `reason`.
    pub(super) fn lifts_file(&self, path: &str, reason: &SkipReason) -> bool {
        self.lifts
            .iter()
            .any(|(lifted, pattern)| lifted == reason && pattern.matched(path, false).is_ignore())
    }
}

fn compile(patterns: &[String], problems: &mut Vec<Problem>) -> Gitignore {
    let mut builder = GitignoreBuilder::new("");
    // A bracket without an end is a mistake of the caller, which should be reported.
    builder.allow_unclosed_class(false);
    for pattern in patterns {
        let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
        if builder.add_line(None, pattern).is_err() {
            let message = format!("`{pattern}` is not a file pattern, and is ignored");
            problems.push(Problem::new("", ProblemKind::Ignored, message));
        }
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}
