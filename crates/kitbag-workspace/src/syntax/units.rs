//! Divides a file into units: every line belongs to exactly one.
//!
//! A definition is a unit with its leading comments. What is too long is a container, whose members
//! are units, or is cut into parts. What stands between definitions makes units of its own.

use super::cuts::Cuts;
use super::items::{Item, ItemKind};
use super::lines::is_trivial;
use super::{Frame, Lines, Scope, Syntax, Unit, UnitKind};

/// A longer function is cut, or is a container.
const LONGEST_FUNCTION: u32 = 70;
/// A longer type is a container, or is cut.
const LONGEST_TYPE: u32 = 40;
/// The shortest and longest part of something that is cut.
const PART: (u32, u32) = (30, 45);
/// The shortest and longest piece of code outside definitions.
const PIECE: (u32, u32) = (20, 50);
/// The shortest and longest unit of a text without structure.
const WINDOW: (u32, u32) = (15, 40);
/// The most blank or closing lines that a unit takes along from below.
const TRAILING: u32 = 2;
/// Code of so few lines joins the unit before it.
const SCRAP: u32 = 3;

/// Units and scopes of a file with these items.
pub(super) fn divide(items: &[Item], lines: &Lines<'_>, cuts: &Cuts<'_>) -> Syntax {
    let mut imports = vec![false; lines.count() as usize + 1];
    mark_imports(items, &mut imports);
    let mut divider = Divider {
        lines,
        cuts,
        imports,
        syntax: Syntax::default(),
    };
    divider.fill(items, 1, lines.count(), &mut UnitSurroundings::default());
    divider.syntax
}

/// Units of a text without structure but for what stands whole in it.
pub(super) fn windows(lines: &Lines<'_>, frames: Vec<Frame>) -> Syntax {
    let cuts = Cuts::of_text(lines, &frames);
    let mut syntax = Syntax {
        frames,
        ..Syntax::default()
    };
    for (first, last) in cuts.pieces(1, lines.count(), WINDOW.0, WINDOW.1) {
        syntax.units.push(unit(first, last, UnitKind::Code));
    }
    syntax
}

struct Divider<'t> {
    lines: &'t Lines<'t>,
    cuts: &'t Cuts<'t>,
    /// By line, true if it has an import.
    imports: Vec<bool>,
    syntax: Syntax,
}

/// The surroundings of the units that are being made.
#[derive(Default, Clone)]
struct UnitSurroundings {
    parents: Vec<String>,
    scope: Option<u32>,
    /// The unit that the first lines make: the head of a container.
    head: Option<Unit>,
}

