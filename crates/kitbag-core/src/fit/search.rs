//! The search for something better than the relaxation's rounding, and the proof of how good it is.
//!
//! A best solution rarely differs from the relaxation's but in few classes, whose steps are worth
//! about as much per token as the split. So classes are freed one by one, outwards from the split
//! in both directions, and all worthwhile combinations of the freed ones are kept as a list of
//! states in which no state costs more and is worth less than another. The classes that are not
//! freed yet bound what a state can still become; when no state can beat the best solution found,
//! that is the optimum. The work is limited by a count of states, and when it runs out the bounds
//! of the remaining states bound the optimum.

use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;

use super::frontier::{Frontier, Margin};
use super::relax::Relaxed;
use super::table::{Solution, Table};

/// Returns the best solution found, `incumbent` if there is none better, and a bound on all.
pub(super) fn search(
    table: &Table,
    relaxed: &Relaxed,
    incumbent: Solution,
    work: usize,
) -> (Solution, i64) {
    let bound = relaxed.bound();
    if bound <= incumbent.worth {
        return (incumbent, bound);
    }
    let mut search = Search {
        table,
        relaxed,
        frontier: Frontier::new(table, relaxed),
        states: vec![State {
            left: relaxed.solution.left,
            worth: relaxed.solution.worth,
            changes: None,
            to: None,
        }],
        changes: Vec::new(),
        best: Best {
            worth: incumbent.worth,
            changes: None,
        },
    };
    let open = search.run(work);
    let bound = open.map_or(search.best.worth, |open| bound.min(open));
    (search.best_solution().unwrap_or(incumbent), bound)
}

/// Returns the most states that may be made. Small problems are solved to the end; in large ones
/// the rounded solution is close to the optimum anyway.
pub(super) fn work_limit(candidates: usize) -> usize {
    (100_000_000 / candidates.max(1)).clamp(100_000, 1_000_000)
}

struct Search<'a> {
    table: &'a Table,
    relaxed: &'a Relaxed,
    frontier: Frontier<'a>,
    /// From the cheapest to the dearest, and so from the least to the most worthy.
    states: Vec<State>,
    /// The changes that lead from the relaxation's solution to the states: chains through `before`.
    changes: Vec<Change>,
    best: Best,
}

/// The relaxation's solution with some freed classes changed.
#[derive(Clone, Copy)]
struct State {
    /// The rest of the budget; negative when it must still be won back by other classes.
    left: i64,
    worth: i64,
    /// The last of its changes.
    changes: Option<usize>,
    /// The point that the class being freed moved to, not yet among the changes.
    to: Option<usize>,
}

#[derive(Clone, Copy)]
struct Change {
    class: usize,
    to: usize,
    before: Option<usize>,
}

struct Best {
    worth: i64,
    /// `None` while it is the incumbent.
    changes: Option<usize>,
}

/// A way of changing one class of the relaxation's solution; the first of them is to leave it.
#[derive(Clone, Copy)]
struct Move {
    cost: i64,
    worth: i64,
    to: Option<usize>,
}

impl Search<'_> {
    /// Frees classes until no state is left (`None`) or the work is done, with a bound on the open
    /// states.
    fn run(&mut self, mut work: usize) -> Option<i64> {
        let outset = self.frontier.margin();
        let mut margin = outset;
        let mut moves = Vec::new();
        let mut passed = 0;
        while let Some(class) = self.frontier.free_next() {
            self.moves(class, &outset, &mut moves);
            // Classes that can only stay still narrow the margin. Going through the states once
            // for as many such classes as there are states keeps that cheap.
            passed += 1;
            if moves.len() == 1 && passed < self.states.len() {
                continue;
            }
            passed = 0;
            let made = self.states.len().saturating_mul(moves.len());
            let Some(rest) = work.checked_sub(made) else {
                let bounds = self.states.iter().map(|s| margin.bound(s.left, s.worth));
                return bounds.max();
            };
            work = rest;
            margin = self.frontier.margin();
            self.free(class, &moves, &margin);
            if self.states.is_empty() {
                return None;
            }
        }
        None
    }

    /// Collects the moves of a class that could be part of something better than the best.
    fn moves(&self, class: usize, outset: &Margin, moves: &mut Vec<Move>) {
        moves.clear();
        let solution = &self.relaxed.solution;
        let Some((at, here)) = self.table.standing(solution, class) else {
            return;
        };
        moves.push(Move {
            cost: 0,
            worth: 0,
            to: None,
        });
        for (index, point) in self.table.points(class).iter().enumerate() {
            let (cost, worth) = (point.cost - here.cost, point.worth - here.worth);
            // The cost is negative for a move to a cheaper point, which wins back tokens.
            let (left, total) = (solution.left - cost, solution.worth + worth);
            if index != at && outset.reaches(left, total, self.best.worth) {
                moves.push(Move {
                    cost,
                    worth,
                    to: Some(index),
                });
            }
        }
    }

    /// Replaces the states by all their combinations with `moves` that could still beat the best.
    fn free(&mut self, class: usize, moves: &[Move], margin: &Margin) {
        let mut states = Vec::with_capacity(self.states.len() * 2);
        for step in moves {
            for state in &self.states {
                let left = state.left - step.cost;
                let worth = state.worth + step.worth;
                if !margin.reaches(left, worth, self.best.worth) {
                    continue;
                }
                if left >= 0 && worth > self.best.worth {
                    let before = state.changes;
                    let changes = chain(&mut self.changes, class, step.to, before);
                    self.best = Best { worth, changes };
                }
                states.push(State {
                    left,
                    worth,
                    changes: state.changes,
                    to: step.to,
                });
            }
        }
        // The moves made one sorted run each, which a merge sort joins quickly.
        states.sort_by_key(|state| (Reverse(state.left), Reverse(state.worth)));
        // In this order a state is dominated if one before it, which leaves at least as much, is
        // worth as much.
        let mut most = i64::MIN;
        states.retain(|state| {
            let undominated = state.worth > most;
            most = most.max(state.worth);
            undominated
        });
        for state in &mut states {
            state.changes = chain(&mut self.changes, class, state.to.take(), state.changes);
        }
        self.states = states;
    }

    /// Returns the best state as a whole solution, if one was found.
    fn best_solution(&self) -> Option<Solution> {
        let mut solution = self.relaxed.solution.clone();
        let mut next = Some(self.best.changes?);
        while let Some(change) = next.and_then(|index| self.changes.get(index)) {
            let (_, here) = self.table.standing(&solution, change.class)?;
            let there = self.table.points(change.class).get(change.to)?;
            let (cost, worth) = (there.cost - here.cost, there.worth - here.worth);
            solution.step(change.class, change.to, cost, worth);
            next = change.before;
        }
        Some(solution)
    }
}

/// Appends a change to a chain, if it is one.
fn chain(
    changes: &mut Vec<Change>,
    class: usize,
    to: Option<usize>,
    before: Option<usize>,
) -> Option<usize> {
    let Some(to) = to else {
        return before;
    };
    changes.push(Change { class, to, before });
    Some(changes.len() - 1)
}
