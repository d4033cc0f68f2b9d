//! The decisions and actions of older turns, a line each, within a limit.
//!
//! A line has the goal and its outcome, or says that nothing was done. When there are too many, the
//! oldest go first, but turns that were blocked or reached nothing stay for as long as they are not
//! the larger half. The first line counts the turns that went. A proposal is never shown as done.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::sentences::{parts, sentences};
use crate::neutral::one_line;
use crate::reasoning::TurnExecutionSummary;
use crate::tokens::{TokenCounter, Tokens};

/// The most characters of a goal, an outcome or a reason in a line.
const PART: usize = 160;
const GONE: &str = " earlier turns are not listed)";
const BLOCKED: &str = "blocked: ";
const PROPOSED: &str = "proposed, not done: ";
const NOTHING_DONE: &str = "(nothing done)";

/// Merges the lines of an existing summary and those of further turns, within `limit`.
pub(super) fn merge(
    summary: &str,
    of_turns: impl Iterator<Item = String>,
    limit: Tokens,
    counter: &dyn TokenCounter,
) -> String {
    let mut gone = 0_u64;
    let mut lines: Vec<String> = Vec::new();
    for line in summary.lines().map(str::trim) {
        if let Some(count) = count_of_gone(line) {
            gone = gone.saturating_add(count);
        } else if line.starts_with("Turn ") {
            // Made by `turn_line`.
            lines.push(line.to_owned());
        } else {
            // A model wrote this: in sentences, so that not everything goes at once.
            lines.extend(sentences(line).into_iter().map(str::to_owned));
        }
    }
    lines.extend(of_turns);
    loop {
        let text = print(gone, &lines);
        if counter.count(&text) <= limit {
            return text;
        }
        let Some(oldest) = first_to_go(&lines) else {
            return String::new();
        };
        lines.remove(oldest);
        gone = gone.saturating_add(1);
    }
}

/// Returns a turn as a line; none if nothing is known of it.
pub(super) fn turn_line(turn: &TurnExecutionSummary) -> Option<String> {
    let goal = beginning(&turn.think_goal);
    let outcomes: Vec<String> = turn
        .steps
        .iter()
        .map(|step| beginning(&step.outcome))
        .filter(|outcome| !outcome.is_empty())
        .collect();
    let done = outcomes.join("; ");
    let mut line = match (
        turn.think_decision.as_str(),
        goal.is_empty(),
        done.is_empty(),
    ) {
        (_, true, true) => String::new(),
        ("propose", _, true) => format!("{PROPOSED}{goal}"),
        ("clarify" | "ask_user", _, true) => format!("asked: {goal}"),
        // Without these words the goal would read as reached.
        (_, false, true) => format!("{goal} {NOTHING_DONE}"),
        (_, true, false) => done,
        (_, false, false) => format!("{goal} → {done}"),
    };
    let blocked = beginning(turn.blocked_reason.as_deref().unwrap_or_default());
    for (what, text) in [
        ("user ", beginning(&turn.user_expressed)),
        (BLOCKED, blocked),
    ] {
        if !text.is_empty() {
            let apart = if line.is_empty() { "" } else { "; " };
            line.push_str(&format!("{apart}{what}{text}"));
        }
    }
    (!line.is_empty()).then(|| format!("Turn {}: {line}", turn.turn_num))
}

/// Returns a text on one line, cut after a clause if it is long.
fn beginning(text: &str) -> String {
    let first = parts(&one_line(text), PART).into_iter().next();
    first.unwrap_or_default()
}

/// Returns the oldest of the lines that go first: those not marked, unless the marked ones are
/// more.
fn first_to_go(lines: &[String]) -> Option<usize> {
    let is_kept = |line: &String| {
        [BLOCKED, PROPOSED, NOTHING_DONE]
            .iter()
            .any(|mark| line.contains(mark))
    };
    let kept = lines.iter().filter(|line| is_kept(line)).count();
    let kept_are_more = kept > lines.len() - kept;
    lines.iter().position(|line| is_kept(line) == kept_are_more)
}

fn print(gone: u64, lines: &[String]) -> String {
    let head = (gone > 0).then(|| format!("({gone}{GONE}"));
    let lines: Vec<String> = head.into_iter().chain(lines.iter().cloned()).collect();
    lines.join("\n")
}

fn count_of_gone(line: &str) -> Option<u64> {
    line.strip_prefix('(')?.strip_suffix(GONE)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reasoning::StepSummary;
    use crate::tokens::Characters;

    fn turn(number: u32, goal: &str, outcome: Option<&str>) -> TurnExecutionSummary {
        let mut turn = TurnExecutionSummary::new(number);
        turn.think_goal = goal.to_owned();
        let step = outcome.map(|told| StepSummary::new(1, "read", "", "", Some(told), 1));
        turn.steps.extend(step);
        turn
    }

    fn merged(summary: &str, turns: &[TurnExecutionSummary], limit: u32) -> String {
        let lines = turns.iter().filter_map(turn_line);
        merge(summary, lines, Tokens(limit), &Characters)
    }

    #[test]
    fn a10_a_turn_is_a_line_with_goal_and_outcome() {
        let mut blocked = turn(2, "Save it", Some("sugar saved"));
        blocked.blocked_reason = Some("no such row\n| onions".to_owned());
        let mut proposed = turn(3, "Delete all recipes", None);
        proposed.think_decision = "propose".to_owned();
        proposed.user_expressed = "wants: a clean start".to_owned();
        let turns = [
            turn(1, "Find soups", Some("three soups")),
            blocked,
            proposed,
            turn(4, "Plan the week", None),
            turn(5, "", None),
        ];
        insta::assert_snapshot!(merged("", &turns, 1_000), @r"
        Turn 1: Find soups → three soups
        Turn 2: Save it → sugar saved; blocked: no such row⏎| onions
        Turn 3: proposed, not done: Delete all recipes; user wants: a clean start
        Turn 4: Plan the week (nothing done)
        ");
    }

    #[test]
    fn a10_the_oldest_go_first_and_unfinished_ones_last() {
        let mut turns: Vec<_> = (1..=9).map(|n| turn(n, "Look", Some("found"))).collect();
        turns[1].blocked_reason = Some("no right".to_owned());
        let text = merged("", &turns, 140);
        insta::assert_snapshot!(text, @r"
        (5 earlier turns are not listed)
        Turn 2: Look → found; blocked: no right
        Turn 7: Look → found
        Turn 8: Look → found
        Turn 9: Look → found
        ");
        let again = merged(&text, &[turn(10, "Look", Some("found"))], 140);
        assert!(again.starts_with("(6 earlier"), "{again}");
        assert!(again.contains("no right") && again.ends_with("Turn 10: Look → found"));
    }

    #[test]
    fn a10_what_a_model_wrote_leaves_sentence_by_sentence() {
        let told = "Soups were found. The plan was made.";
        let text = merged(told, &[turn(3, "Save", Some("saved"))], 56);
        insta::assert_snapshot!(text, @r"
        (2 earlier turns are not listed)
        Turn 3: Save → saved
        ");
        assert_eq!(merged(told, &[], 3), "");
    }
}
