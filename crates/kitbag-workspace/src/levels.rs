//! The levels of detail of a file for a task: from the whole of it to its path.
//!
//! Slices are a chain: the best unit, the best two, and so on, so that whoever fits the levels into
//! a budget decides how deep to go into each file. What a level covers is its share of what the
//! file's units are worth; the first lines that are shown of a file count by themselves, so that
//! breadth is worth something, and going deep counts less the less likely the file is.

use std::collections::BTreeSet;
use std::sync::Arc;

use kitbag_core::chunk::{Coverage, Detail, Level};
use serde::{Deserialize, Serialize};

use crate::language::{Comment, Language};
use crate::parsed::Parsed;
use crate::survey::{Candidate, UnitWorth};
use crate::syntax::{self, Rendered, Unit, UnitKind, View};

/// How the units of files are weighed against each other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct DepthWeights {
    /// What every unit is worth, beside the best unit of all files at 1.
    pub floor: f64,
    /// What is left of the worth of code outside definitions.
    pub outside: f64,
    /// What the phrases of the task add.
    pub phrases: f64,
    /// What a line that the task points at adds.
    pub frame: f64,
    /// The addition for a definition that the task names.
    pub named: f64,
    /// The least share of the best score that a file has which defines what the task names.
    pub named_share: f64,
    /// How much the better units stand out.
    pub sharpness: f64,
    /// How much the size of a unit counts: at 0 short units win, at 1 size does not matter.
    pub size: f64,
    /// What showing anything of a file covers.
    pub breadth: f64,
    /// How fast depth loses its worth as a file's score falls behind the best.
    pub depth: f64,
    /// How fast a file's relevance falls as its score falls behind the best.
    pub relevance: f64,
    /// What an outline covers of what is not breadth.
    pub outline: f64,
    /// How much a file is worth more for being large: at 0 not at all.
    pub mass: f64,
}

impl Default for DepthWeights {
    fn default() -> Self {
        Self {
            floor: 0.05,
            outside: 0.7,
            phrases: 0.3,
            frame: 0.5,
            named: 0.5,
            named_share: 0.5,
            sharpness: 1.5,
            size: 0.9,
            breadth: 0.2,
            depth: 2.0,
            relevance: 2.0,
            outline: 0.05,
            mass: 0.8,
        }
    }
}

/// The lines of a window into a function that is too long to be shown whole, and the most lines of one
/// that is not.
const WINDOW: u32 = 13;
const WHOLE: u32 = 70;

/// A unit of fewer lines is shown with its neighbours.
const SMALL: u32 = 10;

/// The fewest lines that a part of a file has.
const FEWEST_LINES: u32 = 3;

/// A part of fewer bytes is a fragment: with its heading it has less than 1,500.
const FRAGMENT: usize = 1_460;

/// What is known of all candidates when the levels of one are made.
#[derive(Debug, Clone, Copy)]
pub struct Depth<'a> {
    /// The weights.
    pub weights: &'a DepthWeights,
    /// The worth of the best unit of all candidates.
    pub best_unit: f64,
    /// The mass of the heaviest file.
    pub heaviest: f64,
}

impl<'a> Depth<'a> {
    /// Looks at all candidates.
    #[must_use]
    pub fn of(candidates: &[Candidate], weights: &'a DepthWeights) -> Self {
        let words = candidates.iter().flat_map(|candidate| &candidate.units);
        let best_unit = words.map(|unit| unit.words).fold(0.0, f64::max);
        let mut depth = Self {
            weights,
            best_unit,
            heaviest: 1.0,
        };
        let masses = candidates.iter().map(|candidate| depth.mass(candidate));
        depth.heaviest = masses.fold(0.0, f64::max);
        depth
    }

    /// How likely a file is needed, in parts per million, whose score is this share of the best.
    #[must_use]
    pub fn relevance(&self, candidate: &Candidate, share: f64) -> u32 {
        let mass = self.mass(candidate) / self.heaviest.max(f64::MIN_POSITIVE);
        let mass = libm::pow(mass, self.weights.mass).min(1.0);
        let share = libm::pow(share.clamp(0.0, 1.0), self.weights.relevance);
        parts(share * mass, 1e6)
    }

    fn mass(&self, candidate: &Candidate) -> f64 {
        self.units(candidate).map(|unit| unit.mass).sum()
    }

