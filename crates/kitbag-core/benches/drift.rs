//! Prints reuse against worth over the drifting conversation: a new choice each turn, then with
//! growing patience, then with nothing but a tight budget.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a benchmark prints, and stops when something is wrong"
)]

#[path = "drift/conversation.rs"]
mod conversation;
#[path = "drift/replay.rs"]
mod replay;

use conversation::{Turn, conversation};
use kitbag_core::assembly::{AssemblySettings, OutputForm};
use kitbag_core::tokens::Tokens;
use replay::{Selection, replay};

fn main() {
    let turns = conversation();
    let mut limited = AssemblySettings::new(OutputForm::Anthropic, Tokens(64_000));
    limited.chunk_limit = Some(Tokens(24_000));
    print("anew every turn", &turns, &limited, Selection::Anew);
    for patience in [0, 100, 300, 500, 1_000, 2_000, 4_000, 1_000_000] {
        let mut settings = limited.clone();
        settings.patience_permille = patience;
        print(
            &format!("patience {patience}"),
            &turns,
            &settings,
            Selection::Kept,
        );
    }
    let tight = AssemblySettings::new(OutputForm::Anthropic, Tokens(40_000));
    print(
        "anew every turn, 40k in all",
        &turns,
        &tight,
        Selection::Anew,
    );
    print("patience 300, 40k in all", &turns, &tight, Selection::Kept);
}

fn print(name: &str, turns: &[Turn], settings: &AssemblySettings, selection: Selection) {
    let run = replay(turns, settings, selection);
    println!(
        r#"{{"bench":"drift","name":"{name}","reuse":{:.3},"worth":{:.3},"worth_at_equal_tokens":{:.3},"renewals":{},"chunk_tokens":{:.0},"cost":{:.0}}}"#,
        run.reuse, run.worth, run.worth_at_equal_tokens, run.renewals, run.chunk_tokens, run.cost
    );
}
