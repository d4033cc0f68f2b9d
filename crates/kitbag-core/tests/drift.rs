//! The drifting conversation: prompts stay what they were, and still show what matters.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "shared with the benchmark, which is not a test"
)]

#[path = "../benches/drift/conversation.rs"]
mod conversation;
#[path = "../benches/drift/replay.rs"]
mod replay;

use conversation::conversation;
use kitbag_core::assembly::{AssemblySettings, OutputForm};
use kitbag_core::tokens::Tokens;
use replay::{Selection, replay};

#[test]
fn x02_most_of_each_request_is_reused_and_nothing_of_worth_is_lost() {
    let mut settings = AssemblySettings::new(OutputForm::Anthropic, Tokens(64_000));
    settings.chunk_limit = Some(Tokens(24_000));
    let kept = replay(&conversation(), &settings, Selection::Kept);
    assert!(kept.reuse >= 0.9, "reuse {}", kept.reuse);
    assert!(
        kept.worth_at_equal_tokens >= 0.99,
        "{}",
        kept.worth_at_equal_tokens
    );
    let anew = replay(&conversation(), &settings, Selection::Anew);
    assert!(kept.cost * 3.0 < anew.cost, "{} {}", kept.cost, anew.cost);
}