    /// What each unit of a file weighs.
    fn units(&self, candidate: &Candidate) -> impl Iterator<Item = Weighed> {
        let units = candidate.units.iter().zip(&candidate.parsed.syntax.units);
        units.enumerate().map(|(index, (worth, unit))| {
            let value = self.value(worth, unit.kind);
            let size = f64::from(unit.len().max(5));
            let mass =
                libm::pow(value, self.weights.sharpness) * libm::pow(size, self.weights.size);
            Weighed {
                index,
                lines: unit.len(),
                mass,
                efficiency: mass / size,
            }
        })
    }

    fn value(&self, worth: &UnitWorth, kind: UnitKind) -> f64 {
        let weights = self.weights;
        let is_outside = matches!(kind, UnitKind::Code | UnitKind::Imports);
        let kept = if is_outside { weights.outside } else { 1.0 };
        let framed = if worth.framed { weights.frame } else { 0.0 };
        let named = if worth.named { weights.named } else { 0.0 };
        kept * worth.words / self.best_unit.max(f64::MIN_POSITIVE)
            + weights.floor
            + weights.phrases * worth.phrases.min(1.0)
            + framed
            + named
    }

    /// The level that shows the worthiest function of a file of tests that stands whole in it: one that
    /// is a test by its name, if there is one. None where there is no such function.
    #[must_use]
    pub fn model(&self, candidate: &Candidate, text: &str, path: &str) -> Option<Level> {
        let says_test = |unit: &Unit| unit.name.to_ascii_lowercase().contains("test");
        let best = self
            .best_function(candidate, |unit, _| says_test(unit))
            .or_else(|| self.best_function(candidate, |_, _| true))?;
        let shown = view(candidate, text, path).slice(&[best]);
        Some(slice(shown, permille(self.weights.breadth)))
    }

    /// The parts of a file, each with the worthiest test that stands in the file besides. Empty where no
    /// test does. `levels` are those of the file.
    #[must_use]
    pub fn with_inner_test(
        &self,
        candidate: &Candidate,
        text: &str,
        path: &str,
        levels: &[Level],
    ) -> Vec<WithTest> {
        let Some(test) = self.best_function(candidate, |_, worth| worth.is_test) else {
            return Vec::new();
        };
        let view = view(candidate, text, path);
        let parts = levels.iter().filter(|level| level.level == Detail::Slice);
        let with_test = parts.map(|level| WithTest {
            without: level.lines.clone(),
            level: slice(view.slice_besides(&level.lines, test), level.coverage),
        });
        with_test.collect()
    }

    /// The worthiest of the functions of a file that stand whole in it and are not too long.
    fn best_function(
        &self,
        candidate: &Candidate,
        is_wanted: impl Fn(&Unit, &UnitWorth) -> bool,
    ) -> Option<usize> {
        let units = self.units(candidate);
        let functions = units.filter(|weighed| {
            let unit = candidate.parsed.syntax.units.get(weighed.index);
            let worth = candidate.units.get(weighed.index);
            unit.zip(worth).is_some_and(|(unit, worth)| {
                let is_function = unit.kind == UnitKind::Function && !unit.part;
                is_function && unit.len() <= WHOLE && is_wanted(unit, worth)
            })
        });
        let best = functions.max_by(|a, b| {
            let by_mass = a.mass.total_cmp(&b.mass);
            by_mass.then(b.index.cmp(&a.index))
        })?;
        Some(best.index)
    }

