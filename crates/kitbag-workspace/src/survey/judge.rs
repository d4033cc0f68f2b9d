//! Gathers the evidence for every file, and puts the files in order.

use std::collections::BTreeMap;

use crate::git::Commit;
use crate::query::{Query, Term};
use crate::relevance::field::{Document, Statistics, normalise};
use crate::relevance::imports::PathIndex;
use crate::relevance::{Evidence, Keeps};
use crate::walk::{FileEntry, FileRole};
use crate::workspace::Workspace;

use super::candidate::Candidate;
use super::companions::{self, Relation};
use super::history::{subjects, terms_of};
use super::{RankedFile, SurveyOptions, WordUse};

/// The files whose imports count: what the best files use is likely needed.
const IMPORTERS: usize = 10;

/// The units whose mean speaks for a file. One alone is luck.
const BEST_UNITS: usize = 3;

pub(super) struct Judge<'a> {
    files: &'a [FileEntry],
    query: &'a Query,
    options: &'a SurveyOptions,
    keeps: Keeps,
    contents: Statistics,
    evidence: Vec<Evidence>,
    /// True for each file that is a text and was read.
    is_read: Vec<bool>,
    /// The number of files that hold each term.
    holders: Vec<usize>,
    /// The relations of files to the best ones.
    relations: BTreeMap<usize, Relation>,
}

impl<'a> Judge<'a> {
    /// Judges all files by what the scan and the log tell.
    pub(super) fn new(
        workspace: &'a Workspace,
        documents: Vec<Option<Document>>,
        commits: &[Commit],
        query: &'a Query,
        options: &'a SurveyOptions,
    ) -> Self {
        let files = workspace.files();
        let terms = query.terms.len();
        let weights: Vec<f64> = query.terms.iter().map(|term| term.weight).collect();
        let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
        let touched = workspace.touched();
        let subjects = subjects(commits, touched, files.len(), &query.terms);
        let path_words = workspace.path_words().documents(&query.terms);
        let is_read: Vec<bool> = documents.iter().map(Option::is_some).collect();
        let contents: Vec<Document> = documents
            .into_iter()
            .zip(&path_words)
            .map(|(document, path)| {
                let mut document = document.unwrap_or_default();
                for &(term, count) in &path.counts {
                    document.add(term, count);
                }
                document.counts.sort_unstable();
                document
            })
            .collect();

        let mut holders = vec![0; terms];
        for (term, _) in contents.iter().flat_map(|document| &document.counts) {
            if let Some(count) = holders.get_mut(usize::from(*term)) {
                *count += 1;
            }
        }

        // What is common in tests and documents may be rare in the source.
        let counts = |index: usize| {
            let is_source = files
                .get(index)
                .is_some_and(|file| file.role == FileRole::Source);
            is_source && is_read.get(index) == Some(&true)
        };
        let statistics = |documents: &[Document]| {
            let source = documents
                .iter()
                .enumerate()
                .filter(|(index, _)| counts(*index));
            let source: Vec<&Document> = source.map(|(_, document)| document).collect();
            if source.is_empty() {
                Statistics::of(documents.iter(), terms, 0.75)
            } else {
                Statistics::of(source.into_iter(), terms, 0.75)
            }
        };
        let scores = |documents: &[Document]| {
            let statistics = statistics(documents);
            let mut scores: Vec<f64> = documents
                .iter()
                .map(|document| statistics.score(document, &weights))
                .collect();
            normalise(&mut scores);
            scores
        };
        let (text, path, subjects) = (scores(&contents), scores(&path_words), scores(&subjects));
        let flag = |is_so: bool| if is_so { 1.0 } else { 0.0 };
        let at = |scores: &[f64], index: usize| scores.get(index).copied().unwrap_or_default();
        let evidence = paths.iter().enumerate().map(|(index, file)| Evidence {
            text: at(&text, index),
            path: at(&path, index),
            commits: at(&subjects, index),
            name: flag(query.mentions.has_name(file)),
            tail: flag(query.mentions.has_tail(file)),
            dotted: flag(query.mentions.has_dotted(file)),
            recency: at(&touched.recency, index),
            activity: at(&touched.activity, index),
            changed: flag(options.changed.iter().any(|changed| changed.path == **file)),
            ..Evidence::default()
        });
        Self {
            evidence: evidence.collect(),
            contents: statistics(&contents),
            keeps: Keeps {
                tests: options.about_tests,
            },
            is_read,
            holders,
            relations: BTreeMap::new(),
            files,
            query,
            options,
        }
    }

