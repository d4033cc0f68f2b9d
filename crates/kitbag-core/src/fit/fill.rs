//! Spends the tokens that a solution leaves unused.

use super::relax::Step;
use super::table::{Solution, Table};

/// Takes the steps that still fit, then any upgrade that does; afterwards none does.
pub(super) fn fill(table: &Table, steps: &[Step], solution: &mut Solution) {
    for step in steps {
        if step.cost() <= solution.left && solution.at.get(step.class) == Some(&step.from) {
            solution.step(step.class, step.to, step.cost(), step.worth());
        }
    }
    // Points below the hull are not reached by steps, yet may fit where no step does.
    for step in steps {
        if solution.left == 0 {
            break;
        }
        if let Some((at, here)) = table.standing(solution, step.class) {
            let upgrades = table.points(step.class).iter().enumerate().skip(at + 1);
            // Costs and worths rise together, so the last upgrade that fits is the worthiest.
            let fitting = upgrades.take_while(|(_, to)| to.cost - here.cost <= solution.left);
            if let Some((index, to)) = fitting.last() {
                let (cost, worth) = (to.cost - here.cost, to.worth - here.worth);
                solution.step(step.class, index, cost, worth);
            }
        }
    }
}