    /// The levels of a file whose score is `share` of the best, the most detailed first. `text` is
    /// that of the candidate, line for line; secrets may be replaced in it.
    #[must_use]
    pub fn levels(&self, candidate: &Candidate, text: &str, path: &str, share: f64) -> Vec<Level> {
        let view = view(candidate, text, path);
        let mut units: Vec<Weighed> = self.units(candidate).collect();
        let all: f64 = units.iter().map(|unit| unit.mass).sum();
        let deep = libm::pow(share.clamp(0.0, 1.0), self.weights.depth);
        let coverage = |mass: f64| {
            let is_weighed = all > 0.0;
            let share = if is_weighed {
                (mass / all).min(1.0)
            } else {
                1.0
            };
            let breadth = self.weights.breadth;
            permille(breadth + (1.0 - breadth) * share * deep)
        };
        units.sort_by(|a, b| {
            let by_efficiency = b.efficiency.total_cmp(&a.efficiency);
            by_efficiency.then(a.index.cmp(&b.index))
        });

        let mut levels = vec![
            Level::new(Detail::Full, text)
                .with_coverage(coverage(all))
                .with_lines([(1, view.line_count())]),
        ];
        let mut slices = Vec::new();
        let mut chosen = Vec::new();
        let (mut mass, mut shown, mut next) = (0.0, 0_u32, 0_u32);
        for unit in &units {
            chosen.push(unit.index);
            mass += unit.mass;
            shown += unit.lines;
            if shown * 10 >= view.line_count() * 9 || slices.len() >= steps(share) {
                break;
            }
            if shown < next {
                continue;
            }
            chosen.sort_unstable();
            let rendered = view.slice(&chosen);
            // A prompt has little room for fragments. Only the first step may be one, because a file of short
            // functions would otherwise have no part to show, and it needs more than a few lines.
            let is_fragment = rendered.content.len() < FRAGMENT;
            let is_scrap = shown < SMALL && candidate.located.is_empty();
            if is_fragment && (!slices.is_empty() || is_scrap) {
                continue;
            }
            next = shown + (shown / 6).max(4);
            slices.push(slice(rendered, coverage(mass)));
        }
        levels.extend(slices.into_iter().rev());
        let is_named = |unit: &&Weighed| {
            let worth = candidate.units.get(unit.index);
            worth.is_some_and(|worth| worth.named)
        };
        let named: Vec<&Weighed> = units.iter().filter(is_named).collect();
        let excerpt_of = |unit: &Weighed| {
            let (first, last) = excerpt(candidate, unit.index);
            let is_whole = last + 1 - first >= unit.lines;
            let mass = if is_whole { unit.mass } else { 0.0 };
            slice(view.excerpt(first, last), coverage(mass))
        };
        if let Some(best) = named.first() {
            // The definitions that the task names, and the best stretch of them if they are too long.
            let indices: Vec<usize> = named.iter().map(|unit| unit.index).collect();
            let mass = named.iter().map(|unit| unit.mass).sum();
            levels.push(slice(view.slice(&indices), coverage(mass)));
            levels.push(excerpt_of(best));
        }
        if let Some(best) = units.first() {
            let excerpt = excerpt_of(best);
            let lines: u32 = excerpt.lines.iter().map(|(from, to)| to + 1 - from).sum();
            // A line or two say less than the name of the file, unless the task points at them.
            if lines >= FEWEST_LINES || !candidate.located.is_empty() {
                levels.push(excerpt);
            }
        }
        let outlined = permille(self.weights.breadth + self.weights.outline * deep);
        levels.extend(outline_of(&view).map(|outline| outline.with_coverage(outlined)));
        // What a level shows may be shown by one that counts for more.
        let mut seen = BTreeSet::new();
        levels.retain(|level| {
            let is_shorter = level.level == Detail::Full || level.content.len() < text.len();
            is_shorter && seen.insert(level.lines.clone())
        });
        levels.push(Level::new(Detail::Line, path).with_coverage(Coverage::from_permille(1)));
        levels
    }
}

/// A part of a file that shows a test of it too.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct WithTest {
    /// The lines of the part without the test.
    pub without: Vec<(u32, u32)>,
    /// The part with the test.
    pub level: Level,
}

/// A unit of a file, and what it weighs.
struct Weighed {
    index: usize,
    lines: u32,
    mass: f64,
    /// The mass of a line.
    efficiency: f64,
}

/// The outline of a file, if it has one that is shorter than its text.
#[must_use]
pub fn outline(candidate: &Candidate, text: &str, path: &str) -> Option<Level> {
    let outline = outline_of(&view(candidate, text, path))?;
    (outline.content.len() < text.len()).then_some(outline)
}

/// The levels of code that nothing else is known of: the whole, the outline, and a chain of its units
/// from the first one on.
#[must_use]
pub fn of_code(language: Language, path: &str, text: &str) -> Vec<Level> {
    let syntax = syntax::parse(language, text);
    // Units count alike, but the first ones a little more: what a file is about stands at its top.
    let worth = |index: usize| UnitWorth {
        words: 1.0 / (index + 10) as f64,
        ..UnitWorth::default()
    };
    let candidate = Candidate {
        file: 0,
        text: String::new(),
        units: (0..syntax.units.len()).map(worth).collect(),
        parsed: Arc::new(Parsed::new(syntax)),
        hits: Vec::new(),
        located: Vec::new(),
        named: false,
    };
    let weights = DepthWeights::default();
    let depth = Depth::of(std::slice::from_ref(&candidate), &weights);
    let mut levels = depth.levels(&candidate, text, path, 1.0);
    levels.retain(|level| level.level != Detail::Line);
    levels
}