    /// The rarity of each term in contents.
    pub(super) fn rarity(&self) -> &[f64] {
        &self.contents.rarity
    }

    /// The best files so far.
    pub(super) fn best(&self, count: usize) -> Vec<usize> {
        let mut files = self.in_order();
        files.truncate(count);
        files
    }

    /// Judges the candidates again by their units, their definitions and who imports them.
    pub(super) fn look_closer(&mut self, candidates: &[Candidate], paths: &PathIndex) {
        let mut units: Vec<f64> = candidates.iter().map(mean_of_best).collect();
        normalise(&mut units);
        let names: Vec<Document> = candidates
            .iter()
            .map(|candidate| self.defined(candidate))
            .collect();
        let statistics = Statistics::of(names.iter(), self.query.terms.len(), 0.75);
        let weights: Vec<f64> = self.query.terms.iter().map(|term| term.weight).collect();
        let mut definitions: Vec<f64> = names
            .iter()
            .map(|names| statistics.score(names, &weights))
            .collect();
        normalise(&mut definitions);
        for ((candidate, units), definitions) in candidates.iter().zip(units).zip(definitions) {
            if let Some(evidence) = self.evidence.get_mut(candidate.file) {
                evidence.units = units;
                evidence.definitions = definitions;
            }
        }
        self.follow_imports(candidates, paths);
    }

    /// Finds what belongs to the files that are wanted by name and to the best ones, and lets it count.
    /// Returns what must be loaded for it.
    pub(super) fn bring_along(
        &mut self,
        wanted: &[usize],
        candidates: &[Candidate],
        paths: &PathIndex,
    ) -> Vec<usize> {
        let best = self.in_order();
        let score = |file: usize| {
            let (entry, evidence) = (self.files.get(file)?, self.evidence.get(file)?);
            Some(evidence.total(&self.options.weights, entry.role, self.keeps))
        };
        let highest = best.first().and_then(|&file| score(file));
        let highest = highest.unwrap_or_default().max(f64::MIN_POSITIVE);
        let mut targets = wanted.to_vec();
        targets.extend(best.iter().filter(|file| !wanted.contains(file)));
        let found = companions::find(
            self.options.companions,
            &targets,
            self.files,
            candidates,
            paths,
        );
        let mut loaded = Vec::new();
        for (file, relation, of) in found {
            if self.is_read.get(file) != Some(&true) {
                continue;
            }
            self.relations.entry(file).or_insert(relation);
            let share = match relation {
                Relation::Test | Relation::Fixture => 1.0,
                // Of the code that uses a file, the lines that do are enough.
                Relation::Dependent => 0.3,
                // What a file uses is among the imports already.
                Relation::Dependency => continue,
            };
            let worth = score(of).unwrap_or_default() / highest;
            loaded.push((file, worth * share));
        }
        for &(file, worth) in &loaded {
            if let Some(evidence) = self.evidence.get_mut(file) {
                evidence.companion = evidence.companion.max(worth);
            }
        }
        loaded.into_iter().map(|(file, _)| file).collect()
    }

