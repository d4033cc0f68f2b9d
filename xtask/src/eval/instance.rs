//! The tasks to evaluate: an issue's text, the tree before its fix, and the lines that the fix changed.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// One task of a data file.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Instance {
    pub(super) id: String,
    /// The repository, as `owner/name`.
    pub(super) repo: String,
    pub(super) commit: String,
    /// The text that is given to the program.
    pub(super) query: String,
    pub(super) gold_files: Vec<String>,
    /// For each gold file its lines, first and last, counted from one.
    pub(super) gold_spans: BTreeMap<String, Vec<(usize, usize)>>,
    pub(super) language: String,
    pub(super) kind: String,
    #[serde(rename = "query_names_gold")]
    pub(super) named: bool,
    pub(super) tree_files: u64,
    pub(super) created: String,
}

/// The tasks of the named repositories (all when none is named), at most `per_repo` of each, small trees
/// first. Which of a repository's tasks are taken depends on their ids alone.
pub(super) fn select(
    mut instances: Vec<Instance>,
    repos: &[String],
    per_repo: Option<usize>,
) -> Vec<Instance> {
    instances.retain(|instance| repos.is_empty() || repos.contains(&instance.repo));
    if let Some(limit) = per_repo {
        let mut taken: BTreeMap<String, usize> = BTreeMap::new();
        // In the order of a hash: the choice is spread over all years, and does not depend on the
        // order of the file.
        instances.sort_by_cached_key(|instance| Sha256::digest(&instance.id));
        instances.retain(|instance| {
            let taken = taken.entry(instance.repo.clone()).or_default();
            *taken += 1;
            *taken <= limit
        });
    }
    instances.sort_by(|a, b| {
        (a.tree_files, &a.repo, &a.created, &a.id).cmp(&(b.tree_files, &b.repo, &b.created, &b.id))
    });
    instances
}

#[cfg(test)]
mod tests {
    use super::*;

    fn instance(id: &str, repo: &str, tree_files: u64) -> Instance {
        Instance {
            id: id.to_owned(),
            repo: repo.to_owned(),
            tree_files,
            ..Instance::default()
        }
    }

    fn ids(instances: &[Instance]) -> Vec<&str> {
        instances.iter().map(|i| i.id.as_str()).collect()
    }

    #[test]
    fn repositories_are_limited_and_small_trees_come_first() {
        let all = vec![
            instance("a", "x/x", 9),
            instance("b", "x/x", 9),
            instance("c", "x/x", 9),
            instance("d", "y/y", 1),
        ];
        assert_eq!(ids(&select(all.clone(), &[], None)), ["d", "a", "b", "c"]);
        assert_eq!(ids(&select(all.clone(), &["y/y".to_owned()], None)), ["d"]);
        // SHA-256 of "c" is 2e…, of "b" 3e…, of "a" ca….
        assert_eq!(ids(&select(all, &[], Some(2))), ["d", "b", "c"]);
    }
}