fn outline_of(view: &View<'_>) -> Option<Level> {
    let outline = view.outline()?;
    Some(Level::new(Detail::Outline, outline.content).with_lines(outline.lines))
}

/// How many steps the chain of a file has at most: nobody goes deep into an unlikely file.
fn steps(share: f64) -> usize {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 3 and 27"
    )]
    let more = (24.0 * share * share) as usize;
    3 + more
}

/// A text in no known language has comments as its name tells.
fn view<'t>(candidate: &'t Candidate, text: &'t str, path: &str) -> View<'t> {
    let view = View::new(text, &candidate.parsed.syntax);
    if candidate.parsed.syntax.language.is_some() {
        return view;
    }
    let comment = Comment::of(path, text.lines().next().unwrap_or(""));
    view.with_comment(comment.unwrap_or_default())
}

fn slice(rendered: Rendered, coverage: Coverage) -> Level {
    Level::new(Detail::Slice, rendered.content)
        .with_coverage(coverage)
        .with_lines(rendered.lines)
}

/// The least that is shown of a unit: a function whole, or of what is too long the stretch with most
/// words of the task.
fn excerpt(candidate: &Candidate, unit: usize) -> (u32, u32) {
    let Some(found) = candidate.parsed.syntax.units.get(unit) else {
        return (1, WINDOW);
    };
    if found.len() <= WINDOW || !found.part && found.len() <= WHOLE {
        return with_neighbours(&candidate.parsed.syntax.units, unit, found);
    }
    let unit = found;
    let mut hits = candidate.hits.clone();
    hits.retain(|(line, _)| (unit.first..=unit.last).contains(line));
    let weight = |first: u32| -> f64 {
        let within = first..first + WINDOW;
        let hits = hits.iter().filter(|(line, _)| within.contains(line));
        hits.map(|(_, weight)| weight).sum()
    };
    // Of those that weigh the same the first counts.
    let starts = (unit.first..=unit.last + 1 - WINDOW).rev();
    let weighed = starts.map(|first| (weight(first), first));
    let best = weighed.max_by(|(a, _), (b, _)| a.total_cmp(b));
    let first = best.map_or(unit.first, |(_, first)| first);
    (first, first + WINDOW - 1)
}

/// The lines of a unit; of a short one with those of its neighbours, since a few lines say little of a file.
fn with_neighbours(units: &[Unit], index: usize, unit: &Unit) -> (u32, u32) {
    let (mut first, mut last) = (unit.first, unit.last);
    let mut below = units.iter().skip(index + 1);
    let mut above = units.iter().take(index).rev();
    while last + 1 - first < SMALL {
        let is_near = |other: &&Unit| {
            let touches = other.first == last + 1 || other.last + 1 == first;
            touches && other.scope == unit.scope && other.len() <= WINDOW
        };
        if let Some(next) = below.next().filter(is_near) {
            last = next.last;
        } else if let Some(before) = above.next().filter(is_near) {
            first = before.first;
        } else {
            break;
        }
    }
    (first, last)
}

fn permille(share: f64) -> Coverage {
    Coverage::from_permille(u16::try_from(parts(share, 1e3)).unwrap_or(u16::MAX))
}