    /// The words of the task, the weightiest first.
    pub(super) fn words(&self) -> Vec<WordUse> {
        let mut terms: Vec<_> = self.query.terms.iter().zip(&self.holders).collect();
        terms.sort_by(|(a, _), (b, _)| {
            let by_weight = b.weight.total_cmp(&a.weight);
            by_weight.then_with(|| (&a.text, a.is_whole).cmp(&(&b.text, b.is_whole)))
        });
        let used = |(term, &files): (&Term, &usize)| WordUse {
            word: term.text.clone(),
            files,
        };
        terms.into_iter().map(used).collect()
    }

    /// The files that have any evidence, the best first, with their scores.
    pub(super) fn ranked(&self) -> Vec<RankedFile> {
        let mut ranked: Vec<RankedFile> = self
            .in_order()
            .into_iter()
            .filter_map(|file| {
                let (entry, evidence) = (self.files.get(file)?, self.evidence.get(file)?);
                Some(RankedFile {
                    file,
                    score: evidence.score(&self.options.weights, entry.role, self.keeps),
                    reach: evidence.reach(),
                    relation: self.relations.get(&file).copied(),
                })
            })
            .collect();
        // Whole numbers decide, so that the order is that of the scores that are shown.
        ranked.sort_by_cached_key(|ranked| (std::cmp::Reverse(ranked.score.total()), ranked.file));
        ranked
    }

    /// The files that have any evidence, in order. Files are sorted by path, so that equals are too.
    fn in_order(&self) -> Vec<usize> {
        let mut files: Vec<(f64, usize)> = self
            .evidence
            .iter()
            .zip(self.files)
            .enumerate()
            .filter(|(index, (evidence, _))| {
                let speaks = evidence.text
                    + evidence.path
                    + evidence.commits
                    + evidence.name
                    + evidence.imported
                    + evidence.changed
                    + evidence.companion;
                (speaks > 0.0 || self.query.is_empty()) && self.is_read.get(*index) == Some(&true)
            })
            .map(|(index, (evidence, file))| {
                (
                    evidence.total(&self.options.weights, file.role, self.keeps),
                    index,
                )
            })
            .collect();
        files.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        files.into_iter().map(|(_, file)| file).collect()
    }

    /// The words of the names that a file defines.
    fn defined(&self, candidate: &Candidate) -> Document {
        let mut document = Document::default();
        let units = candidate.parsed.syntax.units.iter().zip(&candidate.units);
        let tests = units.filter(|(_, worth)| worth.is_test);
        let tests: Vec<(u32, u32)> = tests.map(|(unit, _)| (unit.first, unit.last)).collect();
        let is_test = |line: u32| {
            tests
                .iter()
                .any(|&(first, last)| first <= line && line <= last)
        };
        let definitions = candidate.parsed.syntax.definitions.iter();
        for definition in definitions.filter(|definition| !is_test(definition.line)) {
            let words = terms_of(&definition.name, &self.query.terms);
            document.length = document.length.saturating_add(words.length);
            for &(term, count) in &words.counts {
                document.add(term, count);
            }
        }
        document.counts.sort_unstable();
        document
    }

    fn follow_imports(&mut self, candidates: &[Candidate], paths: &PathIndex) {
        let importers = self.best(IMPORTERS);
        for importer in importers {
            let Some(candidate) = candidates
                .iter()
                .find(|candidate| candidate.file == importer)
            else {
                continue;
            };
            let Some(worth) = self.evidence.get(importer).map(|evidence| evidence.text) else {
                continue;
            };
            let from = self.files.get(importer).map_or("", |file| &file.path);
            for import in &candidate.parsed.syntax.imports {
                for target in paths.resolve(import, from, self.files) {
                    if let Some(evidence) =
                        self.evidence.get_mut(target).filter(|_| target != importer)
                    {
                        evidence.imported = evidence.imported.max(worth);
                    }
                }
            }
        }
    }
}

fn mean_of_best(candidate: &Candidate) -> f64 {
    let mut scores: Vec<f64> = candidate.units.iter().map(|unit| unit.words).collect();
    scores.sort_unstable_by(|a, b| b.total_cmp(a));
    scores.iter().take(BEST_UNITS).sum::<f64>() / 3.0
}