impl Divider<'_> {
    /// Makes units of the lines `first..=last`, in which these items stand.
    fn fill(&mut self, items: &[Item], first: u32, last: u32, place: &mut UnitSurroundings) {
        let mut from = first;
        for item in items.iter().filter(|item| item.is_unit()) {
            let lead = item.lead.max(from);
            // Items that share lines with one before, or reach out of their container, make no
            // unit.
            if lead > item.last || item.last > last {
                continue;
            }
            let lead = self.gap(from, lead, item, place);
            self.item(item, lead, place);
            from = item.last + 1;
        }
        self.rest(from, last + 1, place);
    }

    /// Makes units of the lines from `from` before `to`, where an item starts. Returns the first
    /// line of that item's unit: lines that had nothing else to belong to join it.
    fn gap(&mut self, from: u32, to: u32, item: &Item, place: &mut UnitSurroundings) -> u32 {
        let opens = matches!(item.kind, ItemKind::Type | ItemKind::Scope);
        let short_head = place.head.is_some() && opens && to - from <= TRAILING;
        let first_of_all = place.head.is_none() && self.syntax.units.is_empty();
        if short_head || (first_of_all && (from..to).all(|line| is_trivial(self.lines.get(line)))) {
            return from;
        }
        self.rest(from, to, place);
        to
    }

    /// Makes units of the lines from `from` before `to`; the unit above takes what is slight.
    fn rest(&mut self, from: u32, to: u32, place: &mut UnitSurroundings) {
        let mut from = from;
        if place.head.is_none()
            && let Some(above) = self.syntax.units.last_mut()
        {
            let trivial = |line: &u32| is_trivial(self.lines.get(*line));
            let trailing = (from..to).take_while(trivial).count();
            let trailing = u32::try_from(trailing).unwrap_or(u32::MAX);
            let is_all = from + trailing == to;
            // If nothing but such lines is left, they would make a unit of their own.
            from += trailing.min(if is_all { TRAILING * 3 } else { TRAILING });
            let is_import = |line: u32| self.imports.get(line as usize) == Some(&true);
            // Only within one scope: a line after a class does not join its last method.
            let scrap = to - from <= SCRAP && above.scope == place.scope;
            if scrap && !(from..to).any(is_import) && above.len() <= LONGEST_FUNCTION {
                from = to;
            }
            above.last = above.last.max(from - 1);
        }
        if from < to {
            self.code(from, to - 1, place);
        }
    }

    /// Makes units of code outside definitions.
    fn code(&mut self, first: u32, last: u32, place: &mut UnitSurroundings) {
        for (first, last) in self.with_imports_apart(first, last) {
            for (first, last) in self.cuts.pieces(first, last, PIECE.0, PIECE.1) {
                let head = place.head.take().unwrap_or_else(|| Unit {
                    kind: self.kind_of_code(first, last),
                    parents: place.parents.clone(),
                    scope: place.scope,
                    ..Unit::default()
                });
                self.syntax.units.push(Unit {
                    first,
                    last,
                    ..head
                });
            }
        }
    }

    fn item(&mut self, item: &Item, first: u32, place: &mut UnitSurroundings) {
        // A head without lines of its own is the first line of what comes.
        place.head = None;
        let length = item.last + 1 - item.first;
        let holds = item.items.iter().any(Item::is_unit);
        let documentation = item.first.saturating_sub(first);
        let whole = documentation <= LONGEST_TYPE
            && match item.kind {
                ItemKind::Function | ItemKind::Lambda => length <= LONGEST_FUNCTION,
                ItemKind::Type => length <= LONGEST_TYPE,
                // A namespace with definitions is always opened: they matter, not itself.
                ItemKind::Scope => length <= LONGEST_TYPE && !holds,
                _ => length <= PIECE.1,
            };
        let mut parents = place.parents.clone();
        if !item.owner.is_empty() {
            parents.push(item.owner.clone());
        }
        let definition = Unit {
            name: item.name.clone(),
            parents,
            signature: Some((item.first, item.signature)),
            scope: place.scope,
            ..unit(first, item.last, kind_of(item))
        };
        if whole {
            self.syntax.units.push(definition);
        } else if holds && item.is_container() {
            let mut inner = self.open(item, place, &definition);
            inner.head = Some(definition);
            self.fill(&item.items, first, item.last, &mut inner);
        } else {
            let scope = self.open(item, place, &definition).scope;
            let from = item.first.max(first);
            let mut pieces = self.cuts.pieces(from, item.last, PART.0, PART.1);
            if documentation > LONGEST_TYPE {
                let documents = self.cuts.pieces(first, item.first - 1, PART.0, PART.1);
                pieces.splice(0..0, documents);
            } else if let Some(piece) = pieces.first_mut() {
                piece.0 = first;
            }
            let cut = pieces.len() > 1;
            for (first, last) in pieces {
                let mut part = Unit {
                    first,
                    last,
                    part: cut,
                    ..definition.clone()
                };
                // Only the part with the signature is the definition; the others stand inside it.
                if !(first..=last).contains(&item.first) {
                    part.scope = scope;
                    part.signature = None;
                }
                self.syntax.units.push(part);
            }
        }
    }

    /// Opens the scope of an item: the place of what stands inside.
    fn open(
        &mut self,
        item: &Item,
        place: &UnitSurroundings,
        definition: &Unit,
    ) -> UnitSurroundings {
        let index = u32::try_from(self.syntax.scopes.len()).ok();
        self.syntax.scopes.push(Scope {
            name: item.name.clone(),
            first: item.first,
            signature: item.signature,
            last: item.last,
            parent: place.scope,
        });
        let mut parents = definition.parents.clone();
        if !item.name.is_empty() {
            parents.push(item.name.clone());
        }
        UnitSurroundings {
            parents,
            scope: index,
            head: None,
        }
    }

    /// Parts the imports at the head of some code from the code.
    fn with_imports_apart(&self, first: u32, last: u32) -> Vec<(u32, u32)> {
        let is_import = |line: &u32| self.imports.get(*line as usize) == Some(&true);
        let is_blank = |line: &u32| self.lines.get(*line).trim().is_empty();
        let end = (first..=last).rfind(is_import);
        let end = end.filter(|&end| self.kind_of_code(first, end) == UnitKind::Imports);
        let end = end.map(|end| (end + 1..=last).take_while(is_blank).last().unwrap_or(end));
        match end.filter(|&end| last - end > SCRAP) {
            Some(end) => vec![(first, end), (end + 1, last)],
            None => vec![(first, last)],
        }
    }

    fn kind_of_code(&self, first: u32, last: u32) -> UnitKind {
        let (mut imports, mut others) = (0, 0);
        for line in first..=last {
            if self.imports.get(line as usize) == Some(&true) {
                imports += 1;
            } else if !self.lines.get(line).trim().is_empty() {
                others += 1;
            }
        }
        if imports > others {
            UnitKind::Imports
        } else {
            UnitKind::Code
        }
    }
}

fn kind_of(item: &Item) -> UnitKind {
    match item.kind {
        ItemKind::Function | ItemKind::Lambda => UnitKind::Function,
        ItemKind::Type | ItemKind::Scope => UnitKind::Type,
        _ => UnitKind::Value,
    }
}

fn mark_imports(items: &[Item], marks: &mut [bool]) {
    for item in items {
        let lines = item.first as usize..=item.last as usize;
        if item.kind == ItemKind::Import
            && let Some(marks) = marks.get_mut(lines)
        {
            marks.fill(true);
        }
        mark_imports(&item.items, marks);
    }
}

pub(super) fn unit(first: u32, last: u32, kind: UnitKind) -> Unit {
    Unit {
        first,
        last,
        kind,
        ..Unit::default()
    }
}