/// A share in parts of a whole.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "between 0 and the whole"
)]
fn parts(share: f64, whole: f64) -> u32 {
    libm::round(share.clamp(0.0, 1.0) * whole) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::Syntax;

    /// The levels of a file whose first unit counts most.
    fn levels(path: &str, text: &str, syntax: Syntax) -> Vec<Level> {
        let worth = |index: usize| UnitWorth {
            words: 1.0 / (index + 1) as f64,
            ..UnitWorth::default()
        };
        let candidate = Candidate {
            file: 0,
            text: text.to_owned(),
            units: (0..syntax.units.len()).map(worth).collect(),
            parsed: Arc::new(Parsed::new(syntax)),
            hits: Vec::new(),
            located: Vec::new(),
            named: false,
        };
        let weights = DepthWeights::default();
        let depth = Depth::of(std::slice::from_ref(&candidate), &weights);
        depth.levels(&candidate, text, path, 1.0)
    }

    fn details(levels: &[Level]) -> Vec<&'static str> {
        levels.iter().map(|level| level.level.as_str()).collect()
    }

    #[test]
    fn p08_no_two_levels_show_the_same() {
        let function =
            |n: u32| format!("def f{n}():\n    a = 1\n    b = 2\n    c = 3\n    return a\n\n\n");
        let text: String = (0..90).map(function).collect();
        let made = levels("a.py", &text, syntax::parse(Language::Python, &text));
        let mut lines: Vec<_> = made.iter().map(|level| &level.lines).collect();
        lines.sort_unstable();
        lines.dedup();
        assert_eq!(lines.len(), made.len());
        assert!(made.len() > 5, "{:?}", details(&made));
        assert!(
            made.iter()
                .skip(1)
                .all(|level| level.content.len() < text.len())
        );
    }

    #[test]
    fn p08_a_small_file_has_no_level_between_all_and_its_name() {
        let text = "import os\n\n\ndef a():\n    return os\n";
        let made = levels("a.py", text, syntax::parse(Language::Python, text));
        assert_eq!(details(&made), ["full", "line"]);
        let made = levels("a.txt", "one\ntwo\n", syntax::windows("one\ntwo\n"));
        assert_eq!(details(&made), ["full", "line"]);
    }

    #[test]
    fn p08_a_short_function_is_shown_with_its_neighbours() {
        let function = |n: u32| format!("def f{n}():\n    return {n}\n\n\n");
        let text: String = (0..90).map(function).collect();
        let made = levels("a.py", &text, syntax::parse(Language::Python, &text));
        let parts = made.iter().filter(|level| level.level == Detail::Slice);
        let least = parts.map(|part| part.lines.clone()).next_back();
        assert_eq!(least, Some(vec![(1, 12)]));
    }

    #[test]
    fn p08_a_short_named_function_counts_whole_with_its_neighbours() {
        let function = |n: u32| format!("def f{n}():\n    return {n}\n\n\n");
        let text: String = (0..90).map(function).collect();
        let syntax = syntax::parse(Language::Python, &text);
        // The neighbours of the first count least, so that no other level shows them.
        let worth = |index: usize| UnitWorth {
            words: match index {
                0 => 1.0,
                1..80 => 0.01,
                _ => 0.5,
            },
            named: index == 0,
            ..UnitWorth::default()
        };
        let candidate = Candidate {
            file: 0,
            text: text.clone(),
            units: (0..syntax.units.len()).map(worth).collect(),
            parsed: Arc::new(Parsed::new(syntax)),
            hits: Vec::new(),
            located: Vec::new(),
            named: true,
        };
        let weights = DepthWeights::default();
        let made = Depth::of(std::slice::from_ref(&candidate), &weights)
            .levels(&candidate, &text, "a.py", 1.0);
        let coverage = |last: u32| {
            let level = made.iter().find(|level| level.lines == [(1, last)]);
            level.unwrap().coverage
        };
        // The function itself, and the same with two neighbours.
        let alone = made.iter().filter(|level| level.level == Detail::Slice);
        let alone = alone.map(|level| level.lines[0].1).min().unwrap();
        assert!(alone < 12, "{alone}");
        assert_eq!(coverage(12), coverage(alone));
    }

    #[test]
    fn p08_an_outline_without_code_is_no_level() {
        let text = "# Notice.\n\n".to_owned() + &"foo(\n    1,\n    2,\n    3,\n)\n".repeat(12);
        let made = levels("a.py", &text, syntax::parse(Language::Python, &text));
        assert!(!details(&made).contains(&"outline"), "{:?}", made.last());
    }

    #[test]
    fn p08_what_is_left_out_is_marked_as_the_name_tells() {
        let text: String = (0..90)
            .map(|n| format!("{}key{n}: {n}\n", if n % 9 == 0 { "\n" } else { "" }))
            .collect();
        let marked = |path: &str| {
            let made = levels(path, &text, syntax::windows(&text));
            let slice = made.iter().find(|level| level.level == Detail::Slice);
            slice.unwrap().content.lines().last().unwrap().to_owned()
        };
        insta::assert_snapshot!(marked("config.yml"), @"# ... (69 lines)");
        insta::assert_snapshot!(marked("a.css"), @"/* ... (69 lines) */");
        insta::assert_snapshot!(marked("a.unknown"), @"... (69 lines)");
    }
}
